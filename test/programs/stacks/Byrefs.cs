// Objects of which only a pointer into their middle is left, pinned ones, and references inside values.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Held
{
    struct SpanItem { public long A, B, C; }
    struct ElementItem { public long A, B; }
    struct MemoryItem { public int A; }
    struct EndItem { public long A; }
    struct FixedItem { public long A; }
    struct RefStructItem { public long A; }
    class RefField { public long A, B, C; }
    class RefInObject { public object A, B, C; }
    class FixedField { public long A, B, C; }
    class InStruct { public long Number; }
    class InLargeStruct { public long Number; }
    class InArgument { public long Number; }
    class BesideStackAlloc { public long Number; }
    class OnlyByField { public long Number; }
}

namespace Stacks
{
    struct Pair { public object First; public int Number; public object Second; }
    struct Large { public long A, B; public Pair One, Two; public long C; public object Last; }
    ref struct Window { public int Number; public Span<Held.RefStructItem> Items; public object Other; }

    static unsafe class Byrefs
    {
        const int Length = 1000;
        // Their frames must be there when they say what they make, and so they call nothing in place of themselves.
        const MethodImplOptions Maker = MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization;

        public static void Start()
        {
            Stage.Start(Span);
            Stage.Start(SpanAtEnd);
            Stage.Start(Element);
            Stage.Start(Field);
            Stage.Start(ReferenceField);
            Stage.Start(MemoryOf);
            Stage.Start(Fixed);
            Stage.Start(FixedField);
            Stage.Start(RefStruct);
            Stage.Start(InStruct);
            Stage.Start(InLargeStruct);
            Stage.Start(InArgument);
            Stage.Start(StackAlloc);
        }

        // What makes the objects ends before the threads wait, so that nothing but the pointers is left.
        [MethodImpl(Maker)]
        static T[] Array<T>() => Stage.Held(new T[Length], By.Interior, callers: 2);

        [MethodImpl(Maker)]
        static Span<Held.SpanItem> Part() => Array<Held.SpanItem>().AsSpan(Length / 2, 5);
        static void Span()
        {
            Span<Held.SpanItem> part = Part();
            Stage.Block();
            part[0].A++;
        }

        // Points behind the last element.
        [MethodImpl(Maker)]
        static Span<Held.EndItem> Last() => Array<Held.EndItem>().AsSpan(Length - 1, 1);
        static void SpanAtEnd()
        {
            Span<Held.EndItem> last = Last();
            Stage.Block();
            last[0].A++;
        }

        [MethodImpl(Maker)]
        static ref long ElementOfArray() => ref Array<Held.ElementItem>()[Length - 1].B;
        static void Element()
        {
            ref long element = ref ElementOfArray();
            Stage.Block();
            element++;
        }

        [MethodImpl(Maker)]
        static ref long FieldOfObject() => ref Stage.Held(new Held.RefField(), By.Interior, callers: 1).C;
        static void Field()
        {
            ref long field = ref FieldOfObject();
            Stage.Block();
            field++;
        }

        [MethodImpl(Maker)]
        static ref object ReferenceOfObject() => ref Stage.Held(new Held.RefInObject(), By.Interior, callers: 1).C;
        static void ReferenceField()
        {
            ref object field = ref ReferenceOfObject();
            Stage.Block();
            field = "";
        }

        [MethodImpl(Maker)]
        static Memory<Held.MemoryItem> WholeArray() => Stage.Held(new Held.MemoryItem[Length], callers: 1);
        static void MemoryOf()
        {
            Memory<Held.MemoryItem> memory = WholeArray();
            Stage.Block();
            memory.Span[3].A++;
        }

        [MethodImpl(Maker)]
        static Held.FixedItem[] ArrayToPin() => Stage.Held(new Held.FixedItem[Length], By.Pinned, callers: 1);
        static void Fixed()
        {
            fixed (Held.FixedItem* first = ArrayToPin())
            {
                Held.FixedItem* one = first + Length / 3;
                Stage.Block();
                one->A++;
            }
        }

        [MethodImpl(Maker)]
        static ref long FieldToPin() => ref Stage.Held(new Held.FixedField(), By.Pinned, callers: 1).B;
        static void FixedField()
        {
            fixed (long* field = &FieldToPin())
            {
                Stage.Block();
                *field = 1;
            }
        }

        [MethodImpl(Maker)]
        static Window MakeWindow() => new() { Number = 3, Items = Stage.Held(new Held.RefStructItem[Length], By.Interior, callers: 1).AsSpan(10, 20), Other = null };
        static void RefStruct()
        {
            Window window = MakeWindow();
            Stage.Block();
            window.Items[3].A += window.Number;
            GC.KeepAlive(window.Other);
        }

        [MethodImpl(Maker)]
        static Pair MakePair() => new() { First = "text", Number = 3, Second = Stage.Held(new Held.InStruct(), callers: 1) };
        static void InStruct()
        {
            Pair pair = MakePair();
            Stage.Block();
            GC.KeepAlive(pair.Second);
            GC.KeepAlive(pair.First);
        }

        [MethodImpl(Maker)]
        static Large MakeLarge() => new() { One = new Pair { First = "text" }, Last = Stage.Held(new Held.InLargeStruct(), callers: 1) };
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Use(ref Large large) => large.A++;
        static void InLargeStruct()
        {
            Large large = MakeLarge();
            Use(ref large);
            Stage.Block();
            Use(ref large);
            GC.KeepAlive(large.Last);
        }

        // A value with references, passed on the stack; and arguments that did not fit into registers.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Takes(int a, int b, long c, object d, string e, Large large, object f, Held.InArgument g)
        {
            Stage.Block();
            GC.KeepAlive(large.Last);
            GC.KeepAlive(g);
            GC.KeepAlive(d);
        }
        static void InArgument() => Takes(1, 2, 3, null, null, default, null, Stage.Held(new Held.InArgument(), By.Argument));

        static void StackAlloc()
        {
            var held = Stage.Held(new Held.BesideStackAlloc());
            Span<long> numbers = stackalloc long[100 + (int)(held.Number & 7)];
            numbers.Fill(7);
            Stage.Block();
            held.Number += numbers[3];
        }
    }
}
