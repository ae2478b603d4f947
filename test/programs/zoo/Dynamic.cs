// Types made at run time (Reflection.Emit) and types of a plugin loaded three times: twice collectible, once not.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.Loader;

namespace Zoo
{
    static class Dynamic
    {
        public static void Make()
        {
            Emit("Emitted.ToCollect", AssemblyBuilderAccess.RunAndCollect);
            Emit("Emitted.ToRun", AssemblyBuilderAccess.Run);
            Load("first", true);
            Load("second", true);
            Load("third", false);
        }

        static void Emit(string name, AssemblyBuilderAccess access)
        {
            AssemblyBuilder assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName(name), access);
            ModuleBuilder module = assembly.DefineDynamicModule(name);

            TypeBuilder builder = module.DefineType(name + ".Thing", TypeAttributes.Public);
            builder.DefineField("Number", typeof(int), FieldAttributes.Public);
            builder.DefineField("Reference", typeof(object), FieldAttributes.Public);
            builder.DefineField("Shared", builder, FieldAttributes.Public | FieldAttributes.Static);
            Type thing = builder.CreateType();

            TypeBuilder nested = module.DefineType(name + ".Value", TypeAttributes.Public | TypeAttributes.SequentialLayout, typeof(ValueType));
            nested.DefineField("Thing", thing, FieldAttributes.Public);
            nested.DefineField("Number", typeof(short), FieldAttributes.Public);
            Type value = nested.CreateType();

            TypeBuilder generic = module.DefineType(name + ".Generic`1", TypeAttributes.Public);
            generic.DefineField("Field", generic.DefineGenericParameters("T")[0], FieldAttributes.Public);
            Type open = generic.CreateType();

            for (int i = 0; i < 3; i++)
            {
                object instance = Truth.Count(Activator.CreateInstance(thing));
                thing.GetField("Reference").SetValue(instance, new Node());
                thing.GetField("Shared").SetValue(null, instance);
            }
            Truth.Name(thing.MakeArrayType()); // List<Thing>'s empty array
            Truth.Count(Array.CreateInstance(value, 4));
            Truth.Count(Activator.CreateInstance(value));
            Truth.Count(Activator.CreateInstance(open.MakeGenericType(thing)));
            Truth.Count(Activator.CreateInstance(open.MakeGenericType(typeof(int))));
            Truth.Count(Activator.CreateInstance(open.MakeGenericType(typeof(Node))));
            Truth.Keep(Activator.CreateInstance(typeof(List<>).MakeGenericType(thing)));
            Truth.Count(Activator.CreateInstance(typeof(Outer<>).MakeGenericType(value)));
        }

        static void Load(string name, bool collectible)
        {
            var context = new AssemblyLoadContext(name, collectible);
            Assembly assembly = context.LoadFromAssemblyPath(Path.Combine(AppContext.BaseDirectory, "plugin.dll"));
            var make = assembly.GetType("Plugged.Factory").GetMethod("Make")
                .CreateDelegate<Action<Action<object>, Action<object>>>();
            make(value => Truth.Count(value), value => Truth.Keep(value));
            Type part = assembly.GetType("Plugged.Part");
            // 2 of its own making, 10 in a row, one in Pair, 2 in the list, 2 in dictionaries.
            Truth.Expect(part, 17);
            Truth.Keep(Activator.CreateInstance(typeof(Outer<>.Inner<>).MakeGenericType(typeof(string), part)));
        }
    }
}
