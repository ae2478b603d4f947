// "threads": by name, their ids; "deadlocks": the threads of each that the program has started, and whether nobody of them ever goes on.
// Each goes by what is no lock: the finalizer's thread, children of tasks; or it ends by itself; or nothing says who took a semaphore.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

static class Around
{
    static readonly Dictionary<string, Pair> threads = new();
    static readonly List<string> deadlocks = new();
    static readonly ManualResetEvent go = new(false);
    static readonly object finalized = new Kept(), shared = new Kept();
    static readonly SemaphoreSlim again = new(1, 1);
    static readonly CancellationTokenSource cancels = new(TimeSpan.FromHours(1));
    static Task entered;

    class Finalized
    {
        ~Finalized()
        {
            lock (finalized)
                GC.KeepAlive(finalized);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeFinalized() => GC.KeepAlive(new Finalized());

    static void Add(bool certain, params string[] names) =>
        deadlocks.Add($"{{\"threads\": [{string.Join(", ", names.Select(name => $"\"{name}\""))}], \"certain\": {(certain ? "true" : "false")}}}");

    static void Start(string name, Action<Action> run) => threads[name] = Program.Start(name, run);

    static void OfFinalizers()
    {
        Start("Collector", ready =>
        {
            lock (finalized)
            {
                MakeFinalized();
                GC.Collect();
                ready();
                GC.WaitForPendingFinalizers();
            }
        });
        Add(true, "Collector");
    }

    static void OfChildren()
    {
        Start("Parent", ready =>
        {
            lock (shared)
            {
                Task parent = Task.Factory.StartNew(() => Task.Factory.StartNew(() =>
                {
                    lock (shared)
                        GC.KeepAlive(shared);
                }, default, TaskCreationOptions.AttachedToParent, TaskScheduler.Default), default, TaskCreationOptions.None, TaskScheduler.Default);
                ready();
                parent.Wait();
            }
        });
        Add(true, "Parent");
    }

    static void OfTries()
    {
        ReaderWriterLockSlim a = new(), b = new();
        void Cross(string name, ReaderWriterLockSlim first, ReaderWriterLockSlim second) => Start(name, ready =>
        {
            first.EnterWriteLock();
            ready();
            go.WaitOne();
            second.TryEnterWriteLock(TimeSpan.FromHours(1));
        });
        Cross("TriesA", a, b);
        Cross("TriesB", b, a);
        Add(false, "TriesA", "TriesB");
    }

    static void OfTokens()
    {
        Task a = null, b = null;
        a = new Task(() => b.Wait(cancels.Token));
        b = new Task(() => a.Wait(cancels.Token));
        void Run(string name, Task task) => Start(name, ready =>
        {
            ready();
            go.WaitOne();
            task.RunSynchronously();
        });
        Run("TokenA", a);
        Run("TokenB", b);
        Add(false, "TokenA", "TokenB");
    }

    static async Task Enter()
    {
        await again.WaitAsync();
        await EnterAgain();
        again.Release();
    }
    static async Task EnterAgain()
    {
        await Task.Yield();
        await again.WaitAsync();
        again.Release();
    }

    // Who had the lock has ended.
    static void OfNobody()
    {
        object it = Truth.Label("orphan", new Kept());
        var owner = new Thread(() => Monitor.Enter(it));
        owner.Start();
        owner.Join();
        Start("Waiter", ready =>
        {
            ready();
            lock (it)
                GC.KeepAlive(owner);
        });
    }

    public static string Run()
    {
        OfNobody();
        OfFinalizers();
        OfChildren();
        OfTries();
        OfTokens();
        entered = Enter();
        Add(false);
        go.Set();
        Program.Settle(threads.Values.ToArray());
        GC.KeepAlive(entered);
        return "\"threads\": {" + string.Join(", ", threads.Select(one => $"\"{one.Key}\": {one.Value.Json}")) + "}, \"deadlocks\": [" +
               string.Join(", ", deadlocks) + "]";
    }
}
