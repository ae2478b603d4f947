#!/usr/bin/env python3
"""Measures the questions of the object graph beside ClrMD (test/witness) on one dump of test/programs/graph, and prints a table.

    bench/questions.py DNHEAP CORE [--rounds 3]

Both answer one question after the other, from start to exit; of the rounds the median of CPU seconds (user + system) and of
wall time counts, of own memory (RssAnon) the largest seen. What the questions are about: a string among the first 50,000 and
the array of all nodes.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "real"))
import runtimes
import witness

MAJOR = 10
MIB = 1 << 20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dnheap", type=pathlib.Path)
    parser.add_argument("core", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    text = address(options, "System.String", "--min", "40", "--top", "50000")
    array = address(options, "Graph.Node[]")
    clrmd = [runtimes.sdk(), witness.build()]
    dac = runtimes.runtime(MAJOR) / "libmscordaccore.so"
    questions = {  # dnheap's words, the witness's
        "all references counted": (["verify"], ["refs"]),
        "live set": (["stat", "--live"], ["live"]),
        "path to a string": (["path", text], ["path", text]),
        "closure of the largest object": (["show", array, "--closure"], ["closure", array]),
        "verify": (["verify"], ["verify"]),
        "retained sizes of all": (["retained"], None),
    }
    print(f"Load before: {os.getloadavg()[0]:.1f}\n\n| question | dnheap CPU s | wall s | own MiB | ClrMD CPU s | wall s | own MiB |"
          "\n|---|---:|---:|---:|---:|---:|---:|")
    for name, (ours, theirs) in questions.items():
        runs = [[], []]
        for _ in range(options.rounds):
            runs[0].append(run([options.dnheap, ours[0], options.core, *ours[1:]]))
            if theirs:
                runs[1].append(run([*clrmd, theirs[0], options.core, dac, *theirs[1:], "--lockfree"]))
        print(f"| {name} | {' | '.join(cells(runs[0]) + cells(runs[1]))} |", flush=True)


def address(options, type_name, *more):
    command = [options.dnheap, "objects", options.core, "--type-exact", type_name, "--format", "json", *more]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)["tables"]["objects"][-1]["address"]


def run(command):
    """CPU seconds, wall seconds, own bytes."""
    start, own = time.perf_counter(), 0
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
    with open(f"/proc/{process.pid}/status") as status:
        while not (done := os.wait4(process.pid, os.WNOHANG))[0]:
            status.seek(0)
            found = re.search(r"^RssAnon:\s*(\d+) kB", status.read(), re.MULTILINE)
            own = max(own, int(found[1]) * 1024 if found else 0)
            time.sleep(0.01)
    if done[1]:
        raise RuntimeError(f"{command} ended with status {done[1]}")
    return done[2].ru_utime + done[2].ru_stime, time.perf_counter() - start, own


def cells(runs):
    if not runs:
        return ["", "", ""]
    cpu, wall, own = zip(*runs)
    return [f"{statistics.median(cpu):.2f}", f"{statistics.median(wall):.2f}", f"{max(own) / MIB:.0f}"]


if __name__ == "__main__":
    main()
