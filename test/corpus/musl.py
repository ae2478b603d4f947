#!/usr/bin/env python3
"""Compares what dnheap says of real cores of linux-musl-x64 with what ClrMD and Microsoft's DAC said of them, and the programs. Exactly.

    musl.py DNHEAP [--only NAME]

$DNHEAP_CORPUS/musl has NAME.core.zst, the witness's answers in answers/, and what the program said of itself in NAME.truth.txt. No file of
the runtimes is used. Without that folder nothing is tested, and the exit code is 77.
"""
import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "real"))
import clrmd
import corpus
import matrix

HARBOUR = [f"harbour{major}-{kind}" for major in (8, 10, 11) for kind in ("heap", "crash")]
# ld-musl has no unwind data: where abort() was called is known, but how its caller is left is not.
NATIVE = "could not be followed: it stands in a helper of the runtime (ld-musl-x86_64.so.1)"


def harbour(dnheap, dump, name):
    """80 crates that only the stacks of 8 threads hold; a lock with its owner and a waiter."""
    threads = {row["os_id"]: row["name"] for row in matrix.answer(dnheap, "threads", dump)["tables"]["threads"]}
    holders = collections.defaultdict(set)
    crates = {row["address"] for row in matrix.answer(dnheap, "objects", dump, "--type", "^Harbour.Crate$", "--live")["tables"]["objects"]}
    for row in matrix.answer(dnheap, "roots", dump)["tables"]["roots"]:
        if row["object"] in crates and row["thread"]:
            holders[row["object"]].add(threads[row["thread"]])
    by = collections.Counter(name for names in holders.values() for name in names)
    problems = [] if len(crates) == 80 else [f"{len(crates)} crates are alive"]
    if len(holders) == 80 and by != {f"crane {i}": 10 for i in range(8)}:
        problems.append(f"crates are held by {by}")
    if name.endswith("crash"):
        words = matrix.answer(dnheap, "info", dump)["target"]["crash"]["text"]
        return problems + ([] if ": unhandled System.InvalidOperationException 0x" in words and " Harbour.Dock.Main(System.String[]). It has a message, " in words else [words])
    locks = [row for row in matrix.answer(dnheap, "locks", dump)["tables"]["locks"] if row["waiters"]]
    found = [(threads.get(row["owner_os_id"]), row["waiters"]) for row in locks]
    return problems + ([] if ("crane 3", 1) in found else [f"locks: {found}"])


def boom(dnheap, dump, name):
    """The first thread's stack, deeper than musl said that it may be."""
    if name == "boom10-overflow":
        words = matrix.answer(dnheap, "info", dump)["target"]["crash"]["text"]
        return [] if words.endswith(": stack overflow in Boom.Deep(Int32)") else [words]
    rows = matrix.answer(dnheap, "stack", dump, "--all")["tables"]["frames"]
    calls = sum((row["method"] or "").startswith("Boom.Down(") for row in rows)
    versions = {row["object"] for row in matrix.answer(dnheap, "roots", dump, "--type", "^System.Version$")["tables"]["roots"] if row["thread"]}
    return ([] if calls == 50001 else [f"{calls} calls of Boom.Down"]) + ([] if len(versions) == 5 else [f"{len(versions)} versions are held"])


def malloc(dnheap, dump, path):
    """malloc's sums, beside those of a reader of the same structures that was written without this one."""
    text = path.read_text()
    areas, large = (int(re.search(pattern, text)[1]) for pattern in (r"(\d+) areas", r"(\d+) blocks mapped by themselves"))
    mappings, blocks, free = (int(re.search(pattern, text)[1].replace(",", ""))
                              for pattern in (r"groups' mappings ([\d,]+) B", r"blocks in use ([\d,]+):", r"free slots ([\d,]+) B"))
    rows = {row["class"]: row for row in matrix.answer(dnheap, "account", dump)["tables"]["account"]}
    in_use, of_large = rows["malloc_in_use"], rows["malloc_large"]
    found = {"mapped": in_use["bytes"] + rows["malloc_free"]["bytes"] + of_large["bytes"] - 4096 * areas, "large": of_large["pieces"]}
    expected = {"mapped": mappings, "large": large}
    # Those in the last pages of libraries are part of these.
    given, given_free = blocks - in_use["pieces"] - of_large["pieces"], free - rows["malloc_free"]["bytes"]
    print(f"{in_use['pieces']} + {of_large['pieces']} blocks of malloc, {given} in libraries, and {given_free} free bytes there")
    problems = [] if 0 <= given <= 100 and 0 <= given_free <= 1024 else [f"in libraries: {given} blocks, {given_free} bytes"]
    return problems + ([] if found == expected else [f"malloc: {found}, not {expected}"])


def check(dnheap, folder, name, dump, _):
    answers = folder / "answers"
    problems = clrmd.compare(dnheap, dump, answers, name, follows_thread_statics="harbour8" in name)
    if (given := answers / f"{name}.mallocng.txt").exists():
        problems += malloc(dnheap, dump, given)
    problems += harbour(dnheap, dump, name) if name in HARBOUR else boom(dnheap, dump, name)
    return [problem for problem in problems if NATIVE not in problem]


if __name__ == "__main__":
    sys.exit(corpus.check_each(__doc__, "musl", "cores of musl", [*HARBOUR, "boom10-deep-heap", "boom10-overflow"], "core", check))
