// witness all DUMP DAC OUT.json [--lockfree] [--statics]   everything the tests compare with
//     --statics: static fields too, for which ClrMD wants libraries that are not here unless the dump is a full one
// witness fields DUMP DAC OUT.json [--lockfree]   names of fields and references (Fields.cs); full dumps only, too
// witness stat DUMP DAC [--lockfree]           the table of types, as fast as ClrMD goes: the peer of the benchmarks
// witness refs|live|verify DUMP DAC [--lockfree]   all references; what is reachable; what VerifyHeap() finds: likewise
// witness corrupted DUMP DAC                   what VerifyHeap() finds, one object a line: its address, what is wrong
// witness addresses DUMP DAC IN [--lockfree]   how the objects whose addresses are in a file differ from those it walks
// witness stacks DUMP DAC OUT [--skip=ID,…]    frames and roots of every thread but those, a line for each (Stacks.cs)
// witness path|closure DUMP DAC ADDRESS [--lockfree]   one path from a root, by ClrMD's GCRoot; what can be reached from it
using System;
using System.Globalization;
using System.Linq;
using Microsoft.Diagnostics.Runtime;

bool lockFree = args.Contains("--lockfree");
string[] words = args.Where(word => !word.StartsWith("--")).ToArray();
if (words is not (["all" or "fields" or "addresses" or "stacks", _, _, _] or ["stat" or "refs" or "live" or "verify" or "corrupted", _, _] or
    ["path" or "closure", _, _, _]))
{
    Console.Error.WriteLine("usage: witness all|fields|addresses|stacks DUMP DAC FILE [--lockfree] [--statics] [--skip=ID,…] | " +
                            "witness stat|refs|live|verify|corrupted DUMP DAC [--lockfree] | " +
                            "witness path|closure DUMP DAC ADDRESS [--lockfree]");
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
else if (words[0] == "addresses")
    Addresses.Compare(runtime.Heap, words[3]);
else if (words[0] == "stacks")
{
    string skipped = args.FirstOrDefault(word => word.StartsWith("--skip="))?["--skip=".Length..] ?? "";
    Stacks.Write(runtime, words[3], skipped.Split(',', StringSplitOptions.RemoveEmptyEntries).Select(uint.Parse).ToHashSet());
}
else if (words[0] == "refs")
    Console.WriteLine(References.Survey(runtime.Heap));
else if (words[0] == "live")
    Console.WriteLine(References.Reachable(runtime.Heap, collectible: true));
else if (words[0] is "path" or "closure")
{
    ulong address = ulong.Parse(words[3].AsSpan(2), NumberStyles.HexNumber);
    Console.WriteLine(words[0] == "path" ? References.Path(runtime.Heap, address) : References.Closure(runtime.Heap, address));
}
else if (words[0] == "verify")
    Console.WriteLine(runtime.Heap.VerifyHeap().Count());
else if (words[0] == "corrupted")
{
    foreach (ObjectCorruption found in runtime.Heap.VerifyHeap())
        Console.WriteLine($"0x{found.Object.Address:x} {found.Kind}");
}
else
    Statistics.Print(runtime.Heap);
return 0;
