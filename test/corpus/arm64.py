#!/usr/bin/env python3
"""Compares what dnheap says of real dumps of linux-arm64 with what ClrMD and Microsoft's DAC said of them, and the programs. Exactly.

    arm64.py DNHEAP [--only NAME]

$DNHEAP_CORPUS/arm64 has NAME.dmp.zst, the witness's answers in NAME.stat.txt and NAME.frames.txt, what the program said of itself in
NAME.truth.txt; and the programs with their symbols, in programs/. No file of the runtimes is used. Without that folder nothing is tested, and
the exit code is 77.
"""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "real"))
import clrmd
import corpus
import crashes
import stacks
import waits

PROGRAM_OF = re.compile(r"^(k16-|s(?=crash))|\d+.*$")  # the rest is the program's name
PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"


def held(dnheap, dump, truth, mode):
    found = stacks.Found(dnheap, dump)
    return stacks.lines(found, truth["held"], mode) + stacks.held_by_frames(found, truth["held"]) + stacks.threads(found, truth["held"]) + \
        stacks.roots(found) + stacks.paths(dnheap, dump, found, truth["held"])


def said(kind):
    def check(dnheap, dump, truth):
        return waits.CHECKS[kind](dnheap, dump, truth["said"] | {name: truth[name] for name in ("addresses", "version") if name in truth})
    return check


def crash(kind):
    def check(dnheap, dump, truth):
        problems = crashes.held_by_stacks(dnheap, dump, truth["held"]) + crashes.led_by(dnheap, dump, kind, truth)
        return problems + (crashes.thrown(dnheap, dump, truth["thrown"]) + crashes.ended_by(dnheap, dump, kind) if kind == "unhandled" else [])
    return check


CHECKS = {
    "stacks9-heap": lambda *of: held(*of, "idle"), "stacks10-heap": lambda *of: held(*of, "idle"), "stacks11-heap": lambda *of: held(*of, "idle"),
    "waits9-hangs-heap": said("hangs"), "waits10-locks-heap": said("locks"), "waits10-async-heap": said("async"),
    "waits11-thrown-heap": said("thrown"), "k16-waits11-locks-heap": said("locks"),
    "scrash9-unhandled": crash("unhandled"), "scrash10-segv": crash("segv"), "scrash10-segv-kernel": crash("segv"),
    "threads10svr-heap": lambda dnheap, dump, truth: crashes.held_by_stacks(dnheap, dump, truth["held"]),
}


def with_symbols(dnheap, folder, scratch):
    """Some verbs take symbols."""
    script = scratch / "dnheap"
    script.write_text(f'''#!/bin/sh
case "$1" in stack|info|exceptions|async) set -- "$@" --symbols "{folder}/programs";; esac
exec "{pathlib.Path(dnheap).resolve()}" "$@" --modules "{folder}/programs"
''')
    script.chmod(0o755)
    return str(script)


def check(dnheap, folder, name, dump, scratch):
    dnheap = with_symbols(dnheap, folder, scratch)
    problems = clrmd.compare(dnheap, dump, folder, name, follows_thread_statics=False)
    first, _ = (folder / f"{name}.truth.txt").read_text().split("\n", 1)
    if not name.endswith("-kernel"):  # which lacks the code's unwind data
        problems += clrmd.native_ends(dnheap, dump, ["libc.so.6", PROGRAM_OF.sub("", name)])
    return problems + CHECKS[name](dnheap, dump, json.loads(first.removeprefix("TRUTH ")))


def source_line(source, line):
    """The programs were built elsewhere."""
    path = PROGRAMS / source.split("/programs/")[1] if source else None
    return path.read_text().splitlines()[line - 1] if path else ""


if __name__ == "__main__":
    waits.source_line = source_line
    sys.exit(corpus.check_each(__doc__, "arm64", "dumps of arm64", CHECKS, "dmp", check))
