// What objects refer to, and what is reachable, as ClrMD has it. References lie in fields and elements and are not null;
// their hash is the wrapping sum over all of them of Mix(source, target), independent of order. Reachable is what strong
// handles and the queue of due finalizers lead to, and dependent handles from there; once without and once with what
// objects of collectible types keep alive though no field says so.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;
using Microsoft.Diagnostics.Runtime;

static class References
{
    public static (long Count, ulong Hash) Survey(ClrHeap heap)
    {
        long count = 0;
        ulong hash = 0;
        foreach (ClrSegment segment in heap.Segments)
            foreach (ClrObject obj in segment.EnumerateObjects())
                foreach (ulong target in InFields(heap, obj))
                {
                    count++;
                    hash += Mix(obj.Address, target);
                }
        return (count, hash);
    }

    public static (long Objects, ulong Bytes) Reachable(ClrHeap heap, bool collectible)
    {
        var dependents = heap.Runtime.EnumerateHandles().Where(handle => handle.HandleKind == ClrHandleKind.Dependent)
            .ToLookup(handle => handle.Object.Address, handle => handle.Dependent.Address);
        // ClrMD takes kinds that it does not know for strong ones, and dependent ones too.
        var todo = new Stack<ulong>(heap.Runtime.EnumerateHandles()
            .Where(handle => handle.IsStrong && handle.HandleKind is not (ClrHandleKind.Dependent or (ClrHandleKind)10))
            .Select(handle => handle.Object.Address)
            .Concat(heap.EnumerateFinalizerRoots().Select(root => root.Object.Address)));
        var seen = new HashSet<ulong>();
        ulong bytes = 0;
        while (todo.TryPop(out ulong address))
        {
            ClrObject obj = heap.GetObject(address);
            if (obj.Type is not ClrType type || type.IsFree || !seen.Add(address))
                continue;
            bytes += obj.Size;
            foreach (ulong target in InFields(heap, obj).Concat(dependents[address]))
                todo.Push(target);
            if (collectible && LoaderAllocator(heap, type) is ulong allocator and not 0)
                todo.Push(allocator);
        }
        return (seen.Count, bytes);
    }

    // The first one that ClrMD finds.
    public static string Path(ClrHeap heap, ulong address)
    {
        foreach ((ClrRoot root, GCRoot.ChainLink? link) in new GCRoot(heap, [address]).EnumerateRootPaths())
        {
            int steps = 0;
            for (GCRoot.ChainLink? at = link; at != null; at = at.Next)
                steps++;
            return $"{root.RootKind} {steps}";
        }
        return "none";
    }

    // What SOS objsize counts.
    public static (long Objects, ulong Bytes) Closure(ClrHeap heap, ulong address)
    {
        var todo = new Stack<ulong>([address]);
        var seen = new HashSet<ulong>();
        long objects = 0;
        ulong bytes = 0;
        while (todo.TryPop(out ulong next))
        {
            if (!seen.Add(next))
                continue;
            ClrObject obj = heap.GetObject(next);
            objects++;
            bytes += obj.Size;
            foreach (ClrObject target in obj.EnumerateReferences())
                if (!seen.Contains(target.Address))
                    todo.Push(target.Address);
        }
        return (objects, bytes);
    }

    public static void Write(Utf8JsonWriter json, ClrHeap heap)
    {
        (long count, ulong hash) = Survey(heap);
        json.WriteStartObject("references");
        json.WriteNumber("count", count);
        json.WriteString("hash", $"0x{hash:x}");
        json.WriteEndObject();
        foreach (bool collectible in new[] { false, true })
        {
            (long objects, ulong bytes) = Reachable(heap, collectible);
            json.WriteStartObject(collectible ? "reachable_with_collectible" : "reachable");
            json.WriteNumber("objects", objects);
            json.WriteNumber("bytes", bytes);
            json.WriteEndObject();
        }
    }

    static IEnumerable<ulong> InFields(ClrHeap heap, ClrObject obj)
    {
        if (obj.Type is not ClrType type || type.IsFree)
            return [];
        return obj.EnumerateReferenceAddresses(carefully: false, considerDependantHandles: false);
    }

    static ulong LoaderAllocator(ClrHeap heap, ClrType type) =>
        type.IsCollectible ? heap.Runtime.DataTarget.DataReader.ReadPointer(type.LoaderAllocatorHandle) : 0;

    static ulong Mix(ulong a, ulong b)
    {
        ulong h = a * 0x9E3779B97F4A7C15 + b;
        h ^= h >> 32;
        h *= 0xD6E8FEB86659FD93;
        return h ^ h >> 32;
    }
}
