// witness all DUMP DAC OUT.json [--lockfree]   everything the tests compare with
// witness stat DUMP DAC [--lockfree]           the table of types, as fast as ClrMD goes: the peer of the benchmarks
// witness refs|live|verify DUMP DAC [--lockfree]   all references; what is reachable; what VerifyHeap() finds: likewise
using System;
using System.Linq;
using Microsoft.Diagnostics.Runtime;

bool lockFree = args.Contains("--lockfree");
string[] words = args.Where(word => !word.StartsWith("--")).ToArray();
if (words is not (["all", _, _, _] or ["stat" or "refs" or "live" or "verify", _, _]))
{
    Console.Error.WriteLine("usage: witness all DUMP DAC OUT.json [--lockfree] | witness stat|refs|live|verify DUMP DAC [--lockfree]");
    return 2;
}

using DataTarget target = DataTarget.LoadDump(words[1], new DataTargetOptions
{
    UseLockFreeMemoryMapReader = lockFree,
    FileLocator = new NoFiles(),
});
// ClrMD takes the runtime's version for 0.0 on Linux, so no DAC ever seems to match.
using ClrRuntime runtime = target.ClrVersions.Single().CreateRuntime(words[2], ignoreMismatch: true);
if (words[0] == "all")
    Survey.Write(runtime.Heap, words[3]);
else if (words[0] == "refs")
    Console.WriteLine(References.Survey(runtime.Heap));
else if (words[0] == "live")
    Console.WriteLine(References.Reachable(runtime.Heap, collectible: true));
else if (words[0] == "verify")
    Console.WriteLine(runtime.Heap.VerifyHeap().Count());
else
    Statistics.Print(runtime.Heap);
return 0;
