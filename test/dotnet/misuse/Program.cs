// Wrong arguments, wrong orders of calls, several threads: what is documented works, and the rest is an exception that says why.
// Usage: misuse DUMP
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using DnHeap;

string dump = args[0];
int wrong = 0;

void Fails<T>(string what, Action action, string words = "") where T : Exception
{
    try
    {
        action();
        Console.WriteLine($"{what}: no exception");
    }
    catch (Exception error) when (error.GetType() == typeof(T) && error.Message.Contains(words))
    {
        return;
    }
    catch (Exception error)
    {
        Console.WriteLine($"{what}: {error.GetType().Name}: {error.Message}");
    }
    ++wrong;
}

void Holds(string what, bool condition)
{
    if (condition)
        return;
    Console.WriteLine($"{what} does not hold");
    ++wrong;
}

using (var open = Snapshot.Open(dump))
{
    Fails<ArgumentNullException>("no path", () => Snapshot.Open(null!));
    Fails<ArgumentException>("a path with a zero char", () => Snapshot.Open(dump + "\0x"));
    Fails<ArgumentNullException>("no folders", () => Snapshot.Open(dump, new() { ModuleFolders = null! }));
    Fails<ArgumentOutOfRangeException>("negative threads", () => Snapshot.Open(dump, new() { Threads = -1 }));
    Fails<HeapException>("a dump has no port", () => Snapshot.Open(dump, new() { ByPort = true }), "by_port needs a live process");
    Fails<HeapException>("by port, not stopped", () => Snapshot.Attach(1, new() { ByPort = true, Pause = false }), "exclude each other");
    Fails<ArgumentNullException>("no words", () => open.Ask(null!));
    Fails<ArgumentNullException>("no words for a text", () => open.AskText(null!));
    Fails<ArgumentNullException>("no words for a command", () => Snapshot.Command(null!));
    Fails<ArgumentNullException>("a word that is null", () => open.Ask("stat", null!));
    Fails<ArgumentException>("a word with a zero char", () => open.Ask("stat", "--type", "a\0b"));
    Fails<HeapException>("no verb", () => open.Ask(), "which verb?");
    Fails<HeapException>("a wrong verb", () => open.Ask("stta"), "did you mean 'stat'?");
    Fails<HeapException>("another process's option", () => open.Ask("stat", "--threads", "2"), "when the snapshot is opened");
    Fails<HeapException>("no such object", () => open.References(16).ToList(), "0x10");
    Fails<ArgumentOutOfRangeException>("strings of negative length", () => open.Strings(-1));
    Holds("nothing is read of nothing", open.Read(1, new byte[8]) == 0 && open.Read(1, default) == 0);
}

// After the end: nothing but rows that were begun before, which keep what they need, and call Progress no more.
int calls = 0;
var closed = Snapshot.Open(dump, new() { Progress = _ => Interlocked.Increment(ref calls) });
using (IEnumerator<HeapObject> begun = closed.Objects().GetEnumerator())
{
    Holds("a first row", begun.MoveNext());
    closed.Dispose();
    closed.Dispose();
    GC.Collect();
    GC.WaitForPendingFinalizers();
    int rows = 1;
    while (begun.MoveNext())
        ++rows;
    Holds("all rows", rows == 109813);
}
Fails<ObjectDisposedException>("Ask when disposed of", () => closed.Ask("stat"));
Fails<ObjectDisposedException>("Info when disposed of", () => _ = closed.Info);
Fails<ObjectDisposedException>("Types when disposed of", () => closed.Types().ToList());
Fails<ObjectDisposedException>("Cancel when disposed of", closed.Cancel);

// What Progress throws comes out of the call, and cancels.
bool throws = false;
using (var watched = Snapshot.Open(dump, new() { Progress = _ => { if (throws) throw new InvalidTimeZoneException("enough"); } }))
{
    throws = true;
    // Without end but for it: what is asked for a second time may be answered before Progress is ever called.
    Fails<InvalidTimeZoneException>("Progress that throws", () => watched.Ask("query",
        "WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number) SELECT count(*) FROM number"));
    Fails<HeapException>("cancelled by it", () => watched.Ask("waste"), "interrupted");
}

// Several threads: two snapshots, each asked by two, cancelled and disposed of amid that.
for (int round = 0; round < 10; ++round)
{
    var shared = Enumerable.Range(0, 2).Select(_ => Snapshot.Open(dump, new() { Progress = _ => Interlocked.Increment(ref calls) })).ToArray();
    var problems = new List<Exception>();
    var threads = Enumerable.Range(0, 4).Select(i => new Thread(() =>
    {
        try
        {
            while (true)
            {
                shared[i % 2].Ask("retained", "--top", "1").Dispose();
                _ = shared[i % 2].Objects().Take(5000).Count();
            }
        }
        catch (ObjectDisposedException) { }
        catch (HeapException error) when (error.Message.Contains("interrupted")) { }
        catch (Exception error)
        {
            lock (problems)
                problems.Add(error);
        }
    })).ToList();
    threads.ForEach(thread => thread.Start());
    Thread.Sleep(30 * round);
    if (round % 2 == 1)
        shared[0].Cancel();
    foreach (Snapshot one in shared)
        one.Dispose();
    threads.ForEach(thread => thread.Join());
    Holds($"no other exception: {string.Join("; ", problems)}", problems.Count == 0);
}
Console.WriteLine(wrong == 0 ? "ok" : $"{wrong} wrong");
return wrong;
