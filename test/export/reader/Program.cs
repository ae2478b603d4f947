// Reads a .gcdump with the deserializer that PerfView and dotnet-gcdump read it with (FastSerialization, of the package
// TraceEvent), which checks tags, types, versions and forward references; the objects' own fields as their documents say.
// Prints sums: one line per type, name<TAB>module<TAB>nodes<TAB>bytes<TAB>children, then the whole.
using FastSerialization;

var settings = SerializationSettings.Default.WithStreamLabelWidth(StreamLabelWidth.FourBytes);
using var from = new Deserializer(new IOStreamStreamReader(args[0], settings), args[0]);
from.RegisterFactory("GCHeapDump", () => new HeapDump());
from.RegisterFactory("Graphs.MemoryGraph", () => new Graph());
from.RegisterFactory("DotNetHeapInfo", () => new HeapInfo());
from.RegisterFactory("GCHeapDumpSegment", () => new Segment());
var dump = (HeapDump)from.GetEntryObject();
foreach (var type in dump.Graph!.Sums.OrderBy(one => one.Key, StringComparer.Ordinal))
    Console.WriteLine($"{type.Key}\t{type.Value.Nodes}\t{type.Value.Bytes}\t{type.Value.Children}");
Console.WriteLine($"total\t{dump.Graph.Total}\troot\t{dump.Graph.Types[dump.Graph.NodeTypes[dump.Graph.Root]].Name}\tsegments\t{dump.Info!.Segments.Count}\ttool\t{dump.Tool}");

sealed class HeapDump : IFastSerializable, IFastSerializableVersion
{
    public Graph? Graph;
    public HeapInfo? Info;
    public string? Tool;
    int IFastSerializableVersion.Version => 10;
    int IFastSerializableVersion.MinimumVersionCanRead => 8;
    int IFastSerializableVersion.MinimumReaderVersion => 8;
    public void ToStream(Serializer to) => throw new NotSupportedException();
    public void FromStream(Deserializer from)
    {
        from.Read(out Graph);
        from.ReadBool();
        from.ReadFloat();
        from.ReadFloat();
        if (from.ReadObject() != null)
            throw new InvalidDataException("JavaScript");
        Info = (HeapInfo)from.ReadObject();
        from.ReadString();
        from.ReadInt64();
        from.ReadString();
        from.ReadString();
        from.ReadInt();
        from.ReadInt64();
        from.ReadInt64();
        if (from.ReadInt() != 0)
            throw new InvalidDataException("multipliers");
        IFastSerializable? interop = null;
        from.TryReadTagged(ref interop!); // passes over the region, by its forward reference
        if (interop != null)
            throw new InvalidDataException("COM");
        from.TryReadTagged(ref Tool!);
    }
}

sealed class Graph : IFastSerializable, IFastSerializableVersion
{
    public long Total;
    public int Root;
    public (string Name, int Size, string? Module)[] Types = [];
    public int[] NodeTypes = [];
    public Dictionary<string, (long Nodes, long Bytes, long Children)> Sums = [];
    int IFastSerializableVersion.Version => 1;
    int IFastSerializableVersion.MinimumVersionCanRead => 0;
    int IFastSerializableVersion.MinimumReaderVersion => 0;
    public void ToStream(Serializer to) => throw new NotSupportedException();
    public void FromStream(Deserializer from)
    {
        Total = from.ReadInt64();
        Root = from.ReadInt();
        Types = new (string, int, string?)[from.ReadInt()];
        for (int i = 0; i < Types.Length; ++i)
            Types[i] = (from.ReadString(), from.ReadInt(), from.ReadString());
        var places = new int[from.ReadInt()];
        for (int i = 0; i < places.Length; ++i)
            places[i] = from.ReadInt();
        var graph = new byte[from.ReadInt()];
        from.Read(graph, 0, graph.Length);
        int nodes = from.ReadInt();
        for (int i = 0; i < nodes; ++i)
            from.ReadInt64();
        bool is64 = false;
        from.TryReadTagged(ref is64);
        NodeTypes = new int[places.Length];
        for (int node = 0; node < places.Length; ++node)
        {
            int at = places[node], kind = Number(graph, ref at);
            NodeTypes[node] = kind >> 1;
            var type = Types[kind >> 1];
            int size = (kind & 1) != 0 ? Number(graph, ref at) : type.Size, children = Number(graph, ref at);
            for (int i = 0; i < children; ++i)
                if (node + Number(graph, ref at) is var child && (child < 0 || child >= places.Length))
                    throw new InvalidDataException($"node {node} refers to {child}");
            var sum = Sums.GetValueOrDefault($"{type.Name}\t{type.Module}");
            Sums[$"{type.Name}\t{type.Module}"] = (sum.Nodes + 1, sum.Bytes + size, sum.Children + children);
        }
    }
    static int Number(byte[] graph, ref int at)
    {
        byte group = graph[at++];
        int value = group << 25 >> 25;
        while ((group & 0x80) != 0)
        {
            group = graph[at++];
            value = value << 7 | group & 0x7f;
        }
        return value;
    }
}

sealed class HeapInfo : IFastSerializable
{
    public List<Segment> Segments = [];
    public void ToStream(Serializer to) => throw new NotSupportedException();
    public void FromStream(Deserializer from)
    {
        from.ReadInt64();
        int count = from.ReadInt();
        for (int i = 0; i < count; ++i)
            Segments.Add((Segment)from.ReadObject());
    }
}

sealed class Segment : IFastSerializable, IFastSerializableVersion
{
    int IFastSerializableVersion.Version => 1;
    int IFastSerializableVersion.MinimumVersionCanRead => 0;
    int IFastSerializableVersion.MinimumReaderVersion => 1;
    public void ToStream(Serializer to) => throw new NotSupportedException();
    public void FromStream(Deserializer from)
    {
        for (int i = 0; i < 7; ++i)
            from.ReadInt64();
    }
}
