#!/usr/bin/env python3
"""Static fields that hold collections of each kind (../programs/collections), dumped; the report must say of each what it has.

    held_collections.py --list --sample                      the kinds that a short run makes, written collections:GROUP:MAJOR:DUMP; --all: all
    held_collections.py DNHEAP --one collections:one:10:heap     starts the program, dumps it, asks for the report, deletes the dump

Exit codes are those of matrix.py.
"""
import pathlib
import sys
import tempfile

import matrix
import runtimes
import targets

KINDS = [f"collections:{group}:{major}:heap" for group in ("one", "two") for major in runtimes.MAJORS]
SAMPLE = ["collections:one:11:heap"]  # even a short run makes this


def run(dnheap, kind, group, major, dump):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-collections-") as folder:
        with targets.Target(kind, major, arguments=[group]) as target:
            path = target.dump(dump, pathlib.Path(folder) / "collections.core")
            said = target.truth["said"]
        suspects = matrix.answer(dnheap, "report", path)["tables"]["suspects"]
    problems = []
    for field, text in said.items():
        found = [row["text"] for row in suspects if row["owner"].removesuffix(" and others").endswith("." + field)]
        if len(found) != 1 or text not in found[0]:
            problems.append(f"{field}: {found}, not {text}")
    if len(suspects) != len(said):
        problems.append(f"{len(suspects)} suspects for {len(said)} fields")
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, lambda dnheap, kind, *words: run(dnheap, kind, *words)))
