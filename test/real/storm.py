#!/usr/bin/env python3
"""Dumps of processes amid storms of allocations and collections: what lies behind a half-made object must be found.

    storm.py --list --sample                         the combinations that a short run makes; --all: all of them
    storm.py DNHEAP --one storm:10:svr:regions:bg    starts test/programs/storm, dumps it, compares, deletes the dumps

Object for object: what ClrMD walks, dnheap walks. ClrMD gives up a segment at the first place without a sound object;
told to be careful it goes on at the next word that is a MethodTable, whatever that is. What it finds there counts if it
finds the object sound itself, and nothing overlaps it that is sound too: in arrays that were not cleared, and in free
space, lies what died long ago. Nothing that lives may refer to it. What only dnheap finds must be sound for ClrMD, asked
about that address, but for references of the dead, which lead anywhere.
Exit codes are those of matrix.py.
"""
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
import runtimes
import targets
import witness

GCS = ("regions", "clrgc")
HEADER = 8  # an object ends where the next one's header begins, so many bytes before its address
# What ClrMD finds wrong with dead objects, and with those that others refer to while they move.
OF_THE_DEAD = ("InvalidObjectReference", "FreeObjectReference", "ObjectReferenceNotPointerAligned")
MOMENTS = 40  # looked at for one of a kind
# Of which storm, at what moment, by what: when an object is half made, while the GC moves objects, at any.
DUMPS = (("alloc", "torn", "heap"), ("alloc", "torn", "gcore"), ("alloc", "any", "heap"),
         ("collect", "torn", "heap"), ("collect", "moving", "heap"), ("collect", "any", "heap"))
ALL = ["storm:" + ":".join(map(str, parts))
       for parts in itertools.product(runtimes.MAJORS, ("wks", "svr"), GCS, ("bg", "nobg"))]
SAMPLE = []  # they take minutes, and ClrMD dies of some of these dumps


def run(dnheap, _, major, heaps, gc, background):
    settings = {"DOTNET_gcConcurrent": "1" if background == "bg" else "0", "DOTNET_GCgen0size": "0x1000000"}
    problems = []
    for storm, dumps in itertools.groupby(DUMPS, lambda dump: dump[0]):
        with tempfile.TemporaryDirectory(prefix="dnheap-storm-") as folder:
            with targets.Target("storm", major, heaps == "svr", gc, [storm], settings) as target:
                time.sleep(1)
                moments = {"torn": lambda: is_torn(dnheap, target), "moving": is_moving(dnheap, target), "any": lambda: True}
                for number, (_, moment, how) in enumerate(dumps):
                    if not target.stop_when(moments[moment], MOMENTS if moment == "torn" else 100 * MOMENTS):
                        print(f"{storm}: no moment when it is {moment}", flush=True)
                        continue
                    dump = target.dump(how, pathlib.Path(folder) / f"{storm}-{moment}{number}.core")
                    target.resume()
                    problems += [f"{dump.name}: {problem}" for problem in compare(dnheap, dump, major)]
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
    mine, free = objects(dnheap, dump)
    found = stat["completeness"]
    try:
        rows, walked = witness.addresses(dump, major, mine)
    except witness.Died as reason:
        print(f"{dump.name}: {len(mine)} objects, {len(found['gaps'])} gaps; {reason}", flush=True)
        return problems
    kinds = collections.Counter(f"{what} {wrong}" for what, _, _, wrong in rows)
    print(f"{dump.name}: {len(mine)} objects, ClrMD {walked[0]}, careful {walked[1]}; {len(found['gaps'])} gaps; "
          + (", ".join(f"{kind}: {count}" for kind, count in sorted(kinds.items())) or "the same"), flush=True)
    return problems + judge(mine, free, rows, found["gaps"]) + of_the_living(dnheap, dump, rows)


def of_the_living(dnheap, dump, rows):
    """References of live objects that lead to no object of dnheap's: where ClrMD's careful walk has one, dnheap lacks it.
    What else only that walk finds, in arrays that were not cleared and in free space, nothing refers to."""
    verify = matrix.answer(dnheap, "verify", dump, "--top", "0")
    totals = verify["tables"]["totals"][0]
    bad = [row for row in verify["tables"]["problems"] if row["target"]]
    print(f"{dump.name}: problems {totals['problems']}, of references {len(bad)}, of the dead {totals['of_dead']}, "
          f"of what moves {totals['moving']}", flush=True)
    lacking = {address for what, address, _, wrong in rows if what != "more" and wrong == "sound"}
    return [f"dnheap lacks the object {row['target']}, to which {row['address']} refers, a live {row['type']}"
            for row in bad if int(row["target"], 16) in lacking]


def judge(mine, free, rows, gaps):
    """`mine`: {address: size}, `free`: the same of Free objects, which cover what they were made of; `rows`: where ClrMD
    differs, and what it finds wrong there; `gaps`: what dnheap says that it could not read."""
    sizes = mine | free
    starts = sorted(sizes)
    ends_of_gaps, starts_of_gaps = ({int(gap[side], 16) for gap in gaps} for side in ("end", "start"))

    def cover(address, size):
        """The object that lies there, if one does."""
        place = bisect.bisect_left(starts, address + size)
        found = starts[place - 1] if place else None
        return found if found and found + sizes[found] > address + HEADER else None

    def is_linked(address):
        """Do others, or gaps, end where it begins, and begin where it ends?"""
        place = bisect.bisect_left(starts, address)
        ends = starts[place - 1] + align(sizes[starts[place - 1]]) if place else 0
        behind = address + align(sizes[address])
        return (ends == address or address in ends_of_gaps) and (behind in sizes or behind in starts_of_gaps)

    problems = []
    for what, address, size, wrong in rows:
        # ClrMD does not know all bits that a MethodTable's word may have while objects move.
        if what == "more" and wrong == "invalid" and is_linked(address):
            continue
        # It passes over the first words behind a generation's empty allocation context, and walks into what begins there.
        if what == "lost" and (found := cover(address, size)) and is_linked(found):
            continue
        if what == "more" and wrong not in ("sound", *OF_THE_DEAD):
            problems.append(f"only dnheap has the object {address:#x}, which for ClrMD is {wrong}")
        elif what == "lost" and wrong == "sound":
            problems.append(f"dnheap lacks the object {address:#x} of {size} bytes")
        elif what == "lost-carefully" and wrong == "sound" and cover(address, size) is None:
            problems.append(f"dnheap lacks the object {address:#x} of {size} bytes, and has no other there")
    return problems


def align(size):
    return (size + 7) // 8 * 8


def objects(dnheap, dump):
    """Every object that dnheap finds: {address: size}, and the same of Free ones."""
    command = [dnheap, "objects", dump, "--format", "csv", "--top", "0"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=matrix.PATIENCE)
    if done.returncode != 0:
        raise RuntimeError(f"`dnheap objects` ended with code {done.returncode} and said: {done.stderr.strip()}")
    out, free = {}, {}
    for line in done.stdout.splitlines()[1:]:
        address, _, size, _, name = line.split(",", 4)
        (free if name.strip('"') == "Free" else out)[int(address, 16)] = int(size)
    return out, free


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, ALL, SAMPLE, run))
