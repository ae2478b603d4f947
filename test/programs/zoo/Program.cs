// Builds a small heap that holds one of everything a heap walker can trip over, and says what it holds.
//
// The order matters: specimens first, so that they grow old; then holes; then gen1; then the last collection; after it
// only small objects in gen0.
using System;
using System.Threading;

namespace Zoo
{
    static class Program
    {
        static readonly object[] young = new object[2];

        static void Main()
        {
            Generics.Make();
            Arrays.Make();
            Values.Make();
            Unicode.Makes.Make();
            Collections.Make();
            Dynamic.Make();
            Handles.Make();
            Threads.Start();

            Holes.Fill(2_000);
            Holes.FillLarge();
            GC.Collect();
            Handles.BlockFinalizer();
            GC.Collect();
            Holes.Dig();
            Holes.Report();

            // What survives one collection of gen0 is in gen1; what is made after it is in gen0.
            string[] toGen1 = Truth.Label("gen1", Fresh("born before the last collection"));
            string types = Truth.Types();
            Truth.AfterLastCollection();
            GC.Collect(0, GCCollectionMode.Forced, blocking: true);
            young[0] = toGen1;
            young[1] = Truth.Label("gen0", Fresh("born after the last collection"));
            Threads.Allocate();
            Truth.Print(types);
            Truth.Wait();
            Handles.Unblock.Set();
        }

        static string[] Fresh(string text) => new[] { text + "." };
    }
}
