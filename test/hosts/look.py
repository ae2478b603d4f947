#!/usr/bin/env python3
"""Has a compiler look at all sources, tests among them, without making anything of them: an error or a warning is printed, and fails.
Usage: look.py COMPILER"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent


def looks(folder):
    """Of each source file, or of several as one: the command that compiles it, without what it would write."""
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        place = words.index("-o")
        del words[place:place + 2]
        words[words.index("-c")] = "-fsyntax-only"
        yield entry["directory"], words


def look(directory, words):
    done = subprocess.run(words, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout or (f"{words[-1]}: the compiler ended with {done.returncode}\n" if done.returncode else "")


def main(compiler):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cmake", "-S", PROJECT, "-B", folder, "-G", "Ninja", "-D", f"CMAKE_CXX_COMPILER={compiler}", "-D", "CMAKE_UNITY_BUILD=ON",
                        "-D", "CMAKE_BUILD_TYPE=Release", "-D", "CMAKE_DISABLE_PRECOMPILE_HEADERS=ON"], check=True, stdout=subprocess.DEVNULL)
        commands = list(looks(pathlib.Path(folder)))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            found = [said for said in workers.map(lambda command: look(*command), commands) if said]
    print("".join(found) + f"{compiler}: {len(commands)} units, {len(found)} with errors or warnings")
    return 1 if found or not commands else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
