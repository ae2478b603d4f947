// "threads": by name, their ids; "takers": by the type of a semaphore that an object in a static field has, who has taken it. Others refer to it,
// too: they look at it, wait for it, or have given it back.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

class VaultGate : SemaphoreSlim { public VaultGate() : base(1, 1) { } }
class SafeGate : SemaphoreSlim { public SafeGate() : base(1, 1) { } }

class Vault
{
    public static readonly Vault Only = new();
    public readonly SemaphoreSlim Gate = new VaultGate();
    public readonly SemaphoreSlim Safe = new SafeGate();

    public void Use(Action ready, bool mayWait)
    {
        if (mayWait)
            ready();
        Gate.Wait();
        ready();
        Takers.Sleep();
        Gate.Release();
    }
    public async Task UseAsync()
    {
        await Safe.WaitAsync();
        await Takers.Never.Task;
        Safe.Release();
    }
    // Has done with it.
    public void Report(Action ready)
    {
        GC.KeepAlive(Gate.CurrentCount);
        ready();
        Takers.Sleep();
        GC.KeepAlive(Gate);
    }
}

static class Takers
{
    public static readonly TaskCompletionSource Never = new();
    static readonly Dictionary<string, Pair> threads = new();
    static readonly List<object> kept = new();

    public static void Sleep() => Thread.Sleep(Timeout.Infinite);

    static void Start(string name, Action<Action> run) => threads[name] = Program.Start(name, run);

    static void Peek(Action ready)
    {
        SemaphoreSlim gate = Vault.Only.Gate;
        ready();
        Sleep();
        GC.KeepAlive(gate.CurrentCount);
    }
    static async Task Watch()
    {
        SemaphoreSlim safe = Vault.Only.Safe;
        await Never.Task;
        GC.KeepAlive(safe.CurrentCount);
    }

    public static string Run()
    {
        Start("User", ready => Vault.Only.Use(ready, false));
        Start("Waiting", ready => Vault.Only.Use(ready, true));
        Start("WaitingToo", ready => Vault.Only.Use(ready, true));
        Start("Peeking", Peek);
        Start("Reporting", ready => Vault.Only.Report(ready));
        for (int i = 0; i < 3; i++)
            kept.Add(Vault.Only.UseAsync());
        kept.Add(Watch());
        Program.Settle(threads.Values.ToArray());
        return "\"threads\": {" + string.Join(", ", threads.Select(one => $"\"{one.Key}\": {one.Value.Json}")) +
               "}, \"takers\": {\"VaultGate\": \"User\", \"SafeGate\": \"Vault.UseAsync\"}";
    }
}
