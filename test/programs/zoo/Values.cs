// Boxed values, odd layouts, strings, delegates, state machines, exceptions.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading.Tasks;

namespace Zoo
{
    class Node
    {
        public Node Next;
        public object Payload;
        public int Number;

        public class Nested { public class Deeper { public struct Value { public Node Node; } } }
    }

    enum Color : byte { Red, Green, Blue }
    enum Wide : ulong { Max = ulong.MaxValue }
    struct Letter { public short Code; }

    [StructLayout(LayoutKind.Sequential, Pack = 1, Size = 3)] struct Tiny { public byte A, B, C; }
    [StructLayout(LayoutKind.Sequential, Pack = 1)] struct Odd { public int A; public byte B; }

    [StructLayout(LayoutKind.Explicit)] struct Union
    {
        [FieldOffset(0)] public object Reference;
        [FieldOffset(8)] public long Number;
        [FieldOffset(8)] public double Real;
        [FieldOffset(16)] public int Tail;
    }

    [StructLayout(LayoutKind.Explicit, Size = 100)] class Spread
    {
        [FieldOffset(0)] public byte First;
        [FieldOffset(40)] public string Middle;
        [FieldOffset(96)] public byte Last;
    }

    [InlineArray(7)] struct Seven { Node element; }
    [InlineArray(5)] struct FiveBytes { byte element; }
    class Inlined { public Seven Nodes; public FiveBytes Bytes; public string After; }

    class Base { int hidden; object reference; byte tail; }
    class Derived : Base { byte first; object second; }
    class Finalized { public int Number; ~Finalized() { } }
    class Thrown : Exception { public Node Culprit; }
    delegate Node Visitor(Node node);
    record Person(string Name, int Age);
    record struct Point(int X, Node At);
    ref struct NeverBoxed { }

    static class Values
    {
        static readonly TaskCompletionSource never = new();

        static async Task<int> WaitForever(Node node)
        {
            await never.Task;
            return node.Number;
        }

        static IEnumerable<Node> Iterate(Node node)
        {
            for (; node != null; node = node.Next)
                yield return node;
        }

        public static void Make()
        {
            Truth.Count((object)Color.Blue);
            Truth.Count((object)Wide.Max);
            Truth.Count((object)new Tiny());
            Truth.Count((object)new Odd());
            Truth.Count((object)new Union { Reference = "in a union" });
            Truth.Count((object)new Mixed());
            Truth.Count((object)new Empty());
            Truth.Count((object)new Node.Nested.Deeper.Value());
            Truth.Count((object)new Seven());
            Truth.Count((object)new Point(1, null));
            Truth.Count((object)(Color?)Color.Red);
            Truth.Count(new Spread { Middle = "middle" });
            Truth.Count(new Inlined());
            Truth.Count(new Base());
            Truth.Count(new Derived());
            Truth.Count(new Node.Nested());
            Truth.Count(new Node.Nested.Deeper());
            Truth.Count(new Person("Ada", 36));
            Truth.Count(new Finalized());
            Truth.Count(new WithoutNamespace());

            foreach (object boxed in new object[] { true, (byte)1, (sbyte)-1, 'x', (short)2, (ushort)2, 3, 3u, 4L, 4UL, 5f, 6d, 7m,
                         (nint)8, (nuint)9, DateTime.MinValue, Guid.Empty, TimeSpan.Zero, (Half)1, Int128.One, DayOfWeek.Friday })
                Truth.Keep(boxed);

            for (int length = 0; length < 40; length++)
                Truth.Keep(new string('s', length));
            Truth.Keep(new string('ß', 1001));

            Strings();
            Closures();
            for (int i = 0; i < 3; i++)
                Truth.Count(Caught());
        }

        static void Strings()
        {
            Truth.Keep(string.Intern(new string('i', 5)));
            Truth.Keep("a literal, frozen unless the assembly can be unloaded");
            Truth.Keep("emoji \U0001F600 and \0 inside");
            Truth.Keep(typeof(Outer<int>.Inner<string>));
            Truth.Keep(typeof(Outer<>));
            Truth.Keep(typeof(Node).GetFields());
        }

        static void Closures()
        {
            int captured = 5;
            Node node = new Node();
            Func<int> closure = () => captured + node.Number;
            Truth.Keep(closure);
            Truth.Count(closure.Target);
            Truth.Count<Visitor>(n => n.Next);
            Truth.Count((Visitor)Delegate.Combine(Truth.Count<Visitor>(n => n), Truth.Count<Visitor>(n => null)));
            for (int i = 0; i < 4; i++)
                Truth.Count(WaitForever(new Node()));
            IEnumerator<Node> iterator = Iterate(node).GetEnumerator();
            iterator.MoveNext();
            Truth.Count(iterator);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static Thrown Caught()
        {
            try
            {
                throw new Thrown { Culprit = new Node() };
            }
            catch (Thrown thrown)
            {
                return thrown;
            }
        }
    }
}
