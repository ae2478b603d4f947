#!/usr/bin/env python3
"""A program that has known blocks from malloc (../programs/native), dumped; `account` must know who has their addresses, and which
nobody has.

    native_memory.py --list --sample                       the kinds that a short run makes, written native_memory:MAJOR:DUMP; --all: all of them
    native_memory.py DNHEAP --one native_memory:10:heap    starts the program, dumps it, compares, deletes the dump

Blocks of a size that nothing else asks for are counted. Exit codes are those of
matrix.py.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import matrix
import runtimes
import targets

KINDS = [f"native_memory:{major}:{dump}" for major in (*runtimes.MAJORS, *runtimes.MUSL) for dump in ("heap", "full", "gcore")]
SAMPLE = ["native_memory:10:gcore", "native_memory:11:heap"]

PAGE = 4096          # blocks that are mapped one by one end with a page
MAPPED = 128 << 10   # from this size on
BY_CHANCE = 0.01     # of the blocks, or one: to these a word is left somewhere


def run(dnheap, _, major, dump):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-native-") as folder:
        library = pathlib.Path(folder) / "libcache.so"
        compile_library("native/cache.c", library)
        with targets.Target("native", major, arguments=[library]) as target:
            path = target.dump(dump, pathlib.Path(folder) / "native.core")
            said = target.truth["said"]
        account, report = matrix.answer(dnheap, "account", path, "--table", "malloc"), matrix.answer(dnheap, "report", path)
        everything = matrix.answer(dnheap, "account", path)
    return sizes(account["tables"]["malloc"], said, dump) + sums(everything) + findings(report, said)


def compile_library(source, library):
    """Compiles a C file of the programs to a shared library. Returns that."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise runtimes.Missing("no C compiler on PATH")
    # Whichever C library the process has gives it malloc.
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-nostdlib", "-o", library, targets.PROGRAMS / source], check=True)
    return library


def sizes(rows, said, dump):
    problems = []
    for truth in said:
        of_size = [row for row in rows if is_room_for(truth["size"], row["size"])]
        right = sum(row["blocks"] for row in of_size if (row["kind"], row["name"] or "") == (truth["kind"], truth["name"]))
        # createdump leaves out the variables of libraries: nobody has the list then, or a library to which a word of it is left by chance.
        if truth["kind"] == "library" and dump == "heap":
            right = sum(row["blocks"] for row in of_size if row["kind"] in ("nobody", "library"))
        if not least(truth) <= right <= truth["blocks"]:
            problems.append(f"{right} blocks of {truth}; {of_size}")
    return problems


def least(truth):
    return truth["blocks"] - max(1, truth["blocks"] * BY_CHANCE)


def is_room_for(asked, room):
    if runtimes.on_musl():
        return room == asked
    return asked <= room <= asked + PAGE if asked >= MAPPED else room == (asked + 8 + 15) // 16 * 16 - 8


def sums(answer):
    native, tables = answer["tables"]["native"], answer["tables"]
    blocks = next(row for row in tables["account"] if row["class"] == "malloc_in_use")["pieces"]
    blocks += sum(row["pieces"] for row in tables["account"] if row["class"] == "malloc_large")
    counted = sum(row["blocks"] for row in native)
    problems = [] if counted == blocks else [f"{counted} blocks have owners, {blocks} are in use"]
    return problems + [note for note in answer["completeness"]["notes"] if "blocks with a mapping of their own" in note]


def findings(report, said):
    found = {row["kind"]: row for row in report["tables"]["findings"]}
    problems = []
    lost = [row for row in said if row["kind"] == "nobody"]
    if "lost_native_memory" not in found:
        problems.append(f"the report does not say that blocks are lost: {[*found]}")
    elif found["lost_native_memory"]["bytes"] < sum(least(row) * row["size"] for row in lost):
        problems.append(f"lost: {found['lost_native_memory']}")
    elif "In the program, Program.Block calls NativeMemory.Alloc" not in found["lost_native_memory"]["text"]:
        problems.append(f"the report does not name the code that asks for blocks: {found['lost_native_memory']['text']}")
    if "held_native_memory" not in found or "Bitmap.Pixels" not in found["held_native_memory"]["text"]:
        problems.append(f"the report does not say that Bitmap.Pixels holds blocks: {[*found]}")
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
