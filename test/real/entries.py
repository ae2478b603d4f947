#!/usr/bin/env python3
"""What is in collections of each kind (../programs/entries), dumped; `show` and the table `entries` of `query` must list what the program
lists of them itself.

    entries.py --list --sample                  the kinds that a short run makes, written entries:MAJOR:DUMP; --all: all
    entries.py DNHEAP --one entries:10:heap     starts the program, dumps it, asks for each collection, deletes the dump

Exit codes are those of matrix.py.
"""
import pathlib
import subprocess
import sys
import tempfile

import matrix
import runtimes
import targets

KINDS = [f"entries:{major}:heap" for major in runtimes.MAJORS]
SAMPLE = ["entries:11:heap"]  # even a short run makes this


def part(row, name, is_element=False):
    """A key or a value, as the program says it."""
    value, type_name = row[name], row[f"{name}_type"]
    if value is None and row[f"{name}_object"] is not None:
        return {"type": type_name}
    return value


def listed(shown):
    """The entries that `show --values` lists; of an array its elements."""
    tables = shown["tables"]
    if "entries" in tables:
        return [[part(row, "key"), part(row, "value")] for row in tables["entries"]]
    rows = tables.get("elements")
    return None if rows is None else [[None, row["value"]] for row in rows if "." not in row["field"]]


def problems_of(dnheap, path, truth):
    problems = []
    for label, expected in truth["entries"].items():
        place = truth["addresses"][label]
        shown = matrix.answer(dnheap, "show", path, place["address"], "--values")
        found = listed(shown)
        if place["type"].endswith("[]") and "Shop.Place" in place["type"]:
            found, expected = len(found), len(expected)  # structs are in the rows of their fields
        if found != expected:
            problems.append(f"{label} ({place['type']}): {str(found)[:300]}, not {str(expected)[:300]}")
    return problems + problems_of_table(dnheap, path, truth) + problems_without_values(dnheap, path, truth)


def problems_without_values(dnheap, path, truth):
    """In an extract without values the numbers of entries are blank: then none are listed, and a note says so."""
    with tempfile.TemporaryDirectory(prefix="dnheap-entries-") as folder:
        core = pathlib.Path(folder, "blanked.core")
        subprocess.run([dnheap, "extract", path, "-o", core, "--no-values"], check=True, stdout=subprocess.DEVNULL)
        shown = matrix.answer(dnheap, "show", core, truth["addresses"]["list"]["address"])
    noted = any("entries of collections are not listed" in note for note in shown["completeness"]["notes"])
    return [] if noted and "entries" not in shown["tables"] else [f"without values: {shown['completeness']['notes']}, {shown['tables'].get('entries')}"]


def problems_of_table(dnheap, path, truth):
    """The same by SQL: how many entries each collection has, and what is in one of them; nothing of that without --values."""
    places = {label: truth["addresses"][label]["address"] for label in truth["entries"]}
    counted = matrix.answer(dnheap, "query", path, "select o.address, count(e.position) n from objects o left join entries e "
                            f"on e.collection = o.address where o.address in ({', '.join(places.values())}) group by 1")["tables"]["rows"]
    counts = {row["address"]: row["n"] for row in counted}
    problems = [f"{label}: {counts.get(place)} rows of `entries`, not {len(truth['entries'][label])}" for label, place in places.items()
                if counts.get(place) != len(truth["entries"][label])]
    question = f"select key, value from entries where collection = {places['dictionary']} order by position"
    for options, expected in ((["--values"], truth["entries"]["dictionary"]), ([], [[None, None]] * len(truth["entries"]["dictionary"]))):
        found = [[row["key"], row["value"]] for row in matrix.answer(dnheap, "query", path, question, *options)["tables"]["rows"]]
        if found != expected:
            problems.append(f"`entries` of the dictionary with {options}: {str(found)[:300]}")
    shown = matrix.answer(dnheap, "show", path, places["dictionary"])["tables"]["entries"]
    return problems + ([f"contents without --values: {shown[:3]}"] if any(row["key"] or row["value"] for row in shown) else [])


def run(dnheap, kind, major, dump):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-entries-") as folder, targets.Target(kind, major) as target:
        path = target.dump(dump, pathlib.Path(folder) / "entries.core")
        return problems_of(dnheap, path, target.truth)


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, lambda dnheap, kind, *words: run(dnheap, kind, *words)))
