// Ways to hang that only part of the runtime's records show, one way each: a thread that joins another one, a reader of a
// ReaderWriterLockSlim, a static constructor that waits for a task, and a queue that only the waiting thread serves. "words": what the
// report says; "deadlocks": how many there are.
using System;
using System.Collections.Concurrent;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

// Who makes the only one waits for the end of a thread that needs it.
sealed class Settings
{
    static readonly Lazy<Settings> only = new(() => new Settings());
    public static Pair Loader;
    public static readonly ManualResetEventSlim Began = new();

    public static Settings Only => only.Value;

    Settings()
    {
        var loader = new Thread(Load) { IsBackground = true, Name = "Loader" };
        loader.Start();
        loader.Join();
    }

    static void Load()
    {
        Loader = new Pair();
        Loader.Set();
        Began.Set();
        GC.KeepAlive(Only);
    }
}

static class Prefixes
{
    public static readonly string[] All = Load();

    static string[] Load()
    {
        Stuck.Ready();
        return new[] { Task.Run(() => First()).Result };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string First() => Parsing.Run();

    public static string Parse() => All[0];
}

static class Parsing
{
    public static Pair Worker;
    public static readonly ManualResetEventSlim Began = new();

    public static string Run()
    {
        Worker = new Pair();
        Worker.Set();
        Began.Set();
        return Prefixes.Parse();
    }
}

sealed class Catalog2
{
    readonly ReaderWriterLockSlim gate = new();
    static readonly ManualResetEventSlim never = new();

    public void Export(Action ready)
    {
        gate.EnterReadLock();
        ready();
        never.Wait();
    }

    public void Reload(Action ready)
    {
        ready();
        gate.EnterWriteLock();
    }
}

// Only the thread that serves it empties its queue.
sealed class Screen : SynchronizationContext
{
    readonly BlockingCollection<(SendOrPostCallback Do, object With)> queue = new();
    public readonly ManualResetEventSlim Posted = new();
    int posted;

    public override void Post(SendOrPostCallback d, object state)
    {
        queue.Add((d, state));
        if (++posted == 2)
            Posted.Set();
    }

    public void Serve()
    {
        SetSynchronizationContext(this);
        foreach (var (what, with) in queue.GetConsumingEnumerable())
            what(with);
    }
}

static class Stuck
{
    static readonly ConcurrentDictionary<string, Action> begin = new();
    static readonly TaskCompletionSource answer = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public static void Ready()
    {
        if (begin.TryGetValue("First", out Action ready))
            ready();
    }

    public static string RunJoined()
    {
        Pair maker = Program.Start("Maker", ready => { ready(); GC.KeepAlive(Settings.Only); });
        Settings.Began.Wait();
        Program.Settle(maker, Settings.Loader);
        return Said(1, "Maker", "Loader", " and ", " wait for each other", "Maker waits for the end of a thread in Settings");
    }

    public static string RunConstructed()
    {
        Pair first = Program.Start("First", ready => { begin["First"] = ready; GC.KeepAlive(Prefixes.Parse()); });
        Parsing.Began.Wait();
        Program.Settle(first, Parsing.Worker);
        return Said(1, "First", ".NET TP Worker (a lambda in Load of Prefixes)", " wait for each other", "First waits for a task (a lambda in Load of Prefixes)");
    }

    public static string RunReaders()
    {
        var catalog = new Catalog2();
        Pair[] all = { Program.Start("Exporter", catalog.Export) };
        all = all.Concat(Enumerable.Range(0, 12).Select(i => Program.Start("Reload" + i, catalog.Reload))).ToArray();
        Program.Settle(all);
        GC.KeepAlive(catalog);
        return Said(0, "12 threads wait for a lock (ReaderWriterLockSlim) that thread Exporter reads, which waits for an event in Catalog2.Export");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static async Task<int> Load()
    {
        await answer.Task;
        return 1;
    }

    public static string RunScreen()
    {
        var screen = new Screen();
        Pair shown = Program.Start("Screen", ready =>
        {
            screen.Post(_ => { ready(); GC.KeepAlive(Load().Result); }, null);
            screen.Serve();
        });
        Program.Settle(shown);
        answer.SetResult();
        screen.Posted.Wait();
        Program.Settle(shown);
        return Said(1, "Probably a deadlock: Screen and Stuck.Load wait for each other: Stuck.Load is queued on the SynchronizationContext (Screen) of Screen", "Screen waits for a task (Stuck.Load)");
    }

    static string Said(int deadlocks, params string[] words) =>
        $"\"deadlocks\": {deadlocks}, \"words\": [{string.Join(", ", words.Select(one => $"\"{one}\""))}]";
}
