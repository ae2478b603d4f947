#!/usr/bin/env python3
"""A program that takes known amounts of memory of several kinds (../programs/account), dumped, and alive; `account` must say what it knows.

    account.py --list --sample                 the kinds that a short run makes, written account:MAJOR:DUMP; --all: all of them
    account.py DNHEAP --one account:10:full    starts the program, dumps it, compares, deletes the dump

DUMP is heap, full or gcore; live: the process itself. Exit codes are those of matrix.py.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import matrix
import targets

SMALL, LARGE, MANAGED, THREADS = 300, 50, 64, 20  # MiB of malloc in small blocks and in large ones, of the heap; threads
KINDS = [f"account:{major}:{dump}" for major in (8, 9, 10) for dump in ("full", "heap", "gcore", "live")]
SAMPLE = ["account:10:full", "account:9:heap", "account:8:live"]  # even a short run makes these

NEAR = 0.02
MIB = 1 << 20
PAGE = 4096


def run(dnheap, kind, major, dump):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-account-") as folder:
        with targets.Target(kind, major, arguments=[SMALL, LARGE, MANAGED, THREADS]) as target:
            threads = len(list(pathlib.Path(f"/proc/{target.pid}/task").iterdir()))
            if dump == "live":
                answer, live = of_process(dnheap, target.pid), of_process(dnheap, target.pid, "--live")
                return classes(answer, target.truth["said"], threads, dump) + alive(live, target.truth["said"]) + resident(answer, target.pid)
            path = target.dump(dump, pathlib.Path(folder) / "account.core")
            said = target.truth["said"]
        answer = matrix.answer(dnheap, "account", path)
        return classes(answer, said, threads, dump) + alive(matrix.answer(dnheap, "account", path, "--live"), said) + sums(answer, path, dump)


def of_process(dnheap, pid, *options):
    done = subprocess.run([str(dnheap), "account", "-p", str(pid), "--format", "json", *options], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def by_class(answer, column="bytes"):
    return {row["class"]: row[column] for row in answer["tables"]["account"]}


def near(what, found, expected, more=0):
    """`more`: what may come on top of what the program knows, as the runtime takes it."""
    low, high = expected * (1 - NEAR), expected * (1 + NEAR) + more
    return [] if low <= found <= high else [f"{what}: {found / MIB:.2f} MiB, not {expected / MIB:.2f} (and at most {more / MIB:.2f} more)"]


def classes(answer, said, threads, dump):
    found, pieces = by_class(answer), by_class(answer, "pieces")
    problems = near("malloc in use", found["malloc_in_use"], said["small"], 6 * MIB)
    problems += near("malloc free", found["malloc_free"] + found["malloc_cached"], said["freed"], MIB)
    problems += near("malloc large", found["malloc_large"], said["large"], MIB)
    problems += near("objects", found["objects"], said["live"] + said["dead"], 2 * MIB)
    if pieces["stacks_in_use"] != threads:
        problems.append(f"{pieces['stacks_in_use']} stacks, of {threads} threads")
    # 1 MiB each, as targets.py limits them; of the main thread what it has used.
    problems += near("stacks", found["stacks_in_use"] + found["stacks_below"], (threads - 1) * MIB, MIB)
    if found.get("malloc_not_walked", 0) or found.get("gc_not_walked", 0):
        problems.append(f"not walked: {found}")
    unknown = found.get("not_identified", 0)
    if unknown > (6 if dump in ("heap", "full") else 2) * MIB:
        problems.append(f"{unknown / MIB:.2f} MiB are not identified: {answer['tables']['not_identified'][:5]}")
    shares = sum(row["share"] for row in answer["tables"]["account"] if row["share"] is not None)
    return problems + ([] if abs(shares - 1) < 1e-9 else [f"the shares add up to {shares}"])


def alive(answer, said):
    found = by_class(answer)
    return near("live objects", found["live_objects"], said["live"], MIB) + near("dead objects", found["dead_objects"], said["dead"], MIB)


def union(stretches):
    total, end = 0, 0
    for start, stop in sorted(stretches):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def sums(answer, path, dump):
    """Against the core's own headers: what is mapped by segments and by files, and what of it lies in the core."""
    core = path.read_bytes()
    table, size, count = struct.unpack_from("<Q14xHH", core, 32)
    mapped, stored = [], 0
    if count == 0xffff:
        sections, = struct.unpack_from("<Q", core, 40)
        count, = struct.unpack_from("<I", core, sections + 44)
    for at in range(table, table + count * size, size):
        kind, _, offset, start, _, in_file, in_memory = struct.unpack_from("<IIQQQQQ", core, at)
        if kind == 1:
            mapped.append((start, start + max(in_file, in_memory)))
            stored += in_file
        elif kind == 4:
            mapped += files(core[offset:offset + in_file])
    found, in_dump = by_class(answer), by_class(answer, "dump_bytes")
    reserved = found.get("reserved", 0)
    problems = []
    if sum(found.values()) != union(mapped):
        problems.append(f"the classes add up to {sum(found.values())}; mapped are {union(mapped)}")
    if sum(in_dump.values()) + (reserved if dump == "gcore" else 0) != stored:
        problems.append(f"in the dump are {stored}, not {sum(in_dump.values())}; reserved: {reserved}")
    return problems


def files(notes):
    """The stretches that NT_FILE lists."""
    at = 0
    while at + 12 <= len(notes):
        name, length, kind = struct.unpack_from("<III", notes, at)
        at += 12 + (name + 3 & ~3)
        if kind == 0x46494c45:
            many, = struct.unpack_from("<Q", notes, at)
            return [struct.unpack_from("<QQ", notes, at + 16 + 24 * i) for i in range(many)]
        at += length + 3 & ~3
    return []


def resident(answer, pid):
    mapped = sum(stop - start for start, stop in (map(lambda text: int(text, 16), line.split()[0].split("-"))
                                                  for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()))
    rollup = dict(line.split(":") for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    kib = sum(int(rollup[key].split()[0]) for key in ("Rss", "Swap"))
    found, low, high = by_class(answer), by_class(answer, "resident_low"), by_class(answer, "resident_high")
    problems = []
    if abs(sum(found.values()) - mapped) > 16 * PAGE:  # it ran on in between
        problems.append(f"the classes add up to {sum(found.values())}; mapped are {mapped}")
    for what, total in (("least", sum(low.values())), ("most", sum(high.values()))):
        problems += near(f"resident at the {what}", total, kib * 1024)
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
