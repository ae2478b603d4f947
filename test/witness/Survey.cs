// Everything the tests compare: types, segments and totals of a heap, as one JSON file.
//
// "bytes" of types are ClrMD's sizes; aligned bytes, and all bytes of segments, are rounded up to 8, which is what objects
// take in a 64-bit heap. Free objects are among the types and totals; in segments they are counted apart. The object hash
// is the wrapping sum over all objects, Free ones included, of Mix(address, method table): independent of order.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Json;
using Microsoft.Diagnostics.Runtime;

static class Survey
{
    static readonly string[] generations = ["gen0", "gen1", "gen2", "loh", "poh", "frozen"];

    class TypeRow(ClrType type)
    {
        public readonly ClrType Type = type;
        public long Count;
        public ulong Bytes;
        public readonly ulong[] Aligned = new ulong[generations.Length];
    }

    // A segment, or the part of the ephemeral segment (GC without regions) that one generation occupies.
    class SegmentRow(ClrSegment segment, string generation, MemoryRange objects)
    {
        public readonly ClrSegment Segment = segment;
        public readonly string Generation = generation;
        public readonly MemoryRange Range = objects;
        public long Objects, FreeObjects, Invalid;
        public ulong Aligned, FreeAligned;
    }

    public static void Write(ClrHeap heap, string path, bool statics)
    {
        var types = new Dictionary<ulong, TypeRow>();
        var segments = new List<SegmentRow>();
        ulong hash = 0;
        foreach (ClrSegment segment in heap.Segments)
        {
            SegmentRow[] parts = Parts(segment);
            segments.AddRange(parts);
            foreach (ClrObject obj in segment.EnumerateObjects())
            {
                SegmentRow part = parts.Single(part => part.Range.Contains(obj.Address));
                // What has no type is no object; ClrMD cannot tell where the next one begins and leaves the segment.
                if (obj.Type is not ClrType type)
                {
                    part.Invalid++;
                    continue;
                }
                ulong aligned = (obj.Size + 7) & ~7UL;
                if (!types.TryGetValue(type.MethodTable, out TypeRow? row))
                    types.Add(type.MethodTable, row = new TypeRow(type));
                row.Count++;
                row.Bytes += obj.Size;
                row.Aligned[Array.IndexOf(generations, part.Generation)] += aligned;
                if (type.IsFree)
                {
                    part.FreeObjects++;
                    part.FreeAligned += aligned;
                }
                else
                {
                    part.Objects++;
                    part.Aligned += aligned;
                }
                hash += Mix(obj.Address, type.MethodTable);
            }
        }

        using FileStream file = File.Create(path);
        using var json = new Utf8JsonWriter(file, new JsonWriterOptions { Indented = true });
        json.WriteStartObject();
        WriteTypes(json, types.Values);
        WriteSegments(json, segments);
        WriteHandles(json, heap);
        References.Write(json, heap);
        WriteRoots(json, heap);
        if (statics)
            WriteStatics(json, heap, types.Values.Select(row => row.Type));
        json.WriteStartObject("totals");
        json.WriteNumber("objects", types.Values.Sum(row => row.Count));
        json.WriteNumber("bytes", types.Values.Sum(row => (long)row.Bytes));
        json.WriteNumber("aligned_bytes", segments.Sum(row => (long)(row.Aligned + row.FreeAligned)));
        json.WriteNumber("free_objects", segments.Sum(row => row.FreeObjects));
        json.WriteNumber("free_bytes", segments.Sum(row => (long)row.FreeAligned));
        json.WriteNumber("invalid", segments.Sum(row => row.Invalid));
        json.WriteBoolean("can_walk", heap.CanWalkHeap);
        json.WriteNumber("heaps", heap.SubHeaps.Length);
        json.WriteBoolean("server", heap.IsServer);
        json.WriteEndObject();
        json.WriteString("object_hash", Hex(hash));
        json.WriteEndObject();
    }

    static SegmentRow[] Parts(ClrSegment segment) => segment.Kind switch
    {
        GCSegmentKind.Ephemeral =>
        [
            new(segment, "gen2", segment.Generation2),
            new(segment, "gen1", segment.Generation1),
            new(segment, "gen0", segment.Generation0),
        ],
        GCSegmentKind.Generation0 => [new(segment, "gen0", segment.ObjectRange)],
        GCSegmentKind.Generation1 => [new(segment, "gen1", segment.ObjectRange)],
        GCSegmentKind.Generation2 => [new(segment, "gen2", segment.ObjectRange)],
        GCSegmentKind.Large => [new(segment, "loh", segment.ObjectRange)],
        GCSegmentKind.Pinned => [new(segment, "poh", segment.ObjectRange)],
        GCSegmentKind.Frozen => [new(segment, "frozen", segment.ObjectRange)],
        _ => throw new InvalidDataException($"segment {segment.Start:x} is of kind {segment.Kind}"),
    };

    static void WriteTypes(Utf8JsonWriter json, IEnumerable<TypeRow> rows)
    {
        json.WriteStartArray("types");
        foreach (TypeRow row in rows.OrderBy(row => row.Type.MethodTable))
        {
            json.WriteStartObject();
            json.WriteString("method_table", Hex(row.Type.MethodTable));
            json.WriteString("type", row.Type.Name);
            json.WriteNumber("count", row.Count);
            json.WriteNumber("bytes", row.Bytes);
            json.WriteNumber("aligned_bytes", row.Aligned.Aggregate((a, b) => a + b));
            json.WriteBoolean("free", row.Type.IsFree);
            for (int i = 0; i < generations.Length; i++)
                json.WriteNumber(generations[i], row.Aligned[i]);
            json.WriteEndObject();
        }
        json.WriteEndArray();
    }

    // Those that are not on stacks. ClrMD calls dependent handles strong, too.
    static void WriteRoots(Utf8JsonWriter json, ClrHeap heap)
    {
        json.WriteStartArray("roots");
        IEnumerable<ClrRoot> handles = heap.Runtime.EnumerateHandles().Where(handle => handle.IsStrong && handle.HandleKind != ClrHandleKind.Dependent);
        foreach (ClrRoot root in handles.Concat(heap.EnumerateFinalizerRoots()))
        {
            json.WriteStartObject();
            json.WriteString("kind", root.RootKind.ToString());
            json.WriteString("address", Hex(root.Address));
            json.WriteString("object", Hex(root.Object.Address));
            json.WriteEndObject();
        }
        json.WriteEndArray();
    }

    // Static fields of reference type that are not null, of every type that a module defines and every type with objects.
    // Not of Free, nor of collectible types: of .NET 8's the DAC dereferences null.
    static void WriteStatics(Utf8JsonWriter json, ClrHeap heap, IEnumerable<ClrType> types)
    {
        ClrRuntime runtime = heap.Runtime;
        var all = types.ToDictionary(type => type.MethodTable);
        foreach (ClrModule module in runtime.EnumerateModules())
            foreach ((ulong methodTable, int _) in module.EnumerateTypeDefToMethodTableMap())
                if (runtime.GetTypeByMethodTable(methodTable) is ClrType type)
                    all.TryAdd(methodTable, type);
        json.WriteStartArray("statics");
        foreach (ClrType type in all.Values.Where(type => !type.IsFree && !type.IsCollectible).OrderBy(type => type.MethodTable))
            foreach (ClrStaticField field in type.StaticFields.Where(field => field.IsObjectReference))
                foreach (ClrAppDomain domain in runtime.AppDomains)
                {
                    ulong address = field.GetAddress(domain);
                    if (address == 0 || !runtime.DataTarget.DataReader.ReadPointer(address, out ulong value) || value == 0)
                        continue;
                    json.WriteStartObject();
                    json.WriteString("name", type.Name + "." + field.Name);
                    json.WriteString("address", Hex(address));
                    json.WriteString("object", Hex(value));
                    json.WriteEndObject();
                }
        json.WriteEndArray();
    }

    static void WriteSegments(Utf8JsonWriter json, IEnumerable<SegmentRow> rows)
    {
        json.WriteStartArray("segments");
        foreach (SegmentRow row in rows.OrderBy(row => row.Range.Start))
        {
            json.WriteStartObject();
            json.WriteNumber("heap", row.Segment.SubHeap.Index);
            json.WriteString("generation", row.Generation);
            json.WriteString("segment", Hex(row.Segment.Address));
            json.WriteString("start", Hex(row.Range.Start));
            json.WriteString("end", Hex(row.Range.End));
            json.WriteString("committed_end", Hex(row.Segment.CommittedMemory.End));
            json.WriteString("reserved_end", Hex(row.Segment.ReservedMemory.End));
            json.WriteNumber("objects", row.Objects);
            json.WriteNumber("bytes", row.Aligned);
            json.WriteNumber("free_objects", row.FreeObjects);
            json.WriteNumber("free_bytes", row.FreeAligned);
            json.WriteNumber("invalid", row.Invalid);
            json.WriteEndObject();
        }
        json.WriteEndArray();
    }

    // GC handles, and the finalization queues: objects that will be finalized when they die, and such that have.
    static void WriteHandles(Utf8JsonWriter json, ClrHeap heap)
    {
        json.WriteStartArray("handles");
        foreach (ClrHandle handle in heap.Runtime.EnumerateHandles().OrderBy(handle => handle.Address))
        {
            json.WriteStartObject();
            json.WriteString("handle", Hex(handle.Address));
            json.WriteString("kind", handle.HandleKind.ToString());
            json.WriteString("object", Hex(handle.Object.Address));
            json.WriteString("secondary", Hex(handle.Dependent.Address));
            json.WriteEndObject();
        }
        json.WriteEndArray();
        // The GC's memory without objects: handle tables, card tables, free regions.
        json.WriteStartArray("gc_memory");
        foreach (ClrNativeHeapInfo info in heap.Runtime.EnumerateClrNativeHeaps())
        {
            string kind = info.Kind.ToString();
            if (!kind.StartsWith("GC") && kind != "HandleTable")
                continue;
            json.WriteStartObject();
            json.WriteString("kind", kind);
            json.WriteString("start", Hex(info.MemoryRange.Start));
            json.WriteNumber("bytes", info.MemoryRange.Length);
            json.WriteEndObject();
        }
        json.WriteEndArray();
        json.WriteStartObject("finalization");
        json.WriteNumber("finalizable", heap.EnumerateFinalizableObjects().Count());
        json.WriteNumber("ready", heap.EnumerateFinalizerRoots().Count());
        json.WriteEndObject();
    }

    static string Hex(ulong value) => $"0x{value:x}";

    static ulong Mix(ulong a, ulong b)
    {
        ulong h = a * 0x9E3779B97F4A7C15 + b;
        h ^= h >> 32;
        h *= 0xD6E8FEB86659FD93;
        return h ^ h >> 32;
    }
}
