// Ends, when it is told to, in one of the ways in which programs crash: `crash WAY`, one of
//   unhandled    an exception that nobody catches
//   failfast     Environment.FailFast
//   overflow     a recursion without end; each call holds an object of type Frame
//   overflow-second  the same on a thread with a name, while Main waits for it
//   overflow-mutual  two methods that call each other
//   access       managed code reads where nothing is mapped
//   segv         native code does
//   textless     an exception that nobody catches, whose ToString() throws another
//   exhausted    the GC's own limit is reached: run it with DOTNET_GCHeapHardLimit
//   cctor        a static constructor fails, because a method of .NET is called on null
//   failed-tasks two tasks fail, each with an exception inside another one
//   async-void   an exception leaves an async void method
//   library      a native library of the program aborts: `crash library FILE`
//   native-overflow  a native library of the program calls itself without end
//   delegate     a native library calls a delegate that was collected
//   damaged      the program writes past the end of an array, and a collection fails
//   killed       it waits until another process ends it
//   filtered     an exception thrown by a finally block, that nobody catches: the filter that is asked throws another
// Its truth has "thrown", the address of the exception, and of threads that go on waiting what their stacks hold: "held".
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

[StructLayout(LayoutKind.Sequential)]
class Held { public int Number; }
class Frame { public long Depth; }
class Kept { public int Number; }
class Failure : Exception { public Failure(string text) : base(text) { } }
class Second : Exception { }
class Sensor { int sum; public void Read(int value) => sum += value; }
class Importer { public static readonly string Text = Environment.GetEnvironmentVariable("NOT_SET").Trim(); }
class Textless : Exception { public override string ToString() => throw new Failure("no text"); }

static class Loser // in an unsafe class nothing is awaited
{
    internal static async void Lose()
    {
        await System.Threading.Tasks.Task.Delay(10);
        Program.Wrap();
    }
}

delegate void Reading(int value);

static unsafe class Program
{
    static readonly ManualResetEvent stop = new(false);
    static readonly CountdownEvent ready = new(4);
    static readonly List<(ulong address, int thread)> held = new();
    static readonly List<object> kept = new();
    static Failure failure;

    [DllImport("libc")]
    static extern int gettid();
    [DllImport("libc")]
    static extern nint strlen(nint text);
    [DllImport("libc")]
    static extern void abort();

    static void Hold()
    {
        var mine = new Held();
        // Pinned, so that its address may be said.
        GCHandle.Alloc(mine, GCHandleType.Pinned);
        lock (held)
            held.Add((Truth.AddressOf(mine), gettid()));
        ready.Signal();
        stop.WaitOne();
        GC.KeepAlive(mine);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Recurse(long depth)
    {
        var frame = new Frame { Depth = depth };
        long sum = Recurse(depth + 1) + frame.Depth;
        GC.KeepAlive(frame);
        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Ping(long depth) => Pong(depth + 1) + new Frame { Depth = depth }.Depth;
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Pong(long depth) => Ping(depth + 1) * 2;

    // What it threw at first is caught where it is called from, and it is called from there again.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Retry(bool again)
    {
        if (again)
            abort();
        throw failure;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fail() => throw failure;

    internal static void Wrap()
    {
        try
        {
            Fail();
        }
        catch (Failure inner)
        {
            throw new InvalidOperationException("a job failed", inner);
        }
    }

    static bool Refuse() => throw new NotSupportedException();

    static string library;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Keep(nint loaded)
    {
        nint callback = Marshal.GetFunctionPointerForDelegate(new Reading(new Sensor().Read));
        ((delegate* unmanaged<nint, void>)NativeLibrary.GetExport(loaded, "keep"))(callback);
    }

    static void Crash(string way)
    {
        switch (way)
        {
        case "unhandled": throw failure;
        case "textless": throw new Textless();
        case "filtered":
            try
            {
                try
                {
                    throw failure;
                }
                finally
                {
                    throw new Second();
                }
            }
            catch when (Refuse())
            {
            }
            break;
        case "failfast": Environment.FailFast("the test asked for it", failure); break;
        case "overflow": Recurse(0); break;
        case "overflow-mutual": Ping(0); break;
        case "overflow-second":
            var thread = new Thread(() => Recurse(0), 1 << 20) { Name = "overflower" };
            thread.Start();
            thread.Join();
            break;
        case "access": kept.Add(*(long*)0x123456780); break;
        case "exhausted":
            for (var all = new List<byte[]>();;)
                all.Add(new byte[1 << 20]);
        case "cast": kept.Add(((Frame)(object)failure).Depth); break; // native code of the runtime throws
        case "cctor": kept.Add(Importer.Text); break;
        case "failed-tasks":
            System.Threading.Tasks.Task.WaitAll(System.Threading.Tasks.Task.Run(Wrap), System.Threading.Tasks.Task.Run(Wrap));
            break;
        case "async-void":
            Loser.Lose();
            Thread.Sleep(Timeout.Infinite);
            break;
        case "native-abort":
            var take = (delegate* unmanaged<int, void>)NativeLibrary.GetExport(NativeLibrary.Load(library), "take");
            take(-1);
            break;
        case "failed-task": System.Threading.Tasks.Task.Run(() => throw failure).Wait(); break;
        case "retried":
            for (bool again = false;; again = true)
                try
                {
                    Retry(again);
                }
                catch (Failure)
                {
                }
        case "native-overflow":
            kept.Add(((delegate* unmanaged<int, int>)NativeLibrary.GetExport(NativeLibrary.Load(library), "descend"))(0));
            break;
        case "delegate":
            nint loaded = NativeLibrary.Load(library);
            Keep(loaded);
            for (int i = 0; i < 3; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            ((delegate* unmanaged<int, void>)NativeLibrary.GetExport(loaded, "fire"))(1);
            break;
        case "damaged":
            var arrays = new byte[2000][];
            for (int i = 0; i < arrays.Length; i++)
                arrays[i] = new byte[100];
            fixed (byte* bytes = arrays[500])
                new Span<byte>(bytes, 500).Fill(0x5a);
            GC.Collect();
            GC.KeepAlive(arrays);
            break;
        case "killed": Thread.Sleep(Timeout.Infinite); break;
        case "segv": strlen((nint)0x123456780); break;
        }
    }

    static void Main(string[] arguments)
    {
        for (int i = 0; i < 3; i++)
            new Thread(Hold) { IsBackground = true }.Start();
        for (int i = 0; i < 1000; i++)
            Truth.Count(new Kept());
        ready.Signal();
        ready.Wait();
        failure = new Failure("what the test is about");
        string types = Truth.Types();
        Truth.AfterLastCollection();
        GC.Collect();
        GC.Collect();
        string text = ", \"thrown\": \"0x" + Truth.AddressOf(failure).ToString("x") + "\", \"held\": [";
        foreach (var (address, thread) in held)
            text += (text.EndsWith('[') ? "" : ", ") + "{\"address\": \"0x" + address.ToString("x") + "\", \"thread\": " + thread + "}";
        Truth.Print(types + text + "]");
        library = arguments.Length > 1 ? arguments[1] : null;
        if (Truth.Wait())
            Crash(arguments[0]);
    }
}
