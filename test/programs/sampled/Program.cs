// sampled: a thread that computes without end, one that computes in short steps, one that has a lock and sleeps, twelve that wait for
// that lock, one that waits for an event. Its truth, "said", has the OS ids of the first and of the lock's holder.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

class Gate { }

static class Hot
{
    public static long Count;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Loop()
    {
        for (long i = 0; ; ++i)
            Count += Step(i);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Step(long i)
    {
        long sum = 0;
        for (int k = 0; k < 50; ++k)
            sum += (i * k) % 7;
        return sum;
    }
}

static class Holder
{
    static readonly Gate gate = new();
    public static readonly ManualResetEventSlim HasIt = new();

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Work()
    {
        lock (gate)
        {
            HasIt.Set();
            while (true)
                Thread.Sleep(10);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Ask()
    {
        lock (gate)
            Hot.Count = 0;
    }
}

static class Program
{
    [DllImport("libc")]
    static extern long syscall(long number);
    const long gettid = 186;

    static void Start(string name, Action action) => new Thread(() => action()) { Name = name, IsBackground = true }.Start();

    static void Main()
    {
        long hot = 0, holder = 0;
        var started = new CountdownEvent(2);
        Start("hot", () => { hot = syscall(gettid); started.Signal(); Hot.Loop(); });
        Start("holder", () => { holder = syscall(gettid); started.Signal(); Holder.Work(); });
        started.Wait();
        Holder.HasIt.Wait();
        for (int i = 0; i < 12; ++i)
            Start("asks " + i, Holder.Ask);
        Start("waits", () => new ManualResetEvent(false).WaitOne());
        Thread.Sleep(500);
        Truth.Print($"\"said\": {{\"hot\": {hot}, \"holder\": {holder}, \"waiters\": 12}}");
        Truth.Wait();
    }
}
