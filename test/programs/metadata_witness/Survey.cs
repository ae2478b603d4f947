using System;
using System.IO;
using System.Linq;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;

class Survey(string file, TextWriter output)
{
    readonly MetadataReader reader = new PEReader(File.OpenRead(file)).GetMetadataReader();

    public void Write()
    {
        ModuleDefinition module = reader.GetModuleDefinition();
        Line($"module {Text(module.Name)} {Convert.ToHexString(reader.GetGuid(module.Mvid).ToByteArray())}");
        if (reader.IsAssembly)
            Line($"assembly {Text(reader.GetAssemblyDefinition().Name)} {reader.GetAssemblyDefinition().Version}");
        foreach (AssemblyReferenceHandle handle in reader.AssemblyReferences)
            Line($"assembly reference {Text(reader.GetAssemblyReference(handle).Name)}");
        for (int rid = 1; rid <= reader.GetTableRowCount(TableIndex.ModuleRef); rid++)
            Line($"module reference {Text(reader.GetModuleReference(MetadataTokens.ModuleReferenceHandle(rid)).Name)}");
        foreach (ExportedTypeHandle handle in reader.ExportedTypes)
            WriteExported(reader.GetExportedType(handle));

        var spelling = new SpellingProvider(reader);
        foreach (TypeReferenceHandle handle in reader.TypeReferences)
            Line($"type reference {spelling.GetTypeFromReference(reader, handle, 0).Text}");
        for (int rid = 1; rid <= reader.GetTableRowCount(TableIndex.TypeSpec); rid++)
            Line($"type specification {spelling.GetTypeFromSpecification(reader, new Owner([], []), MetadataTokens.TypeSpecificationHandle(rid), 0).Text}");
        foreach (TypeDefinitionHandle handle in reader.TypeDefinitions)
            WriteType(handle, spelling);
    }

    void Line(string text) => output.WriteLine(text);
    string Text(StringHandle handle) => reader.GetString(handle);
    static string Token(EntityHandle handle) => MetadataTokens.GetToken(handle).ToString("x8");

    void WriteExported(ExportedType type) =>
        Line($"exported type {Text(type.Namespace)} {Text(type.Name)} {Token(type.Implementation)}");

    void WriteType(TypeDefinitionHandle handle, SpellingProvider spelling)
    {
        TypeDefinition type = reader.GetTypeDefinition(handle);
        string[] parameters = Names(type.GetGenericParameters());
        Line($"type {Token(handle)} {(int)type.Attributes:x} {spelling.GetTypeFromDefinition(reader, handle, 0).Text}" +
            $" extends {(type.BaseType.IsNil ? "0" : Token(type.BaseType))} in {MetadataTokens.GetRowNumber(type.GetDeclaringType())}" +
            $" parameters {string.Join(",", parameters)}");
        foreach (FieldDefinitionHandle fieldHandle in type.GetFields())
        {
            FieldDefinition field = reader.GetFieldDefinition(fieldHandle);
            Line($"field {Token(fieldHandle)} {(int)field.Attributes:x} {field.DecodeSignature(spelling, new Owner(parameters, [])).Text}" +
                $" {Text(field.Name)} of {MetadataTokens.GetRowNumber(field.GetDeclaringType())}{Constant(field.GetDefaultValue())}");
        }
        foreach (MethodDefinitionHandle methodHandle in type.GetMethods())
        {
            MethodDefinition method = reader.GetMethodDefinition(methodHandle);
            var signature = method.DecodeSignature(spelling, new Owner(parameters, Names(method.GetGenericParameters())));
            Line($"method {Token(methodHandle)} {method.RelativeVirtualAddress:x} {(int)method.Attributes:x} {signature.ReturnType.Text}" +
                $" {Text(method.Name)}{SpellingProvider.Parameters(signature)} of {MetadataTokens.GetRowNumber(method.GetDeclaringType())}" +
                $" generic {signature.GenericParameterCount}");
        }
    }

    string[] Names(GenericParameterHandleCollection handles) =>
        handles.Select(handle => Text(reader.GetGenericParameter(handle).Name)).ToArray();

    string Constant(ConstantHandle handle)
    {
        if (handle.IsNil)
            return "";
        Constant constant = reader.GetConstant(handle);
        return $" = {(int)constant.TypeCode:x} {Convert.ToHexString(reader.GetBlobBytes(constant.Value))}";
    }
}
