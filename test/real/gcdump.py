#!/usr/bin/env python3
"""A .gcdump that dotnet-gcdump makes of a program (../programs/zoo), opened by dnheap.

    gcdump.py --list --sample        the kinds that a short run makes, written gcdump:MAJOR; --all: all of them
    gcdump.py DNHEAP --one gcdump:10 starts the program, collects its .gcdump, compares, deletes it

The witness is a reader of the format that knows nothing of dnheap (../export/gcdump.py), and the sums of dotnet-gcdump's own report.
Exit codes are those of matrix.py.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import matrix
import runtimes
import targets

sys.path.insert(0, str(runtimes.PROJECT / "test" / "export"))
import gcdump  # noqa: E402

KINDS = [f"gcdump:{major}" for major in runtimes.MAJORS]
SAMPLE = ["gcdump:10"]
TOOL = "dotnet-gcdump", "10.0.750501"
PATIENCE = 120
SMALLEST = 24  # the runtime counts 22 bytes for the empty string


def run(dnheap, _, major):
    """All problems of one kind, in words."""
    collector = tool()
    with tempfile.TemporaryDirectory(prefix="dnheap-gcdump-") as folder:
        path = pathlib.Path(folder) / "zoo.gcdump"
        with targets.Target("zoo", major) as target:
            asked(collector, "collect", "-p", target.process.pid, "-o", path)
            core = target.dump("heap", pathlib.Path(folder) / "zoo.core")
        report = asked(collector, "report", path)
        graph = Graph(gcdump.read(path.read_bytes(), ours=False))
        return types(dnheap, path, graph) + whole(dnheap, path, graph, report) + refusals(dnheap, path) + own(dnheap, core, folder)


def tool():
    """dotnet-gcdump, installed into the cache."""
    name, version = TOOL
    folder = runtimes.cache() / "tools"
    program = folder / name
    with runtimes.lock():
        if not program.exists():
            done = subprocess.run(
                [runtimes.sdk(), "tool", "install", name, "--version", version, "--tool-path", folder], stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, env=dict(os.environ, DOTNET_CLI_TELEMETRY_OPTOUT="1", DOTNET_NOLOGO="1"))
            if done.returncode:
                raise runtimes.NoSdk(f"{name} {version} cannot be installed: {done.stdout.strip()}")
    return program


def asked(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with code {done.returncode}: {done.stdout[-500:]}")
    return done.stdout


class Graph:
    """The file's objects: those with an address that are described."""

    def __init__(self, file):
        names = [name for name, _, _ in file["types"]]
        self.objects, self.edges = {}, 0
        self.counts, self.sizes, self.rounded = collections.Counter(), collections.Counter(), 0
        for number, (kind, size, _, address) in enumerate(file["nodes"]):
            if address and names[kind] != "UNDEFINED":
                self.objects[number] = address
                self.counts[plain(names[kind])] += 1
                self.rounded += max(SMALLEST - size, 0)
                self.sizes[plain(names[kind])] += max(size, SMALLEST)
        for number in self.objects:
            self.edges += sum(child in self.objects for child in file["nodes"][number][2])
        reached, todo = {file["root"]}, [file["root"]]
        while todo:
            for child in file["nodes"][todo.pop()][2]:
                if child not in reached:
                    reached.add(child)
                    todo.append(child)
        self.reached = sum(number in reached for number in self.objects)


def plain(name):
    """A name without what dotnet-gcdump and dnheap each do to it."""
    return re.sub(r"[\s<>\[\]]", "", re.sub(r" \(Bytes > \w+\)$", "", name))


def types(dnheap, path, graph):
    counts, sizes = collections.Counter(), collections.Counter()
    for row in matrix.answer(dnheap, "stat", path)["tables"]["types"]:
        counts[plain(row["type"])] += row["count"]
        sizes[plain(row["type"])] += row["bytes"]
    for name in ("Free", "notlisted"):
        counts.pop(name, None), sizes.pop(name, None)
    problems = [f"{name}: {counts[name]} objects, the file has {graph.counts[name]}"
                for name in {*counts, *graph.counts} if counts[name] != graph.counts[name]]
    return problems + [f"{name}: {sizes[name]} bytes, the file has {graph.sizes[name]}"
                       for name in {*sizes, *graph.sizes} if sizes[name] != graph.sizes[name]]


def whole(dnheap, path, graph, report):
    problems = []
    (row,) = matrix.answer(dnheap, "query", path, "select (select count(*) from objects) objects, (select count(*) from objects where reached) "
                           "reached, (select count(*) from refs) refs, (select sum(bytes) from objects) bytes")["tables"]["rows"]
    for name, expected in (("objects", len(graph.objects)), ("reached", graph.reached), ("refs", graph.edges), ("bytes", graph.sizes.total())):
        if row[name] != expected:
            problems.append(f"{name}: {row[name]}, the file has {expected}")
    said = re.search(r"([\d,]+)\s+GC Heap bytes", report)
    if not said or int(said[1].replace(",", "")) + graph.rounded != row["bytes"]:
        problems.append(f"{row['bytes']} bytes, dotnet-gcdump reports {said and said[1]}")
    for verb in ("report", "retained", "roots", "segments", "info", "objects", "summary"):
        answer = matrix.answer(dnheap, verb, path)
        if not answer["completeness"]["complete"]:
            problems.append(f"{verb} is incomplete: {answer['completeness']['notes']}")
    return problems


def own(dnheap, core, folder):
    """What dnheap itself writes has the owners of the dump. The format knows no frozen objects."""
    path = pathlib.Path(folder) / "own.gcdump"
    asked(dnheap, "export", core, "--as", "gcdump", "-o", path)
    before, after = ({row["owner"]: (row["retained"], row["objects"]) for row in
                      matrix.answer(dnheap, "retained", file, "--plain", "--table", "owners")["tables"]["owners"]
                      if row["owner"] not in ("(unreachable)", "(frozen)")} for file in (core, path))
    return [f"{owner} retains {after.get(owner)} in our own file, {before.get(owner)} in the dump"
            for owner in {*before, *after} if before.get(owner) != after.get(owner)]


def refusals(dnheap, path):
    """What needs contents or threads is refused in words."""
    problems = []
    for verb in ("threads", "strings", "locks", "account"):
        done = subprocess.run([dnheap, verb, path], capture_output=True, text=True)
        if done.returncode != 3 or "which lists objects with their types, sizes and references" not in done.stderr:
            problems.append(f"{verb} ended with code {done.returncode}: {done.stderr.strip()}")
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
