// "threads": by name, their ids; "locks": what each holds, and who waits for it; "deadlocks": the threads of each cycle.
// Each lock is of a type of its own, by which it is found.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;

class LockA { }
class LockB { }
class Contended { }
class Recursive { }
class Pulsed { }
class ReadA : ReaderWriterLockSlim { }
class ReadB : ReaderWriterLockSlim { }
class LockHolder { public object First, Second; }

static class Locks
{
    static readonly Dictionary<string, Pair> threads = new();
    static readonly List<object> kept = new();

    static Pair Named(string name, Action<Action> run) => threads[name] = Program.Start(name, run);

    // Takes one, then when told to, the other.
    static void TakeBoth(Action ready, object first, object second, ManualResetEvent go)
    {
        lock (first)
        {
            ready();
            go.WaitOne();
            lock (second) // both stand here
                Thread.Sleep(Timeout.Infinite);
        }
    }

    static void Hold(Action ready, object what, int times)
    {
        for (int i = 0; i < times; i++)
            Monitor.Enter(what);
        ready();
        Thread.Sleep(Timeout.Infinite);
    }

    static void Take(Action ready, object what)
    {
        ready();
        lock (what)
            Thread.Sleep(Timeout.Infinite);
    }

    static void WaitForPulse(Action ready, object what)
    {
        lock (what)
        {
            ready();
            Monitor.Wait(what);
        }
    }

    // System.Threading.Lock, which this program's framework does not have.
    class NewLock
    {
        readonly object it;
        readonly Action enter;
        public NewLock(object it)
        {
            this.it = it;
            enter = (Action)Delegate.CreateDelegate(typeof(Action), it, it.GetType().GetMethod("Enter"));
        }
        public void Enter() => enter();
        public static NewLock Make()
        {
            Type type = typeof(object).Assembly.GetType("System.Threading.Lock");
            return type == null ? null : new NewLock(Activator.CreateInstance(type));
        }
    }

    static void TakeBothNew(Action ready, NewLock first, NewLock second, ManualResetEvent go)
    {
        first.Enter();
        ready();
        go.WaitOne();
        second.Enter();
        Thread.Sleep(Timeout.Infinite);
    }

    public static string Run()
    {
        var go = new ManualResetEvent(false);
        object a = Truth.Keep(new LockA()), b = Truth.Keep(new LockB()), contended = Truth.Keep(new Contended());
        object recursive = Truth.Keep(new Recursive()), pulsed = Truth.Keep(new Pulsed());
        Named("First", ready => TakeBoth(ready, a, b, go));
        Named("Second", ready => TakeBoth(ready, b, a, go));
        Named("Holder", ready => Hold(ready, contended, 2));
        for (int i = 0; i < 3; i++)
            Named("Taker" + i, ready => Take(ready, contended));
        Named("Recursive", ready => Hold(ready, recursive, 3));
        Named("Waiter", ready => WaitForPulse(ready, pulsed));
        NewLock c = NewLock.Make(), d = NewLock.Make();
        if (c != null)
        {
            kept.Add(c);
            kept.Add(d);
            Named("NewFirst", ready => TakeBothNew(ready, c, d, go));
            Named("NewSecond", ready => TakeBothNew(ready, d, c, go));
        }
        var readers = Truth.Keep(new ReaderWriterLockSlim());
        Named("Writer", ready => { readers.EnterWriteLock(); ready(); Thread.Sleep(Timeout.Infinite); });
        Named("Reader", ready => { ready(); readers.EnterReadLock(); });
        // Who reads one, and wants to write the other.
        ReaderWriterLockSlim readA = Truth.Keep(new ReadA()), readB = Truth.Keep(new ReadB());
        Named("Reading", ready => { readA.EnterReadLock(); ready(); go.WaitOne(); readB.EnterWriteLock(); });
        Named("ReadingToo", ready => { readB.EnterReadLock(); ready(); go.WaitOne(); readA.EnterWriteLock(); });
        var semaphore = Truth.Keep(new SemaphoreSlim(1, 4));
        semaphore.Wait();
        // A thread that comes behind asynchronous waiters waits for a task.
        Program.Settle(Named("Entering", ready => { ready(); semaphore.Wait(); }));
        kept.Add(semaphore.WaitAsync());
        kept.Add(semaphore.WaitAsync());
        Named("Late", ready => { ready(); semaphore.Wait(); });
        var set = Truth.Keep(new ManualResetEventSlim(false));
        Named("Unset", ready => { ready(); set.Wait(); });
        go.Set();
        Program.Settle(threads.Values.ToArray());
        var deadlocks = new List<string> { "[\"First\", \"Second\"]", "[\"Reading\", \"ReadingToo\"]" };
        if (c != null)
            deadlocks.Add("[\"NewFirst\", \"NewSecond\"]");
        return "\"threads\": {" + string.Join(", ", threads.Select(one => $"\"{one.Key}\": {one.Value.Json}")) + "}, \"deadlocks\": [" +
               string.Join(", ", deadlocks) + "], \"new_locks\": " + (c != null ? "true" : "false");
    }
}

class Guard { }

static class LockAsync
{
    static readonly object guard = new Guard();
    static Task task;

    static async Task Work()
    {
        await Task.Yield();
        lock (guard)
            GC.KeepAlive(guard);
    }

    public static string Run()
    {
        Pair worker = null;
        Pair holder = Program.Start("Holder", ready =>
        {
            lock (guard)
            {
                var running = new ManualResetEventSlim(false);
                task = Task.Run(() =>
                {
                    worker = new Pair { Managed = Environment.CurrentManagedThreadId, Os = Os() };
                    running.Set();
                    lock (guard)
                        GC.KeepAlive(guard);
                });
                running.Wait();
                Task other = Work();
                ready();
                task.Wait();
                other.Wait();
            }
        });
        Program.Settle(holder, worker);
        return $"\"holder\": {holder.Json}, \"worker\": {worker.Json}";
    }

    [System.Runtime.InteropServices.DllImport("libc", EntryPoint = "gettid")]
    static extern int Os();
}
