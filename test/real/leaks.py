#!/usr/bin/env python3
"""A program with one problem of memory (../programs/leaks), dumped; the report must name it, in words, with the right bytes.

    leaks.py --list --sample                 the kinds that a short run makes, written leak:PROBLEM:MAJOR:DUMP; --all: all of them
    leaks.py DNHEAP --one leak:cache:10:heap     starts the program, dumps it, asks for the report, deletes the dump

Exit codes are those of matrix.py.
"""
import pathlib
import sys
import tempfile

import matrix
import targets

NEAR = 0.01

# Problem → the verdict's rule; what the first suspect's line must name; whether its bytes are what the program knows.
PROBLEMS = {
    "cache": ("one_owner", ["static Shop.SessionCache.Sessions", "Shop.Session"], True),
    "events": ("one_owner", ["static Shop.OrderBus", "OrderChanged", "Shop.OrderView.OnOrderChanged"], True),
    "timers": ("one_owner", ["static Shop.Reminder.All", "Shop.Reminder"], True),
    "chain": ("one_owner", ["static Shop.Undo.Last", "Shop.Undo+Step"], True),
    "async": ("one_owner", ["static Shop.Payments.", " and others", "PayAsync"], True),
    "pool": ("one_owner", ["static Shop.Program.kept", "Byte[]"], True),
    "finalizer": ("finalizers", [], False),
    "native": ("native", [], False),
    "threads": ("threads", [], False),
    "dead": ("dead_objects", [], False),
    "empty": ("gc_holds_empty_memory", [], False),
    "holes": ("fragmentation", [], False),
    "healthy": ("nothing", [], False),
    "steady": ("nothing", [], False),
}
KINDS = [f"leak:{problem}:{major}:{'full' if problem in ('native', 'threads') else 'heap'}" for problem in PROBLEMS for major in (8, 9, 10)]
ENVIRONMENT = {"empty": {"DOTNET_GCRetainVM": "1"}}
SAMPLE = ["leak:timers:10:heap"]  # even a short run makes these


def run(dnheap, _, kind, major, dump):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-leaks-") as folder:
        with targets.Target("leaks", major, arguments=[kind], settings=ENVIRONMENT.get(kind)) as target:
            path = target.dump(dump, pathlib.Path(folder) / f"{kind}.core")
            said = target.truth["said"]
        answer = matrix.answer(dnheap, "report", path)
        return compare(dnheap, path, kind, answer, said)


def compare(dnheap, path, kind, answer, said):
    rule, words, has_bytes = PROBLEMS[kind]
    verdict = answer["target"]["verdict"]
    suspects = answer["tables"]["suspects"]
    problems = []
    if verdict["rule"] != rule:
        problems.append(f"the verdict is {verdict}, not {rule}; suspects: {[row['text'] for row in suspects[:3]]}")
    first = suspects[0] if suspects else {"text": "", "owner": "", "path": [], "retained": 0}
    line = " ".join([first["owner"], first["text"], *(step["field"] or "" for step in first["path"])])
    problems += [f"the first suspect is {line!r}: it does not name {word}" for word in words if word not in line]
    if has_bytes and abs(first["retained"] - said["bytes"]) > NEAR * said["bytes"]:
        problems.append(f"the first suspect holds {first['retained']} bytes; the program knows of {said['bytes']}")
    if words:  # the command that is shown next leads from that owner
        way = matrix.answer(dnheap, "path", path, "@1")
        if way["tables"]["paths"][0]["root"]["owner"] != first["owner"].removesuffix(" and others"):
            problems.append(f"path @1 begins at {way['tables']['paths'][0]['root']}, not at {first['owner']}")
    if kind == "native" and abs(answer_bytes(answer, "malloc_in_use") / said["bytes"] - 1) > 0.05:
        problems.append(f"malloc in use: {answer_bytes(answer, 'malloc_in_use')}, not {said['bytes']}")
    return problems


def answer_bytes(answer, memory):
    return sum(row["bytes"] for row in answer["tables"]["account"] if row["class"] == memory)


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
