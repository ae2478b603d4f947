#!/usr/bin/env python3
"""Lines and branches of src/ that a run of tests went through, by folder: coverage.py BUILD-FOLDER [--missed FILE…]

BUILD-FOLDER was built with --coverage (preset `coverage`) and its tests have run. Edges to exception handling are not counted as
branches: nearly every call has one. With --missed: the lines of these files that nothing ran."""
import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = PROJECT / "src"


def gcov_name(build):
    """gcov of the compiler that the build was made with."""
    compiler = re.search(r"^CMAKE_CXX_COMPILER:[A-Z]*=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)[1]
    name = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
    if "Free Software Foundation" not in name:
        sys.exit(f"coverage.py: needs a build by g++, not by {compiler}")
    version = subprocess.run([compiler, "-dumpversion"], check=True, capture_output=True, text=True).stdout.strip()
    return next((gcov for gcov in (f"gcov-{version}", "gcov") if shutil.which(gcov)), "gcov")


def merge(documents):
    """{file: {line: (times run, {branch: times taken})}} of gcov's JSON; the same line of several objects is added up."""
    lines = collections.defaultdict(dict)
    for document in documents:
        for file in document["files"]:
            path = pathlib.Path(document["current_working_directory"], file["file"]).resolve()
            if SOURCES not in path.parents:
                continue
            of_file = lines[path.relative_to(SOURCES)]
            for line in file["lines"]:
                count, branches = of_file.setdefault(line["line_number"], (0, collections.Counter()))
                real = [branch for branch in line["branches"] if not branch["throw"]]
                for i, branch in enumerate(real):
                    branches[i] += branch["count"]
                of_file[line["line_number"]] = (count + line["count"], branches)
    return lines


def read(build):
    objects = sorted(build.joinpath("src").rglob("*.gcno"))
    if not any(build.joinpath("src").rglob("*.gcda")):
        sys.exit(f"coverage.py: no test has run in {build}")
    for begin in range(0, len(objects), 20):
        done = subprocess.run([gcov_name(build), "--stdout", "--json-format", "--branch-probabilities",
                               *objects[begin:begin + 20]], cwd=build, check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        for text in done.stdout.splitlines():
            yield json.loads(text)


class Sum:
    def __init__(self):
        self.lines = self.run = self.branches = self.taken = 0

    def add(self, lines):
        for count, branches in lines.values():
            self.lines += 1
            self.run += count > 0
            self.branches += len(branches)
            self.taken += sum(taken > 0 for taken in branches.values())

    def row(self, name):
        share = lambda part, whole: f"{100 * part / whole:.1f} %" if whole else "–"
        return (f"| {name} | {self.lines:,} | {share(self.run, self.lines)} | {self.branches:,} | "
                f"{share(self.taken, self.branches)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--missed", nargs="+", metavar="FILE", default=[])
    options = parser.parse_args()
    files = merge(read(options.build.resolve()))

    folders, total = collections.defaultdict(Sum), Sum()
    for file, lines in files.items():
        folders[file.parent].add(lines)
        total.add(lines)
    print("| folder | lines | run | branches | taken |\n|---|---:|---:|---:|---:|")
    for folder in sorted(folders):
        print(folders[folder].row(f"`{folder}`"))
    print(total.row("all"))

    missed = sorted(((sum(not count for count, _ in lines.values()), file) for file, lines in files.items()), reverse=True)
    print("\nMost lines that nothing ran:")
    for count, file in missed[:15]:
        print(f"{count:5} {file}")
    for file in options.missed:
        lines = files.get(pathlib.Path(file))
        if lines is None:
            sys.exit(f"coverage.py: no object has lines of src/{file}")
        text = SOURCES.joinpath(file).read_text().splitlines()
        print(f"\n{file}")
        for number in sorted(number for number, (count, _) in lines.items() if not count):
            print(f"{number:5} {text[number - 1]}")


if __name__ == "__main__":
    main()
