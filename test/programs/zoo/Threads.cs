// Living threads, each with thread statics and with an allocation context of its own, partly used.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Zoo
{
    class PerThread { public Node Node = new(); }
    class ByThread { public long Number; public ByThread Next; }
    class OnStack { public Node Node; }

    static class Threads
    {
        const int Dedicated = 8;
        const int Pooled = 3;
        const int Each = 25;

        [ThreadStatic] static PerThread mine;
        [ThreadStatic] static Dictionary<string, Node> table;
        [ThreadStatic] static int number;
        static readonly ThreadLocal<List<Node>> local = new(() => new List<Node>());

        static readonly ManualResetEvent allocate = new(false);
        static readonly ManualResetEvent never = new(false);
        static readonly CountdownEvent ready = new(Dedicated + Pooled);
        static readonly CountdownEvent allocated = new(Dedicated + Pooled);
        static readonly ByThread[] made = new ByThread[Dedicated + Pooled];

        // The header has room for a hash code or a lock; who wants both needs a sync block.
        static readonly Node[] locked = { new(), new(), new() };

        public static void Start()
        {
            foreach (Node node in locked)
            {
                System.Runtime.CompilerServices.RuntimeHelpers.GetHashCode(node);
                Monitor.Enter(node);
            }
            ThreadPool.SetMinThreads(Pooled + 2, 2);
            for (int i = 0; i < Dedicated; i++)
            {
                int index = i;
                new Thread(() => Live(index)) { IsBackground = true, Name = "zoo thread " + i }.Start();
            }
            for (int i = Dedicated; i < Dedicated + Pooled; i++)
            {
                int index = i;
                ThreadPool.UnsafeQueueUserWorkItem(_ => Live(index), null);
            }
            ready.Wait();
            Truth.Expect(typeof(PerThread), Dedicated + Pooled);
            Truth.Expect(typeof(OnStack), Dedicated + Pooled);
            Truth.Expect(typeof(ByThread), (Dedicated + Pooled) * Each);
        }

        // Called after the last collection: every thread allocates a little and then sleeps for good.
        public static void Allocate()
        {
            allocate.Set();
            allocated.Wait();
        }

        static void Live(int index)
        {
            var onStack = new OnStack { Node = new Node() };
            mine = new PerThread();
            number = index;
            local.Value.Add(new Node());
            if (index % 2 == 0)
                table = new Dictionary<string, Node> { ["thread " + index] = new Node() };
            ready.Signal();
            allocate.WaitOne();

            for (int i = 0; i < Each; i++)
            {
                made[index] = new ByThread { Number = i, Next = made[index] };
                _ = new byte[index * 10 + i];
            }
            allocated.Signal();
            never.WaitOne();
            GC.KeepAlive(onStack);
            GC.KeepAlive(number);
        }
    }
}
