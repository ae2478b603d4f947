#!/usr/bin/env python3
"""A program that takes known amounts of memory of several kinds (../programs/account), dumped, and alive; `account` must say what it knows.

    account.py --list --sample                 the kinds that a short run makes, written account:MAJOR:DUMP; --all: all of them
    account.py DNHEAP --one account:10:full    starts the program, dumps it, compares, deletes the dump
    account.py DNHEAP --one jemalloc:10:full   with that allocator in the place of libc's malloc

DUMP is heap, full or gcore; live: the process itself. Exit codes are those of matrix.py.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import mapped
import matrix
import runtimes
import targets

SMALL, LARGE, MANAGED, THREADS = 300, 50, 64, 20  # MiB of malloc in small blocks and in large ones, of the heap; threads
KINDS = [f"account:{major}:{dump}" for major in runtimes.MAJORS for dump in ("full", "heap", "gcore", "live")]
# Debian's packages of other allocators, and the file of each.
ALLOCATORS = {"jemalloc": ("libjemalloc2", "libjemalloc.so.2"), "mimalloc": ("libmimalloc2.0", "libmimalloc.so.2"),
              "tcmalloc": ("libtcmalloc-minimal4", "libtcmalloc_minimal.so.4")}
KINDS += [f"{name}:10:{dump}" for name in ALLOCATORS for dump in ("full", "heap", "gcore")]
SAMPLE = ["account:10:full", "account:11:live", "jemalloc:10:heap"]  # even a short run makes these

NEAR = 0.02
MIB = 1 << 20
PAGE = 4096


class NoAllocator(runtimes.NoSdk):
    """The allocator is not to be had here."""


def allocator(name):
    """The library, out of its package; this machine's own packages stay as they are."""
    package, file = ALLOCATORS[name]
    folder = runtimes.cache() / "allocators"
    with runtimes.lock():
        folder.mkdir(exist_ok=True)
        found = next(folder.glob(f"usr/lib/*/{file}"), None)
        if found:
            return found
        if not all(map(shutil.which, ("apt-get", "dpkg"))):
            raise NoAllocator(f"{name} is a package of Debian's, and this is none")
        with tempfile.TemporaryDirectory(prefix="dnheap-package-") as work:
            (pathlib.Path(work) / "lists" / "partial").mkdir(parents=True)
            private = ["-o", f"Dir::State::lists={work}/lists", "-o", f"Dir::Cache={work}/cache", "-o", "APT::Sandbox::User=root"]
            for command in (["download", package], [*private, "update"], [*private, "download", package]):  # no lists here, or old ones
                done = subprocess.run(["apt-get", "-q", *command], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if packed := next(pathlib.Path(work).glob("*.deb"), None):
                    subprocess.run(["dpkg", "-x", packed, folder], check=True)
                    return next(folder.glob(f"usr/lib/*/{file}"))
    raise NoAllocator(f"{package} cannot be downloaded: {done.stdout.splitlines()[-1:]}")


def with_allocator(dnheap, name, major, dump):
    """What it holds is not identified, and both answers name who has it; nothing of it counts as libc's malloc."""
    library = allocator(name)
    with tempfile.TemporaryDirectory(prefix="dnheap-account-") as folder:
        with targets.Target("account", major, arguments=[SMALL, LARGE, MANAGED, THREADS],
                            settings={"DOTNET_GCgen0size": "4000000", "LD_PRELOAD": str(library)}) as target:
            path, said = target.dump(dump, pathlib.Path(folder) / f"{name}.core"), target.truth["said"]
        answer, report = matrix.answer(dnheap, "account", path), matrix.answer(dnheap, "report", path)
        problems = mapped.sums(answer, path)
    found = mapped.by_class(answer)
    theirs = found.get("malloc_not_walked", 0) if name == "mimalloc" else 0  # its segments
    of_malloc = sum(size for memory, size in found.items() if memory.startswith("malloc_")) - theirs
    if name == "mimalloc":
        problems += near("in segments", theirs, said["small"], 128 * MIB)
    if of_malloc > MIB:
        problems.append(f"{of_malloc / MIB:.2f} MiB are libc's malloc's")
    # What it has freed it keeps, or has given back; its pages are not full.
    problems += near("not identified", found["not_identified"] + theirs, said["small"] + said["large"], 128 * MIB)
    notes, words = answer["completeness"]["notes"], f"the process uses {name} ({pathlib.Path(library).name}"
    verdict = report["target"]["verdict"]
    print(verdict["text"])
    if not any(note.startswith(words) for note in notes) or any("main arena" in note for note in notes):
        problems.append(f"the notes are {notes}")
    if verdict["rule"] != "other_allocator" or f" {name} (" not in verdict["text"]:
        problems.append(f"the verdict is {report['verdict']}")
    return problems


def run(dnheap, kind, major, dump):
    """All problems of one kind, in words."""
    if kind in ALLOCATORS:
        return with_allocator(dnheap, kind, major, dump)
    with tempfile.TemporaryDirectory(prefix="dnheap-account-") as folder:
        # With generation 0 as large as a small cache suggests, what is dead would be collected.
        with targets.Target(kind, major, arguments=[SMALL, LARGE, MANAGED, THREADS], settings={"DOTNET_GCgen0size": "4000000"}) as target:
            threads = len(list(pathlib.Path(f"/proc/{target.pid}/task").iterdir()))
            if dump == "live":
                answer, live = of_process(dnheap, target.pid), of_process(dnheap, target.pid, "--live")
                return (classes(answer, target.truth["said"], threads) + alive(live, target.truth["said"]) + resident(answer, target.pid)
                        + reported(dnheap, target.pid))
            private = private_resident(target.pid)
            path = target.dump(dump, pathlib.Path(folder) / "account.core")
            said = target.truth["said"]
        answer = matrix.answer(dnheap, "account", path)
        return (classes(answer, said, threads) + alive(matrix.answer(dnheap, "account", path, "--live"), said)
                + mapped.sums(answer, path) + estimate(answer, private))


def reported(dnheap, pid):
    """A report copies the process, which then goes on: what is resident has to be looked at before."""
    said = subprocess.run([str(dnheap), "report", "-p", str(pid)], stdout=subprocess.PIPE, check=True, text=True).stdout
    total = next(line for line in said.splitlines() if line.endswith("total, each byte once"))
    print(f"report: {total}")
    return [] if "not looked at" not in said and " - " not in f" {total} " else [f"report tells nothing of what is resident: {total}"]


def of_process(dnheap, pid, *options):
    done = subprocess.run([str(dnheap), "account", "-p", str(pid), "--format", "json", *options], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def near(what, found, expected, more=0):
    """`more`: what may come on top of what the program knows, as the runtime takes it."""
    low, high = expected * (1 - NEAR), expected * (1 + NEAR) + more
    return [] if low <= found <= high else [f"{what}: {found / MIB:.2f} MiB, not {expected / MIB:.2f} (and at most {more / MIB:.2f} more)"]


def classes(answer, said, threads):
    found, pieces = mapped.by_class(answer), mapped.by_class(answer, "pieces")
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
    if unknown > MIB:
        problems.append(f"{unknown / MIB:.2f} MiB are not identified: {answer['tables']['not_identified'][:5]}")
    shares = sum(row["share"] for row in answer["tables"]["account"] if row["share"] is not None)
    return problems + ([] if abs(shares - 1) < 1e-9 else [f"the shares add up to {shares}"])


def alive(answer, said):
    found = mapped.by_class(answer)
    return near("live objects", found["live_objects"], said["live"], MIB) + near("dead objects", found["dead_objects"], said["dead"], MIB)


def private_resident(pid):
    """Bytes in memory or swapped out that are of no file."""
    status = dict(line.split(":") for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return sum(int(status[key].split()[0]) for key in ("RssAnon", "RssShmem", "VmSwap")) * 1024


def estimate(answer, expected):
    """Of a dump: between what is not zero and what may have been touched."""
    low, high = (sum(row[key] or 0 for row in answer["tables"]["account"]) for key in ("resident_low", "resident_high"))
    print(f"resident, without files: {low / MIB:.1f} to {high / MIB:.1f} MiB; the system says {expected / MIB:.1f}")
    if low * (1 - NEAR) <= expected <= high * (1 + NEAR) and high - low < 2 * NEAR * expected:
        return []
    return [f"resident, without files: {low / MIB:.1f} to {high / MIB:.1f} MiB, not {expected / MIB:.1f}"]


def resident(answer, pid):
    expected = sum(stop - start for start, stop in (map(lambda text: int(text, 16), line.split()[0].split("-"))
                                                  for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()))
    rollup = dict(line.split(":") for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    kib = sum(int(rollup[key].split()[0]) for key in ("Rss", "Swap"))
    found, low, high = mapped.by_class(answer), mapped.by_class(answer, "resident_low"), mapped.by_class(answer, "resident_high")
    problems = []
    if abs(sum(found.values()) - expected) > 16 * PAGE:  # it ran on in between
        problems.append(f"the classes add up to {sum(found.values())}; mapped are {expected}")
    for what, total in (("least", sum(low.values())), ("most", sum(high.values()))):
        problems += near(f"resident at the {what}", total, kib * 1024)
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
