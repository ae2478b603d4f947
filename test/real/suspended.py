#!/usr/bin/env python3
"""A program whose async methods are suspended in every way (../programs/suspended), compiled with state machines and without
them, dumped: `async` must tell the same stacks of both, those that the program knows, and nothing of the heap be missing.

    suspended.py --list --sample              the kinds that a short run makes, written KIND:MAJOR:HOW; --all: all of them
    suspended.py DNHEAP --one kinds:11:runtime

    kinds    each kind of await and of method, one that runs now among them
    chains   1,000 chains of three methods; many: 100,000, how long it takes
    deep     one chain of 10,000 methods
    held     1,000 chains whose outermost methods hold 4 KiB each: who holds that

HOW is runtime (the runtime suspends the methods itself) or machines. Exit codes are those of matrix.py.
"""
import pathlib
import sys
import tempfile
import time

import matrix
import targets

COUNTS = {"many": ("chains", "100000"), "deep": ("deep", "10000"), "chains": ("chains", "1000"), "held": ("held", "1000"), "kinds": ("kinds",)}
KINDS = [f"{kind}:11:{how}" for kind in COUNTS for how in ("runtime", "machines")] + ["kinds:10:machines"]
SAMPLE = ["kinds:11:runtime", "held:11:runtime"]
MOST_FRAMES = 1000  # of one stack, that `async` lists
MOST_SECONDS = 20  # of many, on a machine that does other work, too; alone it takes about one


def run(dnheap, kind, major, how):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-suspended-") as folder:
        with targets.Target("suspended", major, arguments=COUNTS[kind], runtime_async=how == "runtime") as target:
            path = target.dump("heap", pathlib.Path(folder) / f"{kind}.core")
        problems = stacks(dnheap, path, target.truth["said"]["stacks"])
        if kind != "many":
            problems += matrix.answer(dnheap, "verify", path)["tables"]["problems"]
            problems += variables(dnheap, path) if (kind, how) == ("kinds", "runtime") else []
            problems += awaited(dnheap, path) if kind == "kinds" else []
        return problems + (holders(dnheap, path, how) if kind == "held" else [])


def stacks(dnheap, path, said):
    start = time.monotonic()
    answer = matrix.answer(dnheap, "async", path)
    seconds = time.monotonic() - start
    print(f"{sum(row['calls'] for row in answer['tables']['calls'])} calls in {seconds:.1f} s")
    found, lines = {}, []
    for row in answer["tables"]["calls"]:
        own = tuple(method.split("<")[0] for method in row["stack"] if method.startswith("Suspended."))
        if own:
            found[own] = found.get(own, 0) + row["count"]
        lines += [(method, source, line) for method, source, line in zip(row["stack"], row["sources"], row["lines"]) if method in own]
    expected = {}
    for one in said:
        methods = tuple(one["methods"][:MOST_FRAMES])
        expected[methods] = expected.get(methods, 0) + one["count"]

    def short(stacks):
        return sorted((count, len(methods), methods[:4]) for methods, count in stacks.items())

    problems = [] if short(found) == short(expected) else [f"stacks: {short(found)}, not {short(expected)}"]
    for method, source, line in lines[:200]:
        text = pathlib.Path(source).read_text().splitlines()[line - 1] if source and line else ""
        if line and "await" not in text and "Sleep" not in text:
            problems.append(f"{method} is at {source}:{line}: {text}")
    problems += [] if answer["completeness"]["complete"] else [f"not complete: {answer['completeness']}"]
    return problems + ([f"it took {seconds:.1f} s"] if seconds > MOST_SECONDS else [])


AWAITED = {"Suspended.ByStructAwaiter": "other", "Suspended.Posted": "its turn to run", "Suspended.Suppresses": "TaskCompletionSource", "Suspended.WaitsAnHour": "semaphore"}


def awaited(dnheap, path):
    """Calls of the library's own, by which others await, are on no stack; and what is awaited in the end."""
    rows = matrix.answer(dnheap, "async", path)["tables"]["calls"]
    found = {row["stack"][-1]: row["awaits"] for row in rows if row["stack"][-1] in AWAITED}
    problems = [] if found == AWAITED else [f"what is awaited is {found}, not {AWAITED}"]
    return problems + [f"a stack has {method}" for row in rows for method in row["stack"] if "AsyncHelpers." in method]


def variables(dnheap, path):
    """The variables of suspended calls that the runtime says where it keeps have their names."""
    found = []
    for one in matrix.answer(dnheap, "objects", path, "--type", "Continuation", "--top", "0")["tables"]["objects"]:
        if one["type"].startswith("Continuation_"):
            found += [row["field"] for row in matrix.answer(dnheap, "show", path, one["address"])["tables"]["references"]]
    return [f"no suspended call keeps {name}: {found}" for name in (".value", ".large", ".large.0x8") if name not in found]


def holders(dnheap, path, how):
    """Whose the large arrays are: `path` leads to them by the call that holds them."""
    rows = matrix.answer(dnheap, "stat", path, "--type-exact", "System.Byte[]")["tables"]["types"]
    one = next(row["address"] for row in matrix.answer(dnheap, "objects", path, "--type-exact", "System.Byte[]", "--min", "4096")["tables"]["objects"])
    steps = matrix.answer(dnheap, "path", path, one)["tables"]["paths"][0]["steps"]
    calls = [step["call"] for step in steps if step["call"]]
    found = [row["field"] for row in matrix.answer(dnheap, "waste", path, "--live")["tables"]["waste"] if row["what"] == "System.Byte[]"]
    problems = [] if any("Suspended.Holds" in field or "<Holds>" in field for field in found) else [f"equal arrays are in {found}"]
    problems += [] if "Suspended.Holds" in calls else [f"the way to a large array leads by {[(step['type'], step['call']) for step in steps]}"]
    return problems + ([] if rows else ["no arrays"])


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
