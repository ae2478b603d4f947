// witness all DUMP DAC OUT.json [--lockfree]   everything the tests compare with
// witness fields DUMP DAC OUT.json [--lockfree] names of fields and references (Fields.cs)
// witness stat DUMP DAC [--lockfree]           the table of types, as fast as ClrMD goes: the peer of the benchmarks
using System;
using System.Linq;
using Microsoft.Diagnostics.Runtime;

bool lockFree = args.Contains("--lockfree");
string[] words = args.Where(word => !word.StartsWith("--")).ToArray();
if (words is not (["all" or "fields", _, _, _] or ["stat", _, _]))
{
    Console.Error.WriteLine("usage: witness all|fields DUMP DAC OUT.json [--lockfree] | witness stat DUMP DAC [--lockfree]");
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
else if (words[0] == "fields")
    Fields.Write(runtime.Heap, words[3]);
else
    Statistics.Print(runtime.Heap);
return 0;
