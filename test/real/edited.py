#!/usr/bin/env python3
"""A program whose module is edited while it runs (../programs/edited), as `dotnet watch` does it, dumped: the types of each edit and
their static fields have their names where the runtime publishes its edited metadata, and are said to have none where it does not.

    edited.py --list --sample            the kinds that a short run makes, written edited:MAJOR; --all: all of them
    edited.py DNHEAP --one edited:11     starts the program, dumps it, compares, deletes the dump

Exit codes are those of matrix.py.
"""
import pathlib
import sys
import tempfile

import matrix
import targets

KINDS = ["edited:10", "edited:11"]
SAMPLE = ["edited:11"]
PUBLISHES = 11  # the first version that says where its edited metadata lies


def run(dnheap, kind, major):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-edited-") as folder:
        with targets.Target(kind, major, settings={"DOTNET_MODIFIABLE_ASSEMBLIES": "debug"}) as target:
            path = target.dump("heap", pathlib.Path(folder) / "edited.core")
            added = target.truth["said"]
            expected = {name: count for name, count in target.truth["types"].items() if name.startswith("Edited.Added")}
        stat = matrix.answer(dnheap, "stat", path)
        found = {row["type"]: row["count"] for row in stat["tables"]["types"] if row["type"].startswith("Edited.")}
        statics = [row["name"] or "" for row in matrix.answer(dnheap, "roots", path)["tables"]["roots"]]
    if major < PUBLISHES:
        notes = [note for note in stat["completeness"]["notes"] if "Edited.dll" in note]
        return [] if len(notes) == 1 else [f"the types that were added lack a note: {stat['completeness']['notes']}"]
    problems = [f"{found.get(name)} × {name} instead of {count}" for name, count in expected.items() if found.get(name) != count]
    kept = [name for name in statics if name.startswith("Edited.Added") and ".Kept" in name]
    return problems + ([] if len(kept) == added else [f"{len(kept)} of {added} static fields that were added hold an object"])


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
