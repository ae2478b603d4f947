#!/usr/bin/env python3
"""A program with known timers, events and collections (../programs/inspect), dumped; `inspect` must say what it knows.

    inspectors.py --list --sample              the kinds that a short run makes, written inspect:MAJOR:DUMP; --all: all of them
    inspectors.py DNHEAP --one inspect:10:heap starts the program, dumps it, compares, deletes the dump

Each row that the program says must be there once, with the values that it says. Exit codes are those of matrix.py.
"""
import pathlib
import sys
import tempfile

import matrix
import runtimes
import targets

KINDS = [f"inspect:{major}:{dump}" for major in runtimes.MAJORS for dump in ("heap", "gcore")]
SAMPLE = ["inspect:10:heap"]
# What tells the rows of an inspector apart.
KEYS = {"timers": ("kind", "held_by", "active"), "events": ("event",), "collections": ("held_by",), "pools": ("type", "length", "kept_for"),
        "contexts": ("type", "state", "kept_by"), "finalizers": ("type",), "http": ("held_by", "state"), "db": ("held_by", "state"),
        "sockets": ("held_by", "state"), "safehandles": ("held_by", "state"), "regex": ("held_by", "is_cached")}


def run(dnheap, kind, major, dump):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-inspect-") as folder:
        with targets.Target(kind, major) as target:
            path = target.dump(dump, pathlib.Path(folder) / "inspect.core")
            said = target.truth["said"]
        answers = {name: matrix.answer(dnheap, "inspect", path, name) for name in KEYS}
    return [problem for row in said for problem in compare(row, answers[row["inspector"]])]


def compare(said, answer):
    name = said.pop("inspector")
    keys = {key: said[key] for key in KEYS[name] if key in said}
    found = [row for row in answer["tables"][name] if all(row[key] == value for key, value in keys.items())]
    if len(found) != 1:
        return [f"{name}: {len(found)} rows with {keys}: {found}"]
    return [f"{name}: {key} is {found[0][key]}, not {value}, of {keys}" for key, value in said.items() if found[0][key] != value]


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
