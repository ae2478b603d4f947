#!/usr/bin/env python3
"""Compares what dnheap says of real Windows minidumps with what ClrMD and Microsoft's DAC said of them. Exactly.

    windows.py DNHEAP [--only NAME]

The dumps lie in $DNHEAP_CORPUS/windows: NAME.dmp.zst, the witness's answer in NAME.oracle.txt, the programs' own assembly
in modules-8, -9 and -10. The framework's files come from NuGet (test/real/runtimes.py). Each dump is asked with and
without these files. Without the folder nothing is tested, and the exit code is 77; without NuGet the comparisons that
need its files are left out, and said to be.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "real"))
import corpus
import extracted
import runtimes
import stacks as stack_names

VERSIONS = {8: "8.0.33", 9: "9.0.22", 10: "10.0.14"}  # that the dumps are of
WITH_ORACLE = ("net10-wks-ms-full", "net8-wks-ms-full", "net10-wks-dac-ms-heap", "net8-wks-dac-ms-heap",
               "net10-srv-dac-ms-heap", "net8-srv-ms-heap", "net10-wks-seg-ms-heap")
WITHOUT_ORACLE = "net9-wks-heap"
# What is missing, and what to do.
NEGATIVE = {
    "net10-wks-defaults-ms-heap": ("MethodTables", "take a full dump (dotnet-dump collect --type Full"),
    "net10-crash-failfast-mini": ("of a kind without heap", "take a full one (dotnet-dump collect --type Full"),
}
KINDS = {"WeakShort": "weak_short", "WeakLong": "weak_long", "Strong": "strong", "Pinned": "pinned",
         "Dependent": "dependent", "RefCounted": "ref_counted", "AsyncPinned": "async_pinned",
         "SizedRef": "sized_ref", "WeakWinRT": "weak_native_com"}
GENERATIONS = {"Frozen": "frozen", "Pinned": "poh", "Large": "loh", "Generation0": "gen0", "Generation1": "gen1",
               "Generation2": "gen2"}


class Oracle:
    def __init__(self, text):
        self.types = {}       # MethodTable → (name, count, bytes)
        self.segments = []    # (heap, generation or "Ephemeral", start, end, objects)
        self.total = {}
        self.kinds = {}       # of handles → count
        self.handles = []     # (handle, kind, object, secondary)
        self.frames = collections.defaultdict(list)  # OS id → (sp, ip, method) of managed frames
        self.roots = collections.defaultdict(set)    # OS id → (slot, object)
        for line in text.splitlines():
            words = line.split("\t")
            if words[0] == "type":
                name = words[3].replace("<*>", "[*]")  # a vector with a lower bound, not an instantiation
                self.types[int(words[4], 16)] = (name, int(words[1]), int(words[2]))
            elif words[0] == "seg":
                self.segments.append((int(words[1]), words[2], int(words[3], 16), int(words[4], 16),
                                      int(words[-1].split("=")[1])))
            elif words[0] == "total":
                self.total = {key: int(value) for key, value in (word.split("=") for word in words[1:])}
            elif words[0] == "handles":
                self.kinds[KINDS[words[1]]] = int(words[2])
            elif words[0] == "handle":
                self.handles.append((int(words[1], 16), KINDS[words[2]], int(words[3], 16),
                                     int(words[5].split("=")[1], 16)))
            elif words[0] == "thread":
                thread = int(words[2].split("=")[1], 16)
                self.frames[thread]  # even if it has none
            elif words[0] == "  frame" and words[3] == "ManagedMethod":
                self.frames[thread].append((int(words[1], 16), int(words[2], 16), words[4]))
            elif words[0] == "  root":
                self.roots[thread].add((int(words[1], 16), int(words[2], 16)))


class Dump:
    def __init__(self, dnheap, name, path, folders=()):
        self.dnheap, self.name, self.path = dnheap, name, str(path)
        self.options = [option for folder in folders for option in ("--modules", str(folder))]

    def run(self, verb, *more):
        command = [self.dnheap, verb, self.path, "--format", "json", "--top", "0", *more, *self.options]
        return subprocess.run(command, capture_output=True, text=True)

    def ask(self, verb, *more):
        done = self.run(verb, *more)
        if done.returncode:
            raise SystemExit(f"{verb} {self.path} {self.options}: exit code {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)


def complete(answer, version):
    found, target = answer["completeness"], answer["target"]
    problems = [] if found["complete"] and not found["gaps"] and not found["bad_objects"] else [f"incomplete: {found}"]
    told = (target["container"], target["os"], target["runtime"], target["version"])
    if told != ("minidump", "windows", "coreclr", version):
        problems.append(f"it is called {told}")
    return problems


def types(stat, oracle, named):
    """Without the modules' files arrays and instantiations have names made of row numbers: only their numbers count."""
    rows = {int(row["method_table"], 16): (row["type"], row["count"], row["bytes"]) for row in stat["tables"]["types"]}
    problems = []
    for method_table in sorted(rows.keys() | oracle.types.keys()):
        ours, theirs = rows.get(method_table), oracle.types.get(method_table)
        if ours is None or theirs is None or ours[1:] != theirs[1:] or (named and ours[0] != theirs[0]):
            problems.append(f"type {method_table:#x}: {ours} instead of {theirs}")
    objects = sum(row[1] for row in rows.values())
    size = sum(row[2] for row in rows.values())
    if (objects, size) != (oracle.total["objects"], oracle.total["bytes"]):
        problems.append(f"{objects} objects, {size} bytes instead of {oracle.total}")
    return problems


def segments(answer, oracle):
    """ClrMD tells an ephemeral segment without regions as one: dnheap's three parts add up to it."""
    ours = [(row["heap"], row["generation"], int(row["start"], 16), int(row["end"], 16),
             row["objects"] + row["free_objects"]) for row in answer["tables"]["segments"]]
    wanted = []
    for heap, kind, start, end, objects in oracle.segments:
        if kind == "Ephemeral":
            parts = [row for row in ours if row[0] == heap and start <= row[2] and row[3] <= end]
            ours = [row for row in ours if row not in parts]
            if (not parts or min(row[2] for row in parts) != start or max(row[3] for row in parts) != end
                    or sum(row[4] for row in parts) != objects):
                return [f"the ephemeral segment {start:#x}-{end:#x} with {objects} objects is {parts}"]
        else:
            wanted.append((heap, GENERATIONS[kind], start, end, objects))
    # Frozen segments belong to no heap.
    plain = lambda rows: collections.Counter(row if row[1] != "frozen" else (0, *row[1:]) for row in rows)
    return [f"segments: {list((plain(ours) - plain(wanted)))} instead of {list((plain(wanted) - plain(ours)))}"] \
        if plain(ours) != plain(wanted) else []


def handles(answer, oracle):
    kinds = {row["kind"]: row["handles"] for row in answer["tables"]["kinds"] if row["handles"]}
    problems = [f"handles: {kinds} instead of {oracle.kinds}"] if kinds != oracle.kinds else []
    ours = {(int(row["handle"], 16), row["kind"], int(row["object"], 16), int(row["secondary"] or "0", 16))
            for row in answer["tables"]["handles"]}
    different = ours ^ set(oracle.handles)
    return problems + ([f"{len(different)} handles differ: {sorted(different)[:4]}"] if different else [])


def references(dump, oracle):
    """Where the program has a verb that counts them."""
    done = dump.run("verify")
    if done.returncode == 2:
        return []
    found = json.loads(done.stdout) if done.returncode == 0 else {}
    counts = [row["references"] for row in found.get("tables", {}).get("verify", []) if "references" in row]
    return [] if not counts or counts[0] == oracle.total["refs"] else \
        [f"{counts[0]} references instead of {oracle.total['refs']}"]


def stacks(dump, oracle, named):
    """Frames and what they hold. Without the modules' files stacks may end early, which is said of them, and methods have
    no names; but no frame is wrong. ClrMD lacks what frames hold where the dump has no GC info of the method, and what the
    runtime's own code protects."""
    answer = dump.ask("stack", "--all", "--roots")["tables"]
    ended = {os_id for row in answer["problems"] for os_id in row["os_ids"]}
    problems = []
    for os_id, theirs in oracle.frames.items():
        rows = [row for row in answer["frames"] if row["os_id"] == os_id and row["kind"] == "managed"]
        ours = [(int(row["sp"], 16), int(row["ip"], 16)) for row in rows]
        wanted = [row[:2] for row in theirs]
        if ours != wanted and not (not named and os_id in ended and ours == wanted[:len(ours)]):
            problems.append(f"thread {os_id} has the frames {ours} instead of {wanted}")
        elif named:
            names = [(row["method"], other[2]) for row, other in zip(rows, theirs)
                     if stack_names.method_name(row["method"]) != stack_names.method_name(other[2])]
            problems += [f"thread {os_id}: {a} instead of {b}" for a, b in names]
        held = {(int(row["address"], 16), int(row["object"], 16)) for row in answer["references"]
                if row["os_id"] == os_id and row["index"] is not None and row["address"] and row["certain"]}
        lost = oracle.roots[os_id] - held if os_id not in ended else set()
        more = held - oracle.roots[os_id] if dump.name.endswith("-full") else set()
        problems += [f"thread {os_id} holds {sorted(lost)[:3]}, says ClrMD"] if lost else []
        problems += [f"thread {os_id} holds {sorted(more)[:3]}, which ClrMD has not"] if more else []
    print(f"{dump.name}{', with modules' if dump.options else ''}: {len(oracle.frames)} threads, {len(answer['problems'])} reasons "
          f"why {len(ended)} end early; {len([r for r in answer['frames'] if r['kind'] == 'managed'])} of "
          f"{sum(map(len, oracle.frames.values()))} frames, {len(answer['references'])} references, ClrMD has "
          f"{sum(map(len, oracle.roots.values()))}")
    return problems


def compare(dump, oracle, version, named):
    stat, handle_table = dump.ask("stat"), dump.ask("handles")
    problems = complete(stat, version) + types(stat, oracle, named) + segments(dump.ask("segments"), oracle)
    problems += handles(handle_table, oracle) + stacks(dump, oracle, named)
    return problems + (references(dump, oracle) if named else [])


def closes(dump, version, named):
    stat = dump.ask("stat")
    problems = complete(stat, version)
    objects = sum(row["count"] for row in stat["tables"]["types"])
    if objects != stat["completeness"]["objects"] or objects < 1000:
        problems.append(f"the types have {objects} objects, the heap {stat['completeness']['objects']}")
    nameless = [row["type"] for row in stat["tables"]["types"] if "!0x" in row["type"] or "<unknown" in row["type"]]
    if named and nameless:
        problems.append(f"types without a name: {nameless[:5]}")
    return problems


def refused(dump, parts):
    """What counts objects refuses a dump without heap in one line; info says the same, as a note if it finds the rest."""
    problems = []
    for verb in ("stat", "segments", "info"):
        done = dump.run(verb)
        text = done.stderr.strip()
        if verb == "info" and done.returncode == 0:
            notes = json.loads(done.stdout)["completeness"]["notes"]
            as_it_should = any(all(part in note for part in parts) for note in notes)
        else:
            as_it_should = done.returncode == 3 and not done.stdout and "\n" not in text and all(part in text for part in parts)
        if not as_it_should:
            problems.append(f"{verb}: exit code {done.returncode}, '{text}' where {parts} was to be said")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dnheap")
    parser.add_argument("--only")
    args = parser.parse_args()
    folder = corpus.folder("windows", "Windows minidumps")
    packs = None
    try:
        packs = runtimes.windows_packs(VERSIONS)
    except runtimes.Missing as missing:
        print(f"NOT compared with modules: {missing}")
    results = {}
    with tempfile.TemporaryDirectory() as work:
        for name in (*WITH_ORACLE, WITHOUT_ORACLE, *NEGATIVE):
            if args.only and name != args.only:
                continue
            path = pathlib.Path(work) / "dump"
            with open(path, "wb") as out:
                subprocess.run(["zstd", "-dqc", folder / f"{name}.dmp.zst"], stdout=out, check=True)
            major = int(name[3:name.index("-")])
            given = [("", [])]
            if packs:
                given.append((", with modules", [packs / VERSIONS[major], folder / f"modules-{major}"]))
            for how, folders in given:
                dump = Dump(args.dnheap, name, path, folders)
                if name in NEGATIVE:
                    found = refused(dump, NEGATIVE[name])
                elif name == WITHOUT_ORACLE:
                    found = closes(dump, VERSIONS[major], bool(folders))
                else:
                    oracle = Oracle((folder / f"{name}.oracle.txt").read_text())
                    # A dump of everything holds the assemblies, too.
                    named = bool(folders) or name.endswith("-full")
                    found = compare(dump, oracle, VERSIONS[major], named)
                if name not in NEGATIVE:
                    found += extracted.problems(args.dnheap, path, folders)
                results[name + how] = found
    for name, problems in results.items():
        print(f"{name}: {'agrees' if not problems else ''}")
        for problem in problems:
            print(f"    {problem}")
    sys.exit(any(results.values()))


main()
