// A module that is edited while it runs (hot reload): each edit adds types, whose names are only in the metadata that the
// runtime then keeps in pieces, not in the module's file. Says which objects of them it keeps.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Emit;

static class Program
{
    const int edits = 3, types = 40;

    static CSharpCompilation Compile(int edit)
    {
        string text = "namespace Edited { public class Original { public object First; public static object Said() => \"" + edit + "\"; }\n";
        for (int i = 0; i < edit * types; ++i)
            text += $"public class Added{i:d3} {{ public object Held{i:d3}; public static object Kept{i:d3}; public class Inner {{ public object Deep; }} }}\n";
        return CSharpCompilation.Create("Edited", new[] { CSharpSyntaxTree.ParseText(text + "}") },
            new[] { MetadataReference.CreateFromFile(typeof(object).Assembly.Location) },
            new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, optimizationLevel: OptimizationLevel.Debug));
    }

    static object Make(Type type)
    {
        object made = Truth.Count(Activator.CreateInstance(type));
        foreach (FieldInfo field in type.GetFields())
            field.SetValue(field.IsStatic ? null : made, Truth.Count(new Version(1, 2)));
        return made;
    }

    static void Main()
    {
        CSharpCompilation before = Compile(0);
        var image = new MemoryStream();
        var symbols = new MemoryStream();
        if (!before.Emit(image, symbols, options: new EmitOptions(debugInformationFormat: DebugInformationFormat.PortablePdb)).Success)
            throw new InvalidOperationException("not compiled");
        Assembly assembly = Assembly.Load(image.ToArray(), symbols.ToArray());
        Make(assembly.GetType("Edited.Original"));
        EmitBaseline baseline = EmitBaseline.CreateInitialBaseline(before, ModuleMetadata.CreateFromImage(image.ToArray()),
            _ => default, _ => default, true);
        for (int edit = 1; edit <= edits; ++edit)
        {
            CSharpCompilation after = Compile(edit);
            var changes = new List<SemanticEdit>();
            for (int i = (edit - 1) * types; i < edit * types; ++i)
                changes.Add(new SemanticEdit(SemanticEditKind.Insert, null, after.GetTypeByMetadataName($"Edited.Added{i:d3}")));
            ISymbol Said(Compilation of) => of.GetTypeByMetadataName("Edited.Original").GetMembers("Said").Single();
            changes.Add(new SemanticEdit(SemanticEditKind.Update, Said(before), Said(after)));
            MemoryStream metadata = new(), code = new(), lines = new();
            EmitDifferenceResult result = after.EmitDifference(baseline, changes, _ => false, metadata, code, lines);
            if (!result.Success)
                throw new InvalidOperationException(string.Join("\n", result.Diagnostics));
            MetadataUpdater.ApplyUpdate(assembly, metadata.ToArray(), code.ToArray(), lines.ToArray());
            baseline = result.Baseline;
            before = after;
        }
        for (int i = 0; i < edits * types; ++i)
            foreach (string name in new[] { $"Edited.Added{i:d3}", $"Edited.Added{i:d3}+Inner" })
                Make(assembly.GetType(name, true));
        string found = Truth.Types();
        Truth.AfterLastCollection();
        Truth.Print(found + ", \"said\": " + (edits * types));
        Truth.Wait();
    }
}
