using System.Reflection;
using System.Reflection.Emit;

static class OddAssembly
{
    static readonly string[] names =
    [
        "Plain", "N.S.Dot", "a,b", "a+b", "a[b]", "a\\b", "a*b", "a&b", "x`1", "x`2y", "sp ace", "a<b>", "tab\t", "ünï",
        "é😀", "a\\+b\\,c", "N,S.T[]", "N+M.T", "x[]",
        "<IEnumerable<KeyValuePair<System-String,System-Object>>-GetEnumerator>d__4",
    ];

    public static void Make(string file)
    {
        var assembly = new PersistedAssemblyBuilder(new AssemblyName("odd"), typeof(object).Assembly);
        ModuleBuilder module = assembly.DefineDynamicModule("odd");
        foreach (string name in names)
        {
            module.DefineType(name, TypeAttributes.Public).CreateType();
            Generic(module.DefineType(name + "_G`1", TypeAttributes.Public), "T").CreateType();
        }
        Generic(module.DefineType("NoMark"), "T", "U").CreateType();
        Generic(module.DefineType("Wrong`1"), "T", "U").CreateType();
        Generic(module.DefineType("<A`1>d__0"), "T").CreateType();

        TypeBuilder outer = Generic(module.DefineType("Out`1"), "T");
        TypeBuilder[] nested =
        [
            outer.DefineNestedType("NoInherit", TypeAttributes.NestedPublic),
            Generic(outer.DefineNestedType("Own`1", TypeAttributes.NestedPublic), "U"),
            outer.DefineNestedType("NS.Nested", TypeAttributes.NestedPublic),
            Generic(outer.DefineNestedType("NoMark", TypeAttributes.NestedPublic), "T", "V"),
        ];
        TypeBuilder deep = Generic(nested[3].DefineNestedType("Deep", TypeAttributes.NestedPublic), "T", "V");
        deep.DefineField("field,1", typeof(int[,][]), FieldAttributes.Public);
        deep.DefineField("pointer", typeof(int).MakePointerType().MakePointerType(), FieldAttributes.Public);
        deep.DefineField("vector", typeof(string).MakeArrayType(1), FieldAttributes.Public);
        outer.CreateType();
        foreach (TypeBuilder type in nested)
            type.CreateType();
        deep.CreateType();
        assembly.Save(file);
    }

    static TypeBuilder Generic(TypeBuilder type, params string[] parameters)
    {
        type.DefineGenericParameters(parameters);
        return type;
    }
}
