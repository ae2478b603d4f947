// Async methods that are suspended for ever: `suspended WAY [COUNT]`, one of
//   kinds   one chain of each kind: what is awaited, how, and by what kind of method
//   chains  COUNT chains of three methods
//   deep    one chain of COUNT methods
//   held    COUNT chains, each of which holds 4 KiB in a variable of its outermost method
// Its truth is one object, "said": "stacks", the methods of each chain, innermost first, and how many there are.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

static class Program
{
    static readonly List<(long count, string[] methods)> stacks = new();
    static readonly List<Task> kept = new();

    public static void Expect(long count, params string[] methods) => stacks.Add((count, methods.Select(name => "Suspended." + name).ToArray()));
    public static void Keep(Task task) => kept.Add(task);

    static void Main(string[] arguments)
    {
        int count = arguments.Length > 1 ? int.Parse(arguments[1]) : 1000;
        switch (arguments[0])
        {
            case "kinds": Suspended.Kinds(); break;
            case "chains": Suspended.Chains(count); break;
            case "deep": Suspended.Deep(count); break;
            case "held": Suspended.Held(count); break;
            default: throw new ArgumentException(arguments[0]);
        }
        string said = string.Join(", ", stacks.Select(one =>
            $"{{\"count\": {one.count}, \"methods\": [{string.Join(", ", one.methods.Select(name => $"\"{name}\""))}]}}"));
        string types = Truth.Types();
        Truth.AfterLastCollection();
        GC.Collect();
        GC.Collect();
        Truth.Print(types + ", \"said\": {\"stacks\": [" + said + "]}");
        Truth.Wait();
        GC.KeepAlive(kept);
        Environment.Exit(0);
    }
}

// Keeps what is posted, and never runs it.
sealed class NeverContext : SynchronizationContext
{
    readonly List<(SendOrPostCallback, object)> posted = new();
    public override void Post(SendOrPostCallback callback, object state) => posted.Add((callback, state));
}

readonly struct Large
{
    public readonly string First, Second;
    public readonly long Third, Fourth, Fifth;
    public Large(string text) => (First, Second, Third, Fourth, Fifth) = (text, text + "!", 3, 4, 5);
}

sealed class NeverAwaiter : INotifyCompletion
{
    Action continuation;
    public bool IsCompleted => false;
    public void OnCompleted(Action action) => continuation = action;
    public int GetResult() => 1;
    public NeverAwaiter GetAwaiter() => this;
}

// Whose awaiter refers to nothing.
readonly struct NeverAwaitable : INotifyCompletion
{
    static readonly List<Action> continuations = new();
    public bool IsCompleted => false;
    public void OnCompleted(Action action) => continuations.Add(action);
    public void GetResult() { }
    public NeverAwaitable GetAwaiter() => this;
}

static class Suspended
{
    static readonly TaskCompletionSource<int> never = new();
    static readonly TaskCompletionSource<int> soon = new();
    static readonly SemaphoreSlim gate = new(0);
    static readonly NeverContext context = new();
    static readonly NeverAwaiter awaiter = new();
    static readonly ManualResetEvent running = new(false);

    public static void Kinds()
    {
        Start(ByValueTask().AsTask(), "ByValueTask");
        Start(Configured(), "Configured");
        Start(InCatch(), "Awaits", "InCatch");
        Start(InFinally(), "Awaits", "InFinally");
        Start(Generic("text"), "GenericInner", "Generic");
        Start(WithStruct(), "WithStruct");
        Start(ByAwaiter(), "ByAwaiter");
        Start(ByStructAwaiter(), "ByStructAwaiter");
        Start(Suppresses(), "Suppresses");
        Start(WaitsAnHour(), "WaitsAnHour");
        Start(AwaitsTwo(1), "Awaits", "AwaitsTwo");
        SynchronizationContext before = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(context);
        Start(Yields(), "Yields");
        Start(Captures(), "Captures");
        Start(Posted(), "Posted");
        SynchronizationContext.SetSynchronizationContext(before);
        soon.SetResult(1);
        Start(RunsOuter(), "Runs", "RunsOuter");
        running.WaitOne();
        Thread.Sleep(200);
    }

    static void Start(Task task, params string[] methods)
    {
        Program.Keep(task);
        Program.Expect(1, methods);
    }

    static async Task<int> Awaits() => await never.Task;
    static async ValueTask<int> ByValueTask()
    {
        await gate.WaitAsync();
        return 1;
    }
    static async Task ByStructAwaiter() => await default(NeverAwaitable);
    static async Task Suppresses() => await ((Task)never.Task).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    static async Task WaitsAnHour() => await gate.WaitAsync(TimeSpan.FromHours(1));
    static async Task Configured() => await never.Task.ConfigureAwait(false);
    static async Task InCatch()
    {
        try
        {
            throw new InvalidOperationException("caught");
        }
        catch (InvalidOperationException)
        {
            await Awaits();
        }
    }
    static async Task InFinally()
    {
        try
        {
            GC.KeepAlive(never);
        }
        finally
        {
            await Awaits();
        }
    }
    static async Task<T> GenericInner<T>(T value)
    {
        await never.Task;
        return value;
    }
    static async Task Generic(string text) => await GenericInner(text);
    static async Task WithStruct()
    {
        var large = new Large("large");
        await never.Task;
        GC.KeepAlive(large.First + large.Fifth);
    }
    static async Task ByAwaiter() => GC.KeepAlive(await awaiter);
    static async Task AwaitsTwo(int first)
    {
        await Task.CompletedTask;
        await Awaits();
        GC.KeepAlive(first);
    }
    static async Task Yields() => await Task.Yield();
    static async Task Captures() => await never.Task;
    // What it has awaited is done: where it goes on, the context decides.
    static async Task Posted() => await soon.Task;
    // Sleeps after it was resumed.
    static async Task Runs()
    {
        await Task.Delay(50);
        running.Set();
        Thread.Sleep(Timeout.Infinite);
    }
    static async Task RunsOuter() => await Runs();

    public static void Chains(int count)
    {
        for (int i = 0; i < count; ++i)
            Program.Keep(Handle(i));
        Program.Expect(count, "Query", "Load", "Handle");
    }
    static async Task<int> Query(string key)
    {
        int x = await never.Task;
        return x + key.Length;
    }
    static async Task<int> Load(int key) => await Query("key" + key) + 1;
    static async Task Handle(int i)
    {
        var buffer = new byte[100];
        await Load(i);
        GC.KeepAlive(buffer);
    }

    // Each method calls the next one, so that all are suspended as one chain.
    public static void Deep(int count)
    {
        var thread = new Thread(() => Program.Keep(Down(count - 1)), 256 << 20);
        thread.Start();
        thread.Join();
        Program.Expect(1, Enumerable.Repeat("Down", count).ToArray());
    }
    static async Task<int> Down(int further) => further > 0 ? 1 + await Down(further - 1) : await never.Task;

    public static void Held(int count)
    {
        for (int i = 0; i < count; ++i)
            Program.Keep(Holds());
        Program.Expect(count, "Awaits", "Holds");
    }
    static async Task Holds()
    {
        var big = new byte[4096];
        await Awaits();
        GC.KeepAlive(big);
    }
}
