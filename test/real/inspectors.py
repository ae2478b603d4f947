#!/usr/bin/env python3
"""A program with known timers, events and collections (../programs/inspect), dumped; `inspect` must say what it knows.

    inspectors.py --list --sample              the kinds that a short run makes, written inspect:MAJOR:DUMP; --all: all of them
    inspectors.py DNHEAP --one inspect:10:heap starts the program, dumps it, compares, deletes the dump

Each row that the program says must be there once, with the values that it says. A runtime that publishes where they lie has loader
heaps for each context that is collectible, and a stress log. Exit codes are those of matrix.py.
"""
import datetime
import pathlib
import sys
import tempfile

import matrix
import runtimes
import targets

KINDS = [f"inspect:{major}:{dump}" for major in runtimes.MAJORS for dump in ("heap", "gcore")]
SAMPLE = ["inspect:11:heap"]
PUBLISHES = 11  # the first version that publishes where its stress log lies
STRESS_LOG = {"DOTNET_StressLog": "1", "DOTNET_LogFacility": "0xffffffff", "DOTNET_LogLevel": "6", "DOTNET_StressLogSize": "100000",
              "DOTNET_TotalStressLogSize": "10000000"}
# What tells the rows of an inspector apart.
KEYS = {"timers": ("kind", "held_by", "active"), "events": ("event",), "collections": ("held_by",), "pools": ("type", "length", "kept_for"),
        "contexts": ("type", "state", "kept_by"), "finalizers": ("type",), "http": ("held_by", "state"), "db": ("held_by", "state"),
        "sockets": ("held_by", "state"), "safehandles": ("held_by", "state"), "regex": ("held_by", "is_cached"),
        "asynclocals": ("local", "value_type")}
TABLES = {"emitted": ("name",)}  # beside those of the inspectors' names


def run(dnheap, kind, major, dump):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-inspect-") as folder:
        begin = now()
        with targets.Target(kind, major, settings=STRESS_LOG) as target:
            path = target.dump(dump, pathlib.Path(folder) / "inspect.core")
            said, threads = target.truth["said"], {int(thread.name) for thread in pathlib.Path(f"/proc/{target.process.pid}/task").iterdir()}
        answers = {name: matrix.answer(dnheap, "inspect", path, name) for name in KEYS}
        answers["emitted"] = answers["contexts"]
        problems = [problem for row in said for problem in compare(row, answers[row["inspector"]])]
        problems += loader_heaps(answers["contexts"]) + loaders(matrix.answer(dnheap, "account", path), answers["contexts"])
        problems += ages(answers["timers"], (now() - begin).total_seconds() * 1000)
        return problems + (stress_log(dnheap, path, begin, now(), threads) if major >= PUBLISHES else [])


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def ages(answer, most):
    """Timers that were made 300 ms before the last ones are at least that old, and none is older than the process or late."""
    rows = [row for row in answer["tables"]["timers"] if row["active"]]
    feeds = [row["age_ms_most"] for row in rows if row["held_by"] == "Feed.Refresh"]
    return [f"timers: ages of {row['held_by']}: {row['age_ms_most']} ms, {row['overdue_ms_most']} ms late" for row in rows
            if not 0 <= row["age_ms_most"] <= most or row["overdue_ms_most"]] + \
        ([] if len(feeds) == 1 and feeds[0] >= 250 else [f"timers: Feed.Refresh are {feeds} ms old"])


LISTED = 0.9  # of the bytes in collectible loader heaps


def loader_heaps(answer):
    """Each context that still has its LoaderAllocator costs what the runtime reserved for it: some pages of each of its heaps."""
    rows = [row for row in answer["tables"]["contexts"] if row["state"].startswith("collectible") and row["objects"] is not None]
    return [f"contexts: {row['count']} of {row['type']} have loader heaps of {row['loader_bytes']} bytes" for row in rows
            if not row["count"] * 4096 <= (row["loader_bytes"] or 0) <= row["count"] << 20] + ([] if rows else ["contexts: none collectible"])


def loaders(account, contexts):
    """The account has the same blocks, by what is unloaded together, and all that is never unloaded as one row. It knows those whose modules
    are listed, or have a type on the heap: a context that has just begun or ended may have neither."""
    rows = account["tables"]["loaders"]
    collectible = [row for row in rows if row["collectible"]]
    expected = sum(row["loader_bytes"] or 0 for table in ("contexts", "emitted") for row in contexts["tables"][table])
    found = sum(row["reserved_bytes"] for row in collectible)
    print(f"{sum(row['count'] for row in collectible)} collectible LoaderAllocators, {found} bytes reserved")
    problems = [f"account: loader heaps of {row}" for row in rows if not 0 < row["bytes"] <= row["reserved_bytes"]]
    return problems + [f"account: {found} bytes in collectible loader heaps, contexts have {expected}"] * (found < expected * LISTED) + \
        [f"account: {rows}"] * ([row["count"] for row in rows if not row["collectible"]] != [1])


def stress_log(dnheap, path, begin, end, threads):
    """Messages of the process's own threads, in its time, in their order, each with its text; the runtime's start among them."""
    rows = matrix.answer(dnheap, "info", path, "--table", "stress_log")["tables"]["stress_log"]
    problems = [] if len(rows) > 100 else [f"stress log: {len(rows)} messages"]
    problems += [f"stress log: no text at {row['format']}" for row in rows if not row["message"]][:3]
    if not any("EEStartup Starting" in (row["message"] or "") for row in rows):
        problems.append("stress log: the runtime's start is missing")
    times = [datetime.datetime.fromisoformat(row["time"]) for row in rows]
    if times != sorted(times) or times and not begin <= times[0] <= times[-1] <= end:
        problems.append(f"stress log: from {times[0]} to {times[-1]}, the process from {begin} to {end}")
    strangers = {row["os_id"] for row in rows} - threads
    return problems + ([f"stress log: {len(strangers)} threads of {len(threads)} are unknown"] if len(strangers) > len(threads) else [])


def compare(said, answer):
    name = said.pop("inspector")
    keys = {key: said[key] for key in {**KEYS, **TABLES}[name] if key in said}
    found = [row for row in answer["tables"][name] if all(row[key] == value for key, value in keys.items())]
    if len(found) != 1:
        return [f"{name}: {len(found)} rows with {keys}: {found}"]
    return [f"{name}: {key} is {found[0][key]}, not {value}, of {keys}" for key, value in said.items() if found[0][key] != value]


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
