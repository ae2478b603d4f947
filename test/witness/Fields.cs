// What ClrMD says of fields, as one JSON file: of every type with objects its fields (name, token, and of instance
// fields the offset from the first one), and of every reference that lies in a field, what that is called, as
// "._tables" or "._state.Item": once for each type and offset. Of references in elements of arrays it knows no names;
// they are counted.
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.Json;
using Microsoft.Diagnostics.Runtime;

static class Fields
{
    public static void Write(ClrHeap heap, string path)
    {
        var types = new Dictionary<ulong, ClrType>();
        var names = new SortedDictionary<(ulong Type, int Offset), (string Name, long Count)>();
        long elements = 0;
        foreach (ClrObject obj in heap.EnumerateObjects())
        {
            if (obj.Type is not ClrType type || type.IsFree)
                continue;
            types.TryAdd(type.MethodTable, type);
            foreach (ClrReference reference in obj.EnumerateReferencesWithFields(considerDependantHandles: false))
            {
                if (!reference.IsField)
                {
                    elements++;
                    continue;
                }
                var key = (type.MethodTable, reference.Offset);
                names.TryGetValue(key, out var known);
                names[key] = (known.Name ?? Name(reference), known.Count + 1);
            }
        }

        using FileStream file = File.Create(path);
        using var json = new Utf8JsonWriter(file);
        json.WriteStartObject();
        json.WriteStartArray("types");
        foreach (ClrType type in types.Values.OrderBy(type => type.MethodTable))
            WriteType(json, type);
        json.WriteEndArray();
        json.WriteStartArray("references");
        foreach (var ((type, offset), (name, count)) in names)
        {
            json.WriteStartObject();
            json.WriteString("method_table", $"0x{type:x}");
            json.WriteNumber("offset", offset);
            json.WriteString("name", name);
            json.WriteNumber("count", count);
            json.WriteEndObject();
        }
        json.WriteEndArray();
        json.WriteNumber("elements", elements);
        json.WriteEndObject();
    }

    static void WriteType(Utf8JsonWriter json, ClrType type)
    {
        json.WriteStartObject();
        json.WriteString("method_table", $"0x{type.MethodTable:x}");
        json.WriteStartArray("fields");
        foreach (ClrInstanceField field in type.Fields)
            WriteField(json, field, field.Offset);
        json.WriteEndArray();
        json.WriteStartArray("statics");
        foreach (ClrField field in type.StaticFields.Concat<ClrField>(type.ThreadStaticFields))
            WriteField(json, field, null);
        json.WriteEndArray();
        json.WriteEndObject();
    }

    static void WriteField(Utf8JsonWriter json, ClrField field, int? offset)
    {
        json.WriteStartObject();
        json.WriteString("name", field.Name);
        json.WriteString("token", $"0x{field.Token:x}");
        if (offset is int value)
            json.WriteNumber("offset", value);
        json.WriteEndObject();
    }

    static string Name(ClrReference reference)
    {
        var text = new StringBuilder();
        for (ClrReference? at = reference; at is ClrReference part; at = part.InnerField)
            text.Append('.').Append(part.Field?.Name);
        return text.ToString();
    }
}
