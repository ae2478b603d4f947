#!/usr/bin/env python3
"""Compares what dnheap says of NativeAOT programs of .NET 10 and 11 with what they knew of themselves. Exactly.

    nativeaot11.py DNHEAP

$DNHEAP_CORPUS/nativeaot11 has NAME.core.zst (gcore), the program in NAME.exe.zst, its debug file in NAME.dbg.zst and what it said of
itself in NAME.truth.txt; and a full minidump of a Windows program, of which only closure is known. Each core is asked with the debug file
and without it. Without that folder nothing is tested, and the exit code is 77.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "real"))
import corpus

VERSIONS = {"z11-wks": "11.0.0", "z11-ra": "11.0.0", "z10.15-wks": "10.0"}
WINDOWS = "windows-ilc10.15-full.dmp"
WINDOWS_OBJECTS, WINDOWS_REFERENCES = 13837, 10624
HANDLES = {"strong": "strong", "weak": "weak_short", "weaklong": "weak_long", "pinned": "pinned", "dependent": "dependent"}


def read_truth(path):
    """Numbers by what is counted and by name."""
    found = {"count": {}, "async": {}, "event": {}, "handles": {}, "at": {}, "threads": {}}
    for line in path.read_text().splitlines():
        words = line.split(" ")
        if words[0] in ("count", "async"):
            found[words[0]][" ".join(words[2:])] = int(words[1])
            found["count"].pop("Held.Point[]", None)  # some more are pinned
        elif words[0] == "event":
            found["event"][words[3]] = int(words[2])
        elif words[0] == "handles":
            key = HANDLES[words[1]], words[3]
            found["handles"][key] = int(words[2])
        elif words[0] == "at":
            found["at"][words[1]] = words[2]
        elif words[0] == "thread":
            found["threads"][int(words[1])] = re.search("'(.*)'", line)[1]
    return found


class Core:
    def __init__(self, dnheap, path, modules=None):
        self.command = [dnheap], [path, "--format", "json", "--top", "0", *(["--modules", modules] if modules else [])]

    def ask(self, verb, *options):
        before, after = self.command
        done = subprocess.run([*before, verb, *after, *options], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{verb} {after[0]}: exit code {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)


def differences(what, expected, found):
    return [f"{what}: {found.get(name)} × {name} instead of {count}" for name, count in expected.items() if found.get(name) != count]


def tally(pairs):
    out = {}
    for name, count in pairs:
        out[name] = out.get(name, 0) + count
    return out


def agrees(core, truth, version):
    stat = core.ask("stat")
    problems = [] if stat["completeness"]["complete"] else [f"incomplete: {stat['completeness']}"]
    if stat["target"]["version"] != version:
        problems.append(f"version {stat['target']['version']}")
    problems += differences("stat", truth["count"], tally((row["type"], row["count"]) for row in stat["tables"]["types"]))
    problems += differences("handles", truth["handles"],
                            tally(((row["kind"], row["type"]), 1) for row in core.ask("handles")["tables"]["handles"]))
    problems += differences("async", truth["async"], tally((frame, row["count"])
                            for row in core.ask("async")["tables"]["calls"] for frame in row["stack"]))
    problems += differences("events", truth["event"], tally((handler["method"], handler["count"])
                            for row in core.ask("inspect", "events")["tables"]["events"] for handler in row["methods"]))
    exceptions = core.ask("exceptions")["tables"]["exceptions"]
    problems += differences("exceptions", {"Held.Boom": 3}, tally((row["type"], row["count"]) for row in exceptions))
    inner = [row["stack"] or [""] for row in exceptions if row["type"] == "System.InvalidOperationException"]
    if not inner or not re.fullmatch(r"Held\.Program\.Thrower|zoo\+0x[0-9a-f]+", inner[0][0]):  # a handler needs the debug file
        problems.append(f"exceptions: thrown in {inner}")
    if sum(1 for row in core.ask("locks")["tables"]["locks"] if row["held"] and row["waiters"]) < 2:
        problems.append(f"locks: {core.ask('locks')['tables']['locks']}")
    timers = core.ask("inspect", "timers")["tables"]["timers"]
    if not any(row["count"] == 6 for row in timers):
        problems.append(f"timers: {timers}")
    names = {row["os_id"]: row["name"] for row in core.ask("threads")["tables"]["threads"]}
    problems += [f"thread {os_id} is called {names.get(os_id)}, not {name}" for os_id, name in truth["threads"].items()
                 if not name.startswith("main") and names.get(os_id) != name]
    totals = core.ask("verify")["tables"]["totals"][0]
    return problems + ([f"verify: {totals}"] if totals["problems"] or not totals["references"] else [])


def of_windows(core):
    stat, totals = core.ask("stat"), core.ask("verify")["tables"]["totals"][0]
    problems = [] if stat["completeness"]["complete"] else [f"incomplete: {stat['completeness']}"]
    objects = sum(row["count"] for row in stat["tables"]["types"])
    if (objects, totals["references"], totals["problems"]) != (WINDOWS_OBJECTS, WINDOWS_REFERENCES, 0):
        problems.append(f"{objects} objects, verify: {totals}")
    return problems


def main():
    folder = corpus.folder("nativeaot11", "NativeAOT programs of .NET 10 and 11")
    dnheap = sys.argv[1]
    results = {}
    with tempfile.TemporaryDirectory() as work:
        for name, version in VERSIONS.items():
            truth = read_truth(folder / f"{name}.truth.txt")
            for kind, files in (("with", ("exe", "dbg")), ("without", ("exe",))):
                modules = pathlib.Path(work) / f"{name}-{kind}"
                modules.mkdir()
                for file in files:
                    with open(modules / ("zoo" if file == "exe" else "zoo.dbg"), "wb") as out:
                        subprocess.run(["zstd", "-dqc", folder / f"{name}.{file}.zst"], stdout=out, check=True)
                results[f"{name}, {kind} debug file"] = agrees(Core(dnheap, folder / f"{name}.core.zst", modules), truth, version)
        results[WINDOWS] = of_windows(Core(dnheap, folder / f"{WINDOWS}.zst"))
    for name, problems in results.items():
        print(f"{name}: {'agrees' if not problems else ''}")
        for problem in problems:
            print(f"    {problem}")
    return any(results.values())


if __name__ == "__main__":
    sys.exit(main())
