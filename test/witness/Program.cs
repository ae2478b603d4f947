// witness all DUMP DAC OUT.json [--lockfree] [--statics]   everything the tests compare with
//     --statics: static fields too, for which ClrMD wants libraries that are not here unless the dump is a full one
// witness fields DUMP DAC OUT.json [--lockfree]   names of fields and references (Fields.cs); full dumps only, too
// witness stat DUMP DAC [--lockfree]           the table of types, as fast as ClrMD goes: the peer of the benchmarks
using System;
using System.Linq;
using Microsoft.Diagnostics.Runtime;

bool lockFree = args.Contains("--lockfree");
string[] words = args.Where(word => !word.StartsWith("--")).ToArray();
if (words is not (["all" or "fields", _, _, _] or ["stat", _, _]))
{
    Console.Error.WriteLine("usage: witness all|fields DUMP DAC OUT.json [--lockfree] [--statics] | witness stat DUMP DAC [--lockfree]");
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
    Survey.Write(runtime.Heap, words[3], args.Contains("--statics"));
else if (words[0] == "fields")
    Fields.Write(runtime.Heap, words[3]);
else
    Statistics.Print(runtime.Heap);
return 0;
