// storm alloc | collect
// `alloc`: threads allocate small, large and pinned objects all the time, some of them without clearing, while others
// collect, in the background mostly: a dump catches objects half made, and memory that still holds what was there before.
// `collect`: few threads allocate, and most of the time a blocking collection marks, plans, moves or sweeps a graph whose
// objects die here and there.
using System;
using System.Threading;

namespace Storm
{
    class Link
    {
        public Link Next;
        public object Content;
        public long Number;
    }

    // As small as can be: what a collection writes in front of survivors is as long.
    class Dust
    {
    }

    static class Program
    {
        const int Kept = 400; // by each thread, in a ring
        const int Large = 6; // of those that are large

        static readonly Link[] chains = new Link[64];
        static object[] garden = [];

        static void Main(string[] arguments)
        {
            bool collecting = arguments[0] == "collect";
            Plant(collecting ? 200_000 : 30_000);
            Truth.Print(Truth.Types()); // first: it takes long where others collect without end
            for (int i = 0; i < (collecting ? 2 : 4); i++)
                Run(i, Small);
            for (int i = 0; i < (collecting ? 1 : 6); i++)
                Run(10 + i, Huge);
            for (int i = 0; i < (collecting ? 1 : 3); i++)
                Run(20 + i, Pinned);
            Run(30, collecting ? Collect : CollectNowAndThen);
            Truth.Wait();
        }

        static void Run(int seed, Action<Random> storm) =>
            new Thread(() => storm(new Random(seed)), 1 << 18) { IsBackground = true }.Start();

        // Objects that refer to each other, with others in between that die.
        static void Plant(int count)
        {
            garden = new object[count];
            var random = new Random(7);
            for (int i = 0; i < count; i++)
                garden[i] = random.Next(4) switch
                {
                    0 => new Dust(),
                    1 => new string('g', random.Next(20)),
                    2 => new int[random.Next(12)],
                    _ => new Link { Number = i, Content = garden[random.Next(i + 1)] },
                };
        }

        static void Small(Random random)
        {
            var kept = new object[Kept];
            for (int i = 0; ; i++)
            {
                object one = random.Next(9) switch
                {
                    0 => new Dust(),
                    1 => new string('s', random.Next(60)),
                    2 => new byte[random.Next(500)],
                    3 => GC.AllocateUninitializedArray<byte>(2048 + random.Next(20_000)),
                    4 => new object[random.Next(40)],
                    5 => (object)i,
                    _ => new Link { Number = i, Next = chains[i % chains.Length], Content = kept[random.Next(Kept)] },
                };
                kept[random.Next(Kept)] = one;
                if (one is Link link && i % 5 == 0)
                {
                    if (random.Next(50) == 0)
                        link.Next = null; // else one list would hold all there ever was
                    link.Content = null;
                    chains[i % chains.Length] = link;
                    garden[random.Next(garden.Length)] = new Link { Number = i };
                }
            }
        }

        static void Huge(Random random)
        {
            var kept = new object[Large];
            for (int i = 0; ; i++)
            {
                int length = 90_000 + random.Next(random.Next(4) == 0 ? 20_000_000 : 400_000);
                kept[random.Next(Large)] = random.Next(4) switch
                {
                    0 => new object[length / 8],
                    1 => GC.AllocateUninitializedArray<byte>(length),
                    2 => new string('h', length / 2),
                    _ => new byte[length],
                };
            }
        }

        static void Pinned(Random random)
        {
            var kept = new object[Kept];
            for (int i = 0; ; i++)
            {
                int length = random.Next(random.Next(20) == 0 ? 300_000 : 3000);
                kept[random.Next(Kept)] = i % 2 == 0 ? GC.AllocateArray<byte>(length, pinned: true)
                                                     : GC.AllocateUninitializedArray<long>(length / 8, pinned: true);
            }
        }

        static void CollectNowAndThen(Random random)
        {
            while (true)
            {
                GC.Collect(random.Next(3), GCCollectionMode.Forced, blocking: random.Next(4) == 0, compacting: random.Next(2) == 0);
                Thread.Sleep(random.Next(20));
            }
        }

        static void Collect(Random random)
        {
            while (true)
                GC.Collect(random.Next(3), GCCollectionMode.Forced, blocking: true, compacting: random.Next(2) == 0);
        }
    }
}
