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
