// Objects of types that nobody else has: plain, generic, nested, boxed, arrays of every shape and element size.
using System;
using System.Runtime.CompilerServices;

namespace Aot
{
    class Node { public Node Next; public object Payload; public int Number; }
    class Derived : Node { public long More; }
    class Pair<TKey, TValue> { public TKey Key; public TValue Value; }
    class Outer<T>
    {
        public class Inner { public T Value; }
        public class Other<TOther> { public T Value; public TOther Second; }
    }
    class Finalized { public static int Count; public int Number; ~Finalized() => Count++; }
    sealed class WithEnum { public Color Color; public Node Node; }
    enum Color : byte { Red, Green }
    struct Point { public double X, Y; }
    struct Mixed { public byte Small; public object First; public long Number; public string Second; }
    struct Odd { public byte A, B, C; }
    struct Empty { }
    [InlineArray(4)] struct Row { object cell; }
    class Nested { public int Number; public Mixed Inner; public Row Row; public (int, Mixed) Tuple; }
    interface IShape { double Area(); }
    struct Square : IShape { public double Side; public double Area() => Side * Side; }
    delegate int Callback(int number);

    static class Specimens
    {
        static int Twice(int number) => 2 * number;

        public static void Make()
        {
            Node last = null;
            for (int i = 0; i < 1000; i++)
            {
                Node node = Measure.Make(static () => new Node());
                node.Next = last;
                last = node;
            }
            for (int i = 0; i < 37; i++)
            {
                Measure.Make(static () => new Derived());
                Measure.Make(static () => new WithEnum());
                Measure.Make(static () => new Pair<string, Node>());
                Measure.Make(static () => new Pair<int, Point>());
                Measure.Make(static () => new Pair<Color, Pair<string, Node>>());
                Measure.Make(static () => new Outer<Node>.Inner());
                Measure.Make(static () => new Outer<string>.Other<Point>());
                Measure.Make(static () => new Finalized());
                Measure.Make(static () => (object)new Point());
                Measure.Make(static () => (object)Color.Green);
                Measure.Make(static () => (object)new Mixed());
                Measure.Make(static () => (IShape)new Square());
            }
            Nested nested = Measure.Make(static () => new Nested());
            nested.Row[2] = nested;
            Measure.Make(static () => new Callback(Twice));
            Measure.Make(static () => new Node[0]);
            Measure.Make(static () => new Node[100]);
            Measure.Make(static () => new Node[3][]);
            Measure.Make(static () => new Node[2, 3]);
            Measure.Make(static () => new Node[2, 3, 4]);
            Measure.Make(static () => new Node[2][,][]);
            Measure.Make(static () => new Color[5]);
            Measure.Make(static () => new Point[9]);
            Measure.Make(static () => new Mixed[7]);
            Measure.Make(static () => new Mixed[3, 3]);
            Measure.Make(static () => new Empty[5]);
            Measure.Make(static () => new Pair<string, Node>[4]);
            Measure.Make(static () => new Callback[2]);
            for (int length = 0; length < 17; length++)
                odd = Measure.Make(static () => new Odd[next++]);

            Truth.Label("loh", Measure.Make(static () => new Mixed[20_000]));
            Truth.Label("poh", Measure.Make(static () => GC.AllocateArray<Point>(77, pinned: true)));
            Truth.Label("gen2", last);
        }

        static int next;
        static Odd[] odd;
    }
}
