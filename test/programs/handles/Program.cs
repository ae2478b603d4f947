// GC handles of every kind that can be made, counted: `handles`. Its truth has "handles": kind → how many point at an
// object of the type Marked; "ref_counted" counts all of that kind, as 10.0 has them point at something of its own.
//
//   handles        all kinds
//   handles cpus   strong ones, made by one thread per processor that runs nowhere else
//   handles oom    catches OutOfMemoryException; run it with DOTNET_GCHeapHardLimit
//   handles loop   collects all the time, and never sleeps: for catching it inside a collection
using System;
using System.Collections;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime;
using System.Runtime.InteropServices;
using System.Threading;

[StructLayout(LayoutKind.Sequential)]
class Marked { public int Number; }
class Wrapped { }

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

static unsafe class Program
{
    static readonly SortedDictionary<string, int> counts = new();
    static readonly List<object> kept = new();

    [DllImport("libc", SetLastError = true)]
    static extern int sched_setaffinity(int pid, nint size, ulong* mask);

    static Marked Keep()
    {
        var marked = new Marked();
        lock (kept)
            kept.Add(marked);
        return marked;
    }

    static void Count(string kind, int number)
    {
        lock (counts)
            counts[kind] = counts.GetValueOrDefault(kind) + number;
    }

    static void MakeAllKinds()
    {
        foreach (var (type, name, number) in new[] { (GCHandleType.Weak, "weak_short", 130),
                                                     (GCHandleType.WeakTrackResurrection, "weak_long", 7),
                                                     (GCHandleType.Normal, "strong", 9000), (GCHandleType.Pinned, "pinned", 70) })
        {
            for (int i = 0; i < number; i++)
                GCHandle.Alloc(Keep(), type);
            Count(name, number);
        }
        for (int i = 0; i < 90; i++)
            kept.Add(new DependentHandle(Keep(), Keep()));
        Count("dependent", 90);
        var wrappers = new Wrappers();
        for (int i = 0; i < 5; i++)
        {
            var wrapped = new Wrapped();
            kept.Add(wrapped);
            wrappers.GetOrCreateComInterfaceForObject(wrapped, CreateComInterfaceFlags.None);
        }
        Count("ref_counted", 5);
        kept.Add(wrappers);
    }

    // Kinds that no public function makes. After the last collection, since the GC expects other objects in them.
    static void MakeHiddenKinds()
    {
        MethodInfo alloc = typeof(GCHandle).GetMethod("InternalAlloc", BindingFlags.NonPublic | BindingFlags.Static,
                                                      [typeof(object), typeof(GCHandleType)]);
        foreach (var (type, name) in new[] { (7, "async_pinned"), (8, "sized_ref"), (9, "weak_native_com") })
            if (alloc != null && (nint)alloc.Invoke(null, [Keep(), (GCHandleType)type]) != 0)
                Count(name, 1);
    }

    static void MakeOnEveryProcessor()
    {
        int processors = Environment.ProcessorCount;
        for (int processor = 0; processor < processors; processor++)
        {
            int mine = processor;
            var thread = new Thread(() =>
            {
                ulong* mask = stackalloc ulong[16];
                new Span<ulong>(mask, 16).Clear();
                mask[mine / 64] = 1UL << mine % 64;
                if (sched_setaffinity(0, 128, mask) != 0)
                    throw new InvalidOperationException("sched_setaffinity");
                for (int i = 0; i < 500; i++)
                {
                    GCHandle.Alloc(Keep());
                    Thread.Yield();
                }
            });
            thread.Start();
            thread.Join();
            Count("strong", 500);
        }
    }

    static void RunOutOfMemory()
    {
        var arrays = new List<byte[]>();
        try
        {
            while (true)
                arrays.Add(new byte[20 << 20]);
        }
        catch (OutOfMemoryException)
        {
        }
        arrays.Clear();
    }

    static void Loop()
    {
        new Thread(() =>
        {
            var garbage = new object[10000];
            for (int i = 0;; i++)
            {
                garbage[i % garbage.Length] = new byte[100 + i % 500];
                if (i % 100000 == 0)
                    GC.Collect(i / 100000 % 3, GCCollectionMode.Forced, true);
            }
        }) { IsBackground = true }.Start();
    }

    static void Main(string[] arguments)
    {
        string mode = arguments.Length > 0 ? arguments[0] : "";
        if (mode == "cpus")
            MakeOnEveryProcessor();
        else if (mode == "oom")
            RunOutOfMemory();
        else
            MakeAllKinds();
        string types = Truth.Types();
        Truth.AfterLastCollection();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        if (mode == "")
            MakeHiddenKinds();
        var text = new System.Text.StringBuilder(types + ", \"processors\": " + Environment.ProcessorCount + ", \"handles\": {");
        foreach (var (kind, number) in counts)
            text.Append(text[^1] == '{' ? "\"" : ", \"").Append(kind).Append("\": ").Append(number);
        if (mode == "loop")
            Loop();
        Truth.Print(text.Append('}').ToString());
        Truth.Wait();
        GC.KeepAlive(kept);
    }
}
