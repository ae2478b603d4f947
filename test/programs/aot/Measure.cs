// Makes objects and asks the GC how much each took: the account of bytes that dnheap's is compared with.
using System;
using System.Collections.Generic;
using System.Text;

static class Measure
{
    static readonly SortedDictionary<string, long> bytes = new(StringComparer.Ordinal);

    // Makes one object, keeps and counts it. `make` must allocate nothing else. Objects of such a type are made here only.
    public static T Make<T>(Func<T> make)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        T value = make();
        long size = GC.GetAllocatedBytesForCurrentThread() - before;
        string name = TypeNames.Of(value.GetType());
        bytes[name] = bytes.GetValueOrDefault(name) + size;
        return Truth.Count(value);
    }

    public static string Text()
    {
        var text = new StringBuilder("\"bytes\": {");
        string separator = "";
        foreach (var (name, size) in bytes)
        {
            text.Append(separator).Append('"').Append(name).Append("\": ").Append(size);
            separator = ", ";
        }
        return text.Append('}').ToString();
    }
}
