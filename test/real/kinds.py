#!/usr/bin/env python3
"""The ways to run .NET: as one file, with a runtime of one's own, under ASP.NET, inside another program, not yet started.

    kinds.py --list --sample               the kinds that a short run makes, written KIND:MAJOR; --all: all of them
    kinds.py DNHEAP --one single:9         builds and starts that, dumps it, compares, deletes the dumps

    single       the zoo as one file, its runtime inside; `compressed`, `trimmed`: the same, so
    bundle       the zoo as one file, its runtime elsewhere
    web          an ASP.NET application in a folder with its runtime, server GC; once at rest and once under load
    embedded     the zoo inside a Python process, started by hostfxr
    early        the zoo, dumped again and again while it starts: an answer, or one line that says why there is none
    early-single the same, as one file

The witness looks at full dumps; those of other kinds, of the same process at rest, must get the same answers. Exit codes
are those of matrix.py.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import compare
import live
import mapped
import matrix
import runtimes
import targets
import witness

KINDS = [f"{kind}:{major}" for kind in ("single", "bundle", "web", "embedded", "early") for major in runtimes.MAJORS]
KINDS += ["compressed:8", "compressed:10", "compressed:11", "trimmed:9", "trimmed:11", "early-single:8", "early-single:10", "early-single:11"]
SAMPLE = ["single:9", "bundle:10", "early:8"]  # even a short run makes these

# Kind → what to publish, and how.
SINGLE = {"PublishSingleFile": "true", "SelfContained": "true"}
PUBLISHED = {
    "single": ("published", "zoo", SINGLE),
    "compressed": ("published", "zoo", {**SINGLE, "EnableCompressionInSingleFile": "true"}),
    "trimmed": ("published", "zoo", {**SINGLE, "PublishTrimmed": "true", "TrimMode": "partial"}),
    "bundle": ("published", "zoo", {"PublishSingleFile": "true", "SelfContained": "false"}),
    "web": ("web", "web", {"SelfContained": "true"}),
    "leaks-web": ("leaks-web", "leaks-web", {"SelfContained": "true"}),  # of leaks.py
    "findings": ("findings", "findings", {"SelfContained": "true"}),     # of findings.py
    "requests": ("requests", "requests", {"SelfContained": "true"}),     # of requests.py
    "ef": ("ef", "ef", {"SelfContained": "true"}),                       # of ef.py
}
PARTS = {"published": ["published", "zoo", "common"], "web": ["web", "published", "common"],
         "leaks-web": ["leaks-web", "published", "common"], "requests": ["requests", "published", "common"],
         "ef": ["ef", "published", "common"], "findings": ["findings", "published", "common"]}
NOT_TO_BE_HAD = ("NU1101", "NU1102", "NU1301")

RESTS = 5
EARLY_CORES = 9
EARLY_STEP = 50  # mappings of memory between one and the next


def publish(kind, major):
    """Publishes a program, unless it is newer than its sources. Returns the executable."""
    folder, name, settings = PUBLISHED[kind]
    output = runtimes.cache() / "programs" / f"{kind}{major}"
    executable = output / name
    if runtimes.framework(major) != f"net{major}.0":
        settings = {**settings, "RollForward": "LatestMajor"}  # where the program looks for its framework itself
    plugin = targets.build("zoo").parent / "plugin.dll" if name == "zoo" else None
    with runtimes.lock():
        if runtimes.outdated(executable, [targets.PROGRAMS / part for part in PARTS[folder]]):
            # Restore and build forget what another kind left behind only where each has its own intermediate files.
            done = runtimes.run_sdk("publish", targets.PROGRAMS / folder / f"{folder}.csproj", "-c", "Release", "-o", output,
                                    f"-p:PublishedFramework={runtimes.framework(major)}", f"-p:PublishedVersion={runtimes.VERSIONS[major]}",
                                    *(f"-p:{key}={value}" for key, value in settings.items()),
                                    intermediate=f"obj-{kind}{major}")
            if done.returncode != 0:
                reasons = [line for line in done.stdout.splitlines() if any(part in line for part in NOT_TO_BE_HAD)]
                if reasons:
                    raise runtimes.Missing(f"the program cannot be published: {reasons[0].strip()}")
                raise RuntimeError(f"publishing {output.name} failed:\n{done.stdout}")
            if plugin:
                runtimes.link(plugin, output / plugin.name)
            executable.touch()
    return executable


def environment():
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("DOTNET_", "COMPlus_"))}
    return {**clean, "DOTNET_ROOT": str(runtimes.lay_out()), "DOTNET_gcServer": "0"}


class Process(targets.Target):
    """A program of any kind, running; dumped by the createdump of its version."""

    def __init__(self, kind, major, *arguments):
        self.major = major
        self.start([*command(kind, major), *arguments], {} if kind.endswith("web") else environment(), f"{kind} on .NET {major}")


def command(kind, major):
    """What starts a program of that kind."""
    if kind in PUBLISHED:
        return [publish(kind, major)]
    if kind == "early-single":
        return command("single", major)
    hosted = ["exec", "--fx-version", runtimes.VERSIONS[major], "--runtimeconfig",
              targets.PROGRAMS / "common" / "target.runtimeconfig.json", targets.build("zoo")]
    if kind == "early":
        return [runtimes.dotnet_root() / "dotnet", *hosted]
    host = next((runtimes.lay_out() / "host" / "fxr").iterdir()) / "libhostfxr.so"
    return [sys.executable, "-c", EMBED, host, runtimes.dotnet_root() / "dotnet", *hosted]


# What is given to hostfxr is what the program `dotnet` would give it.
EMBED = """
import ctypes, sys
host, *arguments = sys.argv[1:]
sys.exit(ctypes.CDLL(host).hostfxr_main(len(arguments), (ctypes.c_char_p * len(arguments))(*map(str.encode, arguments))))
"""


def run(dnheap, kind, major):
    """All problems of one kind, in words."""
    if kind.startswith("early"):
        return starting(dnheap, kind, major)
    if kind == "web":
        return under_load(dnheap, major)
    problems = []
    with tempfile.TemporaryDirectory(prefix="dnheap-kinds-") as folder, Process(kind, major) as target:
        folder = pathlib.Path(folder)
        dumps, account = dumps_at_rest(target, folder)
        for dump, path in dumps.items():
            if (kind, major, dump) in LOADER_LEFT_OUT:
                problems += refused(dnheap, path, "--full")
            else:
                problems += at_rest(dnheap, path, account, target.truth)
            if kind == "bundle" and dump == "heap":
                problems += elsewhere(dnheap, path, command(kind, major)[0], folder)
            path.unlink()
        problems += live.at_rest(dnheap, target)
    return problems


def dumps_at_rest(target, folder):
    """One dump of each kind by kind, between two full ones of which the witness says the same; and what it says. Threads of
    the runtime's own wake up now and then, and allocate."""
    for _ in range(RESTS):
        dumps = {kind: target.dump(kind, folder / f"{kind}.core") for kind in ("full", "heap", "gcore")}
        after = target.dump("full", folder / "after.core")
        account, later = (witness.survey(dump, target.major) for dump in (dumps["full"], after))
        after.unlink()
        if account["totals"] == later["totals"]:
            return dumps, account
        time.sleep(2)
    raise RuntimeError(f"the process allocated each time while dumps were taken of it, {RESTS} times")


# This createdump does not see that a program has a runtime inside, and leaves out the memory that .NET 8 maps twice.
LOADER_LEFT_OUT = {(kind, 8, "heap") for kind in ("single", "compressed")}


def at_rest(dnheap, subject, account, truth):
    """What dnheap says of a process at rest agrees with the witness and the program. `subject`: a dump."""
    problems = []
    answers = []
    for verb in ("stat", "segments"):
        found, words = matrix.checked_answer(dnheap, verb, subject)
        problems += words
        answers += [found] if found else []
    if len(answers) == 2:
        problems += compare.at_rest(*answers, account, truth, regions=True)
        problems += mapped.sums(matrix.answer(dnheap, "account", subject), subject)
        live = matrix.answer(dnheap, "stat", subject, "--live")
        problems += compare.references(matrix.answer(dnheap, "verify", subject), live, matrix.answer(dnheap, "handles", subject), account)
    return [f"{subject.name}: {problem}" for problem in problems]


def elsewhere(dnheap, dump, executable, folder):
    """Without the program's file counts and bytes stay; given its folder, so do the names."""
    names = {row["method_table"]: row for row in matrix.answer(dnheap, "stat", dump)["tables"]["types"]}
    away = folder / "away"
    away.mkdir()
    executable.rename(away / executable.name)
    try:
        without = {row["method_table"]: row for row in matrix.answer(dnheap, "stat", dump)["tables"]["types"]}
        given = {row["method_table"]: row
                 for row in matrix.answer(dnheap, "stat", dump, "--modules", away)["tables"]["types"]}
        # As a collector leaves it: one folder, the dump in parts, the file under another name.
        left = folder / "left"
        left.mkdir()
        subprocess.run(["split", "-d", "-a", "4", "--numeric-suffixes=1", "-n", "3", dump, left / "core."], check=True)
        shutil.copy(away / executable.name, left / "4711")
        (left / "info.json").write_text("{}")
        joined = {row["method_table"]: row for row in matrix.answer(dnheap, "stat", left)["tables"]["types"]}
        shutil.rmtree(left)
    finally:
        shutil.move(away / executable.name, executable)
    problems = [] if given == names else ["with --modules the types are not those that the file at its place gives"]
    problems += [] if joined == names else ["in parts, in a folder with the file under another name, the types are not the same"]
    counts = [{key: (row["count"], row["bytes"]) for key, row in rows.items()} for rows in (names, without)]
    return problems + ([] if counts[0] == counts[1] else ["counts differ when the program's file is not to be had"])


def refused(dnheap, dump, advice):
    done = matrix.ask(dnheap, "stat", dump)
    if done.returncode == 3 and not done.stdout and len(done.stderr.splitlines()) == 1 and advice in done.stderr:
        return []
    return [f"{dump.name}: exit code 3 and one line with {advice} expected, not {done.returncode}: {done.stderr}"]


def under_load(dnheap, major):
    """Dumps of an ASP.NET application at rest (it never quite is: clocks tick) and under load, each with its own witness."""
    problems = []
    with tempfile.TemporaryDirectory(prefix="dnheap-kinds-") as folder, Process("web", major) as target:
        for moment, kinds in (("rest", ["full", "heap"]), ("load", ["heap"]), ("later", ["full"])):
            if moment == "load" and target.ask() != "LOAD":
                problems.append("the load did not begin")
            for kind in kinds:
                dump = target.dump(kind, pathlib.Path(folder) / f"{moment}-{kind}.core")
                found = [matrix.checked_answer(dnheap, verb, dump) for verb in ("stat", "segments")]
                words = found[0][1] + found[1][1]
                if found[0][0] and found[1][0]:
                    words += compare.allocating(found[0][0], found[1][0], witness.survey(dump, major), target.truth, regions=True)
                problems += [f"{dump.name}: {problem}" for problem in words]
                dump.unlink()
        if target.ask() != "QUIET":
            problems.append("the program did not survive")
    return problems


def starting(dnheap, kind, major):
    """Cores of a process at many moments of its start. Each gets an answer or one line; the first cannot have a heap."""
    gdb = shutil.which("gdb")
    if not gdb:
        raise runtimes.Missing("no `gdb` on PATH")
    problems = []
    said = []
    with tempfile.TemporaryDirectory(prefix="dnheap-kinds-") as folder:
        cores = [pathlib.Path(folder) / f"{i}.core" for i in range(EARLY_CORES)]
        words = ["set pagination off", "set breakpoint pending on", "handle all nostop noprint pass", "set startup-with-shell off",
                 "catch syscall mmap" if kind == "early-single" else "catch load libhostfxr", "run"]
        words += ["delete 1", "catch syscall mmap"]
        for core in cores:
            words += [f"generate-core-file {core}", f"ignore 2 {EARLY_STEP}", "continue"]
        words.append("kill")
        line = [part for word in words for part in ("-ex", word)]
        done = subprocess.run([gdb, "-q", "-batch", *line, "--args", *map(str, command(kind, major))], env=environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=600, preexec_fn=targets.limits)
        if not cores[0].exists():
            raise RuntimeError(f"gdb could not stop the process:\n{done.stdout}")
        for core in cores:
            if core.exists():
                done = matrix.ask(dnheap, "stat", core)
                core.unlink()
                if done.returncode == 0 and not done.stderr:
                    said.append(f"{json.loads(done.stdout)['completeness']['objects']} objects")
                elif done.returncode == 3 and not done.stdout and len(done.stderr.splitlines()) == 1:
                    said.append(done.stderr.split(": ", 2)[-1].strip())
                else:
                    problems.append(f"{core.name}: code {done.returncode}: {done.stderr or done.stdout}")
    for line in sorted(set(said), key=said.index):
        print(f"{said.count(line)} times: {line}", file=sys.stderr)
    if said and said[0].endswith(" objects"):
        problems.append(f"{said[0]} in a process that had just begun")
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
