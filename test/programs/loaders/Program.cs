// Code that can be collected, in the shapes in which servers have it, and an object with a sync block. Says what holds its
// objects, as the program `holders` does (see there), but one way at a time:
//   emitted    the only collectible module is one that was emitted (AssemblyBuilderAccess.RunAndCollect)
//   unloaded   assemblies were loaded, used, unloaded and collected again and again, while others came to stay
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Text;
using System.Threading;

namespace Loading
{
    class Held { public int Number; }

    static class Statics
    {
        public static Held One;
        public static object Emitted;
    }

    class Generic<T> { public static Held Value; }


    static class Program
    {
        const int rounds = 5;
        static readonly List<(string way, WeakReference held, string kind, string name, string steps)> said = new();

        static Held Say(string way, string name, string steps = "")
        {
            var held = new Held();
            said.Add((way, new WeakReference(held, true), "static", name, steps));
            return held;
        }

        // Only an object of the emitted type leads to the type's static field, over the LoaderAllocator.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Emit()
        {
            AssemblyBuilder assembly =
                AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Emitted"), AssemblyBuilderAccess.RunAndCollect);
            TypeBuilder builder = assembly.DefineDynamicModule("Emitted").DefineType("Emitted.Thing", TypeAttributes.Public);
            builder.DefineField("Own", typeof(object), FieldAttributes.Public);
            builder.DefineField("Shared", typeof(object), FieldAttributes.Public | FieldAttributes.Static);
            Type thing = builder.CreateType();
            Statics.Emitted = Activator.CreateInstance(thing);
            thing.GetField("Own").SetValue(Statics.Emitted, Say("field of an emitted type", "Loading.Statics.Emitted", ".Own"));
            thing.GetField("Shared").SetValue(null, Say("static of an emitted type", "Loading.Statics.Emitted",
                "(its assembly's LoaderAllocator).m_slots[*][static Emitted.Thing.Shared]"));
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static WeakReference LoadAndUnload(int number)
        {
            var context = new AssemblyLoadContext("passing " + number, true);
            Assembly assembly = context.LoadFromAssemblyPath(Path.Combine(AppContext.BaseDirectory, "plugin.dll"));
            var make = assembly.GetType("Plugged.Factory").GetMethod("Make")
                .CreateDelegate<Action<Action<object>, Action<object>>>();
            make(_ => { }, _ => { });
            context.Unload();
            return new WeakReference(context, true);
        }

        // All of them at once, after another one was loaded behind them: so the runtime gives their places and their numbers
        // away again in different orders.
        static void Round(int number, int round)
        {
            var contexts = new List<WeakReference>();
            InThread(() =>
            {
                for (int i = 0; i < number; i++)
                    contexts.Add(LoadAndUnload(i));
            });
            InThread(() => LoadMore(round));
            for (int attempt = 0; contexts.Exists(context => context.IsAlive) && attempt < 100; attempt++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            if (contexts.Exists(context => context.IsAlive))
                throw new InvalidOperationException("a load context is still alive");
            for (int i = 0; i < 10; i++) // until the runtime has let go of them, too
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void LoadMore(int number)
        {
            Assembly assembly = new AssemblyLoadContext("staying " + number, false)
                .LoadFromAssemblyPath(Path.Combine(AppContext.BaseDirectory, "plugin.dll"));
            Type part = assembly.GetType("Plugged.Part");
            part.GetField("Anything").SetValue(part.GetField("Shared").GetValue(null),
                Say("static of plugin " + number, "Plugged.Part.Shared", ".Anything"));
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Hold()
        {
            Statics.One = Say("static", "Loading.Statics.One");
            Generic<string>.Value = Say("generic static", "Loading.Generic<System.String>.Value");
        }

        // A lock of an object with a hash code takes a sync block.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Lock()
        {
            RuntimeHelpers.GetHashCode(Statics.One);
            Monitor.Enter(Statics.One);
        }

        static string Account()
        {
            var text = new StringBuilder("\"finalizable\": 0, \"held\": [");
            foreach (var (way, held, kind, name, steps) in said)
            {
                text.Append(text[^1] == '[' ? "" : ", ").Append("{\"way\": \"").Append(way);
                text.Append("\", \"address\": \"0x").Append(Truth.AddressOf(held.Target).ToString("x"));
                text.Append("\", \"kind\": \"").Append(kind).Append("\", \"name\": \"").Append(name);
                text.Append("\", \"thread\": 0, \"steps\": \"").Append(steps).Append("\"}");
            }
            return text.Append(']').ToString();
        }

        static void InThread(ThreadStart body)
        {
            var thread = new Thread(body);
            thread.Start();
            thread.Join();
        }

        static string types, account;
        static void Tell() => account = Account();

        static void Main(string[] arguments)
        {
            InThread(Hold);
            if (arguments[0] == "emitted")
                InThread(Emit);
            else
            {
                for (int i = 0; i < rounds; i++)
                    Round(new[] { 5, 1, 2, 3, 1 }[i], i);
            }
            Lock();
            types = Truth.Types();
            InThread(Tell);
            Truth.AfterLastCollection();
            GC.Collect();
            InThread(Tell);
            Truth.Print(types + ", " + account);
            Truth.Wait();
        }
    }
}
