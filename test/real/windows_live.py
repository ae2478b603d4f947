#!/usr/bin/env python3
"""A .NET program for Windows that runs under Wine (../programs/windows), looked at by dnheap.exe: `ps`, `-p`, `collect`, `watch`.

    windows_live.py DNHEAP [DNHEAP_EXE]

What `-p` answers is compared with what dnheap for Linux answers about a minidump of the same process, which Wine's own MiniDumpWriteDump writes
(write_minidump.c), object for object. Without DNHEAP_EXE it is built first (preset win-x64), where a compiler for it is. Nothing is tested,
loudly and with exit code 77, where that, Wine or NuGet's runtime for Windows cannot be had.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import runtimes

PROJECT = runtimes.PROJECT
WINES = ("/usr/lib/wine/wine64", shutil.which("wine64"), shutil.which("wine"))
CC, CXX = "x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-g++-posix"
PATIENCE = 300
ATTEMPTS = 3
NO_SUCH_PROCESS = 3
VERBS = (["stat", "--top", "0"], ["segments", "--top", "0"], ["handles", "--top", "0"], ["roots", "--top", "0"], ["retained", "--top", "0"],
         ["threads", "--top", "0"], ["stack", "--all", "--top", "0"], ["gc"], ["verify"],
         ["objects", "--top", "0"])


def skip(why):
    print(f"SKIPPED: live processes on Windows were NOT tested: {why}")
    sys.exit(77)


def built_program():
    """dnheap.exe; built where it is not there yet."""
    if not shutil.which(CXX):
        skip("there is no g++-mingw-w64-x86-64-posix (Debian's name)")
    if subprocess.run([PROJECT / "dev", "build", "win-x64", "dnheap-cli"], stdout=subprocess.DEVNULL).returncode:
        sys.exit("dnheap.exe could not be built")
    return PROJECT / "build" / "win-x64" / "dnheap.exe"


def published():
    """The folder with the program and its runtime."""
    runtimes.sdk()
    out = runtimes.cache() / "programs" / "windows"
    with runtimes.lock():
        done = runtimes.run_sdk("publish", PROJECT / "test" / "programs" / "windows", "-c", "Release", "-o", out,
                                f"-p:RuntimeFrameworkVersion={runtimes.VERSIONS[10]}", intermediate="obj-windows-program")
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if "error" in line] or ["no error message"]
        raise runtimes.Missing(f"the program for Windows cannot be published: {errors[0].strip()}")
    return out


def windows_path(path):
    return "Z:" + str(path).replace("/", "\\")


class Wine:
    def __init__(self, wine, folder):
        self.wine, self.folder = wine, folder
        # winedbg would look at a program that crashes for half a minute.
        self.environment = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(folder / "prefix"), "WINEDLLOVERRIDES": "winedbg.exe=d"}

    def run(self, *command, fails=0):
        done = subprocess.run([str(part) for part in (self.wine, *command)], env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=PATIENCE, check=False)
        if done.returncode != fails:
            raise RuntimeError(f"{' '.join(str(part) for part in command[1:])}: exit code {done.returncode}: {done.stderr.strip()[-1000:]}")
        return done

    def start(self, *command):
        return subprocess.Popen([str(part) for part in (self.wine, *command)], env=self.environment, cwd=self.folder, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8", bufsize=1)

    def end(self):
        subprocess.run([shutil.which("wineserver") or "/usr/lib/wine/wineserver", "-k"], env=self.environment, check=False)


class Program:
    """The program that is looked at. Its process id is Wine's."""

    def __init__(self, wine, folder):
        self.process = wine.start(folder / "windows.exe")
        self.pid, self.links, self.crates = map(int, self.answer("ready").split()[1:])

    def answer(self, front):
        for line in self.process.stdout:
            if line.startswith(front):
                return line
        raise RuntimeError(f"the program ended before it said '{front}'")

    def ask(self, word, front="still here"):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return self.answer(front)


def compare(verb, live, dump):
    """The first differences, in words: of all tables, and of what was counted."""
    out = []
    for name in sorted(live["tables"].keys() | dump["tables"].keys()):
        a, b = live["tables"].get(name, []), dump["tables"].get(name, [])
        if a != b:
            only = [row for row in a if row not in b][:2], [row for row in b if row not in a][:2]
            out.append(f"{verb}: table {name}: {len(a)} rows of the process, {len(b)} of the dump; only of the process: {only[0]}; only of the dump: {only[1]}")
    for part in ("objects", "bytes", "bad_objects", "complete", "gaps"):
        a, b = live.get("completeness", {}).get(part), dump.get("completeness", {}).get(part)
        if a != b:
            out.append(f"{verb}: {part} is {a} of the process, {b} of the dump")
    return out


def counts_in(answer):
    return {row["type"]: row["count"] for row in answer["tables"]["types"]}


class Test:
    def __init__(self, dnheap, exe, wine, program, folder):
        self.dnheap, self.exe, self.wine, self.program, self.folder = dnheap, exe, wine, program, folder
        self.problems = []

    def check(self, is_right, what):
        if not is_right:
            self.problems.append(what)

    def live(self, *words):
        return json.loads(self.wine.run(self.exe, *words, "-p", self.program.pid, "--format", "json").stdout)

    def of_dump(self, words, dump):
        done = subprocess.run([self.dnheap, *words, dump, "--format", "json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def minidump(self, name):
        tool = self.folder / "write_minidump.exe"
        if not tool.exists():
            subprocess.run([CC, "-O1", "-o", tool, PROJECT / "test" / "real" / "write_minidump.c", "-ldbghelp"], check=True)
        self.wine.run(tool, self.program.pid, windows_path(self.folder / name))
        return self.folder / name

    def ps(self):
        rows = json.loads(self.wine.run(self.exe, "ps", "--format", "json").stdout)["tables"]["processes"]
        ours = [row for row in rows if row["pid"] == self.program.pid]
        self.check(len(rows) == 1 and len(ours) == 1, f"ps lists {rows}")
        for row in ours:
            wanted = {"runtime": "coreclr", "version": runtimes.VERSIONS[10], "port": "answers", "ptrace": True}
            found = {key: row[key] for key in wanted}
            self.check(found == wanted, f"ps says {found}")
            self.check("windows.exe" in row["command_line"], f"ps says that the command line is {row['command_line']}")
            self.check((row["memory"] or 0) > 1 << 20, f"ps says that it takes {row['memory']} bytes")

    def objects(self):
        """Every verb of the process beside the same of its dump."""
        for _ in range(ATTEMPTS):  # the runtime's own threads may have begun or ended meanwhile
            answers = {tuple(verb): self.live(*verb) for verb in VERBS}
            dump = self.minidump("full.dmp")
            found = [problem for verb, live in answers.items() for problem in compare(verb[0], live, self.of_dump(list(verb), dump))]
            if not found:
                break
        self.problems += found
        target = answers[tuple(VERBS[0])]["target"]
        self.check(target["paused_ms"] > 0, f"the process was not paused: {target}")
        counts = counts_in(answers[tuple(VERBS[0])])
        self.check(counts.get("Link") == self.program.links and counts.get("Crate") == self.program.crates, f"stat says {counts}")
        without = self.live("stat", "--top", "0", "--no-pause")
        self.check(counts_in(without) == counts, "--no-pause: other types")
        self.program.ask("are you there")

    def collected(self):
        """Dumps that the process writes of itself."""
        for kind, name in (("full", "full.collected.dmp"), ("heap", None)):  # one that is named, one that gets a name
            options = ["-o", windows_path(self.folder / name)] if name else []
            said = self.wine.run(self.exe, "collect", "-p", self.program.pid, "--kind", kind, *options, "--format", "json").stdout
            row = json.loads(said)["tables"]["dump"][0]
            dump = next(self.folder.glob(name or f"windows-{self.program.pid}-*.dmp"), None)
            if not dump or row["bytes"] != dump.stat().st_size:
                self.problems.append(f"collect --kind {kind} says {row}, and the dump is {dump}")
            elif name:  # Wine's writer leaves out most of the heap of other kinds
                counts = counts_in(self.of_dump(["stat", "--top", "0"], dump))
                self.check(counts.get("Link") == self.program.links, f"a dump of the process's own has {counts.get('Link')} links")
        self.check(not [path for path in self.folder.glob("*.d")], "collect leaves a folder")
        self.program.ask("are you there")

    def watched(self):
        """A core when it has grown."""
        watch = self.wine.start(self.exe, "watch", "-p", self.program.pid, "--every", "1", "--when", "heap>10M", "--format", "ndjson", "-o",
                                windows_path(self.folder))
        begin = json.loads(watch.stdout.readline())
        self.check(begin["event"] == "began" and 0 < begin["figures"]["heap"] < 10 << 20, f"watch begins with {begin}")
        self.program.ask("grow")
        timer = threading.Timer(PATIENCE, watch.kill)
        timer.start()
        event = json.loads(watch.stdout.readline() or "{}")
        timer.cancel()
        watch.kill()
        core = next(self.folder.glob("watch-*.core.zst"), None)
        self.check(core is not None, f"watch took no core, and said {event}")
        if core:
            counts = counts_in(self.of_dump(["stat", "--top", "0"], core))
            now = int(self.program.ask("how many").split()[-1])
            self.check(counts.get("Crate") in range(self.program.crates, now + 1), f"the core has {counts.get('Crate')} crates of {now}")

    def refused(self):
        """What cannot be: sentences, and exit code 3."""
        for words, sentence in ((["stat", "-p", "999999"], "there is no process 999999"), (["collect", "-p", "999999"], "there is no process"),
                                (["sample", "-p", str(self.program.pid), "1s"], "on Linux only")):
            said = self.wine.run(self.exe, *words, fails=NO_SUCH_PROCESS).stderr
            self.check(sentence in said, f"{' '.join(words)} says {said}")

    def ended(self):
        self.check(self.program.ask("end", "ends").split()[1] == str(self.program.links - 1), "the program's own list is another one")
        self.check(self.program.process.wait(PATIENCE) == 0, "the program did not end well")

    def run(self):
        begin = time.monotonic()
        for part in (self.ps, self.objects, self.collected, self.watched, self.refused, self.ended):
            try:
                part()
            except (RuntimeError, subprocess.SubprocessError, ValueError, KeyError) as error:
                self.problems.append(f"{part.__name__}: {type(error).__name__}: {error}")
            print(f"{part.__name__}: after {time.monotonic() - begin:.0f} s", flush=True)
        return self.problems


def main():
    dnheap = pathlib.Path(sys.argv[1]).resolve()
    wine_program = next((place for place in WINES if place and os.path.exists(place)), None) or skip("there is no wine64 (Debian's name)")
    if not shutil.which(CC):
        skip("there is no gcc-mingw-w64-x86-64 (Debian's name)")
    exe = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else built_program()
    try:
        program_folder = published()
    except runtimes.Missing as reason:
        skip(reason)
    with tempfile.TemporaryDirectory(prefix="dnheap-windows-") as folder:
        wine = Wine(wine_program, pathlib.Path(folder))
        try:
            wine.run(exe, "--version")  # makes the prefix
            problems = Test(dnheap, exe, wine, Program(wine, program_folder), pathlib.Path(folder)).run()
        finally:
            wine.end()
    for problem in problems:
        print(f"FAILED: {problem}")
    print("live processes on Windows: " + (f"{len(problems)} problems" if problems else "ok"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
