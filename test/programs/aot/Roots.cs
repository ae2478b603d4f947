// What keeps objects alive other than objects: handles of every kind, a static, thread statics, a weak table.
using System;
using System.Collections.Generic;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Aot
{
    class Strong { public int Number; }
    class Weak { public int Number; }
    class Resurrected { public int Number; }
    struct Pinned { public int Number; }
    class Key { public int Number; }
    class Value { public object To; }
    class TableKey { public int Number; }
    class TableValue { public object To; }
    class InStatic { public int Number; }
    class InThread { public int Number; }

    class InFirst { public int Number; }
    class InOwn { public int Number; }
    class InSecond { public int Number; }
    class InPair { public int Number; }

    // Static fields of every kind, in an order that mixes them.
    static class Mix
    {
        static int number;
        static object first;
        [ThreadStatic] static int ownNumber;
        [ThreadStatic] static object own;
        static object second;
        static long size;
        static Mixed pair;

        public static void Make()
        {
            number = ownNumber = 1;
            size = 2;
            first = new InFirst();
            own = new InOwn();
            second = new InSecond();
            pair.First = new InPair();
        }

        public static void Release()
        {
            foreach (object held in new[] { number + ownNumber + size, first, own, second, pair.First, pair.Second })
                GC.KeepAlive(held);
        }
    }

    static class Roots
    {
        public static InStatic Static;
        [ThreadStatic] static InThread perThread;
        static readonly ConditionalWeakTable<TableKey, TableValue> table = new();
        static readonly List<DependentHandle> dependents = new();
        static readonly List<GCHandle> handles = new();
        static readonly List<WeakReference<Weak>> references = new();
        static readonly ManualResetEvent released = new(false);
        const int Threads = 3;

        public static void Make()
        {
            for (int i = 0; i < 19; i++)
                handles.Add(GCHandle.Alloc(Measure.Make(static () => new Strong())));
            for (int i = 0; i < 17; i++)
                handles.Add(GCHandle.Alloc(Measure.Make(static () => new Weak()), GCHandleType.Weak));
            for (int i = 0; i < 9; i++)
                handles.Add(GCHandle.Alloc(Measure.Make(static () => new Resurrected()), GCHandleType.WeakTrackResurrection));
            for (int i = 0; i < 7; i++)
                handles.Add(GCHandle.Alloc(Measure.Make(static () => new Pinned[3]), GCHandleType.Pinned));
            for (int i = 0; i < 11; i++)
            {
                Key key = Measure.Make(static () => new Key());
                dependents.Add(new DependentHandle(key, Measure.Make(static () => new Value { To = null })));
            }
            for (int i = 0; i < 24; i++)
            {
                TableKey key = Measure.Make(static () => new TableKey());
                TableValue value = Measure.Make(static () => new TableValue());
                value.To = key;
                table.Add(key, value);
            }
            Mix.Make();
            Static = Measure.Make(static () => new InStatic());
            perThread = Measure.Make(static () => new InThread());
            using var ready = new CountdownEvent(Threads);
            for (int i = 0; i < Threads; i++)
            {
                InThread own = Measure.Make(static () => new InThread());
                new Thread(() =>
                {
                    perThread = own;
                    ready.Signal();
                    released.WaitOne();
                    GC.KeepAlive(perThread);
                }) { IsBackground = true }.Start();
            }
            ready.Wait();
        }

        // The handles by kind and by type of the object. The framework has more of its own, of other types.
        public static string Text()
        {
            var text = new StringBuilder("\"handles\": {\"strong\": {\"Aot.Strong\": 19}, \"weak_short\": {\"Aot.Weak\": 17}, ");
            text.Append("\"weak_long\": {\"Aot.Resurrected\": 9}, \"pinned\": {\"Aot.Pinned[]\": 7}, ");
            text.Append("\"dependent\": {\"Aot.Key\": 11, \"Aot.TableKey\": 24}}, ");
            text.Append("\"statics\": {\"Aot.InStatic\": \"static Roots.Static\", \"Aot.InThread\": ");
            text.Append("\"thread_static Roots.perThread\", \"Aot.InFirst\": \"static Mix.first\", ");
            text.Append("\"Aot.InOwn\": \"thread_static Mix.own\", \"Aot.InSecond\": \"static Mix.second\", ");
            text.Append("\"Aot.InPair\": \"static Mix.pair.First\"}");
            return text.ToString();
        }

        public static void Release()
        {
            released.Set();
            Mix.Release();
        }
    }
}
