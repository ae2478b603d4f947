// "threads": by name, their ids; "deadlocks": [{"waits_for": types of what is waited for, "threads", "grounds": how it can be told}]. Each
// semaphore is of a type of its own, by which it is found. A SemaphoreSlim does not say who took it.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

class CrossA : SemaphoreSlim { public CrossA() : base(1, 1) { } }
class CrossB : SemaphoreSlim { public CrossB() : base(1, 1) { } }
class CallA : SemaphoreSlim { public CallA() : base(1, 1) { } }
class CallB : SemaphoreSlim { public CallB() : base(1, 1) { } }
class TokenA : SemaphoreSlim { public TokenA() : base(1, 1) { } }
class TokenB : SemaphoreSlim { public TokenB() : base(1, 1) { } }
class FieldA : SemaphoreSlim { public FieldA() : base(1, 1) { } }
class FieldB : SemaphoreSlim { public FieldB() : base(1, 1) { } }
class JoinA : SemaphoreSlim { public JoinA() : base(1, 1) { } }
class JoinB : SemaphoreSlim { public JoinB() : base(1, 1) { } }
class Mixed : SemaphoreSlim { public Mixed() : base(1, 1) { } }
class MixedLock { }
class Again : SemaphoreSlim { public Again() : base(1, 1) { } }
class BusyA : SemaphoreSlim { public BusyA() : base(1, 1) { } }
class BusyB : SemaphoreSlim { public BusyB() : base(1, 1) { } }
class LimitA : SemaphoreSlim { public LimitA() : base(1, 1) { } }
class LimitB : SemaphoreSlim { public LimitB() : base(1, 1) { } }
class LimitCallA : SemaphoreSlim { public LimitCallA() : base(1, 1) { } }
class LimitCallB : SemaphoreSlim { public LimitCallB() : base(1, 1) { } }
class Leaked : SemaphoreSlim { public Leaked() : base(1, 1) { } }

class Shop
{
    readonly FieldA orders = new();
    readonly FieldB stock = new();

    // In methods of their own, which leave nothing behind.
    [MethodImpl(MethodImplOptions.NoInlining)]
    void Order() => orders.Wait();
    [MethodImpl(MethodImplOptions.NoInlining)]
    void TakeOut() => stock.Wait();

    public void Buy(Action ready, ManualResetEvent go)
    {
        Order();
        ready();
        go.WaitOne();
        TakeOut();
    }
    public void Sell(Action ready, ManualResetEvent go)
    {
        TakeOut();
        ready();
        go.WaitOne();
        Order();
    }
}

// Its permit was taken by nobody who goes on or will give it back: that is no deadlock.
class Leaking
{
    readonly Leaked gate = new();
    public Leaking() => gate.Wait();
    async Task Inner() => await gate.WaitAsync();
    public async Task Outer() => await Inner();
}

static class Semaphores
{
    static readonly Dictionary<string, Pair> threads = new();
    static readonly List<object> kept = new();
    static readonly List<string> deadlocks = new();
    static readonly ManualResetEvent go = new(false);
    static readonly TaskCompletionSource goCalls = new();
    static volatile bool stop;

    static void Named(string name, Action<Action> run) => threads[name] = Program.Start(name, run);

    static void Expect(string grounds, string[] waitsFor, params string[] names) =>
        deadlocks.Add($"{{\"grounds\": \"{grounds}\", \"waits_for\": [{string.Join(", ", waitsFor.Select(one => $"\"{one}\""))}], " +
                      $"\"threads\": [{string.Join(", ", names.Select(one => $"\"{one}\""))}]}}");

    // Takes one, then when told to, the other.
    static void Cross(Action ready, SemaphoreSlim first, SemaphoreSlim second, int limit = -1)
    {
        first.Wait();
        ready();
        go.WaitOne();
        second.Wait(limit);
        second.Release();
        first.Release();
    }

    static async Task CrossCalls(SemaphoreSlim first, SemaphoreSlim second, int limit = -1, CancellationToken token = default)
    {
        await first.WaitAsync();
        await goCalls.Task;
        await second.WaitAsync(limit, token);
        second.Release();
        first.Release();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Threads()
    {
        SemaphoreSlim a = new CrossA(), b = new CrossB();
        Named("First", ready => Cross(ready, a, b));
        Named("Second", ready => Cross(ready, b, a));
        Expect("reference", new[] { "CrossA", "CrossB" }, "First", "Second");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void AsyncCalls()
    {
        SemaphoreSlim a = new CallA(), b = new CallB();
        kept.Add(CrossCalls(a, b));
        kept.Add(CrossCalls(b, a));
        Expect("reference", new[] { "CallA", "CallB" });
        SemaphoreSlim c = new TokenA(), d = new TokenB();
        var source = new CancellationTokenSource();
        kept.Add(source);
        kept.Add(CrossCalls(c, d, token: source.Token));
        kept.Add(CrossCalls(d, c, token: source.Token));
        Expect("reference", new[] { "TokenA", "TokenB" });
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ByFields()
    {
        var shop = new Shop();
        Named("Buyer", ready => shop.Buy(ready, go));
        Named("Seller", ready => shop.Sell(ready, go));
        Expect("reference_by_object", new[] { "FieldA", "FieldB" }, "Buyer", "Seller");
    }

    // Who started the two refers to both semaphores, and waits for the end of one.
    static void StartAndJoin(Action ready)
    {
        SemaphoreSlim a = new JoinA(), b = new JoinB();
        Pair first = new(), second = new();
        Thread one = new(() => { first.Set(); Cross(() => { }, a, b); }) { IsBackground = true };
        Thread other = new(() => { second.Set(); Cross(() => { }, b, a); }) { IsBackground = true };
        one.Start();
        other.Start();
        while (a.CurrentCount + b.CurrentCount > 0)
            Thread.Sleep(1);
        threads["Joined"] = first;
        threads["Other"] = second;
        ready();
        one.Join();
        GC.KeepAlive(a);
        GC.KeepAlive(b);
    }

    static void TakeBoth(Action ready, SemaphoreSlim semaphore, object guard)
    {
        semaphore.Wait();
        ready();
        go.WaitOne();
        lock (guard)
            semaphore.Release();
    }

    static void LockBoth(Action ready, SemaphoreSlim semaphore, object guard)
    {
        lock (guard)
        {
            ready();
            go.WaitOne();
            semaphore.Wait();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WithLock()
    {
        SemaphoreSlim semaphore = new Mixed();
        object guard = new MixedLock();
        Named("Taking", ready => TakeBoth(ready, semaphore, guard));
        Named("Locking", ready => LockBoth(ready, semaphore, guard));
        Expect("reference", new[] { "Mixed", "MixedLock" }, "Taking", "Locking");
    }

    static async Task Entered(SemaphoreSlim gate) => await gate.WaitAsync();

    // Calls a method that enters what it has entered itself.
    static async Task Enters(SemaphoreSlim gate)
    {
        await gate.WaitAsync();
        await Entered(gate);
        gate.Release();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Recursively()
    {
        kept.Add(Enters(new Again()));
        Expect("reference", new[] { "Again", "Task" });
    }

    // Two that cross as well, but a third one has taken both, and goes on.
    static void Work(Action ready, SemaphoreSlim a, SemaphoreSlim b)
    {
        a.Wait();
        b.Wait();
        ready();
        while (!stop)
            ;
        a.Release();
        b.Release();
    }

    static void WaitFor(Action ready, SemaphoreSlim one, SemaphoreSlim other)
    {
        ready();
        go.WaitOne();
        one.Wait();
        GC.KeepAlive(other);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Busy()
    {
        SemaphoreSlim a = new BusyA(), b = new BusyB();
        Named("Worker", ready => Work(ready, a, b));
        Named("Left", ready => WaitFor(ready, a, b));
        Named("Right", ready => WaitFor(ready, b, a));
    }

    // They give up after an hour.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Limited()
    {
        SemaphoreSlim a = new LimitA(), b = new LimitB(), c = new LimitCallA(), d = new LimitCallB();
        Named("LimitedFirst", ready => Cross(ready, a, b, 3600_000));
        Named("LimitedSecond", ready => Cross(ready, b, a, 3600_000));
        kept.Add(CrossCalls(c, d, 3600_000));
        kept.Add(CrossCalls(d, c, 3600_000));
        kept.Add(new Leaking().Outer());
    }

    public static string Run()
    {
        Threads();
        AsyncCalls();
        ByFields();
        Named("Starter", StartAndJoin);
        Expect("reference", new[] { "JoinA", "JoinB" }, "Joined", "Other");
        WithLock();
        Recursively();
        Busy();
        Limited();
        goCalls.SetResult();
        go.Set();
        Program.Settle(threads.Where(one => one.Key != "Worker").Select(one => one.Value).ToArray());
        return "\"threads\": {" + string.Join(", ", threads.Select(one => $"\"{one.Key}\": {one.Value.Json}")) + "}, \"deadlocks\": [" +
               string.Join(", ", deadlocks) + "]";
    }
}
