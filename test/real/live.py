"""Live processes: dnheap looks at a running program, and must say what it says of a core of it; the program goes on.

For matrix.py, modes `live` (the zoo and a graph, at rest) and `live-busy` (threads that allocate and check themselves).
"""
import hashlib
import json
import pathlib
import subprocess
import tempfile

ROUNDS = 200  # attached and let go, under load
PATIENCE = 60
ATTEMPTS = 5
MOST_GROWN = 4 << 20
VERBS = ("stat", "segments", "objects", "gc", "handles", "roots", "retained", "verify")
VOLATILE = {"path", "container", "paused_ms"}  # of an answer's target: differ between a process and its core


def ask(dnheap, verb, target, *options):
    command = [dnheap, verb, *target, "--format", "json", "--top", "0", *options]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode != 0 or done.stderr:
        raise RuntimeError(f"`dnheap {verb}` ended with code {done.returncode} and said: {done.stderr.strip()}")
    return json.loads(done.stdout)


def states(pid):
    """State letters of all threads: t is stopped by a tracer, T by a signal."""
    out = []
    for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            out.append(stat.read_text().rsplit(") ", 1)[1][0])
        except (FileNotFoundError, ProcessLookupError):
            pass
    return out


def still_stopped(pid):
    return [f"threads of the process are stopped after dnheap has ended: {states(pid)}"] if "t" in states(pid) else []


def at_rest(dnheap, target):
    """The same answers as of a core written right after, and nothing changed by asking."""
    problems = []
    live = ["-p", target.pid]
    with tempfile.TemporaryDirectory(prefix="dnheap-live-") as folder:
        for _ in range(ATTEMPTS):  # the runtime's own threads may have had something to do meanwhile
            segments = ask(dnheap, "segments", live)
            before = checksum(target.pid, segments)
            memory = own_memory(target.pid)
            answers = {verb: ask(dnheap, verb, live) for verb in VERBS}
            without = ask(dnheap, "stat", live, "--no-pause")
            grown = own_memory(target.pid) - memory
            core = target.dump("full", pathlib.Path(folder) / "core")
            if checksum(target.pid, segments) == before:
                break
        else:
            problems.append("the process's heap is not what it was before, again and again")
        for verb, answer in answers.items():
            problems += compare(verb, answer, ask(dnheap, verb, [core]))
    problems += still_stopped(target.pid)
    if grown > MOST_GROWN:
        problems.append(f"the process has {grown} bytes more of memory after it was looked at")
    stat = answers["stat"]
    if not stat["target"].get("paused_ms", 0) > 0:
        problems.append("stat does not say how long the process stood still")
    counts = {}
    for row in stat["tables"]["types"]:
        counts[row["type"]] = counts.get(row["type"], 0) + row["count"]
    for name, count in target.truth["types"].items():
        if counts.get(name, 0) != count:
            problems.append(f"stat -p: {counts.get(name, 0)} objects of {name}, the program has {count}")
    if without["completeness"]["complete"] or not any("--no-pause" in note for note in without["completeness"]["notes"]):
        problems.append("--no-pause does not say what that means")
    if without["tables"]["types"] != stat["tables"]["types"]:
        problems.append("--no-pause gives other counts of a program at rest")
    rows = {row["pid"]: row for row in ask(dnheap, "ps", [])["tables"]["processes"]}
    if target.pid not in rows or rows[target.pid]["version"] != stat["target"]["version"]:
        problems.append(f"ps has no such process, or another version: {rows.get(target.pid)}")
    paused = ", ".join(f"{verb} {answer['target']['paused_ms']:.0f} ms" for verb, answer in answers.items())
    print(f"paused: {paused}")
    return problems


def own_memory(pid):
    """Bytes resident, of files as well."""
    return int(pathlib.Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0]) * 1024


def lasting(rows):
    """Without threads that have allocated nothing: the runtime's own begin and end while nothing happens."""
    return [row for row in rows if row.get("owner") != "thread" or row["pointer"] != "0x0" or row["alloc_bytes"]]


def compare(verb, live, core):
    problems = []
    for name, rows in core["tables"].items():
        mine, theirs = lasting(live["tables"].get(name, [])), lasting(rows)
        if mine != theirs:
            odd = [row for row in mine if row not in theirs][:3] + [row for row in theirs if row not in mine][:3]
            problems.append(f"{verb} -p: table {name} differs from the core's: {odd}")
    for part in ("objects", "bytes", "bad_objects", "complete", "gaps"):
        if live.get("completeness", {}).get(part) != core.get("completeness", {}).get(part):
            problems.append(f"{verb} -p: {part} is not what it is of the core")
    mine = {key: value for key, value in live["target"].items() if key not in VOLATILE}
    theirs = {key: value for key, value in core["target"].items() if key not in VOLATILE}
    if mine != theirs:
        problems.append(f"{verb} -p: target is {mine}, of the core {theirs}")
    return problems


def checksum(pid, segments):
    """Of the GC heap. (Stacks change: a thread whose wait was interrupted begins it anew.)"""
    out = hashlib.sha256()
    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for row in segments["tables"]["segments"]:
            start, end = int(row["start"], 16), int(row["end"], 16)
            memory.seek(start)
            out.update(memory.read(end - start))
    return out.hexdigest()


def under_load(dnheap, target, verb="stat"):
    """Attached and let go again and again, now and then killed: the program works on, and finds nothing wrong."""
    problems = []
    done = [work(target)]
    for i in range(ROUNDS):
        command = [str(dnheap), "info" if i % 4 else verb, "-p", str(target.pid), "--format", "json"]
        if i % 10 == 9: # a tracer that dies
            killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                killed.wait(0.005 * (i % 7))
            except subprocess.TimeoutExpired:
                killed.kill()
                killed.wait()
        else:
            run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
            if run.returncode not in (0, 4):
                problems.append(f"round {i}: {run.stderr.strip()}")
        if i % 20 == 0:
            done.append(work(target))
            if done[-1] <= done[-2]:
                problems.append(f"round {i}: the program does not work any more: {done[-3:]}")
    problems += still_stopped(target.pid)
    print(f"{ROUNDS} rounds; the slowest thread did {done[-1] - done[0]} rounds of its own meanwhile")
    return problems[:10]


def work(target):
    said = target.ask()
    if not said.startswith("WORK "):
        raise RuntimeError(f"the program says: {said or 'nothing'}")
    return int(said.split()[1])
