// A small heap in a program compiled ahead of time, and what it holds. Like the zoo's, the order matters: specimens and
// roots first, so that they grow old; then holes; then gen1; then the last collection; after it only small objects in gen0.
using System;

namespace Aot
{
    static class Program
    {
        static readonly object[] young = new object[2];

        static void Main(string[] arguments)
        {
            Specimens.Make();
            Roots.Make();
            Waits.Start();
            Pending.Make();
            Holes.Fill();
            GC.Collect();
            GC.Collect();
            Holes.Dig();

            string[] toGen1 = Truth.Label("gen1", Fresh("born before the last collection"));
            string truth = Truth.Types() + ", " + Measure.Text() + ", " + Roots.Text() + ", " + Waits.Text() + ", " + Pending.Text();
            Truth.AfterLastCollection();
            GC.Collect(0, GCCollectionMode.Forced, blocking: true);
            young[0] = toGen1;
            young[1] = Truth.Label("gen0", Fresh("born after the last collection"));
            Truth.Print(truth);
            if (Truth.Wait() && arguments.Length > 0)
                Crashes.Crash(arguments[0]);
            Pending.Release();
            Waits.Release();
            Roots.Release();
        }

        static string[] Fresh(string text) => new[] { text + "." };
    }
}
