#!/usr/bin/env python3
"""For each value that a runtime publishes in its data contracts: the answers of the same dump without it. No answer may change without a
word.

    left_out.py DNHEAP --one left-out:PROGRAM:VERSION
    left_out.py DNHEAP --list [--all | --sample]

The first character of a name in the descriptors' JSON is changed in the dump, then all questions below are asked of it. Whatever a table
says else than before, a note, a table `problems` or an error must say why; `info` alone lists the contracts and counts the values.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import matrix
import targets

KINDS = ["left-out:kinds:11", "left-out:locks:11", "left-out:semaphores:11"]
SAMPLE = []

QUESTIONS = ["stat --live", "threads", "stack --all", "exceptions", "locks", "async", "handles", "roots", "retained", "gc", "segments", "inspect timers",
             "inspect events", "inspect contexts", "inspect finalizers", "inspect requests", "account", "info", "report", "verify"]
SECTIONS = ("types", "globals", "contracts")


def names(data):
    """(offset, "types.Thread.OSId") of each name in the descriptors."""
    for match in re.finditer(rb'\{"version":', data):
        path, name, at = [], "", match.start()
        for token in re.finditer(rb'"([^"]*)"(:?)|[{}]', data[at:at + (1 << 20)]):
            if token[0] == b"{":
                path.append(name)
            elif token[0] == b"}":
                path.pop()
                if not path:
                    break
            elif token[2]:
                name = token[1].decode()
                if len(path) > 1 and path[1] in SECTIONS and name != "!":
                    yield at + token.start(1), ".".join([*path[1:], name])


def answers(dnheap, dump):
    """{(verb, number): (tables, what is said besides)}, and all that was written."""
    lines = "".join(f"{question} --format json\n" for question in QUESTIONS)
    text = subprocess.run([dnheap, "shell", dump], input=lines, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600).stdout
    out, decoder, at = {}, json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            answer, end = decoder.raw_decode(text, at)
        except ValueError:
            answer, end = {}, at + 1
        if "tables" in answer:
            key = (answer["command"], sum(verb == answer["command"] for verb, _ in out))
            out[key] = (answer["tables"], (answer.get("completeness"), answer["tables"].get("problems")))
        at = text.find("{", end)
    return out


def run(dnheap, _, program, major):
    with tempfile.TemporaryDirectory(prefix="dnheap-left-out-") as folder:
        with targets.Target("waits", major, arguments=[program]) as target:
            path = target.dump("heap", pathlib.Path(folder) / f"{program}.core")
        return silent(dnheap, path)


def silent(dnheap, path):
    data = path.read_bytes()
    before, tried, problems = answers(dnheap, path), 0, []
    with open(path, "r+b") as file:
        for at, name in names(data):
            file.seek(at)
            file.write(b"~")
            file.flush()
            tried += 1
            for key, (tables, rest) in answers(dnheap, path).items():
                if key[0] != "info" and tables != before[key][0] and rest == before[key][1]:
                    changed = [table for table in tables if tables[table] != before[key][0][table]]
                    problems.append(f"without {name} {key[0]} says other things in {changed}, and not why")
            file.seek(at)
            file.write(data[at:at + 1])
    print(f"{tried} values left out of {len(before)} answers")
    return problems if tried > 500 else [*problems, f"only {tried} values were found"]


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
