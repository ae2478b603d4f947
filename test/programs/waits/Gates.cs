// Many callers before one semaphore, one way a program: "gate", "gate-lost", "gate-few", "gate-unique", "gate-threads",
// "gate-sleeper". "waiting": how many wait; "owner": the field that
// has the semaphore; "holder": the method that has its permits, if it lives.
// "gates-fine": callers that wait as they do in programs that work: "fine".
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

// One at a time asks a server that never answers.
static class Pricing
{
    static readonly SemaphoreSlim gate = new(1);
    static readonly TaskCompletionSource<int> answer = new();

    public static async Task<int> Load(int id)
    {
        await gate.WaitAsync();
        try
        {
            return await answer.Task + id;
        }
        finally
        {
            gate.Release();
        }
    }
}

// A permit is lost where something is thrown.
class Session
{
    public static readonly Session Current = new();
    readonly SemaphoreSlim one = new(1, 1);

    public async Task Open(bool fails)
    {
        await one.WaitAsync();
        if (fails)
            throw new InvalidOperationException("lost");
        one.Release();
    }
}

// Two permits are lost in calls that fail.
class Ledger
{
    public static readonly Ledger Current = new();
    readonly SemaphoreSlim two = new(2);

    public async Task Post(bool fails)
    {
        await two.WaitAsync();
        await Task.Yield(); // a call that never waited leaves no box
        if (fails)
            throw new InvalidOperationException("lost");
        two.Release();
    }
}

// One returns too early.
class Till
{
    public static readonly Till Only = new();
    readonly SemaphoreSlim drawer = new(1, 1);

    public async Task Open(bool isEmpty)
    {
        await drawer.WaitAsync();
        if (isEmpty)
            return;
        drawer.Release();
    }
}

// Threads wait for one that sleeps within, as they would before a lock.
class Strongroom
{
    public static readonly Strongroom Only = new();
    readonly SemaphoreSlim door = new(1, 1);

    public void Read(Action ready, int number)
    {
        if (number > 0)
            ready();
        door.Wait();
        try
        {
            ready();
            Copy();
        }
        finally
        {
            door.Release();
        }
    }
    static void Copy() => Thread.Sleep(Timeout.Infinite);
}

// Threads, of which one sleeps within.
class Printer
{
    public static readonly Printer Only = new();
    readonly SemaphoreSlim tray = new(1);

    public void Print(Action ready, int number)
    {
        if (number > 0)
            ready();
        tray.Wait();
        try
        {
            ready();
            Wait(number);
        }
        finally
        {
            tray.Release();
        }
    }
    static void Wait(int number) => Gates.Never.Task.Wait();
}

// Four at a time, each of which ends by itself.
static class Throttle
{
    static readonly SemaphoreSlim four = new(4);

    public static async Task Run()
    {
        await four.WaitAsync();
        try
        {
            await Task.Delay(TimeSpan.FromHours(1));
        }
        finally
        {
            four.Release();
        }
    }
}

// Its workers wait until there is something to do.
static class Queue
{
    static readonly SemaphoreSlim signal = new(0);
    static readonly Queue<int> work = new();

    public static async Task Work()
    {
        while (true)
        {
            await signal.WaitAsync();
            lock (work)
                GC.KeepAlive(work.Dequeue());
        }
    }
    public static void Add(int one)
    {
        lock (work)
            work.Enqueue(one);
        signal.Release();
    }
}

// A few callers behind one that waits for others.
static class Busy
{
    static readonly SemaphoreSlim one = new(1, 1);

    public static async Task Run()
    {
        await one.WaitAsync();
        await Gates.Never.Task;
        one.Release();
    }
}

// Many callers, each for a time only.
static class Patient
{
    static readonly SemaphoreSlim one = new(1, 1);

    public static async Task Run()
    {
        if (!await one.WaitAsync(TimeSpan.FromHours(1)))
            return;
        await Gates.Never.Task;
        one.Release();
    }
}

static class Gates
{
    public static readonly TaskCompletionSource<int> Never = new();
    static readonly List<object> kept = new();

    static string Said(int waiting, string owner, string holder) =>
        $"\"waiting\": {waiting}, \"owner\": \"{owner}\", \"holder\": " + (holder == null ? "null" : $"\"{holder}\"");

    public static string Run(int count)
    {
        for (int i = 0; i <= count; i++)
            kept.Add(Pricing.Load(i));
        return Said(count, "Pricing.gate", "Pricing.Load");
    }

    public static string RunLost()
    {
        for (int i = 0; i <= 38; i++)
            kept.Add(Session.Current.Open(i == 0));
        return Said(38, "Session.Current.one", null);
    }

    public static string RunFew()
    {
        for (int i = 0; i < 5; i++)
            kept.Add(Ledger.Current.Post(i < 2));
        return Said(3, "Ledger.Current.two", null);
    }

    public static string RunUnique()
    {
        for (int i = 0; i < 8; i++)
            kept.Add(Till.Only.Open(i == 0));
        return Said(7, "Till.Only.drawer", null);
    }

    public static string RunSleeper()
    {
        List<Pair> threads = new();
        for (int i = 0; i <= 6; i++)
        {
            int number = i;
            threads.Add(Program.Start($"Reading{i}", ready => Strongroom.Only.Read(ready, number)));
        }
        Program.Settle(threads.ToArray());
        return Said(6, "Strongroom.Only.door", "Strongroom.Read");
    }

    public static string RunThreads()
    {
        List<Pair> threads = new();
        for (int i = 0; i <= 40; i++)
        {
            int number = i;
            threads.Add(Program.Start($"Printing{i}", ready => Printer.Only.Print(ready, number)));
        }
        Program.Settle(threads.ToArray());
        return Said(40, "Printer.Only.tray", "Printer.Print");
    }

    public static string RunFine()
    {
        for (int i = 0; i < 2000; i++)
            kept.Add(Throttle.Run());
        for (int i = 0; i < 64; i++)
            kept.Add(Queue.Work());
        for (int i = 0; i < 6; i++)
            kept.Add(Busy.Run());
        for (int i = 0; i < 200; i++)
            kept.Add(Patient.Run());
        Relay.Start();
        if (kept.Count == 0)
            Queue.Add(1);
        return "\"fine\": true";
    }
}

// Signals that one passes on to the next: a timer begins, so nobody waits for ever.
class Relay
{
    readonly SemaphoreSlim work = new(0), done = new(0);
    static readonly Relay threads = new(), calls = new();
    static Timer timer;

    void Work() { for (;;) { work.Wait(); done.Release(); } }
    void Notify() { for (;;) done.Wait(); }
    async Task WorkAsync() { for (;;) { await work.WaitAsync(); done.Release(); } }
    async Task NotifyAsync() { for (;;) await done.WaitAsync(); }
    void Tick() => work.Release();

    public static void Start()
    {
        new Thread(threads.Work) { IsBackground = true }.Start();
        new Thread(threads.Notify) { IsBackground = true }.Start();
        _ = calls.WorkAsync();
        _ = calls.NotifyAsync();
        timer = new Timer(_ => { threads.Tick(); calls.Tick(); }, null, 600_000, 600_000);
        GC.KeepAlive(timer);
    }
}
