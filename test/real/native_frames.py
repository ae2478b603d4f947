#!/usr/bin/env python3
"""Stacks of a program whose threads wait in every way (../programs/waits): their native frames, down to the first managed
method, are those that gdb finds in the same core, thread by thread; what began a thread comes last.

    native_frames.py --list --sample            the kinds that a short run makes, written native:MAJOR:DUMP; --all: all of them
    native_frames.py DNHEAP --one native:10:heap

Exit codes are those of matrix.py.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import matrix
import runtimes
import targets

KINDS = [f"native:{major}:{dump}" for major in (8, 9, 10, 11) for dump in ("heap", "full", "gcore")]
SAMPLE = ["native:11:gcore"]
FEWEST_THREADS = 8  # whose frames are compared


def run(dnheap, _, major, dump):
    """All problems of one kind, in words."""
    if not shutil.which("gdb"):
        raise runtimes.Missing("no `gdb` on PATH")
    with tempfile.TemporaryDirectory(prefix="dnheap-native-") as folder:
        with targets.Target("waits", major, arguments=("kinds",)) as target:
            path = target.dump(dump, pathlib.Path(folder) / f"{dump}.core")
            program = pathlib.Path(f"/proc/{target.pid}/exe").resolve()
        return compare(of_gdb(program, path), matrix.answer(dnheap, "stack", path, "--all"))


def of_gdb(program, path):
    """Return addresses of each thread's frames, innermost first. Without debug files, as inlined functions are no frames."""
    done = subprocess.run(["gdb", "-q", "-batch", "-iex", "set debug-file-directory /nonexistent", "-ex", "thread apply all bt 200",
                           "-c", path, program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace", check=False)
    threads, now = {}, None
    for line in done.stdout.splitlines():
        if found := re.match(r"Thread \d+ .*LWP (\d+)", line):
            now = threads.setdefault(int(found[1]), [])
        elif now is not None and (found := re.match(r"#(\d+)\s+0x([0-9a-f]+) in ", line)):
            assert int(found[1]) == len(now), line
            now.append(int(found[2], 16))
    return threads


def compare(of_gdb, answer):
    frames = {}
    for row in answer["tables"]["frames"]:
        if row["kind"] != "explicit":
            frames.setdefault(row["os_id"], []).append(row)
    problems, with_managed, without = [], 0, 0
    for thread, theirs in of_gdb.items():
        ours = frames.get(thread, [])
        native = 0
        while native < len(ours) and ours[native]["kind"] == "native":
            native += 1
        mine = [int(str(row["ip"]), 0) for row in ours[:native]]
        if not mine or mine != theirs[:native]:
            problems.append(f"thread {thread}: native frames {[*map(hex, mine)]}, gdb has {[*map(hex, theirs)]}")
        if native == len(ours):  # to the thread's end
            without += 1
            if len(theirs) != native:
                problems.append(f"thread {thread} has {native} frames, gdb has {len(theirs)}")
        else:
            with_managed += 1
            if ours[-1]["kind"] != "native":
                problems.append(f"thread {thread} was begun by {ours[-1]}")
    print(f"{with_managed} threads as gdb has them down to their methods, {without} native ones to their end")
    if with_managed < FEWEST_THREADS or not without:
        problems.append(f"{with_managed} threads with methods and {without} without were compared")
    return problems + [note for note in answer["completeness"]["notes"] if "native frames" in note]


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
