// "threads": by name, their ids; "deadlocks": the threads of each, and the labels of what they wait for (a thread whose end is waited for
// is its own label). The objects' addresses are the truth's "addresses".
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

// Two threads each, of which one has what the other wants.
static class Circles
{
    static readonly Dictionary<string, Pair> threads = new();
    static readonly List<string> deadlocks = new();
    static readonly ManualResetEvent go = new(false);

    class Thing
    {
        public string Label;
        public Action Take;
    }

    static Thing Of(string label, object it, Action take)
    {
        Truth.Label(label, it);
        return new Thing { Label = label, Take = take };
    }
    static Thing Monitored(string label)
    {
        var it = new Kept();
        return Of(label, it, () => Monitor.Enter(it));
    }
    static Thing OfMutex(string label)
    {
        var it = new Mutex();
        return Of(label, it, () => it.WaitOne());
    }
    static Thing New(string label)
    {
        Type type = typeof(object).Assembly.GetType("System.Threading.Lock");
        object it = type == null ? new Kept() : Activator.CreateInstance(type); // .NET 8 has none
        return Of(label, it, type == null ? () => Monitor.Enter(it) : (Action)Delegate.CreateDelegate(typeof(Action), it, type.GetMethod("Enter")));
    }

    static void Cross(string name, Thing a, Thing b)
    {
        void Start(string which, Thing first, Thing second) => threads[name + which] = Program.Start(name + which, ready =>
        {
            first.Take();
            ready();
            go.WaitOne();
            second.Take();
        });
        Start("First", a, b);
        Start("Second", b, a);
        deadlocks.Add($"{{\"threads\": [\"{name}First\", \"{name}Second\"], \"on\": [\"{a.Label}\", \"{b.Label}\"]}}");
    }

    // Who has a lock waits for the end of a thread that wants it.
    static void Join()
    {
        object it = Truth.Label("joiner's", new Kept());
        threads["Joiner"] = Program.Start("Joiner", ready =>
        {
            lock (it)
            {
                var ids = new Pair();
                var started = new ManualResetEvent(false);
                var joined = new Thread(() =>
                {
                    ids.Set();
                    started.Set();
                    lock (it)
                        GC.KeepAlive(it);
                }) { IsBackground = true, Name = "Joined" };
                joined.Start();
                started.WaitOne();
                threads["Joined"] = ids;
                ready();
                go.WaitOne();
                joined.Join();
            }
        });
        deadlocks.Add("{\"threads\": [\"Joined\", \"Joiner\"], \"on\": [\"joiner's\"]}");
    }

    public static string Run()
    {
        Cross("Monitors", Monitored("monitor a"), Monitored("monitor b"));
        Cross("MutexMonitor", OfMutex("mutex c"), Monitored("monitor c"));
        Cross("Mutexes", OfMutex("mutex d"), OfMutex("mutex e"));
        Cross("LockMonitor", New("lock f"), Monitored("monitor f"));
        Join();
        go.Set();
        Program.Settle(threads.Values.ToArray());
        return "\"threads\": {" + string.Join(", ", threads.Select(one => $"\"{one.Key}\": {one.Value.Json}")) + "}, \"deadlocks\": [" +
               string.Join(", ", deadlocks) + "]";
    }
}
