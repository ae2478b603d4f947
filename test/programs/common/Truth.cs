// What a target program knows about its own heap, printed for the tests before the dump is taken.
//
// Protocol: the program prints one line "TRUTH {json}", then "READY pid", and blocks on standard input.
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

    // Keeps an object alive and reports its type's name.
    public static T Keep<T>(T value)
    {
        kept.Add(value);
        Name(value.GetType());
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
        Name(type);
    }

    // Reports the name of the type that this method table stands for.
    public static void Name(Type type)
    {
        names.TryAdd(type, "");
    }

    // Reports the address and generation of an object. The object must not move after the last collection.
    public static T Label<T>(string label, T value) where T : class
    {
        labels.Add((label, value));
        Name(value.GetType());
        return value;
    }

    // Counts by type name, and names by method table.
    public static string Types()
    {
        var byName = new SortedDictionary<string, long>(StringComparer.Ordinal);
        foreach (var (type, count) in counts)
            byName[TypeNames.Of(type)] = byName.GetValueOrDefault(TypeNames.Of(type)) + count;
        var text = new StringBuilder("\"types\": {");
        string separator = "";
        foreach (var (name, count) in byName)
        {
            text.Append(separator).Append(Quote(name)).Append(": ").Append(count);
            separator = ", ";
        }
        text.Append("}, \"names\": {");
        separator = "";
        foreach (Type type in new List<Type>(names.Keys))
        {
            names[type] = TypeNames.Of(type);
            text.Append(separator).Append("\"0x").Append(type.TypeHandle.Value.ToString("x")).Append("\": ");
            text.Append(Quote(names[type]));
            separator = ", ";
        }
        return text.Append('}').ToString();
    }

    // The objects' places and what the GC says of itself, both as of the last collection. Call it once before that, so
    // that everything it needs is loaded.
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

    // Prints everything. `types` comes from Types, called before the last collection.
    public static void Print(string types)
    {
        string line = "TRUTH {" + types + ", " + AfterLastCollection() + "}\nREADY " + Environment.ProcessId + "\n";
        using Stream output = Console.OpenStandardOutput();
        Span<byte> buffer = stackalloc byte[1024];
        for (int at = 0; at < line.Length; at += buffer.Length)
        {
            ReadOnlySpan<char> piece = line.AsSpan(at, Math.Min(buffer.Length, line.Length - at));
            output.Write(buffer[..Encoding.ASCII.GetBytes(piece, buffer)]);
        }
    }

    // Blocks until the test writes a line (true) or closes standard input (false). The line FAIL ends the process as a
    // fatal error does, so that the kernel writes a core.
    public static bool Wait()
    {
        using Stream input = Console.OpenStandardInput();
        Span<byte> buffer = stackalloc byte[16];
        int length = input.Read(buffer);
        if (buffer[..length].StartsWith("FAIL"u8))
            Environment.FailFast("the test asked for it");
        return length > 0;
    }

    public static unsafe ulong AddressOf(object value) => (ulong)*(nint*)Unsafe.AsPointer(ref value);

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
