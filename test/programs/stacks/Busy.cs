// Threads that do not wait: loops that allocate nothing, and loops that do while others collect.
using System;
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
