namespace DnHeap;

/// <summary>Where the GC keeps an object.</summary>
public enum Generation : byte
{
    /// <summary>The youngest.</summary>
    Gen0,
    /// <summary>What one collection left.</summary>
    Gen1,
    /// <summary>The oldest.</summary>
    Gen2,
    /// <summary>The large object heap.</summary>
    Loh,
    /// <summary>The pinned object heap.</summary>
    Poh,
    /// <summary>Never collected.</summary>
    Frozen,
}

/// <summary>What kind of root it is.</summary>
public enum RootKind
{
    /// <summary>A GC handle.</summary>
    Handle,
    /// <summary>An object whose finalizer is due.</summary>
    Finalizer,
    /// <summary>A static field.</summary>
    Static,
    /// <summary>A static field of one thread.</summary>
    ThreadStatic,
    /// <summary>A COM object.</summary>
    Com,
    /// <summary>A local variable.</summary>
    Stack,
    /// <summary>A word on a stack that may be a local variable.</summary>
    StackConservative,
}

/// <summary>A type that has objects, by its MethodTable: two instances of a generic type are two.</summary>
/// <param name="MethodTable">Its address in the process.</param>
/// <param name="Name">"System.Collections.Generic.List&lt;Shop.Order&gt;".</param>
/// <param name="Assembly">"Shop.dll"; empty: not known.</param>
/// <param name="Id">Of types, from 0 on; null for holes between objects.</param>
/// <param name="Count">Of its objects.</param>
/// <param name="Bytes">Of them, as ClrMD and SOS report it.</param>
/// <param name="AlignedBytes">What they take in the heap.</param>
/// <param name="IsArray">Whether it is an array.</param>
public sealed record HeapType(ulong MethodTable, string Name, string Assembly, uint? Id, ulong Count, ulong Bytes, ulong AlignedBytes, bool IsArray)
{
    /// <summary>Holes between objects look like objects of this one.</summary>
    public bool IsFree => Id == null;
}

/// <summary>An object, or a hole between objects.</summary>
/// <param name="Address">In the process.</param>
/// <param name="MethodTable">Of its type.</param>
/// <param name="Bytes">As ClrMD and SOS report it.</param>
/// <param name="Type"><see cref="HeapType.Id"/>.</param>
/// <param name="Generation">Where it lies.</param>
/// <param name="IsFree">Whether it is a hole.</param>
public readonly record struct HeapObject(ulong Address, ulong MethodTable, ulong Bytes, uint? Type, Generation Generation, bool IsFree);

/// <summary>What a field refers to.</summary>
/// <param name="Target">The object.</param>
/// <param name="Field">"_items", "[17].value".</param>
/// <param name="Offset">From the object's first byte; null where no slot of the object has it.</param>
public readonly record struct HeapReference(ulong Target, string Field, ulong? Offset);

/// <summary>That one object refers to another one.</summary>
/// <param name="From">Who refers.</param>
/// <param name="To">To whom.</param>
public readonly record struct HeapEdge(ulong From, ulong To);

/// <summary>A string.</summary>
/// <param name="Address">In the process.</param>
/// <param name="Length">In chars, of the whole.</param>
/// <param name="Text">As much of it as was asked for; null: not in the dump. May be anybody's secret.</param>
public readonly record struct HeapString(ulong Address, ulong Length, string? Text);

/// <summary>What keeps an object alive by itself.</summary>
/// <param name="Object">What it leads to.</param>
/// <param name="Slot">Where the reference lies; 0: in a register.</param>
/// <param name="Kind">What it is.</param>
/// <param name="KindText">The same in words: "handle:strong".</param>
/// <param name="Name">"Shop.Cache._items"; empty: has none.</param>
/// <param name="Thread">"thread 4711"; empty: belongs to none.</param>
/// <param name="IsConservative">Any words were looked at: it may be chance.</param>
/// <param name="IsPinned">The object cannot be moved.</param>
public readonly record struct HeapRoot(ulong Object, ulong Slot, RootKind Kind, string KindText, string Name, string Thread, bool IsConservative, bool IsPinned);

/// <summary>What would be freed without an object.</summary>
/// <param name="Object">The object.</param>
/// <param name="Dominator">Through this one every way from a root leads; 0: through no single object.</param>
/// <param name="RetainedObjects">What would be freed with it, itself included.</param>
/// <param name="RetainedBytes">What these take in the heap.</param>
public readonly record struct HeapDominated(ulong Object, ulong Dominator, ulong RetainedObjects, ulong RetainedBytes);

/// <summary>What was opened.</summary>
/// <param name="Path">As it was named.</param>
/// <param name="Container">"elf-core", "macho-core", "minidump", "gcdump", "process".</param>
/// <param name="System">"linux", "windows".</param>
/// <param name="Architecture">"x64", "arm64".</param>
/// <param name="Runtime">"coreclr", "nativeaot", "corert".</param>
/// <param name="RuntimeVersion">"10.0.14"; empty: not known.</param>
/// <param name="Pid">Of the process; 0: not known.</param>
/// <param name="PointerSize">4 or 8.</param>
/// <param name="GcHeaps">1 but for server GC.</param>
/// <param name="IsServerGc">Server GC, or workstation GC.</param>
/// <param name="HasRegions">Regions, or segments.</param>
public sealed record HeapInfo(string Path, string Container, string System, string Architecture, string Runtime, string RuntimeVersion, ulong Pid, int PointerSize, int GcHeaps, bool IsServerGc, bool HasRegions);

/// <summary>How much of the heap all answers rest on.</summary>
/// <param name="IsComplete">All of it.</param>
/// <param name="Objects">Walked, holes included.</param>
/// <param name="Bytes">Of these.</param>
/// <param name="BadObjects">Places where no sound object lay.</param>
/// <param name="Gaps">Stretches that could not be walked.</param>
/// <param name="GapBytes">Of these.</param>
public sealed record HeapCompleteness(bool IsComplete, ulong Objects, ulong Bytes, ulong BadObjects, ulong Gaps, ulong GapBytes);

/// <summary>How far a long call is.</summary>
/// <param name="Pass">"walk", "dominators"; null between two.</param>
/// <param name="Done">Bytes of the pass.</param>
/// <param name="Total">Of how many; 0: not known.</param>
/// <param name="Objects">Seen so far.</param>
public readonly record struct HeapProgress(string? Pass, ulong Done, ulong Total, ulong Objects);

/// <summary>How to open a dump or a process. As it is, it suits most.</summary>
public sealed record OpenOptions
{
    /// <summary>Where to look for module files that the dump lacks.</summary>
    public IReadOnlyList<string> ModuleFolders { get; init; } = [];
    /// <summary>For decompressing; null: the system's.</summary>
    public string? TempFolder { get; init; }
    /// <summary>0: one per processor.</summary>
    public int Threads { get; init; }
    /// <summary>Which runtime, from 1, when a process has several; 0: the one that has a heap.</summary>
    public int Runtime { get; init; }
    /// <summary>That the copy of a live process may take; 0: no limit.</summary>
    public ulong MaxMemory { get; init; }
    /// <summary>False: a live process is not stopped; what it changes meanwhile may come out wrong.</summary>
    public bool Pause { get; init; } = true;
    /// <summary>True: a live process's GC lists the objects over the diagnostics port, in a full collection; no right to trace is needed.
    /// Contents of objects and threads are unknown then.</summary>
    public bool ByPort { get; init; }
    /// <summary>Called on the thread that waits, ten times a second. What it throws ends the call, and comes out there.</summary>
    public Action<HeapProgress>? Progress { get; init; }
}
