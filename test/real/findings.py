#!/usr/bin/env python3
"""Processes that have what one finding of `report` is about, and processes that nearly have it (../programs/findings).

    findings.py --list --sample                    the kinds that a short run makes, written findings:MAJOR:DUMP; --all: all
    findings.py DNHEAP --one findings:10:heap      starts the program in every way, dumps it, asks for the report, deletes the dumps

Exit codes are those of matrix.py.
"""
import pathlib
import subprocess
import sys
import tempfile

import kinds
import matrix
import runtimes
import targets

KINDS = [f"findings:{major}:heap" for major in runtimes.MAJORS]
SAMPLE = ["findings:11:heap"]  # even a short run makes these


def place(part):
    return targets.place("findings", "Program.cs", part)


def signals(part):
    return targets.place("findings", "Signals.cs", part)


def waits(part):
    return targets.place("findings", "Waits.cs", part)


def gathered(part):
    return targets.place("findings", "Gathered.cs", part)


def exits(part):
    return targets.place("findings", "Exits.cs", part)


SLEEPS = f"which sleeps in Shop.Program.Load {place('Thread.Sleep(Timeout.Infinite); // Load')}"
# Way, which begins with the finding's kind: how sure it is, how many, and parts of its sentence.
WAYS = {
    "finalizer_blocked": ("certain", None, ["objects wait for their finalizers", f"waits for a lock in Shop.Handle.Finalize {place('~Handle()')}",
                                            f"thread Loader, {SLEEPS}, has that lock"]),
    "lock_contended": ("probable", None, [f"12 threads wait for a lock (System.Object) that thread Loader has, {SLEEPS}."]),
    "lock_chain": ("possible", None, [f"3 threads wait one behind the other: thread Seller waits for a lock in Shop.Waits.Sell {waits('lock (shelf) // Sell')}; thread Filler has that "
                                      f"lock, which waits for a lock in Shop.Waits.Fill {waits('lock (till) // Fill')}; thread Counter has that lock, and sleeps in Shop.Waits.Stay "]),
    "deadlock:semaphore": ("probable", None, ["Probably a deadlock: threads ", " wait for each other. ", f"Finder waits for a semaphore (Shop.Waits+Stock.room) in Shop.Waits+Stock.Find {waits('room.Wait(); // Find')}",
                                              f"Saver waits for a lock in Shop.Waits+Stock.Save {waits('lock (map) // Save')}"]),
    "deadlock:token": ("certain", None, ["Closer waits for the end of a callback that Stopper runs.", f"Stopper waits for a lock in Shop.Waits.OnStop {waits('lock (shelf) // OnStop')}",
                                         f"Closer waits for the end of a callback in Shop.Waits.Close {waits('registration.Dispose(); // Close')}",
                                         "Wait for the callback's end without the lock that the callback takes."]),
    "deadlock:timer": ("probable", None, [" waits for the end of a callback that it runs itself.", f" in Shop.Waits.Ring {waits('ended.WaitOne(); // Ring')}",
                                          "Wait for that outside of the callback, or do not wait."]),
    "deadlock:scheduler": ("probable", None, ["Shop.Waits.PrintPage is queued on the TaskScheduler (Shop.Clerks) whose work is run by Clerk. Clerk waits for a task (Shop.Waits.PrintPage) in "
                                              f"Shop.Waits.Print {waits('factory.StartNew(PrintPage).Wait(); // Print')}. Await that task instead"]),
    "pool_starved": ("probable", None, ["The thread pool starves: ", f" wait for a task in Shop.Waits.Load {waits('LoadAsync().Result; // Load')}, by Task.Result. ",
                                        " of the tasks are calls of Shop.Waits.LoadAsync ", " of the items run Shop.Waits.Load. Await the task instead: "]),
    "lost_signal": ("probable", None, [f"Thread Joiner waits for a countdown in Shop.Press.AwaitPages {signals('done.Wait()')}: 1 of 10 signals is missing, "
                                       "and nothing else in the process refers to the CountdownEvent, so nobody can signal it."]),
    "lost_signal:barrier": ("probable", None, ["2 threads wait for one Barrier; thread ", " (Color) waits for a barrier in Shop.Press.PrintColor "
                                               f"{signals('colors.SignalAndWait();')}: 1 of 3 participants has not arrived in phase 0, "]),
    "lost_signal:event": ("probable", None, [f"Thread Drier waits for an event in Shop.Press.AwaitInk {signals('dried.Wait()')}: it is not set, and nothing else "]),
    "lost_signal:pulse": ("probable", None, ["4 threads wait for a pulse of one Object; thread ", " (Docker) waits for a pulse (Monitor.Wait) in Shop.Dock.AwaitBell "
                                             f"{signals('Monitor.Wait(bell)')}: only threads that wait behind these refer to the Object, so nobody can pulse it. "
                                             "A pulse that comes before the wait is lost"]),
    "lost_signal:semaphore": ("probable", None, ["2 threads wait for one SemaphoreSlim; thread ", " (Docker) waits for a semaphore in Shop.Dock.Lift "
                                                 f"{signals('cranes.Wait();')}: none is free, and only threads that wait behind these refer to the SemaphoreSlim, "
                                                 "so nobody can release it."]),
    "lost_signal:place": ("probable", None, [f"Thread Docker waits for a free place in a BlockingCollection in Shop.Dock.Unload {signals('// Unload')}: it is full, and only "
                                             "threads that wait behind these refer to the BlockingCollection<System.String>, so nobody can take from it."]),
    "deadlock:itself": ("certain", None, [f"Deadlock: thread Stopper waits for its own end. Stopper waits for the end of a thread in Shop.Signals.Stop {signals('// Stop')}. "
                                           "Do not join a thread in a method that may run on it."]),
    "deadlock:order": ("certain", None, ["Deadlock: threads Left and Right wait for each other. Left waits for a lock in Shop.Signals.Both "
                                         f"{signals('// Both')}; Right waits for a lock in Shop.Signals.Both {signals('// Both')}. Take these locks in the same order everywhere."]),
    "deadlock:reentrant": ("possible", None, ["Perhaps a deadlock: async Shop.Safe.CloseAsync and Shop.Safe.CountAsync wait for each other. Shop.Safe.CountAsync "
                                              f"{signals('// Count')} waits for a SemaphoreSlim (Shop.Safe.key), which Shop.Safe.CloseAsync {signals('// Close')} seems to have taken. "
                                              "A SemaphoreSlim is not reentrant"]),
    "failed_calls": ("possible", 1, ["1 call failed with System.InvalidOperationException in Shop.Ramp.BringAsync, and nobody looked at the exception, while 2 threads wait for an item in "
                                     "a BlockingCollection in Shop.Ramp.Load, in the same class: perhaps for what the failed call was to do."]),
    "exit_blocked": ("probable", None, [f"The process is ending (thread Stopper called Environment.Exit in Shop.Exits.Stop {exits('Environment.Exit(0);')}), but waits "
                                        f"for a handler of AppDomain.ProcessExit: the thread that runs it waits for a task in Shop.Journal.OnExit {exits('written.Task.Wait();')}."]),
    "exit_blocked:main": ("probable", None, ["The process is ending (Main has returned), but waits for a handler of AppDomain.ProcessExit: the thread that runs it waits for a "
                                             "task in Shop.Journal.OnExit "]),
    "exit_blocked:finalizer": ("certain", None, ["The process is ending (thread Stopper called Environment.Exit in Shop.Exits.Stop ", "), but waits for a finalizer: the thread that "
                                                 f"runs it waits for a lock in Shop.Printout.Finalize {exits('lock (Exits.paper)')}; thread Stopper has that lock."]),
    "root_scope": ("certain", 1200, ["1,200 × Shop.Connection"]),
    "open_scopes": ("probable", 1200, ["1,200 scopes of services were never disposed of: all are held by static Shop.Program.kept."]),
    "many_timers": ("probable", 16000, ["16,000 timers (Timer) are active", "held by static Shop.Program.kept."]),
    "many_timers:delays": ("probable", 16000, ["16,000 calls of Shop.Program.ExpireAsync wait in Task.Delay. Each stays until its time is over"]),
    "event_handlers": ("probable", 5000, ["5,000 handlers were added to Shop.PriceFeed.Changed", "5,000 × Shop.View.OnChanged", "keeps each handler's object alive (5,000 × Shop.View)."]),
    "cancellation_registrations": ("probable", 5000, ["5,000 callbacks wait for one CancellationTokenSource, held by static Shop.Program.stop,",
                                                       "3,000 × a lambda in Registrations of Shop.Program"]),
    "cancellation_registrations:large": ("probable", 400, ["400 callbacks wait for one CancellationTokenSource, held by static Shop.Program.stop,",
                                                           "400 × a lambda in Watch of Shop.Export."]),
    "failed_reader": ("probable", 19900, ["Shop.Parcel wait in static Shop.Program.depot.parcels.", "the task in Shop.Depot.reader, beside it, ended with "
                                          "System.FormatException in Shop.Depot.ReadAsync, which nobody looked at"]),
    "captured_values": ("probable", 300, ["300 ExecutionContexts, captured by timers that call Shop.Program.Remind, keep 300 × Shop.Cart (4.6 MiB): "
                                          "values of the AsyncLocal static Shop.Program.cart that nothing else holds."]),
    "weak_table": ("probable", 2000, ["The ConditionalWeakTable<Shop.Basket, Shop.Note> of static Shop.Program.notes has 2,000 entries, and their "
                                      "values keep 5.8 MiB that nothing else holds.", ": the keys are held by Shop.Visit.Basket."]),
    "dependent_handles": ("probable", 12000, ["12,000 dependent handles belong to no ConditionalWeakTable", "12,000 of the values are Shop.View."]),
    "http_clients": ("probable", 300, ["300 HttpClients", "held by static Shop.Program.kept."]),
    "http_clients:dropped": ("probable", 150, ["150 HttpClients were made, used and dropped, each with a handler of its own, and left 150 connections open, "]),
    "memory_limit": ("certain", None, ["The GC may use 128.0 MiB (a limit for the heap), and 115.", "MiB of that (90 %) is alive, which no collection can free",
                                       "(gen2) the heap had 115.", "raise the limit (GCHeapHardLimit, GCHeapHardLimitPercent)."]),
    "fragmentation": ("probable", None, ["are holes between objects: ", "beside Byte[], pinned (handle:pinned)", "pinned objects cannot be moved."]),
    "unidentified_memory": ("possible", None, ["are neither the managed heap, the runtime, malloc, stacks nor files", "the largest of "]),
    "contexts_cannot_unload": ("probable", 40, ["40 AssemblyLoadContexts are unloading, but cannot finish: static Shop.Program.kept keeps objects of all of them."]),
    "open_handles:views": ("probable", 800, ["800 views of mapped files (SafeMemoryMappedViewHandle) are open, held by static Shop.Program.kept, and map 3.1 MiB of findings."]),
    "open_handles": ("probable", 800, ["800 files (SafeFileHandle) are open, held by static Shop.Program.kept."]),
    "made_assemblies": ("probable", 121, ["121 assemblies called Microsoft.GeneratedCode (by XmlSerializer) were made at run time, and stay until the program ends"]),
    "thread_statics": ("probable", 6, ["Thread static Shop.Program.scratch of 6 threads holds 40.", "of live memory)"]),
    "generic_statics": ("probable", 6, ["Static Shop.Program+Rows<>.All holds 28.", " types that differ in their type arguments."]),
    "cache_without_limit": ("probable", 20000, ["A MemoryCache has 20,000 entries and no SizeLimit, and holds "]),
    "many_exceptions": ("probable", 5000, ["5,000 exceptions (System.FormatException) lie on the heap as garbage", f"most in Shop.Program.Parse {place('int.Parse(text)')}"]),
    "long_chains": ("certain", 3000, ["Each look-up in a Dictionary<Shop.Seat, String> of 3,000 entries, held by static Shop.Program.guests, compares 1,501 of them on average: "
                                      "all keys have the same hash code. GetHashCode of Shop.Seat has to return values that differ."]),
    "gc_time": ("certain", None, [" % of its time so far, in ", " garbage collections. Collection ", "perhaps the program calls GC.Collect.", " 1 thread runs in Shop.Program.Collect"]),
    "interned_strings": ("probable", 15000, ["15,000 strings (", ") are interned, and nothing else holds them: string.Intern keeps each until the process ends; Shop.Program.Intern calls it."]),
    "dead_references": ("probable", 300_000, ["All 300,000 WeakReferences in static Shop.Gathered.seen have lost their targets, and nobody removes them: ", " of live memory (",
                                              "It is filled in Shop.Gathered.See. Remove a reference when its target is gone"]),
    "gc_handles": ("probable", 2000, ["2,000 × Shop.Crate are kept by 2,000 GCHandles (strong) that nobody freed: ", "GCHandle.Alloc is called in Shop.Gathered.Handles"]),
    "waiting_continuations": ("probable", 2000, [f"A task that has not completed (static Shop.Gathered.answered) keeps 2,000 × async call of Shop.Gathered.DeliverAsync {gathered('// DeliverAsync')}: ",
                                                 "Each waits for it with all its variables."]),
    "unbounded_queue": ("probable", 2000, ["2,000 × Shop.Crate wait in a channel without a bound, static Shop.Gathered.orders", ", and take ",
                                           "it is filled faster than it is read. It is filled in Shop.Gathered.Queue"]),
    "nested_scopes": ("certain", 2000, ["2,000 scopes of loggers are open, each inside of the one before, and keep ",
                                          "nobody disposed of what BeginScope returned. ILogger.BeginScope is called in Shop.Gathered.LogScopes."]),
    "nested_scopes:activities": ("probable", 2000, ["2,000 Activities run, each inside of the one before, and keep ", "nobody stopped them. ActivitySource.StartActivity is called in Shop.Gathered.Activities."]),
    "unbounded_queue:collection": ("probable", 1999, ["1,999 × Shop.Crate wait in a BlockingCollection without a bound, static Shop.Gathered.stacked",
                                                      "emptied in Shop.Gathered.Unload. 1 thread sleeps in Shop.Gathered.Unload. Give it a bound (a boundedCapacity)"]),
    "unbounded_queue:block": ("probable", 2499, ["2,499 × Shop.Crate wait in a dataflow block without a bound, static Shop.Gathered.press", "Give it a bound (BoundedCapacity)"]),
    "kept_subscriptions:meters": ("probable", 2000, ["2,000 Meters (which call a lambda in ", ") were never disposed of, and keep ", ".NET has a list of all of them."]),
    "many_timers:large": ("probable", 1200, ["1,200 timers (System.Timers.Timer) are active and call ", "Together they keep "]),
    "kept_subscriptions": ("probable", 2000, ["2,000 subscriptions to a DiagnosticListener (static Shop.Gathered.listener", ") were never disposed of, and keep ",
                                              "Their observers are Shop.Tracer. DiagnosticListener.Subscribe is called in Shop.Gathered.Subscriptions."]),
    "kept_subscriptions:events": ("probable", 600, ["600 EventListeners (Shop.Scale) were never disposed of, and keep ", "They are made in Shop.Gathered.Listeners."]),
    "stacked_queries": ("certain", 2000, ["2,000 operators of LINQ (", ") are built one upon the other in static Shop.Gathered.chosen, and keep "]),
    "ended_thread_values": ("certain", 60, ["A ThreadLocal with trackAllValues (static Shop.Gathered.pages) keeps 60 values, Byte[], although the process has "]),
    "open_handles:sockets": ("probable", 600, ["600 sockets (SafeSocketHandle) are open, held by static Shop.Program.kept, and no asynchronous call reads from them or writes to them."]),
    "open_handles:again": ("probable", 80, ["80 views of mapped files (SafeMemoryMappedViewHandle) are open, held by static Shop.Program.kept, and map ", " of System.Private.CoreLib.dll."]),
    "ended_requests": ("certain", 300, ["300 contexts of requests that have ended are held by Shop.Audit.Seen."]),
    "waiting_requests": ("possible", 40, [f"40 requests are in flight, and 40 calls of Shop.Bank.AskAsync {place('await answer.Task;')} wait for a TaskCompletionSource."]),
    # After the colon: another way to the same kind.
    "waiting_requests:http": ("possible", 40, [f"40 requests are in flight, and 40 calls of Shop.Bank.FetchAsync {place('await http.GetStringAsync(away);')} wait for HTTP.",
                                                   "The oldest of these calls has waited for at least "]),
}
# The program's own words for what its threads and calls do, which the report shows, but as no finding.
ACTIVITY = {
    "waiting_requests:http": [("request", None, None), ("call", "HTTP", "Shop.Bank.FetchAsync")],
    "waiting_requests": [("request", None, None), ("call", "a TaskCompletionSource", "Shop.Bank.AskAsync")],
    "lock_contended": [("thread", "sleep", "Shop.Program.Load")],
}


def run(dnheap, _, major, dump):
    """All problems of one kind, in words. On a busy machine a dump may come before the program is where it says that it is: what is
    wrong in one is looked at once more, in a dump of a program at rest."""
    problems = []
    for way in WAYS:
        for healthy in ([], ["healthy"]):
            if of_way(dnheap, major, dump, way, healthy, False):
                problems += of_way(dnheap, major, dump, way, healthy, True)
    return problems


def of_way(dnheap, major, dump, way, healthy, at_rest):
    sureness, count, parts = WAYS[way]
    kind = way.partition(":")[0]
    with tempfile.TemporaryDirectory(prefix="dnheap-findings-") as folder:
        with kinds.Process("findings", major, way, *healthy) as target:
            if at_rest:
                target.wait_until_at_rest()
            path = target.dump(dump, pathlib.Path(folder) / "findings.core")
        answer = matrix.answer(dnheap, "report", path)
        code = subprocess.run([dnheap, "check", path, "--no-findings-of", kind], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False).returncode
    found = answer["tables"]["findings"]
    if healthy:
        problems = [f"{way}, healthy: {row['text']}" for row in found]
        if code not in (0, 4):  # 4: what could be read has none
            problems.append(f"{way}, healthy: check --no-findings-of {kind} gives exit code {code}")
        if "leak" in answer["target"]["verdict"]["text"].replace("No leak", ""):
            problems.append(f"{way}, healthy: {answer['target']['verdict']['text']}")
        return problems
    shown = [(row["kind"], row["waits_for"], row["method"]) for row in answer["tables"]["activity"]]
    problems = [f"{way}: {one} is not in the activity {shown}" for one in ACTIVITY.get(way, []) if one not in shown]
    if code != 1:
        problems.append(f"{way}: check --no-findings-of {kind} gives exit code {code}")
    lines = [row for row in found if row["kind"] == kind]
    if len(lines) != 1 or len(found) != 1:
        return [*problems, f"{way}: {[row['text'] for row in found]}"]
    line = lines[0]
    problems += [f"{way}: “{part}” is not in “{line['text']}”" for part in parts if part not in line["text"]]
    if line["sureness"] != sureness or line["count"] != count:
        problems.append(f"{way}: {line}")
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, lambda dnheap, kind, *words: run(dnheap, kind, *words)))
