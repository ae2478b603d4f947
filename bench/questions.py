#!/usr/bin/env python3
"""Measures what is asked of big heaps, beside another dnheap (--against), ClrMD (test/witness) and plain tools.

    bench/questions.py [DNHEAP] [--against OTHER] [--rounds 3] [--dumps graph,tree,business,types,sample] [--only RE] [--no-clrmd]
                       [--nodes 30000000] [--objects 40000000] [--warm GIB] [--keep] [--check]

The dumps: test/programs/graph, whose references are random; the same program's random recursive tree, the worst case of
searches; test/programs/business, which has the shape of real heaps; the latter with 44,000 types; the sample. All are made where they are not in the cache yet, as bench/run.py does.

The commands about one question run in turn, once each per round, from start to exit; the median counts. Before each, the dump
is read into the page cache (or, for "cold", dropped from it), and memory is touched and freed, twice the file's size, at most
--warm: some virtual machines take 1 to 2 seconds per GiB of memory that nobody used for a while. What that costs is printed.

Targets (--check: exit code 1 if one is missed) are ratios to another command of the same run; see TARGETS. Exit code 77: .NET is not
to be had.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

import dumps
import process
from dumps import MAJOR, PROJECT, say
import witness

MIB = 1 << 20

# Dump, question, peer (another command of that question, or another question of that dump), at most this part of the peer's wall time.
TARGETS = [
    ("graph", "stat", "cat", 5),
    ("graph", "stat", "ClrMD", 1 / 8),
    ("graph", "stat, cold file", "cat", 1.15),
    ("graph", "verify", "ClrMD", 1 / 8),
    ("graph", "live set", "ClrMD", 1 / 8),
    ("graph", "path to one object", "ClrMD", 1 / 3),
    ("graph", "closure of one object", "ClrMD", 1 / 15),
    ("graph", "retained of all", "live set", 3.5),  # 3 when the live set took a second walk
    ("graph", "report", "retained of all", 1.7),
    ("tree", "paths to all of a type", "live set", 3.5),
    ("tree", "paths to all of a type", "retained of all", 0.6),
    ("business", "stat", "cat", 5),
    ("business", "stat", "ClrMD", 1 / 8),
    ("business", "live set", "ClrMD", 1 / 8),
    ("business", "report", "retained of all", 1.4),
    ("types", "stat", "ClrMD", 1 / 5),
    ("sample", "stat", "ClrMD", 1 / 4),
]


class Question:
    """`peers`: label → command. `cold`: with the file dropped from the page cache."""

    def __init__(self, name, ours, peers=None, file=None, cold=False):
        self.name, self.ours, self.peers, self.file, self.cold = name, ours, peers or {}, file, cold


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dnheap", nargs="?", type=pathlib.Path, default=PROJECT / "build" / "release" / "dnheap")
    parser.add_argument("--against", type=pathlib.Path, metavar="OTHER", help="another dnheap, measured in turn with the first")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dumps", default="graph,tree,business,types,sample")
    parser.add_argument("--only", default="", metavar="RE", help="only questions that match this regular expression")
    parser.add_argument("--no-clrmd", action="store_true")
    parser.add_argument("--nodes", type=int, default=30_000_000)
    parser.add_argument("--objects", type=int, default=40_000_000)
    parser.add_argument("--warm", type=float, default=6, metavar="GIB", help="touched before each command at most; never more than a third of what is available")
    parser.add_argument("--keep", action="store_true", help="keep the files made for this")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    options = parser.parse_args()
    options.dnheap = options.dnheap.resolve()
    return dumps.measured(lambda made: run(options, made), options.keep)


def run(options, made):
    options.warm = int(min(options.warm * process.GIB, process.available() / 3))
    cold, warm = process.fresh_memory(options.warm)
    print(f"Load before: {os.getloadavg()[0]:.1f}. Fresh memory costs {cold:.2f} s/GiB, {warm:.2f} where it was freed just now.")
    measured = {}
    for key in options.dumps.split(","):
        make, about = DUMPS[key]
        dump = make(options, made)
        questions = [one for one in about(options, dump, made) if re.search(options.only, one.name)]
        measured.update(measure_dump(options, key, dump, questions))
    met = print_targets(measured)
    return 1 if options.check and not met else 0


# ---- questions ----

def about_graph(options, dump, made):
    text = address(options, dump, "System.String", "--min", "40", "--top", "50000")
    return about_heap(options, dump, made, text, address(options, dump, "Graph.Node[]"), "Graph.Node")


def about_tree(options, dump, made):
    return [
        Question("live set", ["stat", "--live"]),
        Question("paths to all of a type", ["path", "Graph.Node"]),
        Question("retained of all", ["retained"]),
        Question("report", ["report"]),
    ]


def about_business(options, dump, made):
    line = address(options, dump, "Business.Line", "--top", "50000")
    customers = address(options, dump, "System.Collections.Generic.Dictionary<System.Int64, Business.Customer>+Entry[]")
    return about_heap(options, dump, made, line, customers, "Business.Line")


def about_types(options, dump, made):
    return [Question("stat", ["stat"], {"cat": ["cat", dump.core]} | clrmd(options, dump, "stat"))]


def about_heap(options, dump, made, one, large, many):
    """Questions about one object, one that holds much, and a type with very many instances."""
    cat = {"cat": ["cat", dump.core]}
    return [
        Question("stat", ["stat"], cat | clrmd(options, dump, "stat")),
        Question("stat, cold file", ["stat"], cat, cold=True),
        Question("verify", ["verify"], clrmd(options, dump, "verify")),
        Question("live set", ["stat", "--live"], clrmd(options, dump, "live")),
        Question("closure of one object", ["show", large, "--closure"], clrmd(options, dump, "closure", large)),
        Question("path to one object", ["path", one], clrmd(options, dump, "path", one)),
        Question("paths to all of a type", ["path", many]),
        Question("retained of all", ["retained"]),
        Question("report", ["report"]),
        Question("CSV of all objects", ["objects", "--format", "csv", "--top", "0"], cat),
        Question("JSON of all objects", ["objects", "--format", "json", "--top", "0"], cat),
        *compressed(options, dump, made),
    ]


def compressed(options, dump, made):
    name = ".zst, stat"
    if not re.search(options.only, name):
        return []  # its file takes a minute to make
    packed = dumps.compressed(dump, made).core
    return [Question(name, ["stat"], {"zstd": ["zstd", "-dqc", packed]}, file=packed)]


def clrmd(options, dump, *words):
    if options.no_clrmd:
        return {}
    return {"ClrMD": witness.command(words[0], dump.core, MAJOR, *words[1:], "--lockfree")}


def address(options, dump, type_name, *more):
    command = [options.dnheap, "objects", dump.core, "--type-exact", type_name, "--format", "json", *more]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)["tables"]["objects"][-1]["address"]


# Name → how the dump is made, and the questions about it.
DUMPS = {
    "graph": (lambda options, made: dumps.graph(options.nodes, made), about_graph),
    "tree": (lambda options, made: dumps.tree(options.nodes, made), about_tree),
    "business": (lambda options, made: dumps.business(options.objects, made), about_business),
    "types": (lambda options, made: dumps.many_types(options.objects // 10, 44_000, made), about_types),
    "sample": (lambda options, made: dumps.sample(made), about_types),
}


# ---- measuring ----

def measure_dump(options, key, dump, questions):
    objects = objects_of(options.dnheap, dump.core)
    print(f"\n**{dump.name}**: {objects:,} objects without Free, a file of {dump.core.stat().st_size / MIB:,.0f} MiB; {options.rounds} rounds\n")
    print("| question | command | wall s | min | CPU s | of it sys | own MiB | B/object |\n|---|---|---:|---:|---:|---:|---:|---:|")
    measured = {}
    for question in questions:
        runs = rounds_of(options, dump, question)
        for label, all_runs in runs.items():
            measured[key, question.name, label] = statistics.median(one.wall for one in all_runs)
            own = max(one.own for one in all_runs)
            cells = [f"{measured[key, question.name, label]:.3f}", f"{min(one.wall for one in all_runs):.3f}",
                     f"{statistics.median(one.cpu for one in all_runs):.2f}", f"{statistics.median(one.system for one in all_runs):.2f}",
                     f"{own / MIB:,.0f}", f"{own / objects:.1f}" if label in ("dnheap", "other") else ""]
            print(f"| {question.name} | {label} | {' | '.join(cells)} |", flush=True)
    if any(question.name == "retained of all" for question in questions):
        for label, program in programs(options).items():
            print_passes(options, label, program, dump)
    return measured


def rounds_of(options, dump, question):
    file = question.file or dump.core
    table = {label: [program, question.ours[0], file, *question.ours[1:]] for label, program in programs(options).items()}
    table |= question.peers
    say(f"{dump.core.name}: {question.name}")
    runs = {label: [] for label in table}
    for _ in range(options.rounds):
        for label, command in table.items():
            prepare(options, dump, file, question.cold)
            runs[label].append(process.Run(command, every=0.01))
    return runs


def prepare(options, dump, file, cold):
    process.drop(file) if cold else process.read_whole(file)
    process.touch(min(options.warm, 2 * dump.core.stat().st_size))


def programs(options):
    return {"dnheap": options.dnheap} | ({"other": options.against.resolve()} if options.against else {})


def objects_of(dnheap, core):
    answer = json.loads(subprocess.run([dnheap, "stat", core, "--format", "json"], stdout=subprocess.PIPE, check=True).stdout)
    return sum(row["count"] for row in answer["tables"]["types"] if row["type"] != "Free")


def print_passes(options, label, program, dump):
    prepare(options, dump, dump.core, cold=False)
    done = subprocess.run([program, "retained", dump.core, "--perf"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    print(f"\nPasses of `retained`, {label}:\n\n```\n{done.stderr.strip()}\n```")


# ---- targets ----

def print_targets(measured):
    """Whether all that were measured are met."""
    met, lines = True, []
    for key, question, peer, most in TARGETS:
        mine = measured.get((key, question, "dnheap"))
        theirs = measured.get((key, question, peer), measured.get((key, peer, "dnheap")))
        if mine is None or theirs is None:
            continue
        good = mine <= most * theirs
        met = met and good
        lines.append(f"| {key} | {question} ÷ {peer} | {mine / theirs:.3f} | {most:.3f} | {'met' if good else 'missed'} |")
    if lines:
        print("\n| dump | wall time ÷ wall time | measured | at most | |\n|---|---|---:|---:|---|", *lines, sep="\n")
    return met


if __name__ == "__main__":
    sys.exit(main())
