#!/usr/bin/env python3
"""Does the program still answer as the README and the guide show it? Usage: readme_check.py DNHEAP [--update]

Runs every command of README.md and doc/guide/ that follows a "$ " in a code block, and compares what it writes with what stands below it.
--update writes what came out into them instead: look at the diff.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
# A command, its further lines if the one before ends in | or \, and its output up to the next command or the block's end.
SESSION = re.compile(r"^\$ (?P<command>(?:.*[|\\]\n)*.*\n)(?P<output>(?:(?!\$ |```).*\n)*)", re.MULTILINE)


def output_of(command, programs):
    done = subprocess.run(["sh", "-c", command], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, COLUMNS="", PATH=f"{programs}:{os.environ['PATH']}"))
    return done.stdout.decode().replace("\r\n", "\n")


def main(dnheap, update):
    documents = [PROJECT / "README.md", *sorted((PROJECT / "doc" / "guide").glob("*.md"))]
    wrong, sessions = [], 0

    def run(session):
        nonlocal sessions
        command, output = session["command"], session["output"]
        sessions += 1
        if "jq " in command and not shutil.which("jq"):
            print(f"SKIPPED, no jq here: {command}", end="")
            return session[0]
        actual = output_of(command, programs)
        if actual != output:
            wrong.append(f"$ {command}--- shown\n{output}--- now\n{actual}")
        return f"$ {command}{actual}"

    with tempfile.TemporaryDirectory(prefix="dnheap-readme-") as programs:
        os.symlink(pathlib.Path(dnheap).resolve(), f"{programs}/dnheap")
        updated = [SESSION.sub(run, document.read_text()) for document in documents]
    if update:
        for document, text in zip(documents, updated):
            document.write_text(text)
        return 0
    print("\n".join(wrong) or f"README and guide: {sessions} commands answer as shown")
    return 1 if wrong or not sessions else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--update" in sys.argv[2:]))
