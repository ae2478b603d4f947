// Prints what System.Reflection knows of an assembly's metadata, line by line in the order of the tables.
//
//   framework              the folder of the running runtime's assemblies
//   make FILE              writes an assembly with names and nestings that no compiler makes
//   survey FILE            everything that the reader under test reads, by System.Reflection.Metadata
//   fullnames FILE         Type.FullName of every type, by loading it
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;

var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { NewLine = "\n" };
switch (args[0])
{
    case "framework":
        output.WriteLine(Path.GetDirectoryName(typeof(object).Assembly.Location));
        break;
    case "make":
        OddAssembly.Make(args[1]);
        break;
    case "survey":
        new Survey(args[1], output).Write();
        break;
    case "fullnames":
        bool core = Path.GetFileName(args[1]) == Path.GetFileName(typeof(object).Assembly.Location);
        Assembly assembly = core ? typeof(object).Assembly : Assembly.LoadFrom(args[1]);
        foreach (Type type in assembly.GetTypes().OrderBy(type => type.MetadataToken))
            output.WriteLine($"{type.MetadataToken:x8} {type.FullName}");
        break;
}
output.Flush();
