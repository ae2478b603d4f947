#!/usr/bin/env python3
"""`watch` of a program that grows when it is asked to (../programs/swells): what it takes when, and what the cores hold.

    watch.py --list --sample               the kinds that a short run makes, written watch:MAJOR:GC; --all: all of them
    watch.py DNHEAP --one watch:10:wks     starts the program, watches it, lets it grow until the GC has no memory left

Exit codes are those of matrix.py.
"""
import json
import pathlib
import queue
import signal
import subprocess
import sys
import tempfile
import threading

import collect
import matrix
import targets

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "schema"))
import validator  # noqa: E402

KINDS = ["watch:8:wks", "watch:9:wks", "watch:10:wks", "watch:10:svr", "watch:11:wks"]
SAMPLE = ["watch:10:wks"]
CRATES, CRATE = 400, 65600  # each time: 25 MiB
LIMIT = "0x8000000"  # 128 MiB for the heap
PATIENCE = 30
ENDED = 6
SCHEMAS = validator.Validator(matrix.runtimes.PROJECT / "doc" / "schema")


class Watch:
    """`dnheap watch` that runs; its events, one by one."""

    def __init__(self, dnheap, pid, folder, *options, **how):
        command = [dnheap, "watch", "-p", pid, "--every", "1", "--format", "ndjson", "-o", folder, *options]
        self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)
        self.lines, self.problems = queue.Queue(), []
        threading.Thread(target=lambda: [self.lines.put(line) for line in self.process.stdout], daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def event(self, kind):
        """The next event, which has to be of that kind."""
        try:
            line = self.lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise RuntimeError(f"no event within {PATIENCE} s; {kind} was to come") from None
        event = json.loads(line)
        self.problems += [f"{line.strip()}: {problem}" for problem in SCHEMAS.problems(event, "watch.json")]
        if event["event"] != kind:
            self.problems.append(f"{line.strip()}: {kind} was to come")
        return event

    def is_quiet(self, seconds):
        try:
            self.problems.append(f"{self.lines.get(timeout=seconds).strip()}: nothing was to come")
        except queue.Empty:
            pass


def heap_figures(dnheap, pid):
    rows = matrix.answer(dnheap, "segments", f"--pid={pid}")["tables"]["generations"]
    return {row["generation"]: row["segment_bytes"] for row in rows if row["heap"] == "all" and row["generation"] not in ("total", "frozen")}


def crates_in(dnheap, core):
    rows = matrix.answer(dnheap, "stat", core)["tables"]["types"]
    return sum(row["count"] for row in rows if row["type"] == "Yard.Crate")


def run(dnheap, _, major, gc):
    problems = []
    settings = {"DOTNET_GCHeapHardLimit": LIMIT}
    if gc == "svr":
        settings["DOTNET_GCHeapCount"] = "2"
    with tempfile.TemporaryDirectory(prefix="dnheap-watch-") as folder, \
            targets.Target("swells", major, server=gc == "svr", arguments=[CRATES], settings=settings) as target:
        figures = heap_figures(dnheap, target.pid)
        first = sum(figures.values())
        with Watch(dnheap, target.pid, folder, "--when", f"heap>{first + CRATES * CRATE // 2}", "--when", "oom", "--keep", "2") as watch:
            began = watch.event("began")
            seen = {name: began["figures"][name] for name in figures}
            if seen != figures or began["figures"]["heap"] != first:
                problems.append(f"figures of a program at rest are {seen}, by segments {figures}")
            watch.is_quiet(2.5)
            problems += grows_and_runs_out(dnheap, target, watch)
            target.close()
            watch.event("ended")
            if watch.process.wait(PATIENCE) != ENDED:
                problems.append(f"ended with code {watch.process.returncode}, not {ENDED}: {watch.process.stderr.read()}")
            kept = sorted(path.name for path in pathlib.Path(folder).iterdir())
            if len(kept) != 2 or not all(name.endswith(".core.zst") for name in kept):
                problems.append(f"in the folder are {kept}")
            problems += watch.problems
    if gc == "wks":
        problems += without_tracing(dnheap, major)
    return problems


def without_tracing(dnheap, major):
    """As in most containers: the process dumps itself, the core is made of that, and the dump is removed."""
    problems = []
    with tempfile.TemporaryDirectory(prefix="dnheap-watch-") as folder, targets.Target("swells", major, arguments=[CRATES]) as target:
        with Watch(dnheap, target.pid, folder, "--when", "rss>1M", "--again", "2", "--keep", "2", preexec_fn=collect.forbid_tracing) as watch:
            watch.event("began")
            for _ in range(2):
                taken = watch.event("taken")
                if "may not be read" not in taken.get("by_port", "") or taken["paused_ms"] is not None:
                    problems.append(f"without the right to trace: {taken}")
                if (found := crates_in(dnheap, taken["file"])) != CRATES:
                    problems.append(f"{found} crates in a core by the port, not {CRATES}")
                kept = [path for path in pathlib.Path(folder).iterdir() if not path.name.startswith(".")]
                if not all(path.name.endswith(".core.zst") and path.stat().st_mode & 0o777 == 0o600 for path in kept):
                    problems.append(f"in the folder are {kept}")
            watch.process.send_signal(signal.SIGINT)
            watch.process.wait(PATIENCE)
            problems += watch.problems
    return problems


def grows_and_runs_out(dnheap, target, watch):
    problems = []
    word, crates = target.ask().split()
    taken = watch.event("taken")
    if word != "GREW" or len(taken["conditions"]) != 1 or not taken["conditions"][0].startswith("heap>"):
        problems.append(f"{word} {crates}, but {taken}")
    if not 0 < taken["paused_ms"] < PATIENCE * 1000 or taken["file_bytes"] != pathlib.Path(taken["file"]).stat().st_size:
        problems.append(f"pause or size: {taken}")
    if (found := crates_in(dnheap, taken["file"])) != int(crates):
        problems.append(f"{found} crates in the core, the program has {crates}")
    path = matrix.answer(dnheap, "path", taken["file"], "Yard.Crate")["tables"]["paths"]
    if not path or "Yard.Stack.Crates" not in json.dumps(path[0]):
        problems.append(f"the core does not tell who holds the crates: {path[:1]}")
    watch.is_quiet(2.5)  # it stays true
    while target.ask().split()[0] == "GREW":
        pass
    taken = watch.event("taken")
    if taken["conditions"] != ["oom"] or "the GC could not allocate" not in taken.get("ran_out", ""):
        problems.append(f"out of memory, but {taken}")
    if not any(row["happened"] for row in matrix.answer(dnheap, "gc", taken["file"])["tables"]["oom"]):
        problems.append("the core does not tell that memory ran out")
    print(f"stood still for {taken['paused_ms']} ms; a core of {taken['file_bytes']:,} bytes for {taken['figures']['private']:,} of its own memory")
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
