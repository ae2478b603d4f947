// Types by the thousand: classes emitted into the running process, as mappers, proxies and serialisers emit them, and generic
// classes of these. Each has a prototype; objects of a type are copies of it.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

namespace Emitted
{
    public abstract class Record
    {
        public object Subject;
        public Record Previous;
        public Record Copy() => (Record)MemberwiseClone();
    }

    public class Versioned<T> : Record
    {
        public T Value, Before;
        public int Version;
    }

    public class Changed<TOwner, TValue> : Record
    {
        public TOwner Owner;
        public TValue Value;
        public DateTime When;
    }

    static class Types
    {
        const int PerModule = 999;

        public static Record[] Prototypes;
        public static Dictionary<Type, long> Counts;

        // Two of three are classes of their own, the third is generic.
        public static void Make(int count)
        {
            Prototypes = new Record[count];
            Counts = new Dictionary<Type, long>(count);
            ModuleBuilder module = null;
            Type last = typeof(Record);
            for (int i = 0; i < count; i++)
            {
                if (i % PerModule == 0)
                {
                    module = Module(i / PerModule);
                    last = typeof(Record);
                }
                Type type = i % 3 != 2 ? Emit(module, i, last) : i % 2 == 0
                    ? typeof(Versioned<>).MakeGenericType(last)
                    : typeof(Changed<,>).MakeGenericType(last, i % 4 == 1 ? typeof(long) : last);
                if (i % 3 != 2)
                    last = type;
                Prototypes[i] = (Record)RuntimeHelpers.GetUninitializedObject(type);
                Prototypes[i].Subject = type.Name;
                Counts[type] = 1;
            }
        }

        static ModuleBuilder Module(int number)
        {
            string name = "Emitted" + number;
            return AssemblyBuilder.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.Run).DefineDynamicModule(name);
        }

        // Up to seven fields; one of eight derives from the one emitted before it.
        static Type Emit(ModuleBuilder module, int number, Type last)
        {
            Type parent = number % 24 == 0 ? last : typeof(Record);
            TypeBuilder builder = module.DefineType($"Emitted.Module{number % 50}.Entity{number}", TypeAttributes.Public, parent);
            for (int field = 0; field < number % 8; field++)
            {
                Type type = ((number / 8 + field) % 5) switch
                    { 0 => typeof(string), 1 => typeof(long), 2 => typeof(object), 3 => typeof(int), _ => typeof(DateTime) };
                builder.DefineField("Field" + field, type, FieldAttributes.Public);
            }
            return builder.CreateType();
        }

        // Few types have most of the objects: the more often, the lower the number.
        public static Record New(uint random)
        {
            double part = random / (double)uint.MaxValue;
            int number = Math.Min((int)(part * part * part * Prototypes.Length), Prototypes.Length - 1);
            Record made = Prototypes[number].Copy();
            Counts[made.GetType()]++;
            return made;
        }

        public static void Forget(Record record) => Counts[record.GetType()]--;

        public static void Expect()
        {
            foreach (var (type, count) in Counts)
                Truth.Expect(type, count);
        }
    }
}
