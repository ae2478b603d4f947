#!/usr/bin/env python3
"""Dumps of processes amid storms of allocations and collections: what lies behind a half-made object must be found.

    storm.py --list --sample                         the combinations that a short run makes; --all: all of them
    storm.py DNHEAP --one storm:10:svr:regions:bg    starts test/programs/storm, dumps it, compares, deletes the dumps

Object for object: what ClrMD walks, dnheap walks. ClrMD gives up a segment at the first place without a sound object;
told to be careful it goes on at the next word that is a MethodTable, whatever that is. What it finds there counts if it
finds the object sound itself, and nothing overlaps it that is sound too. What only dnheap finds must be sound for ClrMD,
asked about that address, but for references of the dead, which lead anywhere.
Exit codes are those of matrix.py.
"""
import argparse
import bisect
import collections
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import matrix
import targets
import witness

GCS = ("regions", "clrgc")
HEADER = 8  # an object ends where the next one's header begins, so many bytes before its address
# What ClrMD finds wrong with dead objects, and with those that others refer to while they move.
OF_THE_DEAD = ("InvalidObjectReference", "FreeObjectReference")
MOMENTS = 40  # looked at for one of a kind
# Of which storm, at what moment, by what: when an object is half made, while the GC moves objects, at any.
DUMPS = (("alloc", "torn", "heap"), ("alloc", "torn", "gcore"), ("alloc", "any", "heap"),
         ("collect", "torn", "heap"), ("collect", "moving", "heap"), ("collect", "any", "heap"))
ALL = ["storm:" + ":".join(map(str, parts))
       for parts in itertools.product((8, 9, 10), ("wks", "svr"), GCS, ("bg", "nobg"))]
SAMPLE = []  # they take minutes, and ClrMD dies of some of these dumps


def run(dnheap, combination):
    _, major, heaps, gc, background = combination.split(":")
    settings = {"DOTNET_gcConcurrent": "1" if background == "bg" else "0", "DOTNET_GCgen0size": "0x1000000"}
    problems = []
    for storm, dumps in itertools.groupby(DUMPS, lambda dump: dump[0]):
        with tempfile.TemporaryDirectory(prefix="dnheap-storm-") as folder:
            with targets.Target("storm", int(major), heaps == "svr", gc, [storm], settings) as target:
                time.sleep(1)
                moments = {"torn": lambda: is_torn(dnheap, target), "moving": is_moving(dnheap, target), "any": lambda: True}
                for number, (_, moment, how) in enumerate(dumps):
                    if not target.stop_when(moments[moment], MOMENTS if moment == "torn" else 100 * MOMENTS):
                        print(f"{storm}: no moment when it is {moment}", flush=True)
                        continue
                    dump = target.dump(how, pathlib.Path(folder) / f"{storm}-{moment}{number}.core")
                    target.resume()
                    problems += [f"{dump.name}: {problem}" for problem in compare(dnheap, dump, int(major))]
                    dump.unlink()
    return problems


def of_process(dnheap, verb, target):
    done = subprocess.run([str(dnheap), verb, "-p", str(target.pid), "--format", "json", "--top", "0"], capture_output=True,
                          text=True, timeout=matrix.PATIENCE, check=True)
    return json.loads(done.stdout)


def is_torn(dnheap, target):
    """Whether there is a place in the heap without a sound object."""
    return of_process(dnheap, "stat", target)["completeness"]["bad_objects"] > 0


def is_moving(dnheap, target):
    """Whether the GC says that its structures are invalid, which is while it plans and moves."""
    rows = of_process(dnheap, "contract", target)["tables"]["globals"]
    variable = next(int(row["value"], 16) for row in rows if row["global"] == "StructureInvalidCount")
    return lambda: target.is_set(variable)


def compare(dnheap, dump, major):
    """What dnheap lost and ClrMD has, or found and should not have, in words."""
    stat, problems = matrix.checked_answer(dnheap, "stat", dump)
    mine = objects(dnheap, dump)
    found = stat["completeness"]
    try:
        rows, walked = witness.addresses(dump, major, mine)
    except witness.Died as reason:
        print(f"{dump.name}: {len(mine)} objects, {len(found['gaps'])} gaps; {reason}", flush=True)
        return problems
    kinds = collections.Counter(f"{what} {wrong}" for what, _, _, wrong in rows)
    print(f"{dump.name}: {len(mine)} objects, ClrMD {walked[0]}, careful {walked[1]}; {len(found['gaps'])} gaps; "
          + (", ".join(f"{kind}: {count}" for kind, count in sorted(kinds.items())) or "the same"), flush=True)
    return problems + judge(mine, rows)


def judge(mine, rows):
    """`mine`: {address: size}; `rows`: where ClrMD differs, and what it finds wrong there."""
    starts = sorted(mine)

    def is_covered(address, size):
        place = bisect.bisect_left(starts, address + size)
        return place > 0 and starts[place - 1] + mine[starts[place - 1]] > address + HEADER

    problems = []
    for what, address, size, wrong in rows:
        if what == "more" and wrong not in ("sound", *OF_THE_DEAD):
            problems.append(f"only dnheap has the object {address:#x}, which for ClrMD is {wrong}")
        elif what == "lost" and wrong == "sound":
            problems.append(f"dnheap lacks the object {address:#x} of {size} bytes")
        elif what == "lost-carefully" and wrong == "sound" and not is_covered(address, size):
            problems.append(f"dnheap lacks the object {address:#x} of {size} bytes, and has no other there")
    return problems


def objects(dnheap, dump):
    """Every object but Free ones that dnheap finds: {address: size}."""
    command = [dnheap, "objects", dump, "--format", "csv", "--top", "0"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=matrix.PATIENCE)
    if done.returncode != 0:
        raise RuntimeError(f"`dnheap objects` ended with code {done.returncode} and said: {done.stderr.strip()}")
    out = {}
    for line in done.stdout.splitlines()[1:]:
        address, _, size, _, name = line.split(",", 4)
        if name.strip('"') != "Free":
            out[int(address, 16)] = int(size)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dnheap", nargs="?", type=pathlib.Path, help="the program to test")
    parser.add_argument("--one", metavar="COMBINATION", choices=ALL)
    parser.add_argument("--list", action="store_true", help="print the combinations instead of running one")
    parser.add_argument("--sample", action="store_true", help="of these the few that even a short run makes")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(SAMPLE if options.sample else ALL))
        return 0
    if not (options.dnheap and options.one):
        parser.error("say --list, or DNHEAP and --one COMBINATION")
    return matrix.exit_code(run, options.dnheap.resolve(), options.one)


if __name__ == "__main__":
    sys.exit(main())
