// "workers": how many there are, all of which wait; "queued": [{"method", "count"}] of what waits for a worker.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

static class Pool
{
    const int workers = 4;
    static readonly CountdownEvent all = new(workers);
    static readonly List<Task> kept = new();

    static async Task Load()
    {
        await Task.Yield();
        GC.KeepAlive(kept);
    }

    static void Request()
    {
        all.Signal();
        all.Wait();
        Load().Wait();
    }

    static void Handle(object state) => GC.KeepAlive(state);
    static int Poll() => 1;

    const int crowd = 19;
    static readonly object door = new();

    static void Enter(object state)
    {
        lock (door)
            GC.KeepAlive(state);
    }

    // Who has the lock is none of the pool's.
    public static string RunLocks()
    {
        ThreadPool.SetMinThreads(crowd, 1);
        ThreadPool.SetMaxThreads(crowd, 1);
        Program.Start("Keeper", ready =>
        {
            lock (door)
            {
                ready();
                Thread.Sleep(Timeout.Infinite);
            }
        });
        for (int i = 0; i < crowd; i++)
            ThreadPool.QueueUserWorkItem(Enter);
        Thread.Sleep(1000);
        for (int i = 0; i < 40; i++)
            ThreadPool.QueueUserWorkItem(Handle);
        Thread.Sleep(500);
        return $"\"workers\": {crowd}, \"queued\": [{{\"method\": \"Pool.Handle\", \"count\": 40}}]";
    }

    public static string Run()
    {
        ThreadPool.SetMinThreads(workers, 1);
        ThreadPool.SetMaxThreads(workers, 1);
        for (int i = 0; i < workers; i++)
            kept.Add(Task.Run(Request));
        all.Wait();
        Thread.Sleep(500);
        for (int i = 0; i < 50; i++)
            ThreadPool.QueueUserWorkItem(Handle);
        for (int i = 0; i < 20; i++)
            kept.Add(Task.Run(Poll));
        Thread.Sleep(500);
        return $"\"workers\": {workers}, \"queued\": [{{\"method\": \"Pool.Load\", \"count\": {workers}}}, " +
               "{\"method\": \"Pool.Handle\", \"count\": 50}, {\"method\": \"Pool.Poll\", \"count\": 20}]";
    }
}
