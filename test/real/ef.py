#!/usr/bin/env python3
"""A program with known contexts of Entity Framework Core (../programs/ef), dumped; `inspect ef` must count what they track.

    ef.py --list --sample      the kinds that a short run makes, written ef:MAJOR; --all: all of them
    ef.py DNHEAP --one ef:10   starts the program, dumps it, compares, deletes the dump

Exit codes are those of matrix.py.
"""
import pathlib
import sys
import tempfile

import kinds
import matrix
import runtimes

KINDS = [f"ef:{major}" for major in runtimes.MAJORS]
SAMPLE = ["ef:10"]
TRACKED = ("tracked", "most", "unchanged", "added", "modified", "deleted")


def run(dnheap, kind, major):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-ef-") as folder:
        with kinds.Process(kind, major) as target:
            path = target.dump("heap", pathlib.Path(folder) / "ef.core")
            said = target.truth["said"]
        rows = matrix.answer(dnheap, "inspect", "ef", path)["tables"]["ef"]
    return compare(said, rows)


def compare(said, rows):
    found = {(row["state"], row["type"], row["count"]): row for row in rows}
    kept = said["tracked_by_closed"]  # all of them as they were loaded
    expected = {("in use", "Shop.Orders", said["contexts"]): ("Shop.Job.Database", [said[name] for name in TRACKED]),
                ("disposed", "Shop.Orders", said["closed"]): ("Shop.Closed.Database", [kept, kept // said["closed"], kept, 0, 0, 0]),
                ("in a pool", "Shop.Orders", said["pooled"]): (None, [0] * len(TRACKED))}
    if set(found) != set(expected):
        return [f"{sorted(found)}, not {sorted(expected)}"]
    problems = []
    for key, (holder, tracked) in expected.items():
        told = [found[key][name] for name in TRACKED]
        if told != tracked:
            problems.append(f"{key}: {TRACKED} are {told}, not {tracked}")
        if holder and found[key]["held_by"] != holder:
            problems.append(f"{key}: held by {found[key]['held_by']}, not {holder}")
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
