#!/usr/bin/env python3
"""A program with known contexts of Entity Framework Core (../programs/ef), dumped; `inspect ef` must count what they track, and the
queries that differ in constants only, which the report must find.

    ef.py --list --sample      the kinds that a short run makes, written ef:MAJOR; --all: all of them
    ef.py DNHEAP --one ef:10   starts the program, dumps it, compares, deletes the dump

Exit codes are those of matrix.py.
"""
import pathlib
import subprocess
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
        tables = matrix.answer(dnheap, "inspect", "ef", path)["tables"]
        findings = matrix.answer(dnheap, "report", path)["tables"]["findings"]
        blanked = path.with_suffix(".blanked")
        subprocess.run([dnheap, "extract", path, "-o", blanked, "--no-values"], check=True, stdout=subprocess.DEVNULL)
        of_blanked = matrix.answer(dnheap, "inspect", "ef", blanked)["tables"]["queries"] + \
            [row for row in matrix.answer(dnheap, "report", blanked)["tables"]["findings"] if row["kind"] == "query_cache"]
    if of_blanked:
        return [f"a core without values has {of_blanked}"]
    return compare(said, tables["ef"]) + queries(said["different_queries"], tables["queries"], findings)


def queries(count, rows, findings):
    query = "Order.Where(order => order.Id == Int32).OrderBy(one => one.Article).Count()"
    problems = [] if (rows[0]["count"], rows[0]["query"]) == (count, query) else [f"cached queries: {rows[0]}, not {count} of {query}"]
    problems += [f"cached queries: {row}: each other form was compiled once or twice" for row in rows[1:] if row["count"] > 2]
    found = [row for row in findings if row["kind"] == "query_cache"]
    if [row["count"] for row in found] != [count] or query not in found[0]["text"]:
        problems.append(f"the report finds {found}, not {count} queries that differ in constants")
    return problems


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
