// Spreads live and dead objects over all generations, so that free objects of all sizes lie between live ones.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Zoo
{
    class Aged { public byte[] Payload; public Aged Next; }
    class Large { public object Buffer; }

    static class Holes
    {
        static readonly List<Aged> old = new();
        static readonly List<object> large = new();
        static readonly List<object> pinned = new();

        public static void Fill(int count)
        {
            for (int i = 0; i < count; i++)
            {
                old.Add(new Aged { Payload = new byte[i % 200] });
                if (i % 16 == 0)
                    GCHandle.Alloc(old[i].Payload, GCHandleType.Pinned);
            }
        }

        public static void FillLarge()
        {
            for (int i = 0; i < 24; i++)
                large.Add(new byte[85_000 + i * 5_001]);
            large.Add(new byte[3_000_000]);
            large.Add(new byte[5_000_003]);
            large.Add(new string('L', 50_001));
            large.Add(new long[20_000]);
            large.Add(new DateTimeOffset?[6_000]);
            large.Add(new byte[200_000]);
            large.Add(new (Node, int)[60, 100]);
            for (int i = 0; i < 40; i++)
                pinned.Add(GC.AllocateArray<byte>(100 + i * 37, pinned: true));
            pinned.Add(GC.AllocateArray<(long, double)>(5_000, pinned: true));
            pinned.Add(GC.AllocateUninitializedArray<int>(30_000, pinned: true));
        }

        // Lets every second object die and collects, which leaves free objects in their places: gen2 may be compacted,
        // but not across the pinned objects.
        public static void Dig()
        {
            DropOdd(old);
            DropOdd(large);
            DropOdd(pinned);
            GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: false);
        }

        static void DropOdd<T>(List<T> list)
        {
            int kept = 0;
            for (int i = 0; i < list.Count; i += 2)
                list[kept++] = list[i];
            list.RemoveRange(kept, list.Count - kept);
            list.TrimExcess();
        }

        public static void Report()
        {
            Truth.Expect(typeof(Aged), old.Count);
            Truth.Label("first in gen2", old[0]);
            Truth.Label("loh", large[0]);
            Truth.Label("loh string", large.Find(value => value is string));
            Truth.Label("poh", pinned[0]);
            Truth.Label("frozen", "a labelled literal");
        }
    }
}
