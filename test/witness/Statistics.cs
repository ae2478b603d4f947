// Objects and bytes per type, the way a user of ClrMD writes it.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using Microsoft.Diagnostics.Runtime;

static class Statistics
{
    struct Row
    {
        public ClrType Type;
        public long Count;
        public ulong Bytes;
    }

    public static void Print(ClrHeap heap)
    {
        var rows = new Dictionary<ulong, Row>();
        foreach (ClrSegment segment in heap.Segments)
            foreach (ClrObject obj in segment.EnumerateObjects())
            {
                if (obj.Type is not ClrType type)
                    continue;
                ref Row row = ref CollectionsMarshal.GetValueRefOrAddDefault(rows, type.MethodTable, out _);
                row.Type = type;
                row.Count++;
                row.Bytes += obj.Size;
            }

        foreach (Row row in rows.Values.OrderByDescending(row => row.Bytes))
            Console.WriteLine($"{row.Type.MethodTable:x16} {row.Count,12} {row.Bytes,16} {row.Type.Name}");
        Console.WriteLine($"Total {rows.Values.Sum(row => row.Count)} objects, {rows.Values.Sum(row => (long)row.Bytes)} bytes");
    }
}
