#!/usr/bin/env python3
"""Measures `dnheap stat` on whole dumps beside ClrMD and `cat`, and prints a section for doc/performance.md.

    bench/run.py [DNHEAP] [--runs 5] [--nodes 30000000] [--keep] [--check]

The dumps: a heap of NODES linked nodes and one of a sixth of that (test/programs/graph, .NET 10, workstation GC), and the
bundled sample. They are made where they are not in the cache yet ($DNHEAP_CACHE, or build/real-cache), and deleted at the
end unless --keep is given. The commands run in turn, once each per round, from start to exit, with the dump in the page
cache. Before anything is timed, dnheap and ClrMD must agree on every type and segment.

Needs what the real-dump tests need (test/real/README.md). Exit code: 0; 1 if answers differ or, with --check, a target is
missed; 77 if .NET is not to be had.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys

import dumps
from dumps import MAJOR, PROJECT, say
from process import Run
import compare
import runtimes
import witness

MIB = 1 << 20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dnheap", nargs="?", type=pathlib.Path, default=PROJECT / "build" / "release" / "dnheap")
    parser.add_argument("--nodes", type=int, default=30_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--keep", action="store_true", help="keep the dumps made for this")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    options = parser.parse_args()
    return dumps.measured(lambda made: run(options.dnheap.resolve(), options, made), options.keep)


def run(dnheap, options, made):
    load = os.getloadavg()[0]
    measured = []
    for dump in (dumps.graph(options.nodes, made), dumps.graph(options.nodes // 6, made), dumps.sample(made)):
        objects, problems = check(dnheap, dump)
        if problems:
            print(f"{dump.core.name}: dnheap and ClrMD do not agree, so nothing is measured:", *problems, sep="\n")
            return 1
        measured.append(Measured(dump, objects, measure(dnheap, dump.core, options.runs)))
    met = report(dnheap, measured, options.runs, load)
    return 1 if options.check and not met else 0


# ---- answers ----

def check(dnheap, dump):
    """The number of objects, and what dnheap and the witness (ClrMD + DAC) do not agree on."""
    say(f"checking the answers about {dump.core.name}")
    answers = [json.loads(subprocess.run([dnheap, verb, dump.core, "--format", "json", "--top", "0"], check=True,
                                         stdout=subprocess.PIPE).stdout) for verb in ("stat", "segments")]
    account = witness.survey(dump.core, MAJOR)
    names = {row["method_table"]: row["type"] for row in answers[0]["tables"]["types"]}
    for row in account["types"]:  # ClrMD names fewer types of the sample, which lacks memory that it wants
        row["type"] = row["type"] or names.get(row["method_table"])
    problems = compare.same_heap(*answers, account, dump.truth, regions=True)
    return answers[0]["completeness"]["objects"], problems


# ---- measuring ----

class Measured:
    def __init__(self, dump, objects, runs):
        self.dump, self.objects, self.runs = dump, objects, runs
        self.anonymous = runs.pop("anonymous memory")

    def median(self, label, figure="wall"):
        return statistics.median(getattr(run, figure) for run in self.runs[label])


def commands(dnheap, core):
    clrmd = witness.command("stat", core, MAJOR)
    table = {"dnheap stat": [dnheap, "stat", core], "ClrMD": clrmd, "ClrMD, lock-free reader": [*clrmd, "--lockfree"],
             "cat": ["cat", core]}
    return {label: [str(part) for part in command] for label, command in table.items()}


def measure(dnheap, core, rounds):
    say(f"measuring on {core.name}, {rounds} rounds")
    table = commands(dnheap, core)
    runs = {label: [] for label in table}
    for _ in range(rounds):
        for label, command in table.items():
            Run(table["cat"])  # into the page cache, should something have pushed it out
            runs[label].append(Run(command))
    runs["anonymous memory"] = max(Run(table["dnheap stat"], every=0).own for _ in range(3))  # not timed: looked at all the time
    return runs


# ---- report ----

def report(dnheap, measured, rounds, load):
    big, small, demo = measured
    print(f"{machine(dnheap)}\n")
    print(f"{rounds} rounds, the commands of a round one after the other; start to exit; dump in the page cache. "
          f"Load average before: {load:.1f}.\n")
    for one in measured:
        print_runs(one)

    def ratio(one, other):
        return one.median("dnheap stat") / one.median(other)

    growth = (big.median("dnheap stat") / big.objects) / (small.median("dnheap stat") / small.objects)
    rows = [
        (f"{big.dump.name}: time of ClrMD", 1 / ratio(big, "ClrMD"), ">=", 8),
        (f"{big.dump.name}: time of ClrMD with its lock-free reader", 1 / ratio(big, "ClrMD, lock-free reader"), None, None),
        (f"{small.dump.name}: time of ClrMD", 1 / ratio(small, "ClrMD"), None, None),
        (f"{demo.dump.name}: time of ClrMD", 1 / ratio(demo, "ClrMD"), ">=", 4),
        (f"{big.dump.name}: time of dnheap ÷ time of `cat`", ratio(big, "cat"), "<=", 5),
        ("time per object, big graph ÷ small graph", growth, "<=", 1.25),
        (f"{big.dump.name}: CPU time of ClrMD ÷ CPU time of dnheap", big.median("ClrMD", "cpu") / big.median("dnheap stat", "cpu"), None, None),
    ]
    print("| ratio of medians | measured | target | |\n|---|---:|---:|---|")
    met = True
    for text, value, sign, bound in rows:
        good = sign is None or (value >= bound if sign == ">=" else value <= bound)
        met = met and good
        name = text if "÷" in text else f"{text} ÷ time of dnheap"
        print(f"| {name} | {value:.2f} | {f'{sign} {bound}' if sign else ''} | {'' if sign is None else 'met' if good else 'missed'} |")
    print(f"\nThis is {big.median('dnheap stat') / big.objects * 1e9:.1f} ns and "
          f"{big.median('dnheap stat', 'cpu') / big.objects * 1e9:.1f} ns of CPU per object on {big.dump.name}.")
    return met


def print_runs(measured):
    size = measured.dump.core.stat().st_size
    print(f"**{measured.dump.name}**: {measured.objects:,} objects, a file of {size / MIB:,.0f} MiB\n")
    print("| command | wall s: min | median | max | user + sys s | of it sys | max. resident MiB | of it anonymous |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|")
    for label, runs in measured.runs.items():
        walls = sorted(run.wall for run in runs)
        anonymous = f"{measured.anonymous / MIB:.1f}" if label == "dnheap stat" else ""
        print(f"| {label} | {walls[0]:.3f} | {measured.median(label):.3f} | {walls[-1]:.3f} "
              f"| {measured.median(label, 'cpu'):.3f} | {measured.median(label, 'system'):.3f} "
              f"| {max(run.resident for run in runs) / MIB:,.0f} | {anonymous} |")
    print()


def machine(dnheap):
    """The machine, the programs and the version measured, in one sentence; nothing that names the machine."""
    cpu = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = int(re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) / MIB
    kernel = re.match(r"[0-9.]+", platform.release())[0].rstrip(".")
    return (f"{cpu[1] if cpu else platform.machine()}, {len(os.sched_getaffinity(0))} processors, {memory:.0f} GiB, "
            f"Linux {kernel}; dnheap built by {compiler(dnheap)}, sources at commit {commit()}; .NET {runtimes.VERSIONS[MAJOR]} dumps, "
            f"ClrMD {runtimes.CLRMD_VERSION} on .NET {host_version()}.")


def commit():
    """Of the sources here. Whether the program was built from them, only who built it knows."""
    if not shutil.which("git"):
        return "unknown"
    git = ["git", "-C", str(PROJECT)]
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    changes = subprocess.run([*git, "status", "--porcelain", "src"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if head.returncode != 0:
        return "unknown"
    return head.stdout.strip() + (" with changes" if changes.stdout else "")


def compiler(dnheap):
    """The compiler's own name for itself, which it leaves in what it makes."""
    found = re.search(rb"(GCC: \([^)]*\) [0-9.]+|clang version [0-9.]+)", dnheap.read_bytes())
    return re.sub(r": \([^)]*\)", "", found[1].decode()) if found else "an unknown compiler"


def host_version():
    done = subprocess.run([runtimes.sdk(), "--list-runtimes"], stdout=subprocess.PIPE, text=True)
    return max(re.findall(r"Microsoft\.NETCore\.App (\S+)", done.stdout), default="?",
               key=lambda version: [int(part) for part in re.findall(r"\d+", version)])


if __name__ == "__main__":
    sys.exit(main())
