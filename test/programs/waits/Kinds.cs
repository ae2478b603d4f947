// "threads": by name, what each waits for: {"os_id", "managed_id", "words": how the answer begins on .NET 11, "on": labels of the objects,
// "owner": whose turn it is, "limited": it ends by itself}; "mutexes": by label, {"owner", "times", "abandoned", "waiters"}.
// The objects' addresses are the truth's "addresses".
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;

class Kept { }
class OwnEvent : EventWaitHandle { public OwnEvent() : base(false, EventResetMode.AutoReset) { } }

static class Kinds
{
    const int Hours = 3 * 3600 * 1000;

    static readonly Dictionary<string, (Pair ids, string json)> threads = new();
    static readonly List<string> mutexes = new();

    static T Label<T>(string label, T value) where T : class => Truth.Label(label, value);

    // `owner`: another thread's name, or none; `on`: labels.
    static void Wait(string name, string words, string[] on, Action<Action> run, string owner = null, bool limited = false)
    {
        Pair ids = Program.Start(name, run);
        threads[name] = (ids, $"\"words\": \"{words}\", \"on\": [{string.Join(", ", on.Select(one => $"\"{one}\""))}], \"owner\": " +
                              (owner == null ? "null" : $"\"{owner}\"") + $", \"limited\": {(limited ? "true" : "false")}");
    }
    static void Wait(string name, string words, string on, Action run, string owner = null, bool limited = false) =>
        Wait(name, words, on == null ? Array.Empty<string>() : new[] { on }, ready => { ready(); run(); }, owner, limited);
    static void Sleep() => Thread.Sleep(Timeout.Infinite);
    static void Hold(string name, Action take) => Wait(name, "sleep", Array.Empty<string>(), ready => { take(); ready(); Sleep(); });

    static void Mutex(string label, string owner, int times, bool abandoned, int waiters) =>
        mutexes.Add($"\"{label}\": {{\"owner\": {(owner == null ? "null" : $"\"{owner}\"")}, \"times\": {times}, \"abandoned\": " +
                    (abandoned ? "true" : "false") + $", \"waiters\": {waiters}}}");

    public static string Run()
    {
        WaitForTime();
        WaitForLocks();
        WaitForMutexes();
        WaitForHandles();
        WaitForSlimOnes();
        WaitForReadersAndWriters();
        WaitForTasks();
        WaitInPool();
        Interrupted();
        Program.Settle(threads.Values.Select(one => one.ids).ToArray());
        return "\"threads\": {" + string.Join(", ", threads.Select(one => $"\"{one.Key}\": {one.Value.ids.Json[..^1]}, {one.Value.json}}}")) +
               "}, \"mutexes\": {" + string.Join(", ", mutexes) + "}";
    }

    static void WaitForTime()
    {
        Wait("Sleep", "sleep", null, Sleep);
        Wait("SleepLimited", "sleep", null, () => Thread.Sleep(Hours), limited: true);
        Thread joined = Label("joined", new Thread(Sleep) { IsBackground = true, Name = "Joined" });
        joined.Start();
        Wait("Join", "the end of", "joined", joined.Join);
        Wait("JoinLimited", "the end of", "joined", () => joined.Join(Hours), limited: true);
    }

    static void WaitForLocks()
    {
        object held = Label("held", new Kept()), pulsed = Label("pulsed", new Kept());
        Hold("HasMonitor", () => Monitor.Enter(held));
        Wait("Enter", "Monitor of", "held", () => Monitor.Enter(held), "HasMonitor");
        Wait("EnterLimited", "Monitor of", "held", () => Monitor.TryEnter(held, Hours), "HasMonitor", true);
        Wait("Pulse", "a pulse of", "pulsed", () => { lock (pulsed) Monitor.Wait(pulsed); });
        Wait("PulseLimited", "a pulse of", "pulsed", () => { lock (pulsed) Monitor.Wait(pulsed, Hours); }, limited: true);
        Type type = typeof(object).Assembly.GetType("System.Threading.Lock"); // not in .NET 8
        if (type == null)
            return;
        object newLock = Label("new lock", Activator.CreateInstance(type));
        var enter = (Action)Delegate.CreateDelegate(typeof(Action), newLock, type.GetMethod("Enter"));
        var tryEnter = (Func<int, bool>)Delegate.CreateDelegate(typeof(Func<int, bool>), newLock, type.GetMethod("TryEnter", new[] { typeof(int) }));
        Hold("HasLock", enter);
        Wait("Lock", "System.Threading.Lock", "new lock", enter, "HasLock");
        Wait("LockLimited", "System.Threading.Lock", "new lock", () => tryEnter(Hours), "HasLock", true);
    }

    static void WaitForMutexes()
    {
        var mutex = Label("mutex", new Mutex());
        Hold("HasMutex", () => { mutex.WaitOne(); mutex.WaitOne(); });
        Wait("Mutex", "System.Threading.Mutex", "mutex", () => mutex.WaitOne(), "HasMutex");
        Wait("MutexLimited", "System.Threading.Mutex", "mutex", () => mutex.WaitOne(Hours), "HasMutex", true);
        Mutex("mutex", "HasMutex", 2, false, 2);
        var own = Label("initially owned", new Mutex());
        Hold("HasTwo", () => { own.WaitOne(); });
        Mutex("initially owned", "HasTwo", 1, false, 0);
        var abandoned = Label("abandoned", new Mutex());
        var leaver = new Thread(() => abandoned.WaitOne());
        leaver.Start();
        leaver.Join();
        Mutex("abandoned", null, 0, true, 0);
        var named = Label("named", new Mutex(false, "dnheap-waits-" + Environment.ProcessId));
        Hold("HasNamed", () => named.WaitOne());
        Wait("Named", "System.Threading.Mutex", "named", () => named.WaitOne(), "HasNamed");
        Mutex("named", "HasNamed", 1, false, 1);
    }

    static void WaitForHandles()
    {
        var automatic = Label("auto", new AutoResetEvent(false));
        var manual = Label("manual", new ManualResetEvent(false));
        var another = Label("another", new ManualResetEvent(false));
        var own = Label("own", new OwnEvent());
        var semaphore = Label("semaphore", new Semaphore(0, 4));
        var released = new AutoResetEvent(false);
        var source = new CancellationTokenSource();
        Truth.Keep(source);
        Wait("Auto", "System.Threading.AutoResetEvent", "auto", () => automatic.WaitOne());
        Wait("AutoLimited", "System.Threading.AutoResetEvent", "auto", () => automatic.WaitOne(Hours), limited: true);
        Wait("Manual", "System.Threading.ManualResetEvent", "manual", () => manual.WaitOne());
        Wait("OwnEvent", "OwnEvent", "own", () => own.WaitOne());
        Wait("Semaphore", "System.Threading.Semaphore", "semaphore", () => semaphore.WaitOne());
        Wait("Any", "any of 3", new[] { "auto", "manual", "semaphore" },
             ready => { ready(); WaitHandle.WaitAny(new WaitHandle[] { automatic, manual, semaphore }); });
        Wait("All", "all of 2", new[] { "manual", "another" }, ready => { ready(); WaitHandle.WaitAll(new WaitHandle[] { manual, another }); });
        Wait("SignalAndWait", "System.Threading.ManualResetEvent", "another", () => WaitHandle.SignalAndWait(released, another));
        WaitHandle cancelled = Label("cancelled", source.Token.WaitHandle);
        Wait("Cancellation", "System.Threading.ManualResetEvent", "cancelled", () => cancelled.WaitOne());
    }

    static void WaitForSlimOnes()
    {
        var set = Label("set", new ManualResetEventSlim(false));
        var permits = Label("permits", new SemaphoreSlim(0, 4));
        var countdown = Label("countdown", new CountdownEvent(3));
        var barrier = Label("barrier", new Barrier(2));
        var things = Truth.Keep(new BlockingCollection<string>());
        Label("things", Field<SemaphoreSlim>(things, "_occupiedNodes"));
        Wait("EventSlim", "System.Threading.ManualResetEventSlim", "set", () => set.Wait());
        Wait("EventSlimLimited", "System.Threading.ManualResetEventSlim", "set", () => set.Wait(Hours), limited: true);
        Wait("SemaphoreSlim", "System.Threading.SemaphoreSlim", "permits", () => permits.Wait());
        var queued = Label("queued", new SemaphoreSlim(0, 4)); // who waits there waits behind an asynchronous waiter
        Truth.Keep(queued.WaitAsync());
        Wait("Queued", "System.Threading.SemaphoreSlim", "queued", () => queued.Wait());
        Wait("QueuedLimited", "System.Threading.SemaphoreSlim", "queued", () => queued.Wait(Hours), limited: true);
        Wait("Countdown", "System.Threading.CountdownEvent", "countdown", () => countdown.Wait());
        Wait("Barrier", "System.Threading.Barrier", "barrier", () => barrier.SignalAndWait());
        Wait("Take", "an item in a BlockingCollection", "things", () => things.Take());
    }

    static T Field<T>(object of, string name) => (T)of.GetType().GetField(name, BindingFlags.NonPublic | BindingFlags.Instance).GetValue(of);

    static void WaitForReadersAndWriters()
    {
        var written = Label("written", new ReaderWriterLockSlim());
        Hold("Writes", written.EnterWriteLock);
        Wait("Read", "System.Threading.ReaderWriterLockSlim", "written", written.EnterReadLock, "Writes");
        Wait("Write", "System.Threading.ReaderWriterLockSlim", "written", written.EnterWriteLock, "Writes");
        Wait("Upgradeable", "System.Threading.ReaderWriterLockSlim", "written", written.EnterUpgradeableReadLock, "Writes");
        var read = Label("read", new ReaderWriterLockSlim());
        Hold("Reads", read.EnterReadLock);
        Wait("Upgrade", "System.Threading.ReaderWriterLockSlim", new[] { "read" }, ready =>
        {
            read.EnterUpgradeableReadLock();
            ready();
            read.EnterWriteLock();
        });
        var old = Label("old", new ReaderWriterLock());
        Hold("WritesOld", () => old.AcquireWriterLock(Timeout.Infinite));
        Wait("ReadOld", "System.Threading.ReaderWriterLock", "old", () => old.AcquireReaderLock(Timeout.Infinite));
        Wait("WriteOld", "System.Threading.ReaderWriterLock", "old", () => old.AcquireWriterLock(Timeout.Infinite));
    }

    static void WaitForTasks()
    {
        var promise = new TaskCompletionSource<int>();
        var second = new TaskCompletionSource<int>();
        Task<int> task = Label("task", promise.Task), other = Label("other task", second.Task);
        Truth.Keep(promise);
        Truth.Keep(second);
        Wait("TaskWait", "System.Threading.Tasks.Task<System.Int32>", "task", () => task.Wait());
        Wait("TaskResult", "System.Threading.Tasks.Task<System.Int32>", "task", () => GC.KeepAlive(task.Result));
        Wait("TaskGetResult", "System.Threading.Tasks.Task<System.Int32>", "task", () => task.GetAwaiter().GetResult());
        Wait("TaskLimited", "System.Threading.Tasks.Task<System.Int32>", "task", () => task.Wait(Hours), limited: true);
        Wait("TaskAll", "all of 2: System.Threading.Tasks.Task<", new[] { "task", "other task" }, ready => { ready(); Task.WaitAll(task, other); });
        Wait("TaskAny", "any of 2: System.Threading.Tasks.Task<", new[] { "task", "other task" }, ready => { ready(); Task.WaitAny(task, other); });
        WaitHandle handle = ((IAsyncResult)task).AsyncWaitHandle; // the handle of an event that the task has
        Label("of task", Field<ManualResetEventSlim>(Field<object>(task, "m_contingentProperties"), "m_completionEvent"));
        Wait("AsyncResult", "System.Threading.ManualResetEventSlim", "of task", () => handle.WaitOne());
    }

    // Four workers of the pool on one event.
    static void WaitInPool()
    {
        var gate = Label("gate", new ManualResetEvent(false));
        for (int i = 0; i < 4; i++)
        {
            string name = "Worker" + i;
            var ids = new Pair();
            using var ready = new ManualResetEventSlim(false);
            ThreadPool.UnsafeQueueUserWorkItem(_ =>
            {
                Thread.CurrentThread.Name = name;
                ids.Set();
                ready.Set();
                gate.WaitOne();
            }, null);
            ready.Wait();
            threads[name] = (ids, "\"words\": \"System.Threading.ManualResetEvent\", \"on\": [\"gate\"], \"owner\": null, \"limited\": false");
        }
    }

    // Its first wait was interrupted; it waits for something else since.
    static void Interrupted()
    {
        var first = new AutoResetEvent(false);
        var after = Label("after", new AutoResetEvent(false));
        Thread self = null;
        Wait("Interrupted", "System.Threading.AutoResetEvent", new[] { "after" }, ready =>
        {
            self = Thread.CurrentThread;
            ready();
            try
            {
                first.WaitOne();
            }
            catch (ThreadInterruptedException)
            {
            }
            after.WaitOne();
        });
        Program.Settle(threads["Interrupted"].ids);
        self.Interrupt();
    }
}
