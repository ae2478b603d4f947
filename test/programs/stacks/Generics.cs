// Code shared by instantiations, instantiated over values, virtual, static, and in value types.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Held
{
    class Shared { public long Number; }
    class OverValue { public long Number; }
    class GenericMethod { public long Number; }
    class GenericVirtual { public long Number; }
    class ByInterface { public long Number; }
    class InValueType { public long Number; }
    class StaticShared { public long Number; }
    class NestedGeneric { public long Number; }
    class Variance { public long Number; }
    class ManyParameters { public long Number; }
}

namespace Stacks
{
    interface IWaits<in T> { void Wait(T value); }

    class Box<T> : IWaits<T>
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Hold<U>(T value, U other)
        {
            Stage.Block();
            GC.KeepAlive(value);
            GC.KeepAlive(typeof(Dictionary<T, U>));
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void HoldStatic(T value)
        {
            Stage.Block();
            GC.KeepAlive(value);
            GC.KeepAlive(typeof(List<T>));
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public virtual void HoldVirtual<U>(U value)
        {
            Stage.Block();
            GC.KeepAlive(value);
            GC.KeepAlive(new U[0]);
        }

        void IWaits<T>.Wait(T value)
        {
            Stage.Block();
            GC.KeepAlive(value);
        }

        public class Inner<U>
        {
            [MethodImpl(MethodImplOptions.NoInlining)]
            public T Hold(T value, ref U number, U[] array, T[,] table, List<U[]> list)
            {
                Stage.Block();
                return value;
            }
        }
    }

    struct Value<T>
    {
        public T Held;
        public int Number;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Hold()
        {
            Stage.Block();
            Number++;
            GC.KeepAlive(Held);
        }
    }

    static class Generics
    {
        public static void Start()
        {
            Stage.Start(Shared);
            Stage.Start(OverValue);
            Stage.Start(GenericMethod);
            Stage.Start(GenericVirtual);
            Stage.Start(ByInterface);
            Stage.Start(InValueType);
            Stage.Start(StaticShared);
            Stage.Start(NestedGeneric);
            Stage.Start(Variance);
            Stage.Start(ManyParameters);
        }

        static void Shared() => new Box<Held.Shared>().Hold(Stage.Held(new Held.Shared(), By.Argument), "text");
        static void OverValue() => new Box<object>().Hold(Stage.Held(new Held.OverValue(), By.Argument), 3);
        static void GenericVirtual() => new Box<int>().HoldVirtual(Stage.Held(new Held.GenericVirtual(), By.Argument));
        static void ByInterface() => ((IWaits<Held.ByInterface>)new Box<Held.ByInterface>()).Wait(Stage.Held(new Held.ByInterface(), By.Argument));
        static void StaticShared() => Box<Held.StaticShared>.HoldStatic(Stage.Held(new Held.StaticShared(), By.Argument));
        static void Variance() => ((IWaits<Held.Variance>)new Box<object>()).Wait(Stage.Held(new Held.Variance(), By.Argument));

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void HoldOf<T>(T value) where T : class
        {
            Stage.Block();
            GC.KeepAlive(value);
            GC.KeepAlive(new T[1]);
        }
        static void GenericMethod() => HoldOf(Stage.Held(new Held.GenericMethod(), By.Argument));

        static void InValueType()
        {
            var value = new Value<Held.InValueType> { Held = Stage.Held(new Held.InValueType()) };
            value.Hold();
        }

        static void NestedGeneric()
        {
            int number = 3;
            new Box<Held.NestedGeneric>.Inner<int>().Hold(Stage.Held(new Held.NestedGeneric(), By.Argument), ref number, null, null, null);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static unsafe void Many(bool a, byte b, char c, double d, decimal e, string f, object g, int* h, nint i, nuint j,
                                in DateTime k, out int l, Dictionary<string, List<int>> m, int?[] n, Held.ManyParameters held,
                                params object[] rest)
        {
            l = 0;
            Stage.Block();
            GC.KeepAlive(held);
        }
        static unsafe void ManyParameters() =>
            Many(true, 1, 'c', 2, 3, "", null, null, 0, 0, default, out _, null, null, Stage.Held(new Held.ManyParameters(), By.Argument));
    }
}
