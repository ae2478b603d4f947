// Types as text, in the spelling of src/metadata/type_name.h but written anew from its rules: the two must agree.
using System;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;
using System.Reflection.Metadata;
using System.Text;

// A type on its way to text: a definition or reference that still waits for its arguments, or complete.
record Spelled(string Text, IReadOnlyList<(string Name, int Arity)>? Parts = null)
{
    public static Spelled Open(IReadOnlyList<(string, int)> parts) => new(Format(parts, []), parts);

    public static string Format(IReadOnlyList<(string Name, int Arity)> parts, IReadOnlyList<string> arguments)
    {
        var text = new StringBuilder();
        int used = 0;
        foreach (var (name, arity) in parts)
        {
            text.Append(text.Length > 0 ? "+" : "").Append(name);
            if (arity == 0)
                continue;
            var shown = Enumerable.Range(0, arity).Select(i => used + i < arguments.Count ? arguments[used + i] : "T" + (i + 1));
            text.Append('<').AppendJoin(", ", shown).Append('>');
            used += arity;
        }
        return text.ToString();
    }
}

// Who owns the type parameters that a signature mentions.
record Owner(string[] TypeParameters, string[] MethodParameters);

class SpellingProvider(MetadataReader reader) : ISignatureTypeProvider<Spelled, Owner>
{
    public Spelled GetPrimitiveType(PrimitiveTypeCode code) => new("System." + code);
    public Spelled GetArrayType(Spelled element, ArrayShape shape) =>
        new(element.Text + (shape.Rank == 1 ? "[*]" : "[" + new string(',', shape.Rank - 1) + "]"));
    public Spelled GetSZArrayType(Spelled element) => new(element.Text + "[]");
    public Spelled GetPointerType(Spelled element) => new(element.Text + "*");
    public Spelled GetByReferenceType(Spelled element) => new(element.Text + "&");
    public Spelled GetPinnedType(Spelled element) => element;
    public Spelled GetModifiedType(Spelled modifier, Spelled unmodified, bool isRequired) => unmodified;
    public Spelled GetFunctionPointerType(MethodSignature<Spelled> signature) =>
        new(signature.ReturnType.Text + Parameters(signature));
    public Spelled GetGenericInstantiation(Spelled type, ImmutableArray<Spelled> arguments) =>
        new(Spelled.Format(type.Parts!, arguments.Select(a => a.Text).ToArray()));
    public Spelled GetGenericTypeParameter(Owner owner, int index) =>
        new(index < owner.TypeParameters.Length ? owner.TypeParameters[index] : "!" + index);
    public Spelled GetGenericMethodParameter(Owner owner, int index) =>
        new(index < owner.MethodParameters.Length ? owner.MethodParameters[index] : "!!" + index);
    public Spelled GetTypeFromDefinition(MetadataReader _, TypeDefinitionHandle handle, byte kind) =>
        Spelled.Open(PartsOf(handle));
    public Spelled GetTypeFromReference(MetadataReader _, TypeReferenceHandle handle, byte kind) =>
        Spelled.Open(PartsOf(handle));
    public Spelled GetTypeFromSpecification(MetadataReader _, Owner owner, TypeSpecificationHandle handle, byte kind) =>
        reader.GetTypeSpecification(handle).DecodeSignature(this, owner);

    public static string Parameters(MethodSignature<Spelled> signature) =>
        "(" + string.Join(", ", signature.ParameterTypes.Select(p => p.Text)) + ")";

    public List<(string, int)> PartsOf(TypeDefinitionHandle handle)
    {
        var chain = new List<(TypeDefinition Type, int Arity)>();
        for (; !handle.IsNil; handle = reader.GetTypeDefinition(handle).GetDeclaringType())
        {
            TypeDefinition type = reader.GetTypeDefinition(handle);
            chain.Insert(0, (type, type.GetGenericParameters().Count));
        }
        // From this level on parameters are repeated; the levels before it have none that the type knows of.
        int first = 0;
        for (int i = 1; i < chain.Count; i++)
        {
            int outer = chain[i - 1].Arity, arity = chain[i].Arity;
            if (arity < outer || (outer > 0 && Mark(reader.GetString(chain[i].Type.Name)) == arity))
                first = i;
        }
        return chain.Select((level, i) =>
        {
            int own = i < first ? 0 : i == first ? level.Arity : level.Arity - chain[i - 1].Arity;
            return Part(reader.GetString(level.Type.Namespace), reader.GetString(level.Type.Name), own);
        }).ToList();
    }

    public List<(string, int)> PartsOf(TypeReferenceHandle handle)
    {
        TypeReference type = reader.GetTypeReference(handle);
        List<(string, int)> parts = type.ResolutionScope.Kind == HandleKind.TypeReference
            ? PartsOf((TypeReferenceHandle)type.ResolutionScope) : [];
        string name = reader.GetString(type.Name);
        parts.Add(Part(reader.GetString(type.Namespace), name, Mark(name)));
        return parts;
    }

    static (string, int) Part(string space, string name, int own)
    {
        if (own > 0 && Mark(name) == own)
            name = name[..name.LastIndexOf('`')];
        return (Escape(space.Length > 0 ? space + "." + name : name), own);
    }

    static int Mark(string name)
    {
        int tick = name.LastIndexOf('`');
        return tick >= 0 && tick + 1 < name.Length && name[(tick + 1)..].All(char.IsAsciiDigit) ? int.Parse(name[(tick + 1)..]) : 0;
    }

    public static string Escape(string name) =>
        string.Concat(name.Select(c => ",+&*[]\\".Contains(c) ? "\\" + c : c.ToString()));
}
