#!/usr/bin/env python3
"""A program that stores known amounts for nothing (../programs/waste), dumped; `waste`, `strings` and `frag` must say what it knows.

    waste.py --list --sample               the kinds that a short run makes, written waste:MAJOR:DUMP; --all: all of them
    waste.py DNHEAP --one waste:10:heap    starts the program, dumps it, compares, deletes the dump

Each row that the program says must be there with its count and bytes within 1 %. Exit codes are those of matrix.py.
"""
import pathlib
import sys
import tempfile

import matrix
import runtimes
import targets

KINDS = [f"waste:{major}:{dump}" for major in runtimes.MAJORS for dump in ("heap", "gcore")]
SAMPLE = ["waste:11:heap"]  # even a short run makes this

NEAR = 0.01


def run(dnheap, kind, major, dump):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-waste-") as folder:
        with targets.Target(kind, major, arguments=[1]) as target:
            path = target.dump(dump, pathlib.Path(folder) / "waste.core")
            said = target.truth["said"]
        waste, live = matrix.answer(dnheap, "waste", path), matrix.answer(dnheap, "waste", path, "--live")
        problems = rows(waste, said, "waste") + rows(live, said, "waste --live")
        problems += sums(waste) + holes(matrix.answer(dnheap, "frag", path), waste, said["holes"])
        return problems + strings(matrix.answer(dnheap, "strings", path, "--live"), said)


def near(what, found, expected):
    return [] if abs(found - expected) <= NEAR * expected else [f"{what}: {found:,}, not {expected:,}"]


def rows(answer, said, verb):
    problems = []
    for row in said["rows"]:
        found = [one for one in answer["tables"]["waste"] if (one["kind"], one["field"]) == (row["kind"], row["field"])]
        for key in ("count", "bytes"):
            problems += near(f"{verb}: {key} of {row['kind']} of {row['field']}", sum(one[key] for one in found), row[key])
    known = {(row["kind"], row["field"]) for row in said["rows"]}
    own = {row["field"].split(".")[0] for row in said["rows"]} | {"Undo"}
    for one in answer["tables"]["waste"]:
        if one["field"].split(".")[0] in own and (one["kind"], one["field"]) not in known:
            problems.append(f"{verb}: {one} is no waste")
    return problems


def sums(answer):
    tables = answer["tables"]
    total = sum(row["bytes"] for row in tables["waste"])
    problems = [] if total == sum(row["bytes"] for row in tables["kinds"]) else ["the kinds add up to something else"]
    heap = answer["completeness"]["bytes"]
    return problems + ([] if total <= heap else [f"{total:,} bytes wasted, of {heap:,}"])


def holes(frag, waste, said):
    """`said`: holes of the large object heap, each between arrays of which one is pinned."""
    large = [row for row in frag["tables"]["generations"] if row["generation"] == "loh"]
    problems = near("holes of the LOH beside pins", large[0]["pinned_bytes"], said["bytes"])
    largest = [row for row in frag["tables"]["largest"] if row["generation"] == "loh"][:said["count"]]
    for row in largest:
        if "handle:pinned" not in (row["after_pin"], row["before_pin"]):
            problems.append(f"no pin beside the hole {row}")
    if len(largest) != said["count"]:
        problems.append(f"{len(largest)} holes of the LOH, not {said['count']}")
    beside = [row for row in waste["tables"]["waste"] if row["kind"] == "free_beside_pins" and row["what"] == "System.Byte[]"]
    if sum(row["bytes"] for row in beside) < said["bytes"] * (1 - NEAR):
        problems.append(f"holes beside pins are {beside}, not {said}")
    return problems


def strings(answer, said):
    row, = [row for row in said["rows"] if row["kind"] == "duplicate_strings"]
    found = [one for one in answer["tables"]["fields"] if one["field"] == row["field"]]
    problems = near("strings: copies", sum(one["copies"] for one in found), row["count"])
    return problems + near("strings: wasted", sum(one["wasted"] for one in found), row["bytes"])


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
