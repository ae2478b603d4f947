// Another's list of objects against what ClrMD walks, for dumps in which a walk may lose some.
//
// `lost`: ClrMD walks this object, which the list lacks. `lost-carefully`: it does when it goes on behind what is no
// object, at the next word that is a MethodTable. `more`: only the list has it. Each with its size and what ClrMD, asked
// about that address alone, says is wrong with it.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using Microsoft.Diagnostics.Runtime;

static class Addresses
{
    public static void Compare(ClrHeap heap, string path)
    {
        var listed = File.ReadLines(path).Select(line => ulong.Parse(line.AsSpan(2), NumberStyles.HexNumber)).ToHashSet();
        HashSet<ulong> plain = Walk(heap, false), carefully = Walk(heap, true);
        foreach (ulong address in plain.Except(listed).Order())
            Print("lost", heap, address);
        foreach (ulong address in carefully.Except(listed).Except(plain).Order())
            Print("lost-carefully", heap, address);
        foreach (ulong address in listed.Except(carefully).Except(plain).Order())
            Print("more", heap, address);
        Console.WriteLine($"walked {plain.Count} {carefully.Count}");
    }

    static HashSet<ulong> Walk(ClrHeap heap, bool carefully) =>
        heap.Segments.SelectMany(segment => segment.EnumerateObjects(carefully))
            .Where(obj => obj.Type is ClrType type && !type.IsFree).Select(obj => obj.Address).ToHashSet();

    static void Print(string what, ClrHeap heap, ulong address)
    {
        ClrObject obj = heap.GetObject(address);
        if (!obj.IsValid)
            Console.WriteLine($"{what} 0x{address:x} 0 invalid");
        else
            Console.WriteLine($"{what} 0x{address:x} {obj.Size} " +
                              (heap.IsObjectCorrupted(address, out ObjectCorruption? found) ? $"{found!.Kind}" : "sound"));
    }
}
