// Threads that do not wait: loops that allocate nothing, and loops that do while others collect.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Held
{
    class Spinning { public long Number; }
    class SpinningOptimised { public long Number; }
    struct SpinningItem { public long A; }
    class SpinningCalls { public long Number; }
    class Allocating { public long Number; }
    class Collecting { public long Number; }
    class Many { public long Number; }
    class Helped { public long Number; }
}

namespace Stacks
{
    static class Busy
    {
        static volatile bool stop;
        static int sink;

        public static void Spin()
        {
            Stage.Start(Spins, waits: false);
            Stage.Start(SpinsOptimised, waits: false);
            Stage.Start(SpinsOverSpan, waits: false);
            Stage.Start(SpinsCalling, waits: false);
        }

        public static void Collect()
        {
            for (int i = 0; i < 3; i++)
                Stage.Start(Allocates, waits: false);
            Stage.Start(Collects, waits: false);
        }

        // Loops that are in the runtime's helpers most of the time.
        public static void Help()
        {
            foreach (ThreadStart loop in new ThreadStart[] { Casts, Stores, Searches, Copies, Clears, Concatenates, AllocatesLarge })
                Stage.Start(loop, waits: false);
        }

        static void Casts()
        {
            var held = Stage.Held(new Held.Helped());
            object[] various = ["text", held, new List<string>(), 5, new Dictionary<string, int>()];
            Stage.Ready();
            for (int i = 0; !stop; i++)
                sink += various[i % various.Length] is IReadOnlyCollection<KeyValuePair<string, int>> ? 1 : various[i % 2] as IEnumerable<object> is null ? 2 : 3;
            GC.KeepAlive(held);
        }

        static void Stores()
        {
            var held = Stage.Held(new Held.Helped());
            var array = (object[])new IComparable[64];
            Stage.Ready();
            for (int i = 0; !stop; i++)
                array[i & 63] = "text";
            GC.KeepAlive(held);
        }

        static void Searches()
        {
            var held = Stage.Held(new Held.Helped());
            var list = new List<object>();
            for (int i = 0; i < 10_000; i++)
                list.Add(i.ToString());
            Stage.Ready();
            while (!stop)
                sink += list.IndexOf("none");
            GC.KeepAlive(held);
        }

        static void Copies()
        {
            var held = Stage.Held(new Held.Helped());
            byte[] from = new byte[1 << 20], to = new byte[1 << 20];
            Stage.Ready();
            while (!stop)
                Array.Copy(from, 1, to, 0, to.Length - 1);
            GC.KeepAlive(held);
        }

        static void Clears()
        {
            var held = Stage.Held(new Held.Helped());
            var array = new object[1 << 17];
            Stage.Ready();
            while (!stop)
                Array.Clear(array);
            GC.KeepAlive(held);
        }

        static void Concatenates()
        {
            var held = Stage.Held(new Held.Helped());
            string text = new string('a', 100);
            Stage.Ready();
            while (!stop)
                sink += (text + sink).Length;
            GC.KeepAlive(held);
        }

        static void AllocatesLarge()
        {
            var held = Stage.Held(new Held.Helped());
            Stage.Ready();
            while (!stop)
                sink += new byte[50_000].Length;
            GC.KeepAlive(held);
        }

        public static void Stop() => stop = true;

        // Compiled without optimisation at first, and replaced while it runs.
        static void Spins()
        {
            var held = Stage.Held(new Held.Spinning());
            Stage.Ready();
            for (long i = 0; !stop; i++)
                held.Number += i;
        }

        [MethodImpl(MethodImplOptions.AggressiveOptimization)]
        static void SpinsOptimised()
        {
            var held = Stage.Held(new Held.SpinningOptimised());
            Stage.Ready();
            for (long i = 0; !stop; i++)
                held.Number ^= i * 3;
        }

        [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)]
        static Span<Held.SpinningItem> Part() => Stage.Held(new Held.SpinningItem[100], By.Interior, callers: 1).AsSpan(50, 10);
        [MethodImpl(MethodImplOptions.AggressiveOptimization)]
        static void SpinsOverSpan()
        {
            Span<Held.SpinningItem> part = Part();
            Stage.Ready();
            while (!stop)
                for (int i = 0; i < part.Length; i++)
                    part[i].A += i;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int Add(int a, int b) => a + b;
        [MethodImpl(MethodImplOptions.AggressiveOptimization)]
        static void SpinsCalling()
        {
            var held = Stage.Held(new Held.SpinningCalls());
            Stage.Ready();
            while (!stop)
                sink = Add(sink, (int)held.Number);
        }

        static void Allocates()
        {
            var held = Stage.Held(new Held.Allocating());
            Stage.Ready();
            for (int i = 0; !stop; i++)
                GC.KeepAlive(new byte[i & 0xfff]);
            GC.KeepAlive(held);
        }

        static void Collects()
        {
            var held = Stage.Held(new Held.Collecting());
            Stage.Ready();
            while (!stop)
                GC.Collect();
            GC.KeepAlive(held);
        }

        public static void StartMany(int count)
        {
            for (int i = 0; i < count; i++)
                Stage.Start(Waits, waits: false, stack: 128 << 10); // dumps hold all of it
        }
        static void Waits()
        {
            var held = new Held.Many();
            Stage.Block();
            GC.KeepAlive(held);
        }
    }
}
