"""What only Windows has, of a program that Wine runs: NUL, paths with backslashes, of more than 260 letters, lines that end with \\r\\n, pipes that are
closed. Each beside what the program for this system does."""
import json
import os
import pathlib
import shutil
import subprocess

from beside import SAMPLE, first_difference

PATIENCE = 600


def windows_path(path):
    return "Z:" + str(path).replace("/", "\\")


class Ways:
    """`beside`: who counts. Its `there` runs dnheap.exe."""

    def __init__(self, beside, folder):
        self.beside, self.folder = beside, pathlib.Path(folder)

    def run(self, program, *words, **how):
        how.setdefault("stdin", subprocess.DEVNULL)
        if "input" in how:
            del how["stdin"]
        done = subprocess.run([*program, *map(str, words)], capture_output=True, env=self.beside.environment, timeout=PATIENCE, check=False, **how)
        return done.returncode, done.stdout, done.stderr

    def expect(self, what, expected, found):
        if expected == found:
            self.beside.same += 1
        elif isinstance(expected, tuple):
            part = next(i for i in range(len(expected)) if expected[i] != found[i])
            self.beside.fail([what], first_difference(expected[part], found[part]), ("exit code", "output", "errors")[part])
        else:
            self.beside.fail([what], f"{expected!r} expected, {found!r} found", "what it does")

    def nowhere(self):
        """What goes to NUL makes no file."""
        for name in ("NUL", "nul"):
            self.expect(f"stat -o {name}", (0, b"", b""), self.run(self.beside.there, "stat", SAMPLE, "-o", name))
            self.expect(f"a file {name}", False, pathlib.Path(name).exists())

    def backslashes(self):
        """Paths as Windows has them, in and out."""
        here = self.run(self.beside.here, "stat", SAMPLE, "--format", "csv", "--top", "0")
        dump = windows_path(pathlib.Path(SAMPLE).resolve())
        self.expect("a path with backslashes", here, self.run(self.beside.there, "stat", dump, "--format", "csv", "--top", "0"))
        out = self.folder / "out.csv"
        self.expect("-o with backslashes", (0, b"", b""), self.run(self.beside.there, "stat", dump, "--format", "csv", "--top", "0", "-o", windows_path(out)))
        self.expect("what it wrote", here[1], out.read_bytes())

    def long_paths(self):
        """To read from a folder with a name of more than MAX_PATH letters, and some that are not ASCII."""
        folder = self.folder / ("größe 大 " * 6 + "a") / ("b" * 120) / ("c" * 120)
        folder.mkdir(parents=True)
        dump = folder / "demo.core.zst"
        shutil.copy(SAMPLE, dump)
        here = self.run(self.beside.here, "stat", dump, "--format", "csv")
        for name in (dump, windows_path(dump)):
            self.expect("a long path", here, self.run(self.beside.there, "stat", name, "--format", "csv"))

    def carriage_returns(self):
        """Commands and budgets of an editor on Windows."""
        commands = b"stat --top 3\nthreads\nsegments\n"
        here = self.run(self.beside.here, "shell", SAMPLE, input=commands)
        self.expect("commands with \\r\\n", here, self.run(self.beside.there, "shell", SAMPLE, input=commands.replace(b"\n", b"\r\n")))
        budget = self.folder / "budget.json"
        budget.write_bytes(json.dumps({"types": [{"type": "Shop.Order", "count": 1}]}, indent=1).encode().replace(b"\n", b"\r\n"))
        words = ("check", SAMPLE, "--budget", budget)
        self.expect("a budget with \\r\\n", self.run(self.beside.here, *words), self.run(self.beside.there, *words))

    def standard_input(self):
        """A dump through a pipe: its bytes have all values."""
        data = pathlib.Path(SAMPLE).read_bytes()
        here, there = (self.run(program, "stat", "-", "--format", "csv", input=data) for program in (self.beside.here, self.beside.there))
        self.expect("a dump through standard input", here, there)

    def closed_pipes(self):
        """A reader that has seen enough ends the program without a word."""
        ends = []
        for program in (self.beside.here, self.beside.there):
            process = subprocess.Popen([*program, "objects", SAMPLE, "--format", "csv", "--top", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       stdin=subprocess.DEVNULL, env=self.beside.environment)
            process.stdout.read(100)
            process.stdout.close()
            errors = process.stderr.read()
            ends.append((process.wait(PATIENCE), b"", errors))
        self.expect("a pipe that nobody reads", *ends)

    def try_all(self):
        for way in (self.nowhere, self.backslashes, self.long_paths, self.carriage_returns, self.standard_input, self.closed_pipes):
            way()
