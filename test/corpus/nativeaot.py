#!/usr/bin/env python3
"""Compares what dnheap says of real NativeAOT cores with what the programs in them knew. Exactly.

    nativeaot.py DNHEAP [--withheap CORE TRUTH]...

The cores lie in $DNHEAP_CORPUS/nativeaot: NAME.core.zst, the program they are of in NAME.exe.zst, and what that program
printed of itself in NAME.truth.txt; or, for ilc10-wait, the GC's own list of live objects in NAME.nodes.json.zst. Without
that folder nothing is tested, and the exit code is 77. --withheap adds a core of one's own: createdump --withheap of one of
these programs, whose executable lies where it ran, and the text that it printed.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "real"))
import corpus
import extracted

PROGRAMS = ("net8-wks", "net9-wks", "net9-svr")


def spelled(name):
    """System.Type.ToString() as dnheap spells it: Zoo.Box`1[System.Int32] is Zoo.Box<System.Int32>."""
    return re.sub(r"`\d+\[(.*)\]$", r"<\1>", name)


class Truth:
    def __init__(self, text):
        self.counts = {}  # MethodTable → (name, count)
        self.after = {}   # generation → bytes after the last collection
        self.objects = []  # (address, MethodTable, generation, name)
        for line in text.splitlines():
            words = line.split()
            if words[:1] == ["TRUTH"]:
                self.counts[int(words[2], 16)] = (spelled(" ".join(words[3:])), int(words[1]))
            elif words[:1] == ["GENINFO"]:
                self.after[int(words[1])] = int(words[2].split("=")[1])
            elif words[:1] == ["OBJ"]:
                self.objects.append((int(words[1], 16), int(words[2], 16), words[3], spelled(" ".join(words[4:]))))


class Core:
    def __init__(self, dnheap, path, modules=None):
        self.dnheap, self.path, self.modules = dnheap, str(path), modules

    def ask(self, verb, *options):
        command = [self.dnheap, verb, self.path, "--format", "json", "--top", "0", *options]
        if self.modules:
            command += ["--modules", str(self.modules)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)


def complete(answer, runtime):
    found = answer["completeness"]
    problems = [] if found["complete"] and not found["gaps"] and not found["bad_objects"] else [f"incomplete: {found}"]
    target = answer["target"]
    if (target["runtime"], target["version"]) != runtime:
        problems.append(f"runtime {target['runtime']} {target['version']} instead of {runtime}")
    return problems


def counts(stat, truth, named):
    """Of the ninth, Node[], the framework keeps three of its own, in a List, a Queue and a static field."""
    problems = []
    rows = {int(row["method_table"], 16): row for row in stat["tables"]["types"]}
    if len(truth.counts) != 33:
        problems.append(f"the program counted {len(truth.counts)} types")
    for position, (method_table, (name, count)) in enumerate(truth.counts.items()):
        row = rows.get(method_table, {"count": 0, "type": None})
        wanted = count + (3 if position == 8 else 0)
        if row["count"] != wanted:
            problems.append(f"{name}: {row['count']} objects instead of {wanted}")
        if named and row["type"] != name:
            problems.append(f"{name} is called {row['type']}")
    return problems


def bytes_after(segments, truth):
    sums = {row["generation"]: row["bytes"] + row["free_bytes"] for row in segments["tables"]["generations"]
            if row["heap"] == "all"}
    return [f"{generation}: {sums[generation]} bytes instead of {truth.after[number]}"
            for generation, number in (("gen1", 1), ("gen2", 2), ("loh", 3), ("poh", 4))
            if sums[generation] != truth.after[number]]


def places(core, truth, named):
    problems = []
    for address, method_table, generation, name in truth.objects:
        rows = core.ask("objects", "--range", f"{address:#x}-{address + 8:#x}")["tables"]["objects"]
        wanted = (method_table, generation) + ((name,) if named else ())
        found = [(int(r["method_table"], 16), r["generation"]) + ((r["type"],) if named else ()) for r in rows]
        if found != [wanted]:
            problems.append(f"at {address:#x}: {found} instead of {wanted}")
    return problems


def program(core, truth, version, named=True):
    stat, segments = core.ask("stat"), core.ask("segments")
    return (complete(stat, ("nativeaot", version)) + counts(stat, truth, named) + bytes_after(segments, truth) +
            places(core, truth, named))


# What the cores have of static fields and of thread statics in the program's own space.
ROOTS = {"net8-wks": (358, 5), "net9-wks": (118, 5), "net9-svr": (118, 5), "ilc10-wait": (2809, 3)}


def graph(core, name):
    """Roots are as many as there are, no reference leads astray, and paths and what would be freed are told."""
    roots = core.ask("roots")["tables"]["roots"]
    problems = []
    if name in ROOTS:
        found = tuple(sum(row["kind"] == kind for row in roots) for kind in ("static", "thread_static"))
        problems += [f"{found} static fields and thread statics instead of {ROOTS[name]}"] if found != ROOTS[name] else []
    totals = core.ask("verify")["tables"]["totals"][0]
    problems += [f"verify: {totals}"] if totals["problems"] or not totals["references"] else []
    live = core.ask("objects", "--live")["tables"]["objects"]
    held = max(live, key=lambda row: row["bytes"])
    paths = core.ask("path", held["address"])["tables"]["paths"]
    if len(paths) != 1 or paths[0]["steps"][-1]["address"] != held["address"]:
        problems.append(f"the path to {held['address']}: {paths}")
    owners = core.ask("retained")["tables"]["owners"]
    total = sum(row["retained"] for row in owners)
    alive = sum(row["retained"] for row in owners if row["kind"] not in ("unreachable", "frozen"))
    expected = sum(row["bytes"] + 7 & ~7 for row in live)
    problems += [f"the owners hold {alive} bytes of {total}, not {expected}"] if alive != expected else []
    return problems


def no_names(core):
    """Built without metadata: every type is told by its place in the program, none is dropped."""
    types = core.ask("stat")["tables"]["types"]
    named = [row["type"] for row in types if row["type"] != "Free" and not re.fullmatch(r"zoo!0x[0-9a-f]+[\[\],]*", row["type"])]
    return [f"names out of nothing: {named[:5]}"] if named else []


def live_objects(core, nodes):
    """What the GC listed just before the core was taken is there, of that type and size."""
    answer = core.ask("objects")
    problems = complete(answer, ("nativeaot", "10.0"))
    objects = {int(row["address"], 16): row for row in answer["tables"]["objects"]}
    wrong = 0
    for address, size, method_table, *_ in nodes:
        row = objects.get(address)
        wrong += not row or int(row["method_table"], 16) != method_table or row["bytes"] + 7 & ~7 != size + 7 & ~7
    if wrong or len(nodes) != 14139:
        problems.append(f"{wrong} of {len(nodes)} live objects are missing or different")
    # The list was made by a collection of gen2: all that is not frozen has to be alive; a few objects were in registers then.
    alive = {int(row["address"], 16) for row in core.ask("objects", "--live")["tables"]["objects"]}
    heap = [address for address, *_ in nodes if address in objects and objects[address]["generation"] != "frozen"]
    missing = [address for address in heap if address not in alive]
    if len(missing) * 100 > len(heap):
        problems.append(f"{len(missing)} of {len(heap)} live objects are held by nothing")
    nameless = {row["type"] for row in answer["tables"]["objects"] if "!0x" in row["type"]}
    if len(nameless) != 31:  # what the compiler made up for static fields
        problems.append(f"{len(nameless)} types without a name")
    return problems


# The program's threads wait by Thread.Sleep, but for the finalizer's.
SLEEP = ["System.Threading.WaitSubsystem+ThreadWaitInfo.Wait", "System.Threading.WaitSubsystem+ThreadWaitInfo.Sleep",
         "System.Threading.Thread.Sleep"]


def stacks(core):
    """Every thread that sleeps does so by name, up to the first function of its thread; without debug files, as these are not
    there. Where this host's C library is another one than the process had, nothing can be followed, and it is said."""
    answer = core.ask("stack", "--all")["tables"]
    if any("libc.so" in row["problem"] for row in answer["problems"]):
        return []
    threads = {}
    for row in answer["frames"]:
        threads.setdefault(row["os_id"], []).append(row)
    problems = [f"{len(threads)} threads"] if len(threads) != 5 else []
    asleep = 0
    for rows in threads.values():
        methods = [row["method"] for row in rows if row["kind"] == "managed"]
        asleep += methods[:3] == SLEEP and rows[-1]["kind"] == "native"
        problems += [f"a method without a name: {method}" for method in methods[:3] if "+0x" in method]
    ends = {os_id for row in answer["problems"] for os_id in row["os_ids"]}
    problems += [f"{asleep} threads sleep"] if asleep != 4 else []
    return problems + [f"stacks that end early: {ends}"] * (len(ends) > 1)  # 9.0 tells nothing of what its finalizer calls


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dnheap")
    parser.add_argument("--withheap", nargs=2, action="append", default=[], metavar=("CORE", "TRUTH"))
    args = parser.parse_args()
    folder = corpus.folder("nativeaot", "NativeAOT cores")
    results = {}
    with tempfile.TemporaryDirectory() as work:
        def unpack(name, to):
            path = pathlib.Path(work) / to
            path.parent.mkdir(exist_ok=True)
            with open(path, "wb") as out:
                subprocess.run(["zstd", "-dqc", folder / name], stdout=out, check=True)
            return path

        def truth(name):
            return Truth((folder / f"{name}.truth.txt").read_text())

        for name in PROGRAMS + ("net9-disrefl",):
            modules = unpack(f"{name}.exe.zst", f"{name}/zoo").parent
            core = Core(args.dnheap, folder / f"{name}.core.zst", modules)
            version = name[3] + ".0"
            results[name] = program(core, truth(name), version, name != "net9-disrefl")
            results[name] += graph(core, name)
            if name in ("net8-wks", "net9-wks"):
                results[name] += stacks(core)
            results[name] += extracted.problems(args.dnheap, folder / f"{name}.core.zst", [modules])
            if name == "net9-disrefl":
                results[name] += no_names(core)
        full = Core(args.dnheap, folder / "net9-wks-createdump--full.core.zst")
        results["createdump --full"] = program(full, truth("net9-wks-createdump"), "9.0")
        nodes = json.loads(unpack("ilc10-wait.nodes.json.zst", "nodes.json").read_text())
        core = Core(args.dnheap, folder / "ilc10-wait.core.zst")
        results["ilc10-wait"] = live_objects(core, nodes) + graph(core, "ilc10-wait")
    for path, text in args.withheap:
        # 8.0 keeps among what such a dump lacks whether the GC was at work; then nothing else may be missing.
        core = Core(args.dnheap, path)
        found = program(core, Truth(pathlib.Path(text).read_text()), core.ask("stat")["target"]["version"])
        results[path] = [p for p in found if "unknown whether a GC was in progress" not in p]
    for name, problems in results.items():
        print(f"{name}: {'agrees' if not problems else ''}")
        for problem in problems:
            print(f"    {problem}")
    sys.exit(any(results.values()))


main()
