#!/usr/bin/env python3
"""Compares what dnheap says of real dumps of linux-arm64 with what ClrMD and Microsoft's DAC said of them, and the programs. Exactly.

    arm64.py DNHEAP [--only NAME]

$DNHEAP_CORPUS/arm64 has NAME.dmp.zst, the witness's answers in NAME.stat.txt and NAME.frames.txt, what the program said of itself in
NAME.truth.txt; and the programs with their symbols, in programs/. No file of the runtimes is used. Without that folder nothing is tested, and
the exit code is 77.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "real"))
import corpus
import crashes
import matrix
import stacks
import waits

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"
DYNAMIC = "DynamicClass."  # methods made at run time, which the witness does not see


def read_types(path):
    """Count, bytes, aligned bytes by MethodTable."""
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    return {int(row[0], 16): tuple(int(row[i]) for i in (1, 2, 4)) for row in rows if len(row) == 5 and row[0] != "TOTAL"}


def read_frames(path):
    """(IP, SP) of managed frames by thread."""
    out = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        thread, _, ip, sp = line.split("\t")
        out[int(thread)].append((int(ip, 16), int(sp, 16)))
    return out


def types(dnheap, dump, expected):
    rows = matrix.answer(dnheap, "stat", dump)["tables"]["types"]
    found = {int(row["method_table"], 16): (row["count"], row["bytes"], row["aligned_bytes"]) for row in rows}
    return [f"type {mt:#x}: {found.get(mt)}, not {expected.get(mt)}" for mt in {*found, *expected} if found.get(mt) != expected.get(mt)]


def frames(dnheap, dump, expected):
    answer = matrix.answer(dnheap, "stack", dump, "--all")["tables"]
    found = collections.defaultdict(list)
    for row in answer["frames"]:
        if row["kind"] == "managed" and not row["method"].startswith(DYNAMIC):
            found[row["os_id"]].append((int(row["ip"], 16), int(row["sp"], 16)))
    print(f"{sum(map(len, expected.values()))} frames of {len(expected)} threads")
    problems = [f"the stacks of threads {row['os_ids']} could not be followed: {row['problem']}" for row in answer["problems"]]
    return problems + [f"thread {thread}: {found[thread]}, not {expected[thread]}" for thread in {*found, *expected} if found[thread] != expected[thread]]


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
    if (given := folder / f"{name}.stat.txt").exists():
        problems += types(dnheap, dump, read_types(given))
    if (given := folder / f"{name}.frames.txt").exists():
        problems += frames(dnheap, dump, read_frames(given))
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
