// Threads and tasks that wait for one another, and exceptions: `waits WAY [COUNT]`, one of
//   thrown       exceptions of several types, thrown here and there, caught and kept; faulted tasks nobody looked at
//   locks        locks of every kind, held and waited for; two threads that wait for each other's locks
//   lock-async   a lock whose holder waits for a task that needs the lock
//   async        COUNT asynchronous calls that wait at three places, and some at others
//   semaphores   semaphores without permits: deadlocks, and what only looks like one
//   mutexes, task-circle  one of the deadlocks of hangs alone
//   kinds        threads in every kind of wait there is, each called by it
//   circles      deadlocks over monitors, Locks, mutexes, the ends of threads
//   inflated     monitors with sync blocks, by a thousand
//   hangs        deadlocks by static fields, Mutex and tasks alone, and a lock that a dozen threads wait for
//   constructors static constructors that wait, and threads that wait for them
//   combined     pending calls behind WhenAll, WhenAny, ContinueWith and Unwrap, several for each
//   library      calls that await the library alone: sockets, semaphores with a timeout, HTTP requests, channels, timers
//   pool         a thread pool whose workers wait for work that no worker is left to do
//   pool-locks   a thread pool whose workers all wait for one lock
//   collections  deadlocks over BlockingCollections; collections-fine: what only looks like one
//   gate         COUNT calls before one semaphore; gate-lost, gate-few, gate-unique, gate-threads, gate-sleeper: others; gates-fine: callers that wait as is usual
//   joined, constructed, readers, screen  hangs by Thread.Join, a static constructor's task, readers, a SynchronizationContext
//   takers       semaphores of an object in a static field: who has taken them, and who only refers to them
// Its truth is one object, "said"; what is in it, each way's file tells.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

static class Program
{
    // Starts a thread that never ends; returns when it says so.
    public static Pair Start(string name, Action<Action> run)
    {
        var pair = new Pair();
        using var ready = new ManualResetEvent(false);
        new Thread(() =>
        {
            pair.Set();
            run(() => ready.Set());
        })
        { IsBackground = true, Name = name }.Start();
        ready.WaitOne();
        return pair;
    }

    // Waits until a thread has gone to sleep: what it was about to wait for, it waits for.
    public static void Settle(params Pair[] threads)
    {
        foreach (Pair thread in threads)
            for (int asleep = 0; asleep < 20; Thread.Sleep(5))
                asleep = State(thread.Os) == 'S' ? asleep + 1 : 0;
    }

    static char State(int thread)
    {
        string text = System.IO.File.ReadAllText($"/proc/self/task/{thread}/stat");
        return text[text.LastIndexOf(')') + 2];
    }

    static void Main(string[] arguments)
    {
        int count = arguments.Length > 1 ? int.Parse(arguments[1]) : 1000;
        string said = arguments[0] switch
        {
            "thrown" => Thrown.Run(),
            "locks" => Locks.Run(),
            "lock-async" => LockAsync.Run(),
            "constructors" => Constructors.Run(),
            "async" => Calls.Run(count),
            "semaphores" => Semaphores.Run(),
            "pool" => Pool.Run(),
            "pool-locks" => Pool.RunLocks(),
            "collections" => Collections.Run(),
            "collections-fine" => Collections.RunFine(),
            "gate" => Gates.Run(count),
            "gate-lost" => Gates.RunLost(),
            "gate-few" => Gates.RunFew(),
            "gate-unique" => Gates.RunUnique(),
            "gate-threads" => Gates.RunThreads(),
            "gate-sleeper" => Gates.RunSleeper(),
            "gates-fine" => Gates.RunFine(),
            "takers" => Takers.Run(),
            "kinds" => Kinds.Run(),
            "circles" => Circles.Run(),
            "around" => Around.Run(),
            "inflated" => Inflated.Run(),
            "hangs" => Hangs.Run(),
            "mutexes" => Hangs.RunMutexes(),
            "task-circle" => Hangs.RunTasks(),
            "joined" => Stuck.RunJoined(),
            "constructed" => Stuck.RunConstructed(),
            "readers" => Stuck.RunReaders(),
            "screen" => Stuck.RunScreen(),
            "combined" => Combined.Run(),
            "library" => Library.Run(),
            _ => throw new ArgumentException(arguments[0]),
        };
        string types = Truth.Types();
        Truth.AfterLastCollection();
        GC.Collect();
        GC.Collect();
        Truth.Print(types + ", \"said\": {" + said + "}");
        Truth.Wait();
        Environment.Exit(0);
    }
}

class Pair
{
    [DllImport("libc")]
    static extern int gettid();

    public int Managed, Os;

    // Of the thread that calls.
    public void Set()
    {
        Managed = Environment.CurrentManagedThreadId;
        Os = gettid();
    }

    public string Json => $"{{\"managed_id\": {Managed}, \"os_id\": {Os}}}";
}
