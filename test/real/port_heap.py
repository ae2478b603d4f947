#!/usr/bin/env python3
"""`--by-port`: the heap of a running process, as its GC lists it over the diagnostics port (../programs/zoo).

    port_heap.py --list --sample       the kinds that a short run makes, written port_heap:MAJOR; --all: all of them
    port_heap.py DNHEAP --one port_heap:10

Compares with a core of the process, written right after: each listed object is there, with its size and references. Exit codes are those of
matrix.py.
"""
import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import collect
import matrix
import runtimes
import targets

KINDS = [f"port_heap:{major}" for major in runtimes.MAJORS]
SAMPLE = ["port_heap:10"]
PATIENCE = 60
FAILED, USAGE, INTERRUPTED = 3, 2, 130
LISTED_STATICS = 50  # of the zoo, whose framework has some hundreds


def run(dnheap, _, major):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-port-") as folder:
        asked = collect.Asked(dnheap, folder)
        with targets.Target("zoo", major) as target:
            for part in (twice_the_same, beside_a_core, without_tracing, through_the_library, refusals, interrupted, stopped):
                part(asked, target)
        with targets.Target("values", major, settings={"DOTNET_EnableDiagnostics": "0"}) as target:
            asked.refused(FAILED, "DOTNET_EnableDiagnostics=0", "stat", "-p", target.pid, "--by-port")
        return asked.problems


def answer(asked, verb, target, *options, **how):
    done = subprocess.run(asked.command(verb, *target, "--format", "json", *options), capture_output=True, text=True, timeout=PATIENCE, check=False, **how)
    if done.returncode or done.stderr:
        raise RuntimeError(f"`{verb} {' '.join(map(str, options))}` ended with code {done.returncode} and said: {done.stderr.strip()}")
    return json.loads(done.stdout)


def listed(asked, pid, verb="stat", *options, **how):
    out = answer(asked, verb, ["-p", pid, "--by-port"], *options, **how)
    asked.problems += [f"{verb} --by-port: {problem}" for problem in collect.SCHEMAS.problems(out, f"{verb}.json")]
    return out


def twice_the_same(asked, target):
    """The first session makes objects in the process itself; from then on the answers are alike, and have names again."""
    listed(asked, target.pid)
    one, two = (listed(asked, target.pid) for _ in range(2))
    counts = [sorted((row["type"], row["count"], row["bytes"]) for row in each["tables"]["types"] if row["type"] != "Free") for each in (one, two)]
    asked.expect(not any(name.startswith("(unknown") for name, *_ in counts[1]), "types have no name at the second time")
    asked.expect(abs(len(counts[0]) - len(counts[1])) < 20, f"{len(counts[0])} types, then {len(counts[1])}")
    asked.expect(two["completeness"]["complete"], f"not complete: {two['completeness']['notes']}")
    asked.expect(two["target"]["container"] == "events" and two["target"].get("paused_ms", 0) > 0, f"the target is {two['target']}")
    asked.expect(any("made a full collection" in note for note in two["completeness"]["notes"]), f"no word of the collection: {two['completeness']['notes']}")
    found = collections.Counter()
    for name, count, _ in counts[1]:
        found[name] += count
    wanted = {name: count for name, count in target.truth["types"].items() if "+" not in name and name != "Zoo.Doomed"}  # events do not name the outer type
    for name, count in wanted.items():
        asked.expect(found[name] == count, f"{found[name]} objects of {name}, the program has {count}")
    print(f"paused {two['target']['paused_ms']:.0f} ms; {two['completeness']['objects']} objects, {len(wanted)} types as the program says")


def graph(asked, target, *options):
    """Per address: bytes, references."""
    file = asked.folder / "heap.ndjson"
    subprocess.run(asked.command("export", *target, *options, "--as", "ndjson", "-o", file), check=True, capture_output=True, timeout=PATIENCE)
    out = {}
    with open(file, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line["line"] == "object":
                out[line["address"]] = (line["bytes"], collections.Counter(to["to"] for to in line.get("references", [])))
    file.unlink()
    return out


def beside_a_core(asked, target):
    """Nothing runs between the two but what the session itself leaves behind."""
    mine = graph(asked, ["-p", target.pid], "--by-port")
    core = target.dump("full", asked.folder / "beside.core")
    theirs = graph(asked, [core])
    missing = [address for address in mine if address not in theirs]
    # Arrays that hold static fields have no references of their own in a core: the fields are roots.
    other = [address for address in mine if address in theirs and mine[address] != theirs[address]
             and (mine[address][0] != theirs[address][0] or theirs[address][1])]
    # The session's end changes a few objects of the event source.
    asked.expect(not missing, f"{len(missing)} listed objects are not in the core: {missing[:3]}")
    asked.expect(len(other) <= 20, f"{len(other)} objects have another size or other references: {[(at, mine[at][0], theirs[at][0]) for at in other[:5]]}")
    roots = listed(asked, target.pid, "roots")
    kinds = {row["kind"]: row["roots"] for row in roots["tables"]["kinds"]}
    asked.expect(kinds.get("static", 0) > LISTED_STATICS and kinds.get("stack", 0) and kinds.get("handle:pinned", 0), f"roots are {kinds}")
    core.unlink()
    print(f"{len(mine)} objects listed, {len(theirs)} in the core, {len(other)} of them changed; roots: {kinds}")


def without_tracing(asked, target):
    """As in most containers."""
    out = listed(asked, target.pid, preexec_fn=collect.forbid_tracing)
    asked.expect(out["completeness"]["objects"] > 0, "no objects without the right to trace")


# Runs by itself, since it may not trace from then on.
EMBEDDED = """
import sys
sys.path[:0] = sys.argv[2:]
import collect, dnheap
collect.forbid_tracing()
try:
    dnheap.attach(int(sys.argv[1]))
except dnheap.Error as refused:
    print(refused)
with dnheap.attach(int(sys.argv[1]), by_port=True) as heap:
    print(sum(row.count for row in heap.types()), sum(1 for _ in heap.objects()), heap.completeness.complete, heap.info.container)
    heap.release()
    print(len(heap.ask("stat").table()))
    try:
        heap.ask("threads")
    except dnheap.Error as refused:
        print(refused)
"""


def through_the_library(asked, target):
    """Python's binding, over the C interface that lies beside the program."""
    library = pathlib.Path(asked.dnheap).parent / "libdnheap-c.so.0"
    if subprocess.run([sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", str(library)], capture_output=True, check=False).returncode:
        return  # not built, or with what Python does not have (sanitizers)
    here = runtimes.PROJECT / "test" / "real"
    done = subprocess.run([sys.executable, "-c", EMBEDDED, str(target.pid), str(here), str(runtimes.PROJECT / "bindings" / "python")],
                          env={**os.environ, "DNHEAP_LIBRARY": str(library)}, capture_output=True, text=True, timeout=PATIENCE, check=False)
    lines = done.stdout.splitlines()
    asked.expect(done.returncode == 0 and len(lines) == 4, f"the library: code {done.returncode}, {done.stdout}{done.stderr}")
    if len(lines) == 4:
        counted, objects, complete, container = lines[1].split()
        asked.expect("may not be read" in lines[0], f"the library is not refused to trace: {lines[0]}")
        asked.expect(counted == objects and int(objects) > 0 and (complete, container) == ("True", "events"), f"the library says {lines[1]}")
        asked.expect(int(lines[2]) > 0 and "events" in lines[3], f"the library says {lines[2:]}")


def refusals(asked, target):
    pid = target.pid
    asked.refused(FAILED, "there is no process 2147483640", "stat", "-p", 2147483640, "--by-port")
    asked.refused(FAILED, "is no .NET process", "stat", "-p", os.getpid(), "--by-port")
    asked.refused(USAGE, "--by-port needs a live process", "stat", "x.core", "--by-port")
    asked.refused(USAGE, "exclude each other", "stat", "-p", pid, "--by-port", "--no-pause")
    for verb in ("threads", "strings", "collect", "sample"):
        asked.refused(USAGE, "does not take --by-port", verb, "-p", pid, "--by-port")
    if os.geteuid() == 0 and not subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "test", "-x", asked.dnheap], check=False).returncode:
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", *asked.command("stat", "-p", pid, "--by-port")], capture_output=True, text=True,
                              check=False)
        asked.expect(done.returncode == FAILED and "belongs to user 0" in done.stderr, f"of another user: {done.stderr}")


def interrupted(asked, target):
    """Ctrl-C at some moment of the session: it ends, and the next one has all names, which a session that goes on would have taken."""
    codes = collections.Counter()
    for wait in (0.02, 0.05, 0.1, 0.15):
        with subprocess.Popen(asked.command("stat", "-p", target.pid, "--by-port"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as asking:
            time.sleep(wait)
            asking.send_signal(signal.SIGINT)
            codes[asking.wait(PATIENCE)] += 1
    asked.expect(set(codes) <= {0, INTERRUPTED, -signal.SIGINT}, f"interrupted, it ends with {codes}")
    time.sleep(1)  # the runtime notices within its next turn that nobody listens
    out = listed(asked, target.pid)
    asked.expect(not any(row["type"].startswith("(unknown") for row in out["tables"]["types"]), "after an interruption types have no names")


def stopped(asked, target):
    """It listens, but does not answer."""
    target.stop()
    try:
        asked.refused(FAILED, "does not answer", "stat", "-p", target.pid, "--by-port")
    finally:
        target.resume()


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
