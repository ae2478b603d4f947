#!/usr/bin/env python3
"""Programs whose threads and tasks wait, or which throw (../programs/waits), dumped; dnheap must say what the program knows.

    waits.py --list --sample                the kinds that a short run makes, written KIND:MAJOR:DUMP; --all: all of them
    waits.py DNHEAP --one locks:10:heap     starts that program, dumps it, compares, deletes the dump

    thrown        exceptions: types, stacks, counts, who deals with one; faulted tasks nobody looked at
    locks         locks of every kind, their owners and waiters; threads that wait for each other
    lock-async    a lock whose holder waits for a task that needs the lock
    semaphores    semaphores without permits: deadlocks inferred, and what only looks like one
    async         10,000 calls pending at three awaits, and some at others
    many-async    the same with 340,000 calls of three methods each: how long it takes
    pool          a starved thread pool
    pool-locks    the same, whose workers all wait for one lock: `report` and `async` say the same of it
    collections   deadlocks over BlockingCollections; collections-fine: the same waits where somebody goes on
    gate, gate-lost, gate-few, gate-unique, gate-threads, gate-sleeper  many callers before one semaphore; gates-fine: callers that wait as is usual
    takers        who has taken a semaphore, and who only refers to it
    joined, constructed, screen, readers  a deadlock by Thread.Join, by a static constructor's task, over a SynchronizationContext; readers that a dozen threads wait for
    mutexes, task-circle  one of the deadlocks of hangs alone, which the report must find
    hangs         deadlocks by static fields, Mutex and tasks alone; a lock that a dozen threads wait for
    combined      calls behind WhenAll, WhenAny, ContinueWith and Unwrap: each counted once
    kinds         threads in every kind of wait, each called by it: what it waits for, and whose turn it is; mutexes and their owners
    circles       deadlocks over monitors, Locks, mutexes, the ends of threads
    around        deadlocks by way of the finalizer's thread, and of children of tasks; and some that may end, or are inferred
    inflated      monitors with sync blocks: a thousand; with a hash code; a lock in an object's header
    library       calls that await the library alone: what their locals hold is alive, and no object has an unknown type
    …-runtime-async  the same, compiled so that the runtime suspends calls: for .NET 11

DUMP is heap, full or gcore. Exit codes are those of matrix.py.
"""
import pathlib
import sys
import tempfile
import time

import matrix
import runtimes
import targets

COUNTS = {"async": "10000", "gate": "40000", "many-async": "340000"}
KINDS = [f"{kind}:{major}:heap" for kind in ("thrown", "locks", "lock-async", "semaphores", "async", "pool", "pool-locks", "collections", "collections-fine", "gate", "gate-lost", "gate-few", "gate-unique", "gate-threads", "gate-sleeper", "gates-fine", "takers", "hangs", "mutexes", "task-circle", "joined", "constructed", "screen", "readers", "combined", "library") for major in runtimes.MAJORS]
KINDS += [f"{kind}:{major}:gcore" for kind in ("thrown", "locks") for major in runtimes.MAJORS]
KINDS += ["locks:8:full", "lock-async:9:full", "many-async:10:heap", "semaphores:9:gcore"]
KINDS += [f"{kind}:{major}:heap" for kind in ("kinds", "circles", "around", "inflated", "constructors") for major in runtimes.MAJORS] + ["kinds:11:gcore", "kinds:11:full"]
KINDS += ["combined-runtime-async:11:heap", "library-runtime-async:11:heap", "library-runtime-async:11:gcore", "pool-runtime-async:11:heap"]
KINDS += [f"{kind}:{version}:heap" for kind in ("thrown", "locks", "lock-async", "semaphores", "async", "pool", "hangs", "kinds", "circles", "around", "inflated") for version in runtimes.MUSL]
KINDS.remove("kinds:8-musl:heap")  # .NET 8 makes no Mutex that has a name there
KINDS += ["locks:8-musl:gcore", "locks:10-musl:full", "kinds:11-musl:gcore"]
SAMPLE = ["thrown:11:heap", "around:10:heap", "locks:8:heap", "semaphores:10:heap", "async:10:heap", "kinds:11:heap", "library:11:heap", "constructors:8:heap", "locks:8-musl:heap"]  # even a short run makes these

MOST_SECONDS = 20  # of many-async, on a machine that does other work, too; alone it takes about one


def run(dnheap, kind, major, dump):
    """All problems of one kind, in words."""
    program = kind.removesuffix("-runtime-async")
    arguments = [COUNTS[program]] if program in COUNTS else []
    program = program.removeprefix("many-")
    with tempfile.TemporaryDirectory(prefix="dnheap-waits-") as folder:
        with targets.Target("waits", major, arguments=[program, *arguments], runtime_async=kind.endswith("-runtime-async")) as target:
            path = target.dump(dump, pathlib.Path(folder) / f"{kind}.core")
        said = target.truth["said"] | {name: target.truth[name] for name in ("addresses", "version")}
        return CHECKS[program](dnheap, path, said)


def tables(dnheap, verb, path, *options):
    return matrix.answer(dnheap, verb, path, *options)["tables"]


def differences(what, found, expected):
    """Rows that one side has and the other has not."""
    found, expected = sorted(map(str, found)), sorted(map(str, expected))
    return [f"{what}: not expected: {row}" for row in found if row not in expected] + \
           [f"{what}: missing: {row}" for row in expected if row not in found]


def source_line(source, line):
    return pathlib.Path(source).read_text().splitlines()[line - 1] if source and line else ""


def thrown(dnheap, path, said):
    answer = tables(dnheap, "exceptions", path)
    types = {one["type"] for one in said["thrown"]}
    keys = ("type", "hresult", "count", "stack")
    problems = differences("exceptions", [{key: row[key] for key in keys} for row in answer["exceptions"] if row["type"] in types],
                           [{key: row[key] for key in keys} for row in said["thrown"]])
    first = answer["exceptions"][0]
    if (first["type"], first["os_id"]) != (said["in_flight"]["type"], said["in_flight"]["os_id"]):
        problems.append(f"the first exception is {first}, not the one in flight: {said['in_flight']}")
    others = [(row["type"], row["os_id"], row["nested"]) for row in answer["exceptions"][1:] if row["os_id"] is not None]
    own, outer = said["nested"]["types"]
    problems += differences("exceptions of threads", others, [(own, said["nested"]["os_id"], False), (outer, said["nested"]["os_id"], True)])
    problems += differences("exceptions by `threads`", [(row["os_id"], row["exception_type"]) for row in tables(dnheap, "threads", path)["threads"]
                                                        if row["exception"]],
                            [(said["in_flight"]["os_id"], said["in_flight"]["type"]), (said["nested"]["os_id"], own)])
    for row in answer["exceptions"]:  # the deepest call stands where something is thrown, the one that caught it at a call
        if row["type"] in types and row["stack"] and row["stack"][0].startswith("Thrown."):
            told = [source_line(*place) for place in zip(row["sources"], row["lines"])]
            if f"throw new {row['type']}" not in told[0] or (told[-1].strip() != "what();" and row["stack"][-1].startswith("Thrown.Catch(")):
                problems.append(f"the lines of {row['type']} are {told}")
    failed = [(row["stack"] or ["nothing"])[0] for row in answer["exceptions"] if row["type"] == said.get("constructor")]
    problems += [] if "constructor" not in said or failed and all(one.startswith("Failing.Fail(") for one in failed) else [f"what a static constructor threw was thrown in {failed}"]
    inner = [row["inner_type"] for row in answer["exceptions"] if row["type"] == "WrappedFailure"]
    problems += [] if inner == ["OrderFailure"] else [f"inside WrappedFailure: {inner}"]
    problems += [f"a message without --values: {row}" for row in answer["exceptions"] if row["message"]]
    told = [row["message"] for row in tables(dnheap, "exceptions", path, "--values")["exceptions"] if row["type"] == "WrappedFailure"]
    problems += [] if told == ["wrapped"] else [f"messages of WrappedFailure: {told}"]
    unobserved = sum(row["unobserved"] for row in tables(dnheap, "async", path)["tasks"])
    return problems + ([] if unobserved == said["faulted"] else [f"{unobserved} unobserved tasks, not {said['faulted']}"])


def locks(dnheap, path, said):
    answer = tables(dnheap, "locks", path)
    ids = {name: one["os_id"] for name, one in said["threads"].items()}
    takers = [ids[f"Taker{i}"] for i in range(3)]
    held = {row["type"]: (row["kind"], row["owner_os_id"], row["recursion"], row["waiters"], sorted(row["waiting"]))
            for row in answer["locks"] if row["type"] not in ("System.Threading.Lock", "System.Object")}
    expected = {
        "LockA": ("monitor", ids["First"], 1, 1, [ids["Second"]]),
        "LockB": ("monitor", ids["Second"], 1, 1, [ids["First"]]),
        "Contended": ("monitor", ids["Holder"], 2, 3, sorted(takers)),
        "Recursive": ("thin_lock", ids["Recursive"], 3, 0, []),
        "Pulsed": ("monitor", None, None, 0, [ids["Waiter"]]),
        "ReadA": ("reader_writer", None, None, 1, [ids["ReadingToo"]]),
        "ReadB": ("reader_writer", None, None, 1, [ids["Reading"]]),
        "System.Threading.ReaderWriterLockSlim": ("reader_writer", ids["Writer"], 1, 1, [ids["Reader"]]),
        "System.Threading.SemaphoreSlim": ("semaphore", None, None, 4, sorted([ids["Entering"], ids["Late"]])),
        "System.Threading.ManualResetEventSlim": ("event", None, None, 1, [ids["Unset"]]),
    }
    problems = differences("locks", held.items(), expected.items())
    states = {row["type"]: row["state"] for row in answer["locks"]}
    problems += [f"{kind} is read by thread {ids[name]}; its state is {states.get(kind)}" for kind, name in (("ReadA", "Reading"), ("ReadB", "ReadingToo"))
                 if states.get(kind) != f"1 reader: {ids[name]}"]
    if said["new_locks"]:
        found = sorted((row["owner_os_id"], row["waiters"], *row["waiting"]) for row in answer["locks"] if row["type"] == "System.Threading.Lock")
        pairs = sorted([(ids["NewFirst"], 1, ids["NewSecond"]), (ids["NewSecond"], 1, ids["NewFirst"])])
        problems += [] if found == pairs else [f"locks of type Lock: {found}, not {pairs}"]
    problems += waiting(dnheap, path, answer, ids, said["new_locks"])
    place = targets.place("waits", "Locks.cs", "// both stand here")
    problems += verdict(dnheap, path, "deadlock", "Deadlock: threads First and Second wait for each other",
                        f"First waits for a lock (LockB) in Locks.TakeBoth {place}; Second waits for a lock (LockA) in Locks.TakeBoth {place}.")
    circles = sorted(sorted(one["os_id"] for one in row["cycle"]) for row in answer["deadlocks"])
    wanted = sorted(sorted(ids[name] for name in names) for names in said["deadlocks"])
    problems += [] if circles == wanted else [f"deadlocks: {circles}, not {wanted}"]
    problems += [f"{name} is not in the words: {row['text']}" for row in answer["deadlocks"] if "Lock" in row["text"]
                 for name in (str(one["os_id"]) for one in row["cycle"]) if f"thread {name}" not in row["text"]]
    return problems


def waiting(dnheap, path, answer, ids, new_locks):
    """`threads` says of each thread what `locks` found with all locks and tasks at hand."""
    names = {"First", "Second", "Taker0", "Taker1", "Taker2", "Waiter", "Entering", "Late", "Unset", "Reader", "Reading", "ReadingToo"}
    names |= {"NewFirst", "NewSecond"} if new_locks else set()
    rows = {row["os_id"]: row for row in tables(dnheap, "threads", path)["threads"]}
    waits = {row["os_id"]: row for row in answer["waits"]}
    problems = []
    for name in sorted(names):
        row, wait = rows[ids[name]], waits.get(ids[name])
        if wait is None:
            problems.append(f"`locks` does not say what {name} waits for; `threads` says {row['waits_for']}")
            continue
        if (row["waits_for_type"] or "").endswith("SemaphoreSlim+TaskNode") and wait["kind"] == "semaphore":
            continue  # whose task it is, nothing on the stack may tell any more
        found = (row["waits_for_object"], row["waits_for_type"], row["owner_os_id"])
        expected = (wait["waits_for"], wait["type"], wait["owner_os_id"])
        if found != expected:
            problems.append(f"{name} waits for {found}, says `threads`; `locks` says {expected}")
        elif f"{expected[1]} {expected[0]}" not in row["waits_for"] or (expected[2] and f"thread {expected[2]}" not in row["waits_for"]):
            problems.append(f"{name}: the words are {row['waits_for']}")
    return problems


def verdict(dnheap, path, rule, *words):
    """What `report` says of it."""
    answer = matrix.answer(dnheap, "report", path)["target"]["verdict"]
    print(answer["hang_text"])
    return [] if answer["hang"] == rule and all(part in (answer["hang_text"] or "") for part in words) else [f"the report's verdict is {answer}, not {rule}: {words}"]


def lock_async(dnheap, path, said):
    answer = tables(dnheap, "locks", path)
    found = [[one["os_id"] for one in row["cycle"] if one["os_id"]] for row in answer["deadlocks"]]
    wanted = [said["holder"]["os_id"], said["worker"]["os_id"]]
    problems = [] if [sorted(one) for one in found] == [sorted(wanted)] else [f"deadlocks: {found}, not {wanted}"]
    waits = {row["os_id"]: (row["kind"], row["owner_os_id"]) for row in answer["waits"]}
    expected = {wanted[0]: ("task", None), wanted[1]: ("lock", wanted[0])}
    return problems + [f"thread {thread} waits for {waits.get(thread)}, not {what}" for thread, what in expected.items()
                       if waits.get(thread) != what]


NO_DEADLOCK = {"BusyA", "BusyB", "LimitA", "LimitB", "LimitCallA", "LimitCallB", "Leaked"}


def semaphores(dnheap, path, said):
    answer = tables(dnheap, "locks", path)
    ids = {name: one["os_id"] for name, one in said["threads"].items()}

    def short(kind):
        return "Task" if "AsyncStateMachineBox" in (kind or "") else str(kind)

    for row in answer["deadlocks"]:
        print(f"{row['grounds']}: {row['text']}")
    found = [(row["grounds"], sorted(short(one["waits_for_type"]) for one in row["cycle"]), sorted(one["os_id"] for one in row["cycle"] if one["os_id"]))
             for row in answer["deadlocks"]]
    expected = [(one["grounds"], sorted(one["waits_for"]), sorted(ids[name] for name in one["threads"])) for one in said["deadlocks"]]
    problems = differences("deadlocks", found, expected)
    words = {"reference": "probably a deadlock: ", "reference_by_object": "perhaps a deadlock: "}
    problems += [f"the words are: {row['text']}" for row in answer["deadlocks"]
                 if not row["text"].startswith(words[row["grounds"]]) or "does not record who took it" not in row["text"]]
    rows = {row["type"]: row for row in answer["locks"]}
    problems += [f"{kind} is not listed" for kind in NO_DEADLOCK - set(rows)]
    if problems:
        return problems
    may_have = {one["os_id"] for one in rows["BusyA"]["may_have_taken"]}
    problems += [] if ids["Worker"] in may_have else [f"BusyA may have been taken by {may_have}, not by {ids['Worker']}"]
    calls_of = {kind: rows[kind]["waiting_calls"] for kind in ("CallA", "LimitCallA", "Leaked")}
    wanted = {kind: [{"method": method, "count": 1}] for kind, method in
              (("CallA", "Semaphores.CrossCalls"), ("LimitCallA", "Semaphores.CrossCalls"), ("Leaked", "Leaking.Inner"))}
    problems += differences("waiting calls", calls_of.items(), wanted.items())
    return problems + ([] if rows["CrossA"]["waiting"] == [ids["Second"]] else [f"CrossA is waited for by {rows['CrossA']['waiting']}"])


def calls(dnheap, path, said):
    start = time.monotonic()
    rows = tables(dnheap, "async", path)["calls"]
    seconds = time.monotonic() - start
    print(f"{sum(row['count'] for row in rows)} stacks in {seconds:.1f} s")
    problems = differences("calls", [(row["count"], row["awaits"], row["stack"]) for row in rows],
                           [(one["count"], one["awaits"], one["methods"]) for one in said["stacks"]])
    lines = {(method, state): source_line(source, line) for row in rows
             for method, state, source, line in zip(row["stack"], row["states"], row["sources"], row["lines"])}
    problems += [f"{method} stands at its await {state}: {line}" for (method, state), line in lines.items() if "await" not in line]
    # Of several awaits the right one.
    middle = [line.split("await ")[1].split("()")[0] for (method, state), line in sorted(lines.items()) if method == "Calls.Middle"]
    problems += [] if middle == ["Delayed", "Gated", "Answered"] else [f"Calls.Middle stands at {middle}"]
    by_retained = tables(dnheap, "async", path, "--by", "retained")["calls"]
    problems += [f"retains nothing: {row}" for row in by_retained if row["count"] > 1 and not row["retained"]]
    return problems + ([f"it took {seconds:.1f} s"] if seconds > MOST_SECONDS else [])


def pool(dnheap, path, said):
    answer = tables(dnheap, "async", path)
    found = [(row["method"], row["count"]) for row in answer["queued"]]
    problems = differences("queued", found, [(one["method"], one["count"]) for one in said["queued"]])
    yields = [row["awaits"] for row in answer["calls"] if row["stack"][0] == "Pool.Load"]
    problems += [] if yields == ["its turn to run"] else [f"what calls Task.Yield() awaits is {yields}"]
    problems += verdict(dnheap, path, "pool_starved", f"of {said['workers']} workers {said['workers']} are blocked")
    problems += verdict(dnheap, path, "pool_starved", f"{said['workers']} of the tasks are calls of Pool.Load")
    row = answer["pool"][0]
    if (row["workers"], row["working"]) != (said["workers"], said["workers"]) or not row["text"].startswith("STARVED"):
        problems.append(f"the pool's state is {row}")
    return problems


def pool_locks(dnheap, path, said):
    answer = tables(dnheap, "async", path)
    row, workers = answer["pool"][0], said["workers"]
    words = f"40 work items wait for a worker, and of {workers} workers {workers} are blocked: {workers} for a lock"
    problems = differences("queued", [(row["method"], row["count"]) for row in answer["queued"]], [(one["method"], one["count"]) for one in said["queued"]])
    problems += [] if (row["workers"], row["working"], row["blocked"]) == (workers, workers, workers) and words in row["text"] else [f"the pool's state is {row}"]
    kinds = [row["kind"] for row in tables(dnheap, "report", path)["findings"]]
    problems += [] if "pool_starved" in kinds else [f"the report finds {kinds}"]
    return problems + verdict(dnheap, path, "lock_contended", f"{workers} threads wait for a lock", "thread Keeper has")  # the cause leads


def constructors(dnheap, path, said):
    """Who waits for a static constructor, and the two circles over one."""
    waiting = {"loader": ("Catalog", "first"), "second": ("Catalog", "first"), "third": ("Catalog", "first"), "billing": ("Prices", "pricing")}
    right = sorted((said[name], type, said[owner]) for name, (type, owner) in waiting.items())
    answer = tables(dnheap, "locks", path)
    problems = differences("waits by `locks`", sorted((row["os_id"], row["type"], row["owner_os_id"]) for row in answer["waits"]
                                                      if row["kind"] == "static_constructor"), right)
    problems += differences("waits by `threads`", sorted((row["os_id"], row["waits_for_type"], row["owner_os_id"]) for row in tables(dnheap, "threads", path)["threads"]
                                                         if row["waits_for"] and row["waits_for"].startswith("the static constructor of ")), right)
    circles = [{one["os_id"] for one in row["cycle"]} for row in answer["deadlocks"]]
    problems += differences("deadlocks", sorted(map(sorted, circles)), sorted(map(sorted, [{said["first"], said["loader"]}, {said["pricing"], said["billing"]}])))
    words = " ".join(row["text"] for row in answer["deadlocks"])
    problems += [f"the words do not name {type}: {words}" for type in ("Catalog", "Prices") if f"the static constructor of {type}, which" not in words]
    return problems + verdict(dnheap, path, "deadlock", "wait for each other")


def hangs(dnheap, path, said):
    answer = tables(dnheap, "locks", path)
    names = {one["os_id"]: name for name, one in said["threads"].items()}
    found = []
    for row in answer["deadlocks"]:
        print(row["text"])
        methods = [word.split(")")[0] for word in row["text"].split(" (") if "managed" not in word and "." in word.split(")")[0]]
        found.append(sorted({names[one["os_id"]] for one in row["cycle"] if one["os_id"]} or set(methods)))
    problems = differences("deadlocks", found, said["deadlocks"])
    words = " ".join(row["text"] for row in answer["deadlocks"])
    for row in answer["deadlocks"]:
        for one in row["cycle"]:
            thread = f"thread {one['os_id']} ({names.get(one['os_id'])}, managed {said['threads'].get(names.get(one['os_id']), {}).get('managed_id')})"
            problems += [f"the words do not name {thread}"] if one["os_id"] and thread not in words else []
    waits = {row["name"]: row["kind"] for row in answer["waits"]}
    problems += [f"{name} waits for {waits.get(name)}" for name in ("MutexFirst", "MutexSecond") if waits.get(name) != "mutex"]
    convoy = [row["waiters"] for row in answer["locks"] if row["type"] == "Crowded"]
    problems += [] if convoy == [said["convoy"]] else [f"waiters of the crowded lock: {convoy}"]
    # Who stands in no method that could have taken it is not named; where IL shows who has, nobody else is.
    could = {"StaticA": {"There"}, "StaticB": {"Back"}, "IdleA": {"Sleeper"}, "IdleB": {"Sleeper"}}
    for row in answer["locks"]:
        told = {names.get(one["os_id"]) for one in row["may_have_taken"] if one["grounds"] != "stack"}
        problems += [f"{row['type']} is taken perhaps by {told}"] if row["type"] in could and told != could[row["type"]] else []
    return problems


def collections(dnheap, path, said):
    """Circles over BlockingCollections, and who waits for what in one."""
    answer = tables(dnheap, "locks", path)
    names = {one["os_id"]: name for name, one in said["threads"].items()}
    for row in answer["deadlocks"]:
        print(f"{row['grounds']}: {row['text']}")
    problems = differences("deadlocks", [sorted(names[one["os_id"]] for one in row["cycle"] if one["os_id"]) for row in answer["deadlocks"]], [sorted(one) for one in said["deadlocks"]])
    problems += [f"not probable: {row['text']}" for row in answer["deadlocks"] if not row["text"].startswith("probably a deadlock: ")]
    words = {row["os_id"]: row["waits_for"] for row in tables(dnheap, "threads", path)["threads"]}
    for kind, key, said_so in (("item", "items", "an item in a BlockingCollection"), ("free_place", "places", "a free place in a BlockingCollection")):
        problems += [f"{name} waits for {words[said['threads'][name]['os_id']]}" for name in said[key] if said_so not in (words[said["threads"][name]["os_id"]] or "")]
        waits = [names[row["os_id"]] for row in answer["waits"] if row["kind"] == kind]
        problems += differences(f"waits for {kind}", [name for name in waits if not name.startswith("InTurn")], said[key])
    logger = said["threads"]["Logger"]["os_id"]
    fields = [row["field"] for row in answer["locks"] if logger in row["waiting"]]
    problems += [] if fields == ["static Log.Lines"] else [f"Logger waits for {fields}"]
    return problems + (verdict(dnheap, path, "deadlock", "Probably a deadlock: ") if said["deadlocks"] else verdict(dnheap, path, None))


def gate(dnheap, path, said):
    problems = verdict(dnheap, path, "semaphore_taken", f"{said['waiting']:,} ") + verdict(dnheap, path, "semaphore_taken", f"(static {said['owner']}), of which none is free")
    holder = {"Pricing.Load": f"Pricing.Load {targets.place('waits', 'Gates.cs', 'return await answer.Task + id;')}",
              "Strongroom.Read": f"Thread Reading0, which sleeps in Strongroom.Copy {targets.place('waits', 'Gates.cs', 'static void Copy()')},",
              "Printer.Print": f"Thread Printing0, which waits for a task in Printer.Wait {targets.place('waits', 'Gates.cs', 'static void Wait(int number)')},"}
    words = f". {holder[said['holder']]} probably has it." if said["holder"] else ". Its holder is unknown: perhaps a call that took it left without Release"
    return problems + verdict(dnheap, path, "semaphore_taken", words)


def gates_fine(dnheap, path, said):
    return verdict(dnheap, path, None)


def takers(dnheap, path, said):
    answer = tables(dnheap, "locks", path)
    names = {one["os_id"]: name for name, one in said["threads"].items()}
    problems = []
    for kind, taker in said["takers"].items():
        for row in answer["locks"]:
            if row["type"] == kind:
                found = [(names.get(one["os_id"], one["task"]), one["grounds"], one["sureness"]) for one in row["may_have_taken"]]
                print(kind, found, row["field"])
                right = len(found) == 1 and found[0][1:] == ("passed_wait", "probable") and (found[0][0] == taker or (found[0][0] or "").startswith("0x"))
                problems += [] if right and row["field"].startswith("static Vault.Only.") else [f"{kind}, {row['field']}, is taken by {found}, not by {taker}"]
    return problems + ([] if {row["type"] for row in answer["locks"]} >= set(said["takers"]) else [f"locks: {answer['locks']}"])


def alone(dnheap, path, said):
    """Nothing else waits: the report looks for it all the same, and names it."""
    return [problem for word in said["words"] for problem in verdict(dnheap, path, "deadlock", word)]


def stuck(dnheap, path, said):
    """One hang alone, in the report's words and as `locks` has it."""
    answer = tables(dnheap, "locks", path)
    problems = [] if len(answer["deadlocks"]) == said["deadlocks"] else [f"deadlocks: {answer['deadlocks']}"]
    return problems + verdict(dnheap, path, "deadlock" if said["deadlocks"] else "lock_contended", *said["words"])


def combined(dnheap, path, said):
    answer = matrix.answer(dnheap, "async", path)
    rows = answer["tables"]["calls"]
    own = [row for row in rows if row["method"].startswith("Combined.")]
    pending = sum(said["pending"].values())
    problems = [] if sum(row["calls"] for row in own) == pending else [f"{sum(row['calls'] for row in own)} calls, not {pending}: {own}"]
    problems += verdict(dnheap, path, None)  # all wait, but in no circle
    leaves = sum(row["count"] for row in own if row["method"] == "Combined.Leaf")
    problems += [] if leaves == said["pending"]["Combined.Leaf"] else [f"{leaves} stacks begin at Combined.Leaf, not {said['pending']}"]
    for method, inner in said["behind"].items():
        stacks = [row["stack"] for row in own if method in row["stack"]]
        problems += [f"{method} is on {stacks}"] * (stacks != [[inner, method, "Combined.Outer"]])
    missing = set(said["pending"]) - {method for row in own for method in row["stack"]}
    return problems + [f"on no stack: {missing}" for _ in missing]


def are_waits_objects(said):
    """Whether threads keep in objects what they wait for, and monitors are such objects, as since .NET 11."""
    return int(said["version"].split(".")[0]) >= 11


def address(said, label):
    return said["addresses"][label]["address"]


def kinds(dnheap, path, said):
    ids = {name: one["os_id"] for name, one in said["threads"].items()}
    rows = {row["os_id"]: row for row in tables(dnheap, "threads", path)["threads"]}
    answer = tables(dnheap, "locks", path)
    problems, right = [], 0
    for name, one in said["threads"].items():
        row, expected = rows[one["os_id"]], [address(said, label) for label in one["on"]]
        waits = sorted(wait["waits_for"] for wait in answer["waits"] if wait["os_id"] == one["os_id"])
        wrong = [f"{name} waits for {row['waits_for']}, held by {row['owner_os_id']}: not {one}"]
        found = (sorted(row["waits_for_objects"]), (row["waits_for"] or "").startswith(one["words"]), waits)
        if found == (sorted(expected), True, sorted(expected)) and (one["owner"] is None or row["owner_os_id"] == ids[one["owner"]]):
            right += 1
        elif are_waits_objects(said) or (expected and row["waits_for_object"] and row["waits_for_object"] not in expected
                                         and row["waits_for_type"] not in INNER):
            problems += wrong + [f"{name} waits for {waits}, says `locks`"]  # rather nothing than another object
        problems += [f"{name} is said to wait for itself"] if row["owner_os_id"] == one["os_id"] else []  # who upgrades waits for the readers
    print(f"{right} of {len(ids)} waits are known exactly")
    problems += [f"nobody waits in a circle, but {row['text']}" for row in answer["deadlocks"] if row["grounds"] == "runtime"]
    if not are_waits_objects(said):
        return problems + ([] if right >= KNOWN_NATIVELY else [f"{right} waits are known exactly, not {KNOWN_NATIVELY}"])
    locks_of = {row["object"]: row for row in answer["locks"]}
    for label, one in said["mutexes"].items():
        row = locks_of.get(address(said, label))
        found = row and (row["kind"], row["owner_os_id"], row["recursion"] or 0, row["waiters"], (row["state"] or "").startswith("abandoned"))
        expected = ("mutex", ids.get(one["owner"]), one["times"], one["waiters"], one["abandoned"])
        problems += [] if found == expected else [f"the mutex {label}: {found}, not {expected}"]
    return problems


KNOWN_NATIVELY = 25  # of the waits of kinds, before .NET 11
INNER = ("System.Threading.ManualResetEventSlim",)  # which is known there of a countdown and the like, if nothing else on the stack is


def circles(dnheap, path, said):
    answer = tables(dnheap, "locks", path)
    ids = {one["os_id"]: name for name, one in said["threads"].items()}
    for row in answer["deadlocks"]:
        print(f"{row['grounds']}: {row['text']}")
    found = [(sorted(ids.get(one["os_id"]) for one in row["cycle"]), sorted(one["waits_for"] for one in row["cycle"] if one["waits_for"]))
             for row in answer["deadlocks"]]
    expected = [(sorted(one["threads"]), sorted(address(said, label) for label in one["on"])) for one in said["deadlocks"]]
    if not are_waits_objects(said):  # what a mutex is in is inferred
        expected = [one for one in expected if "Mutex" not in one[0][0]]
        return differences("deadlocks", [one for one in found if one in expected], expected)
    problems = differences("deadlocks", found, expected)
    problems += [f"inferred: {row['text']}" for row in answer["deadlocks"] if row["grounds"] != "runtime"]
    # How long somebody waits for a Mutex or the end of a thread is not in objects.
    certain = {name for one in said["deadlocks"] if not {"Mutex", "mutex"} & set(" ".join(one["on"]).split()) for name in one["threads"]} - {"Joiner", "Joined"}
    problems += [f"not certain: {row['text']}" for row in answer["deadlocks"] if {ids[one["os_id"]] for one in row["cycle"]} <= certain and not row["text"].startswith("thread ")]
    return problems + verdict(dnheap, path, "deadlock")


def around(dnheap, path, said):
    """Threads that the program has not started are the pool's and the finalizer's."""
    answer = tables(dnheap, "locks", path)
    ids = {one["os_id"]: name for name, one in said["threads"].items()}
    for row in answer["deadlocks"]:
        print(f"{row['grounds']}: {row['text']}")
    found = sorted([sorted(ids[one["os_id"]] for one in row["cycle"] if one["os_id"] in ids), row["text"].startswith("thread ")] for row in answer["deadlocks"])
    orphan = [row for row in answer["locks"] if row["object"] == address(said, "orphan")]
    problems = [] if [(row["waiting"], (row["state"] or "").endswith("nobody lets it go")) for row in orphan] == [([said["threads"]["Waiter"]["os_id"]], True)] else [f"the lock of a thread that ended: {orphan}"]
    problems += differences("deadlocks", found, sorted([one["threads"], one["certain"]] for one in said["deadlocks"]))
    return problems + verdict(dnheap, path, "deadlock")


def inflated(dnheap, path, said):
    rows = {row["object"]: row for row in tables(dnheap, "locks", path, "--all")["locks"]}
    holder, waiter = said["holder"]["os_id"], said["waiter"]["os_id"]
    own = [row for row in rows.values() if row["type"] == "Inflated_"]
    kept = said["inflated"] if are_waits_objects(said) else said["held"]  # before, a collection frees the others' sync blocks
    problems = [] if len(own) >= kept else [f"{len(own)} monitors, not {kept}"]
    held = [row for row in own if row["held"]]
    problems += [] if [(row["owner_os_id"], row["recursion"]) for row in held] == [(holder, 1)] * said["held"] else [f"held are {held}"]
    problems += [f"somebody waits: {row}" for row in own if row["waiters"] or row["kind"] != "monitor"]
    expected = {"hashed": ("monitor", holder, 2, 0, []), "hashed and waited for": ("monitor", holder, 1, 1, [waiter]),
                "thin": ("thin_lock", holder, 3, 0, []), "pulsed": ("monitor", None, None, 0, [said["pulse"]["os_id"]])}
    for label, one in expected.items():
        row = rows.get(address(said, label))
        found = row and (row["kind"], row["owner_os_id"], row["recursion"], row["waiters"], row["waiting"])
        problems += [] if found == one else [f"{label}: {found}, not {one}"]
    return problems


def library(dnheap, path, said):
    """No object that the walk cannot pass, none called dead that the GC kept: however the library's own calls are suspended."""
    problems = []
    for verb, *options in (("stat",), ("verify",), ("stat", "--live"), ("stat", "--dead")):
        answer = matrix.answer(dnheap, verb, path, *options)
        if not answer["completeness"]["complete"]:
            problems.append(f"{verb} {' '.join(options)} is incomplete: {answer['completeness']}")
        if verb == "verify":
            problems += [f"verify: {row}" for row in answer["tables"]["problems"]]
        elif options:
            held = {row["type"].replace("+", "."): row["count"] for row in answer["tables"]["types"] if "Library+Over" in row["type"]}
            expected = said["held"] if options == ["--live"] else {}
            problems += [] if held == expected else [f"stat {options[0]}: {held}, not {expected}"]
    return problems


CHECKS = {"constructors": constructors, "kinds": kinds, "circles": circles, "around": around, "inflated": inflated, "thrown": thrown, "locks": locks, "lock-async": lock_async, "semaphores": semaphores, "async": calls, "pool": pool, "pool-locks": pool_locks, "collections": collections, "collections-fine": collections, "gate": gate, "gate-lost": gate, "gate-few": gate, "gate-unique": gate, "gate-threads": gate, "gate-sleeper": gate, "gates-fine": gates_fine, "takers": takers, "hangs": hangs, "mutexes": alone, "task-circle": alone, "joined": stuck, "constructed": stuck, "screen": stuck, "readers": stuck, "combined": combined, "library": library}


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
