#!/usr/bin/env python3
"""Compares what dnheap says of real dumps of linux-arm64 with what ClrMD and Microsoft's DAC said of them, and the programs. Exactly.

    arm64.py DNHEAP [--only NAME]

$DNHEAP_CORPUS/arm64 has NAME.dmp.zst, the witness's answers in NAME.stat.txt and NAME.frames.txt, what the program said of itself in
NAME.truth.txt; and the programs with their symbols, in programs/. No file of the runtimes is used. Without that folder nothing is tested, and
the exit code is 77.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "real"))
import clrmd
import corpus
import crashes
import stacks
import waits

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


def check(dnheap, folder, name, dump):
    problems = []
    for compare, what in ((clrmd.types, "stat"), (clrmd.frames, "frames"), (clrmd.handles, "handles")):
        if (given := folder / f"{name}.{what}.txt").exists():
            problems += compare(dnheap, dump, given)
    if (given := folder / f"{name}.reach.txt").exists():
        problems += clrmd.alive(dnheap, dump, given, False)
    first, _ = (folder / f"{name}.truth.txt").read_text().split("\n", 1)
    return problems + CHECKS[name](dnheap, dump, json.loads(first.removeprefix("TRUTH ")))


def source_line(source, line):
    """The programs were built elsewhere."""
    path = PROGRAMS / source.split("/programs/")[1] if source else None
    return path.read_text().splitlines()[line - 1] if path else ""


def main():
    waits.source_line = source_line
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dnheap")
    parser.add_argument("--only")
    options = parser.parse_args()
    folder = corpus.folder("arm64", "dumps of arm64")
    failed = 0
    for name in CHECKS:
        if options.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory(prefix="dnheap-arm64-") as scratch:
            dump = pathlib.Path(scratch) / f"{name}.dmp"
            subprocess.run(["zstd", "-qdo", dump, folder / f"{name}.dmp.zst"], check=True)
            with_symbols = pathlib.Path(scratch) / "dnheap"
            with_symbols.write_text(f'''#!/bin/sh
case "$1" in stack|info|exceptions|async) set -- "$@" --symbols "{folder}/programs";; esac
exec "{pathlib.Path(options.dnheap).resolve()}" "$@" --modules "{folder}/programs"
''')
            with_symbols.chmod(0o755)
            problems = check(str(with_symbols), folder, name, dump)
        print(f"{name}: {'ok' if not problems else f'{len(problems)} problems'}")
        for problem in problems[:20]:
            print(f"  {problem}"[:600])
        failed += bool(problems)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
