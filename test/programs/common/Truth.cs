// What a target program knows about its own heap, printed for the tests before the dump is taken.
//
// Protocol on standard output: one line "TRUTH {json}", then "READY pid"; then the program blocks on standard input.
// Everything that takes memory happens before the last collection, except small objects in gen0.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Text;

static class Truth
{
    static readonly Dictionary<Type, long> counts = new();
    static readonly Dictionary<Type, string> names = new();
    static readonly List<object> kept = new();
    static readonly List<(string label, object value)> labels = new();

    // Keeps an object alive.
    public static T Keep<T>(T value)
    {
        kept.Add(value);
        return value;
    }

    // Keeps an object alive and counts it; only for types of which every object passes through here.
    public static T Count<T>(T value)
    {
        Expect(value.GetType(), 1);
        return Keep(value);
    }

    // Announces objects of a type that are kept alive elsewhere.
    public static void Expect(Type type, long count)
    {
        counts[type] = counts.GetValueOrDefault(type) + count;
    }

    // Reports the address and generation of an object. The object must not move after the last collection.
    public static T Label<T>(string label, T value) where T : class
    {
        labels.Add((label, value));
        return value;
    }

    // Writes the counts, and warms up everything that WriteRest needs.
    public static string Types()
    {
        var byName = new SortedDictionary<string, long>(StringComparer.Ordinal);
        foreach (var (type, count) in counts)
            byName[TypeNames.Of(type)] = byName.GetValueOrDefault(TypeNames.Of(type)) + count;
        foreach (var (_, value) in labels)
            names[value.GetType()] = TypeNames.Of(value.GetType());
        var text = new StringBuilder("\"types\": {");
        string separator = "";
        foreach (var (name, count) in byName)
        {
            text.Append(separator).Append(Quote(name)).Append(": ").Append(count);
            separator = ", ";
        }
        return text.Append('}').ToString();
    }

    // The objects' places and what the GC says of itself, both as of the last collection.
    public static string AfterLastCollection()
    {
        var text = new StringBuilder("\"addresses\": {");
        string separator = "";
        foreach (var (label, value) in labels)
        {
            text.Append(separator).Append(Quote(label)).Append(": {\"address\": \"0x").Append(AddressOf(value).ToString("x"));
            text.Append("\", \"type\": ").Append(Quote(names[value.GetType()]));
            text.Append(", \"generation\": ").Append(GC.GetGeneration(value)).Append('}');
            separator = ", ";
        }

        GCMemoryInfo info = GC.GetGCMemoryInfo(GCKind.Any);
        text.Append("}, \"gcinfo\": {\"index\": ").Append(info.Index);
        text.Append(", \"generation\": ").Append(info.Generation);
        text.Append(", \"compacted\": ").Append(info.Compacted ? "true" : "false");
        text.Append(", \"concurrent\": ").Append(info.Concurrent ? "true" : "false");
        text.Append(", \"heap_size\": ").Append(info.HeapSizeBytes);
        text.Append(", \"fragmented\": ").Append(info.FragmentedBytes);
        text.Append(", \"total_committed\": ").Append(info.TotalCommittedBytes);
        text.Append(", \"generations\": [");
        separator = "";
        foreach (GCGenerationInfo generation in info.GenerationInfo)
        {
            text.Append(separator).Append("{\"size_after\": ").Append(generation.SizeAfterBytes);
            text.Append(", \"fragmentation_after\": ").Append(generation.FragmentationAfterBytes).Append('}');
            separator = ", ";
        }
        text.Append("]}, \"collections\": [").Append(GC.CollectionCount(0)).Append(", ").Append(GC.CollectionCount(1));
        text.Append(", ").Append(GC.CollectionCount(2)).Append("], \"server\": ").Append(GCSettings.IsServerGC ? "true" : "false");
        text.Append(", \"version\": ").Append(Quote(Environment.Version.ToString()));
        text.Append(", \"pid\": ").Append(Environment.ProcessId);
        return text.ToString();
    }

    // Prints everything and blocks until standard input ends. `types` comes from Types, called before the last collection.
    public static void PrintAndWait(string types)
    {
        using Stream output = Console.OpenStandardOutput();
        using Stream input = Console.OpenStandardInput();
        string line = "TRUTH {" + types + ", " + AfterLastCollection() + "}\nREADY " + Environment.ProcessId + "\n";
        Span<byte> buffer = stackalloc byte[1024];
        for (int at = 0; at < line.Length; at += 256)
            output.Write(buffer[..Encoding.UTF8.GetBytes(line.AsSpan(at, Math.Min(256, line.Length - at)), buffer)]);
        output.Flush();
        input.Read(buffer);
    }

    static unsafe ulong AddressOf(object value) => (ulong)*(nint*)Unsafe.AsPointer(ref value);

    static string Quote(string text)
    {
        var quoted = new StringBuilder("\"");
        foreach (char c in text)
        {
            if (c is '"' or '\\')
                quoted.Append('\\').Append(c);
            else if (c < ' ' || c > '~')
                quoted.Append("\\u").Append(((int)c).ToString("x4", CultureInfo.InvariantCulture));
            else
                quoted.Append(c);
        }
        return quoted.Append('"').ToString();
    }
}
