// Objects that die among others that live, so that the heap has Free objects between them.
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Aot
{
    class Filler { public long A, B, C; }

    static class Holes
    {
        static readonly List<Filler> fillers = new();
        static readonly List<GCHandle> pins = new();

        public static void Fill()
        {
            for (int i = 0; i < 2000; i++)
            {
                fillers.Add(new Filler());
                if (i % 100 == 0)
                    pins.Add(GCHandle.Alloc(new byte[16], GCHandleType.Pinned));
            }
        }

        public static void Dig()
        {
            fillers.RemoveAll(static filler => true);
            fillers.TrimExcess();
            System.GC.Collect();
        }
    }
}
