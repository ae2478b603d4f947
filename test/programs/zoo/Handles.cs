// GC handles of every kind a program can make, weak tables, and a finalizer that blocks the finalizer thread.
using System;
using System.Collections.Generic;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Zoo
{
    class Handled { public int Number; }
    class Attached { public object To; }
    class Doomed { public Node Node = new(); ~Doomed() { } }
    class Blocker
    {
        ~Blocker()
        {
            Handles.Unblock.WaitOne();
            GC.KeepAlive(this);
        }
    }

    static class Handles
    {
        static readonly ConditionalWeakTable<Handled, Attached> table = new();
        static readonly List<DependentHandle> dependents = new();
        public static readonly ManualResetEvent Unblock = new(false);

        public static void Make()
        {
            for (int i = 0; i < 50; i++)
            {
                Handled key = Truth.Count(new Handled());
                table.Add(key, new Attached { To = i % 2 == 0 ? key : null });
                dependents.Add(new DependentHandle(key, new Attached()));
            }
            Truth.Expect(typeof(Attached), 100);

            Truth.Expect(typeof(Strong), 20);
            for (int i = 0; i < 20; i++)
                GCHandle.Alloc(new Strong(), GCHandleType.Normal);
            Handled target = Truth.Count(new Handled());
            Truth.Keep(GCHandle.Alloc(target, GCHandleType.Weak));
            Truth.Keep(GCHandle.Alloc(target, GCHandleType.WeakTrackResurrection));
            Truth.Keep(new WeakReference(target));
            Truth.Keep(new WeakReference<Handled>(target, true));
            GCHandle.Alloc(new byte[100], GCHandleType.Pinned);
            GCHandle.Alloc("pinned string " + target.Number, GCHandleType.Pinned);
            DeadTargets();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void DeadTargets()
        {
            Truth.Keep(new WeakReference(new Handled()));
            Truth.Keep(GCHandle.Alloc(new Handled(), GCHandleType.Weak));
        }

        // Leaves ten objects waiting for the finalizer thread, which is stuck in the eleventh's finalizer.
        public static void BlockFinalizer()
        {
            DropBlocker();
            GC.Collect();
            Thread.Sleep(50);
            DropDoomed();
            Truth.Expect(typeof(Blocker), 1);
            Truth.Expect(typeof(Doomed), 10);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void DropBlocker() => new Blocker();

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void DropDoomed()
        {
            for (int i = 0; i < 10; i++)
                new Doomed();
        }
    }

    class Strong { public long Number; }
}
