// Holds an object in every way there is, and says which. Its truth has "held": a list of
//   {"way": "static struct", "address": "0x…", "kind": "static", "name": "Holding.Statics.Boxed", "thread": 0,
//    "steps": ".Second"}
// where kind, name and thread are those of the root, and `steps` are the fields from there on, elements as [*]: none where
// the root holds the object itself; "retained": what the GC says that the objects took which go when a static field lets
// go, in bytes by field; "finalizable": how many objects of type Doomed wait for their finalizer.
// Nothing else holds these objects: the program itself keeps long weak references.
using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Holding
{
    [StructLayout(LayoutKind.Sequential)]
    class Held { public int Number; }

    struct Pair { public long Number; public Held Second; }

    class Generic<T> { public static Held Value; }

    static class Statics
    {
        public static Held One;
        public static Pair Boxed;
        public static Action Captured;
        public static Publisher Publisher;
        public static Timer Timer;
        public static Link Group;
        public static TaskCompletionSource Never = new();
        public static Held Key = new();
        public static ConditionalWeakTable<Held, Held> Table = new();
        public static AssemblyLoadContext Plugins;
        public static object Unloaded;
        public static List<object> Weak = new();
    }

    static class PerThread
    {
        [ThreadStatic] public static Held Mine;
        [ThreadStatic] public static Pair Boxed;
    }

    static class PerThread<T>
    {
        [ThreadStatic] public static Held Mine;
    }

    class Publisher
    {
        public event EventHandler Happened;
        public bool IsHeard => Happened != null;
    }

    class Link
    {
        public Held Held = new();
        public byte[] Bytes = new byte[1000];
        public Link Next;
    }

    class Subscriber
    {
        public Held Held;
        public Link Group = new() { Next = new Link() };
        public void Hear(object sender, EventArgs e) { }
    }

    class Doomed { public Held Held; ~Doomed() { } }
    class Blocker
    {
        ~Blocker() => Program.Stop.WaitOne();
    }

    unsafe class Wrappers : ComWrappers
    {
        protected override ComInterfaceEntry* ComputeVtables(object obj, CreateComInterfaceFlags flags, out int count)
        {
            count = 0;
            return null;
        }
        protected override object CreateObject(nint external, CreateObjectFlags flags) => null;
        protected override void ReleaseObjects(IEnumerable objects) { }
    }

    static class Program
    {
        public static readonly ManualResetEvent Stop = new(false);
        static readonly List<(string way, WeakReference held, string kind, string name, int thread, string steps)> said = new();
        static readonly Dictionary<string, long> retained = new();
        static readonly Wrappers wrappers = new();
        const int doomed = 10;

        [DllImport("libc")]
        static extern int gettid();

        static Held Say(string way, string kind, string name, string steps = "", int thread = 0, Held held = null)
        {
            held ??= new Held();
            lock (said)
                said.Add((way, new WeakReference(held, true), kind, name, thread, steps));
            return held;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void HoldByStatics()
        {
            Statics.One = Say("static", "static", "Holding.Statics.One");
            Generic<string>.Value = Say("generic static", "static", "Holding.Generic<System.String>.Value");
            Generic<int>.Value = Say("generic static of a struct", "static", "Holding.Generic<System.Int32>.Value");
            Statics.Boxed = new Pair { Second = Say("static struct", "static", "Holding.Statics.Boxed", ".Second") };
            Capture(Say("captured closure", "static", "Holding.Statics.Captured", "._target.captured"));
            Held held = null;
            Measure("Publisher", () =>
            {
                Statics.Publisher = new Publisher();
                Statics.Publisher.Happened += new Subscriber { Held = held = new Held() }.Hear;
            });
            Say("event handler", "static", "Holding.Statics.Publisher", ".Happened._target.Held", 0, held);
            Measure("Timer", () => Statics.Timer = new Timer(_ => { }, held = new Held(), Timeout.Infinite, Timeout.Infinite));
            Say("timer", "static", "Holding.Statics.Timer", "._timer._timer._state", 0, held);
            Measure("Group", () => Statics.Group = new Link { Next = new Link { Next = new Link() } });
            Say("group of a static", "static", "Holding.Statics.Group", ".Next.Next.Held", 0, Statics.Group.Next.Next.Held);
            // Only the runtime's own queue holds it.
            Delay(Say("delayed task", "hub", "", "._longTimers._state.m_continuationObject.StateMachine.held"));
            Wait(Say("pending task", "static", "Holding.Statics.Never", "._task.m_continuationObject.StateMachine.held"));
            Statics.Table.Add(Statics.Key, Say("ConditionalWeakTable", "static", "Holding.Statics.Key", "(dependent handle)"));
        }

        // Apart from the other lambdas, which would capture the same closure.
        static void Capture(Held captured) => Statics.Captured = () => captured.Number++;

        // What a static field is about to hold, all of it; the first time, what is not made a second time.
        static void Measure(string field, Action make)
        {
            make();
            long before = GC.GetAllocatedBytesForCurrentThread();
            make();
            long after = GC.GetAllocatedBytesForCurrentThread();
            retained.Add("Holding.Statics." + field, after - before);
        }

        static async void Delay(Held held)
        {
            await Task.Delay(1 << 30);
            held.Number++;
        }

        static async void Wait(Held held)
        {
            await Statics.Never.Task;
            held.Number++;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void HoldByHandles()
        {
            GCHandle.Alloc(Say("strong handle", "handle:strong", ""), GCHandleType.Normal);
            GCHandle.Alloc(Say("pinned handle", "handle:pinned", ""), GCHandleType.Pinned);
            GCHandle.Alloc(Statics.Key, GCHandleType.Weak);
            GCHandle.Alloc(Statics.Key, GCHandleType.WeakTrackResurrection);
            Statics.Weak.Add(new DependentHandle(Statics.Key, Say("dependent handle", "static", "Holding.Statics.Key", "(dependent handle)")));
            // 10.0 has the handle point at something of its own.
            Held wrapped = Say("ref_counted handle", "handle:ref_counted", "", Environment.Version.Major < 10 ? "" : "._wrappedObject");
            wrappers.GetOrCreateComInterfaceForObject(wrapped, CreateComInterfaceFlags.None);
        }

        // Kinds that no public function makes. After the last collection, since the GC expects other objects in them.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void HoldByHiddenHandles()
        {
            MethodInfo alloc = typeof(GCHandle).GetMethod("InternalAlloc", BindingFlags.NonPublic | BindingFlags.Static,
                                                          [typeof(object), typeof(GCHandleType)]);
            foreach (var (type, name) in new[] { (7, "async_pinned"), (8, "sized_ref") })
            {
                var held = new Held();
                if (alloc != null && (nint)alloc.Invoke(null, [held, (GCHandleType)type]) != 0)
                    Say(name + " handle", "handle:" + name, "", "", 0, held);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void HoldByPlugin()
        {
            Statics.Plugins = new AssemblyLoadContext("collectible", true);
            Assembly assembly = Statics.Plugins.LoadFromAssemblyPath(Path.Combine(AppContext.BaseDirectory, "plugin.dll"));
            Type box = assembly.GetType("Plugged.Box`1").MakeGenericType(typeof(Held));
            object instance = Activator.CreateInstance(box);
            box.GetField("Value").SetValue(instance, Say("collectible assembly", "static", "Holding.Statics.Weak", "._items[*].Value"));
            Statics.Weak.Add(instance);
        }

        // Nothing but the assembly's own static fields.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void HoldByPluginStatics()
        {
            var context = new AssemblyLoadContext("statics", true);
            Assembly assembly = context.LoadFromAssemblyPath(Path.Combine(AppContext.BaseDirectory, "plugin.dll"));
            Type part = assembly.GetType("Plugged.Part");
            object mine = Activator.CreateInstance(part);
            FieldInfo anything = part.GetField("Anything");
            anything.SetValue(part.GetField("Shared").GetValue(null),
                              Say("collectible static", "handle:strong", "", ".m_slots[*][static Plugged.Part.Shared].Anything"));
            anything.SetValue(mine, Say("collectible thread static", "handle:strong", "",
                                        ".m_slots[*][thread_static Plugged.Part.PerThread].Anything"));
            part.GetField("PerThread").SetValue(null, mine);
        }

        // Only an object of the assembly's is left to keep it, and its static fields.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void HoldByUnloading()
        {
            var context = new AssemblyLoadContext("unloading", true);
            Assembly assembly = context.LoadFromAssemblyPath(Path.Combine(AppContext.BaseDirectory, "plugin.dll"));
            Type part = assembly.GetType("Plugged.Part");
            Statics.Unloaded = Activator.CreateInstance(part);
            part.GetField("Anything").SetValue(part.GetField("Shared").GetValue(null),
                Say("collectible assembly that unloads", "static", "Holding.Statics.Unloaded",
                    "(its assembly's LoaderAllocator).m_slots[*][static Plugged.Part.Shared].Anything"));
            context.Unload();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void HoldByThread(string who)
        {
            int thread = gettid();
            PerThread.Mine = Say("thread static of " + who, "thread_static", "Holding.PerThread.Mine", "", thread);
            PerThread.Boxed = new Pair { Second = Say("thread static struct of " + who, "thread_static", "Holding.PerThread.Boxed", ".Second", thread) };
            PerThread<int>.Mine = Say("generic thread static of " + who, "thread_static", "Holding.PerThread<System.Int32>.Mine", "", thread);
        }

        static void Run(object ready)
        {
            HoldByThread("another thread");
            Held local = Say("local variable of another thread", "stack", "Holding.Program.Run(System.Object)", "", gettid());
            ((ManualResetEvent)ready).Set();
            Stop.WaitOne();
            GC.KeepAlive(local);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void BlockFinalizer() => new Blocker();

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Doom()
        {
            for (int i = 0; i < doomed; i++)
                new Doomed { Held = i == 0 ? Say("finalizer", "finalizer", "", ".Held") : null };
        }

        // In a thread that ends, so that no stack keeps what it looked at.
        static string Account()
        {
            var text = new StringBuilder("\"finalizable\": " + doomed + ", \"held\": [");
            foreach (var (way, held, kind, name, thread, steps) in said)
            {
                text.Append(text[^1] == '[' ? "" : ", ").Append("{\"way\": \"").Append(way);
                text.Append("\", \"address\": \"0x").Append(Truth.AddressOf(held.Target).ToString("x"));
                text.Append("\", \"kind\": \"").Append(kind).Append("\", \"name\": \"").Append(name);
                text.Append("\", \"thread\": ").Append(thread);
                text.Append(", \"steps\": \"").Append(steps).Append("\"}");
            }
            text.Append("], \"retained\": {");
            foreach (var (field, bytes) in retained)
                text.Append(text[^1] == '{' ? "\"" : ", \"").Append(field).Append("\": ").Append(bytes);
            return text.Append('}').ToString();
        }

        static string types;
        static void Print() => Truth.Print(types + ", " + Account());
        static void Rehearse() => Account();

        static void InThread(ThreadStart body)
        {
            var thread = new Thread(body);
            thread.Start();
            thread.Join();
        }

        static void Main()
        {
            InThread(BlockFinalizer);
            GC.Collect();
            Thread.Sleep(50);
            InThread(Doom);
            InThread(HoldByStatics);
            InThread(HoldByHandles);
            HoldByPlugin();
            HoldByPluginStatics();
            InThread(HoldByUnloading);
            HoldByThread("the main thread");
            var ready = new ManualResetEvent(false);
            new Thread(Run) { IsBackground = true }.Start(ready);
            ready.WaitOne();
            Held local = Say("local variable", "stack", "Holding.Program.Main()", "", gettid());
            types = Truth.Types();
            InThread(Rehearse);
            Truth.AfterLastCollection();
            GC.Collect();
            InThread(HoldByHiddenHandles);
            InThread(Print);
            Truth.Wait();
            GC.KeepAlive(local);
            Stop.Set();
        }
    }
}
