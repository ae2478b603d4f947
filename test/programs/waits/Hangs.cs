// "threads": by name, their ids; "deadlocks": by the names of their threads, or by the methods of their tasks; "convoy": threads that wait for
// one lock, in no circle.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

class StaticA : SemaphoreSlim { public StaticA() : base(1, 1) { } }
class StaticB : SemaphoreSlim { public StaticB() : base(1, 1) { } }
class IdleA : SemaphoreSlim { public IdleA() : base(1, 1) { } }
class IdleB : SemaphoreSlim { public IdleB() : base(1, 1) { } }
class Crowded { }

// Two that take what static fields hold, in opposite orders.
static class Transfers
{
    static readonly SemaphoreSlim from = new StaticA(), to = new StaticB();

    public static void There(Action ready, ManualResetEvent go)
    {
        from.Wait();
        ready();
        go.WaitOne();
        to.Wait();
        to.Release();
        from.Release();
    }
    public static void Back(Action ready, ManualResetEvent go)
    {
        to.Wait();
        ready();
        go.WaitOne();
        from.Wait();
        from.Release();
        to.Release();
    }
}

// The same two waits, but somebody who sleeps has taken both: no deadlock.
static class Idle
{
    static readonly SemaphoreSlim one = new IdleA(), other = new IdleB();

    public static void Sleep(Action ready)
    {
        one.Wait();
        other.Wait();
        ready();
        Thread.Sleep(Timeout.Infinite);
        other.Release();
        one.Release();
    }
    public static void WaitForOne(Action ready, ManualResetEvent go) { ready(); go.WaitOne(); one.Wait(); one.Release(); }
    public static void WaitForOther(Action ready, ManualResetEvent go) { ready(); go.WaitOne(); other.Wait(); other.Release(); }
}

// The same with a Mutex, whose owner nothing tells.
static class Mutexes
{
    static readonly Mutex a = new(), b = new();

    public static void There(Action ready, ManualResetEvent go) => Cross(ready, go, a, b);
    public static void Back(Action ready, ManualResetEvent go) => Cross(ready, go, b, a);

    static void Cross(Action ready, ManualResetEvent go, Mutex first, Mutex second)
    {
        first.WaitOne();
        ready();
        go.WaitOne();
        second.WaitOne();
        second.ReleaseMutex();
        first.ReleaseMutex();
    }
}

// Takes nothing, and stands in no method of those.
static class Bystander
{
    public static void Wait(Action ready) { ready(); Thread.Sleep(Timeout.Infinite); }
}

static class Hangs
{
    static readonly Dictionary<string, Pair> threads = new();
    static readonly List<object> kept = new();
    static readonly ManualResetEvent go = new(false);
    static readonly TaskCompletionSource begin = new();
    static readonly object crowded = new Crowded();

    static void Named(string name, Action<Action> run) => threads[name] = Program.Start(name, run);

    static async Task AwaitItself(Task[] self)
    {
        await begin.Task;
        await self[0];
    }
    // After its first await it runs on the thread that completes `start`, and there it waits for its own end.
    static async Task WaitForItself(Task[] self, Task start, Action ready)
    {
        await start;
        ready();
        self[0].Wait();
    }
    // Two calls of one method, of which one waits for the other, which works: no deadlock.
    static async Task Work(Task start, Task other, Action ready)
    {
        await start;
        ready();
        Task held = other; // in the frame, as the call's own task is
        if (held != null)
            held.Wait();
        else
            Thread.Sleep(Timeout.Infinite);
        GC.KeepAlive(held);
    }
    static void Begin(Task[] call, Func<Task> other, Action ready)
    {
        var start = new TaskCompletionSource();
        call[0] = Work(start.Task, other?.Invoke(), ready);
        start.SetResult();
    }
    static async Task Left(Task[] pair)
    {
        await begin.Task;
        await pair[1];
    }
    static async Task Right(Task[] pair)
    {
        await begin.Task;
        await Task.WhenAll(pair[0], Task.CompletedTask);
    }

    static void Hold(Action ready)
    {
        lock (crowded)
        {
            ready();
            Thread.Sleep(Timeout.Infinite);
        }
    }
    static void Crowd(Action ready)
    {
        ready();
        lock (crowded)
            GC.KeepAlive(kept);
    }

    static void AwaitEachOther()
    {
        Task[] pair = new Task[2];
        pair[0] = Left(pair);
        pair[1] = Right(pair);
        kept.Add(pair);
    }
    static void WaitForMutexes()
    {
        Named("MutexFirst", ready => Mutexes.There(ready, go));
        Named("MutexSecond", ready => Mutexes.Back(ready, go));
    }
    static void Go()
    {
        begin.SetResult();
        go.Set();
        Program.Settle(threads.Values.ToArray());
    }

    public static string RunMutexes()
    {
        WaitForMutexes();
        Go();
        return "\"words\": [\"MutexFirst\", \"MutexSecond\"]";
    }

    public static string RunTasks()
    {
        AwaitEachOther();
        Go();
        return "\"words\": [\"Hangs.Left\", \"Hangs.Right\"]";
    }

    public static string Run()
    {
        Task[] self = new Task[1];
        self[0] = AwaitItself(self);
        kept.Add(self);
        AwaitEachOther();
        Named("There", ready => Transfers.There(ready, go));
        Named("Back", ready => Transfers.Back(ready, go));
        Named("Sleeper", Idle.Sleep);
        Named("IdleOne", ready => Idle.WaitForOne(ready, go));
        Named("IdleOther", ready => Idle.WaitForOther(ready, go));
        Named("Bystander", Bystander.Wait);
        WaitForMutexes();
        Task blocked = null;
        Named("OwnResult", ready =>
        {
            blocked = new Task(() => { ready(); blocked.Wait(); });
            blocked.RunSynchronously();
        });
        Named("OwnAwait", ready =>
        {
            var start = new TaskCompletionSource();
            Task[] own = new Task[1];
            own[0] = WaitForItself(own, start.Task, ready);
            start.SetResult();
        });
        Task[] worker = new Task[1];
        Named("Worker", ready => Begin(worker, null, ready));
        Named("WaitsForWorker", ready => Begin(new Task[1], () => worker[0], ready));
        Named("Holder", Hold);
        for (int i = 0; i < 12; i++)
            Named($"Convoy{i}", Crowd);
        Go();
        return "\"threads\": {" + string.Join(", ", threads.Select(one => $"\"{one.Key}\": {one.Value.Json}")) + "}, " +
               "\"deadlocks\": [[\"Back\", \"There\"], [\"MutexFirst\", \"MutexSecond\"], [\"OwnResult\"], [\"OwnAwait\"], [\"Hangs.AwaitItself\"], " +
               "[\"Hangs.Left\", \"Hangs.Right\"]], \"convoy\": 12";
    }
}
