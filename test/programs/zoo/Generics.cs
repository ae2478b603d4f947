// Generic types: nested in one another, derived from one another, shared and unshared instantiations.
using System;
using System.Collections.Generic;

namespace Zoo
{
    class Outer<T>
    {
        public T Value;

        public class Inner<U>
        {
            public T First;
            public U Second;

            public class Innermost { public Inner<U> Up; }
        }

        public class Plain { public Outer<T> Up; }

        public struct Cell { public T Value; public int Number; }
    }

    // The base has fewer arguments than the derived type, and in another order.
    class Single<A> { public A Alpha; }
    class Double<A, B> : Single<B> { public A Beta; }
    class Triple<A, B, C> : Double<C, A> { public B Gamma; }
    class Closed : Triple<int, string, Outer<string>.Inner<object>> { public object Last; }

    class Recursive<T> where T : Recursive<T> { public T Self; }
    class Knot : Recursive<Knot> { }

    static class Generics
    {
        public static void Make()
        {
            Truth.Count(new Outer<int>());
            Truth.Count(new Outer<string> { Value = "shared instantiation" });
            Truth.Count(new Outer<object>());
            Truth.Count(new Outer<int[]>());
            Truth.Count(new Outer<string[,]>());
            Truth.Count(new Outer<Outer<Outer<long>>>());
            Truth.Count(new Outer<int>.Inner<string>());
            Truth.Count(new Outer<string>.Inner<int>());
            Truth.Count(new Outer<string>.Inner<Node>());
            Truth.Count(new Outer<string>.Inner<int>.Innermost());
            Truth.Count(new Outer<Outer<int>.Inner<string>>.Plain());
            Truth.Count(new Outer<DateTime>.Plain());
            Truth.Count((object)new Outer<string>.Cell());
            Truth.Count(new Outer<string>.Cell[5]);
            Truth.Count(new Outer<int>.Cell[5]);
            Truth.Count(new Outer<int>.Inner<string>[3]);
            Truth.Count(new Single<string>());
            Truth.Count(new Double<int, string>());
            Truth.Count(new Double<string, Guid>());
            Truth.Count(new Triple<string, int, Node>());
            Truth.Count(new Closed());
            Truth.Count(new Knot());

            Truth.Count(new Outer<(int, string)>());
            Truth.Count(new Outer<int?>());
            Truth.Count(new Outer<(Node Left, (long, byte) Right)[]>());
            Truth.Count((object)(1, new Node()));
            Truth.Count(new (Node, int)?[4]);
            Truth.Count(new Outer<Dictionary<string, List<Outer<int>.Cell>>>());
            Truth.Count(new Outer<Func<Node, int>>());
            Truth.Count(new Outer<Unicode.Größe>());
            Truth.Count(new WithoutNamespace<Node>());
            Truth.Count(new WithoutNamespace<int>.Nested<WithoutNamespace>());
        }
    }
}

class WithoutNamespace
{
    public int Number;
}

class WithoutNamespace<T>
{
    public class Nested<U>
    {
        public T First;
        public U Second;
    }
}

namespace Unicode
{
    struct Größe { public int Breite, Höhe; }
    class 日本語 { public 日本語 次; }
    class Ωmega<Τ> { public Τ τιμή; }

    static class Makes
    {
        public static void Make()
        {
            Truth.Count((object)new Größe { Breite = 1, Höhe = 2 });
            Truth.Count(new 日本語());
            Truth.Count(new 日本語[2]);
            Truth.Count(new Ωmega<日本語>());
            Truth.Count(new Ωmega<string>());
        }
    }
}
