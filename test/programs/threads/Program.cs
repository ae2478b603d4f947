// Threads that live, and threads that have ended but are still listed, as their objects live: `threads LIVING DEAD MIB`,
// half of the living started before the others end. Its truth has "living" and "dead", and "held": a list of
//   {"way": "span", "address": "0x…", "thread": 4711, "interior": true}
// of objects that only one thread's stack holds, and whether by a pointer into them. One of them takes MIB MiB.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

[StructLayout(LayoutKind.Sequential)]
class Held { public long Number, Second, Third; }

static class Program
{
    static readonly ManualResetEvent stop = new(false);
    static readonly CountdownEvent ready = new(1);
    static readonly List<(string way, WeakReference held, int thread, bool interior)> said = new();
    static readonly List<Thread> ended = new();
    static readonly List<ThreadStart> ways = new() { ByVariable, BySpan, ByElement, ByField };
    static int mebibytes;

    [DllImport("libc")]
    static extern int gettid();

    static T Say<T>(string way, T held, bool interior) where T : class
    {
        lock (said)
            said.Add((way, new WeakReference(held, true), gettid(), interior));
        return held;
    }

    static void Wait()
    {
        ready.Signal();
        stop.WaitOne();
    }

    static void ByVariable()
    {
        Held held = Say("variable", new Held(), false);
        Wait();
        GC.KeepAlive(held);
    }

    // What makes the object ends before it waits, so that nothing but the pointer into it is left.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static Span<byte> PartOfAnArray() => Say("span", new byte[(long)mebibytes << 20], true).AsSpan((mebibytes << 19) + 3, 5);
    static void BySpan()
    {
        Span<byte> part = PartOfAnArray();
        Wait();
        part[0]++;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ref int ElementOfAnArray() => ref Say("ref to an element", new int[100000], true)[99999];
    static void ByElement()
    {
        ref int element = ref ElementOfAnArray();
        Wait();
        element++;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ref long FieldOfAnObject() => ref Say("ref to a field", new Held(), true).Third;
    static void ByField()
    {
        ref long field = ref FieldOfAnObject();
        Wait();
        field++;
    }

    static void StartLiving(int count)
    {
        for (int i = 0; i < count; i++)
        {
            ready.AddCount();
            new Thread(ways[i % ways.Count]) { IsBackground = true }.Start();
        }
    }

    static void StartDead(int count)
    {
        for (int i = 0; i < count; i++)
        {
            var thread = new Thread(() => { });
            thread.Start();
            thread.Join();
            ended.Add(thread);
        }
    }

    // In a thread that ends, so that no stack keeps what it looked at.
    static string Account()
    {
        var text = new StringBuilder("\"held\": [");
        foreach (var (way, held, thread, interior) in said)
        {
            text.Append(text[^1] == '[' ? "" : ", ").Append("{\"way\": \"").Append(way);
            text.Append("\", \"address\": \"0x").Append(Truth.AddressOf(held.Target).ToString("x"));
            text.Append("\", \"thread\": ").Append(thread);
            text.Append(", \"interior\": ").Append(interior ? "true" : "false").Append('}');
        }
        return text.Append(']').ToString();
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

    static void Main(string[] arguments)
    {
        int living = int.Parse(arguments[0]), dead = int.Parse(arguments[1]);
        mebibytes = int.Parse(arguments[2]);
        StartLiving(living / 2);
        StartDead(dead);
        StartLiving(living - living / 2);
        ready.Signal();
        ready.Wait();
        types = Truth.Types() + ", \"living\": " + living + ", \"dead\": " + dead;
        InThread(Rehearse);
        Truth.AfterLastCollection();
        GC.Collect();
        GC.Collect();
        InThread(Print);
        Truth.Wait();
        stop.Set();
        GC.KeepAlive(ended);
    }
}
