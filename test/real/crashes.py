#!/usr/bin/env python3
"""Dumps that the runtime itself writes when a program crashes, and dumps of programs with threads that have ended; each with
the runtime's own files at hand, and without.

    crashes.py --list --sample                 the kinds that a short run makes, written KIND:MAJOR:DUMP; --all: all of them
    crashes.py DNHEAP --one unhandled:10:heap  starts that program, has it crash, compares, deletes the dump

    unhandled, textless, filtered, cast, cctor, failed-task, failed-tasks, async-void, library, retried, failfast, overflow, overflow-second, overflow-mutual, access, segv, exhausted
                ways to crash (../programs/crash)
    dead        12 threads live, 60 have ended and are still listed (../programs/threads)
    many-dead   6 live, 3,000 have ended; and one stack holds an array of 300 MiB by a pointer into it

    native-overflow, delegate, damaged, killed
                more ways: of these only what the report says first is compared

DUMP is heap or full; of unhandled also mini or triage, which hold no heap. Exit codes are those of matrix.py.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import compare
import matrix
import native_memory
import runtimes
import targets
import witness

WAYS = ("unhandled", "textless", "filtered", "cast", "cctor", "failed-task", "failed-tasks", "async-void", "native-abort", "retried", "failfast", "overflow", "overflow-second", "overflow-mutual", "access", "segv", "exhausted")
SAID = ("native-overflow", "delegate", "damaged", "killed")
OF_LIBRARY = ("native-abort", "native-overflow", "delegate")
THREADS = {"dead": ["12", "60", "30"], "many-dead": ["6", "3000", "300"]}
KINDS = [f"{kind}:{major}:{dump}" for kind in (*WAYS, *THREADS) for major in runtimes.MAJORS for dump in ("heap", "full")]
KINDS += [f"{kind}:{major}:heap" for kind in SAID for major in runtimes.MAJORS]
KINDS += [f"unhandled:{major}:{dump}" for major in (10, 11) for dump in ("mini", "triage")]
# ld-musl has no unwind data, so what called abort() in it is not known: it might be a handler of what native code of the runtime threw.
KINDS += [f"{kind}:{version}:heap" for kind in (*WAYS, *THREADS) if kind not in ("cast", "native-abort") for version in runtimes.MUSL] + ["unhandled:10-musl:full", "segv:11-musl:full"]
OVERFLOWS = ("overflow", "overflow-second")
SAMPLE = ["unhandled:11:heap", "cast:10:heap", "cctor:11:heap", "failed-tasks:8:heap", "async-void:10:heap", "native-abort:10:heap", "retried:10:heap", "overflow-second:9:heap", "overflow-mutual:8:heap", "segv:9:full", "exhausted:11:heap", "dead:10:full", "overflow:11-musl:heap", "native-overflow:10:heap", "delegate:11:heap", "damaged:10:heap", "killed:11:heap", "unhandled:10:mini", "unhandled:10:triage"]  # even a short run makes these

DUMP_TYPES = {"mini": "1", "heap": "2", "triage": "3", "full": "4"}  # DOTNET_DbgMiniDumpType
PATIENCE = 300  # seconds for a program to crash and to be dumped
LONGEST_END = 20
LEAST_FRAMES = 3000  # of the recursion


class Program(targets.Target):
    """A program on a runtime of its own, whose files can be taken away."""

    def __init__(self, kind, major, dump, folder):
        self.major, self.kind = major, kind
        self.dump_path = folder / f"{kind}.core"
        self.root = folder / "dotnet"
        version = runtimes.VERSIONS[major]
        source = runtimes.lay_out()
        for file in (source / "dotnet", *(source / "host").rglob("*.so"),
                     *(source / "shared" / "Microsoft.NETCore.App" / version).iterdir()):
            runtimes.link(file, self.root / file.relative_to(source))
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("DOTNET_", "COMPlus_"))}
        environment.update(DOTNET_ROOT=str(self.root), DOTNET_gcServer="0", DOTNET_DbgEnableMiniDump="1",
                           DOTNET_DbgMiniDumpType=DUMP_TYPES[dump], DOTNET_DbgMiniDumpName=str(self.dump_path))
        if kind == "exhausted":
            environment["DOTNET_GCHeapHardLimit"] = "0x8000000"
        program, arguments = ("crash", [kind]) if kind in (*WAYS, *SAID) else ("threads", THREADS[kind])
        if kind in OF_LIBRARY:
            arguments.append(str(native_memory.compile_library("crash/library.c", folder / "library.so")))
        command = [self.root / "dotnet", "exec", "--fx-version", version, "--runtimeconfig",
                   targets.PROGRAMS / "common" / "target.runtimeconfig.json", targets.build(program), *arguments]
        self.start(runtimes.inside(command), environment, f"{kind} on .NET {major}")

    def crash(self):
        """Has it end in its way. Returns the dump that its runtime has written."""
        if self.kind == "killed":
            os.kill(self.pid, signal.SIGABRT)
        try:
            self.process.communicate("\n", timeout=LONGEST_END if self.kind == "killed" else PATIENCE)
        except subprocess.TimeoutExpired:
            if self.kind != "killed":
                raise
            self.process.kill()  # a runtime may go on after the dump, if another thread than the main one got the signal
            self.process.communicate()
        if not self.dump_path.exists():
            errors = (self.folder / "errors").read_text()
            raise RuntimeError(f"the program ended with code {self.process.returncode}, without a dump:\n{errors[-2000:]}")
        return self.dump_path

    def hide_runtime(self):
        """From now on there is no libcoreclr.so where the dump says that it was."""
        (self.root / "shared" / "Microsoft.NETCore.App" / runtimes.VERSIONS[self.major] / "libcoreclr.so").unlink()


def run(dnheap, kind, major, dump):
    """All problems of one kind, in words."""
    # Beside the runtimes, so that their files can be linked.
    runtimes.cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="crash-", dir=runtimes.cache()) as folder:
        with Program(kind, major, dump, pathlib.Path(folder)) as target:
            if kind in SAID or dump in ("mini", "triage"):
                path = target.crash()
                return said(dnheap, path, kind) if kind in SAID else without_heap(dnheap, path, dump)
            path = target.crash() if kind in WAYS else target.dump(dump, target.dump_path)
        account = witness.survey(path, major)
        problems, known = looked_at(dnheap, path, kind, target.truth, account)
        target.hide_runtime()
        without, blind = looked_at(dnheap, path, kind, target.truth, account)
        problems += [f"without libcoreclr.so: {problem}" for problem in without]
        if known and blind and [answer["tables"] for answer in known] != [answer["tables"] for answer in blind]:
            problems.append("without libcoreclr.so the tables of stat and segments differ")
    return problems


def looked_at(dnheap, path, kind, truth, account):
    """What is wrong with what dnheap says of a dump; and the answers of stat and segments."""
    problems, answers = [], []
    for verb in ("stat", "segments"):
        found, words = matrix.checked_answer(dnheap, verb, path)
        problems += words
        answers += [found] if found else []
    if len(answers) < 2:
        return problems, None
    problems += compare.allocating(*answers, account, truth, regions=True)
    if kind in WAYS:
        problems += held_by_stacks(dnheap, path, truth["held"])
    if kind in THREADS:
        problems += held_by_stacks(dnheap, path, truth["held"]) + retained(dnheap, path, truth["held"])
    if kind in ("unhandled", "failfast"):
        problems += thrown(dnheap, path, truth["thrown"])
    if kind in OVERFLOWS:
        problems += recursion(dnheap, path)
    if kind == "overflow-mutual":
        problems += mutual_recursion(dnheap, path)
    if kind in ENDED_BY:
        problems += ended_by(dnheap, path, kind)
    if kind in WAYS:
        problems += led_by(dnheap, path, kind, truth) + shown_next(dnheap, path, kind)
        if kind != "filtered" and not runtimes.on_musl():  # without a signal two exceptions are no reason
            problems += unmarked(dnheap, path, kind)
    return problems, answers


# The first exception that dnheap tells of, the one inside it, and the methods that it has passed through.
ENDED_BY = {"unhandled": ("Failure", None, ["Program.Crash(System.String)", "Program.Main(System.String[])"]),
            "failfast": ("System.ExecutionEngineException", "Failure", []),
            "overflow": ("System.StackOverflowException", None, []),
            "overflow-second": ("System.StackOverflowException", None, []),
            "overflow-mutual": ("System.StackOverflowException", None, [])}


def ended_by(dnheap, path, kind):
    """The exception that ended the process comes first, with the thread that had it."""
    row = matrix.answer(dnheap, "exceptions", path)["tables"]["exceptions"][0]
    found = (row["type"], row["inner_type"], row["stack"])
    problems = [] if found == ENDED_BY[kind] else [f"the exception that ended the process is {found}, not {ENDED_BY[kind]}"]
    return problems + ([] if row["os_id"] else [f"no thread has the exception that ended the process: {row}"])


PING, PONG = "Program.Ping(Int64)", "Program.Pong(Int64)"
IN_RECURSE = "Frame..ctor()"  # which Program.Recurse calls
CRASH, FAULT = "Program.Crash(System.String)", "0x123456780"
# What answers lead with: signal, cause, the innermost method, what is in the words.
LED_BY = {"unhandled": ("SIGABRT", "unhandled_exception", CRASH, ": unhandled Failure 0x", f", thrown in {CRASH}"),
          "textless": ("SIGABRT", "unhandled_exception", CRASH, ": unhandled Textless 0x", f", thrown in {CRASH}"),
          "filtered": ("SIGABRT", "unhandled_exception", CRASH, ": unhandled ", f", thrown in {CRASH}"),  # of both that nobody catches the runtimes write one; the filter's is none
          "cast": ("SIGABRT", "unhandled_exception", None, ": unhandled System.InvalidCastException 0x", ", thrown in "),
          # What the first exception inside says is nearer to the fault than where the outermost one was thrown again.
          "failed-task": ("SIGABRT", "unhandled_exception", None, ": unhandled System.AggregateException 0x", ", caused by Failure, thrown in a lambda in Crash of Program"),
          "failed-tasks": ("SIGABRT", "unhandled_exception", None, ": unhandled System.AggregateException 0x", " of 2, the first: System.InvalidOperationException, caused by Failure, thrown in Program.Fail()"),
          "cctor": ("SIGABRT", "unhandled_exception", None, ": unhandled System.TypeInitializationException 0x", ", caused by System.NullReferenceException, thrown in the static constructor of Importer"),
          "async-void": ("SIGABRT", "unhandled_exception", None, ": unhandled System.InvalidOperationException 0x", ", caused by Failure, thrown in Program.Fail()", ", and left the async void method Lose of Loser, where no caller can catch it"),
          "native-abort": ("SIGABRT", "signal", CRASH, ": in l", ", called by library.so!take+0x", f", which {CRASH} called"),
          "retried": ("SIGABRT", "signal", "Program.Retry(Boolean)", ": in l", ", which Program.Retry(Boolean) called"),
          "failfast": ("SIGABRT", "fail_fast", CRASH, f": Environment.FailFast, called by {CRASH}, with Failure 0x"),
          "overflow": ("SIGABRT", "stack_overflow", "Program.Recurse(Int64)", ": stack overflow in Program.Recurse(Int64)"),
          "overflow-second": ("SIGABRT", "stack_overflow", "Program.Recurse(Int64)", ": stack overflow in Program.Recurse(Int64)"),
          "overflow-mutual": ("SIGABRT", "stack_overflow", PING, ": stack overflow in Program.P", ", again and again"),
          "access": ("SIGABRT", "fatal_error", CRASH, f": System.AccessViolationException in {CRASH}"),
          "exhausted": ("SIGABRT", "unhandled_exception", None, ": unhandled System.OutOfMemoryException 0x", "; the GC could not get ",
                        "the GC's own limit is 128.0 MiB (DOTNET_GCHeapHardLimit=0x8000000)"),
          "segv": ("SIGSEGV", "signal", CRASH, f"(invalid address {FAULT})", ": in l", f", which {CRASH} called")}


# What stands in the source line that the words name, where the program's own method is where it ended.
LINES = {"unhandled": "throw failure", "failfast": "FailFast", "exhausted": "new byte", "segv": "strlen(", "native-abort": "take(-1)", "failed-task": "Task.Run(", "failed-tasks": "Fail() =>", "async-void": "Fail() =>", "retried": "abort();", "overflow-mutual": "(long depth) => "}
LINE = re.compile(r" \(Program\.cs:(\d+)\)")


def names_line(kind, text):
    """The words name the source line in which the process ended."""
    source = (targets.PROGRAMS / "crash" / "Program.cs").read_text().splitlines()
    found = [source[int(line) - 1] for line in LINE.findall(text)]
    right = not found or LINES.get(kind, "") in found[0]
    return [] if right and (found or kind not in LINES) else [f"the source lines {found} in {text}"]


def led_by(dnheap, path, kind, truth):
    """Four verbs lead with what ended the process, and say the same."""
    told = [matrix.answer(dnheap, verb, path)["target"].get("crash") for verb in ("info", "threads", "stack", "exceptions")]
    if None in told or told[1:] != told[:-1]:
        return [f"the verbs lead with different reasons: {told}"]
    crash, (signal, cause, method, *words) = told[0], LED_BY[kind]
    if kind in OVERFLOWS and crash["method"] == IN_RECURSE:  # by chance the stack ends there
        words = [word.replace(method, IN_RECURSE) for word in words]
        method = IN_RECURSE
    if kind == "overflow-mutual" and crash["method"] == PONG:
        method = PONG
    print(crash["text"])
    problems = names_line(kind, crash["text"]) + [f"{part} is not in: {crash['text']}" for part in [*words, f"ended by {signal} ", f" on thread {crash['os_id']}"]
                                                  if part not in LINE.sub("", crash["text"])]
    found = {key: crash[key] for key in ("signal", "cause", "managed_id", "method")}
    expected = {"signal": signal, "cause": cause, "managed_id": 1, "method": method or crash["method"]}
    if kind == "overflow-second":
        threads = matrix.answer(dnheap, "threads", path)["tables"]["threads"]
        expected["managed_id"] = {row["name"]: row["managed_id"] for row in threads}["overflower"]
    if kind == "async-void":  # a thread of the pool throws it again
        expected["managed_id"] = crash["managed_id"]
    if cause == "unhandled_exception":
        waits = [row["waits_for"] for row in matrix.answer(dnheap, "threads", path)["tables"]["threads"] if row["os_id"] == crash["os_id"]]
        found["waits_for"], expected["waits_for"] = waits, [None]
    if kind == "unhandled":
        found["exception"], expected["exception"] = crash["exception"], truth["thrown"]
    if kind == "segv":
        found["fault_address"], expected["fault_address"] = crash["fault_address"], FAULT
    return problems + ([] if found == expected else [f"the reason is {found}, not {expected}"])


# Of the ways of which only the report is compared: the beginning of the crash's paragraph, what is in it, the next verb.
SAID_AS = {"native-overflow": ("ended by SIG", ": stack overflow in library.so!descend", "stack"),
           "delegate": ("ended by SIGABRT", ": callback on a delegate of type Reading that had been garbage collected, by library.so!fire", "stack"),
           "damaged": ("The heap is damaged at 0x", ", behind a System.Byte[] of length 100 (0x", "verify"),
           "killed": ("ended by SIGABRT", f", which process {os.getpid()} sent to it", "threads")}


def said(dnheap, path, kind):
    """The first finding of the report says what ended the process, and which command shows more."""
    row = matrix.answer(dnheap, "report", path)["tables"]["findings"][0]
    print(row["text"])
    begin, words, verb = SAID_AS[kind]
    right = row["kind"] == "crash" and row["text"].startswith(begin) and words in row["text"] and row["next"].startswith(f"dnheap {verb} ")
    return [] if right else [f"the first finding is {row}, not {SAID_AS[kind]}"]


def without_heap(dnheap, path, dump):
    """A dump without heap says what ended the process, and where its threads are: of the exception as much as it holds."""
    answer = matrix.answer(dnheap, "report", path)
    text = answer["tables"]["findings"][0]["text"]
    print(text)
    words = [": unhandled ", f"thrown in {CRASH}"] + (["Failure 0x"] if dump == "mini" else [])
    problems = [f"{part} is not in: {text}" for part in words if part not in LINE.sub("", text)]
    if answer["completeness"]["complete"] or not answer["tables"]["activity"]:
        problems.append(f"the answer is complete, or shows no thread: {answer['tables']['activity']}")
    return problems


def shown_next(dnheap, path, kind):
    """What the report asks next: of a managed exception the exceptions, of a message the message, else the thread's stack."""
    row = matrix.answer(dnheap, "report", path)["tables"]["findings"][0]
    verb = {"unhandled_exception": "exceptions", "fail_fast": "show"}.get(LED_BY[kind][1], "stack")
    if row["kind"] != "crash" or not row["next"].startswith(f"dnheap {verb} "):
        return [f"the first finding is {row['kind']}, and the next command {row['next']}, not {verb}"]
    if kind == "failfast":
        address, option = row["next"].split()[-2:]
        text = matrix.answer(dnheap, "show", path, address, option)["tables"]["object"][0]["value"]
        return [] if text == "the test asked for it" else [f"the message of FailFast at {address} is {text}"]
    return []


def unmarked(dnheap, path, kind):
    """The same of a dump that does not say what it was taken for: only an exception that no call handles says that it ended the process."""
    said = subprocess.run([dnheap.parent / "test" / "unmarked", path], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    cause, words = LED_BY[kind][1], LED_BY[kind][3].removeprefix(": ")
    if cause != "unhandled_exception" or kind == "textless":  # it is not the one that the thread deals with last
        return [f"without a signal it is said to be {said}"] if said else []
    return [] if said.startswith(f"ended by an {words}") else [f"without a signal the exception is no reason: {said!r}"]


def thrown(dnheap, path, address):
    """The exception that ended the program is among the objects, and something holds it."""
    rows = matrix.answer(dnheap, "objects", path, "--type", "Failure")["tables"]["objects"]
    problems = [] if [row["address"] for row in rows] == [address] else [f"the exception {address} is not there: {rows}"]
    paths = matrix.answer(dnheap, "path", path, address)["tables"]["paths"]
    return problems + ([] if paths else [f"nothing holds the exception {address}"])


def held_by_stacks(dnheap, path, held):
    """Each object that the program's threads hold is a root of that thread's, by a pointer to it or into it."""
    rows = matrix.answer(dnheap, "roots", path)["tables"]["roots"]
    found = {(row["object"], row["thread"], row["interior"]) for row in rows if row["kind"] in compare.ON_STACKS}
    return [f"the stack of thread {one['thread']} does not hold {one['address']} ({one.get('way', 'variable')})" for one in held
            if (one["address"], one["thread"], one.get("interior", False)) not in found]


def retained(dnheap, path, held):
    """The large array, of which nothing but a Span is left, is alive."""
    problems = []
    for one in held:
        if one["way"] == "span":
            paths = matrix.answer(dnheap, "path", path, one["address"])["tables"]["paths"]
            if not paths or paths[0]["root"]["kind"] not in compare.ON_STACKS or paths[0]["root"]["thread"] != one["thread"]:
                problems.append(f"the path to {one['address']}, which a Span holds, is {paths}")
    types = {row["type"]: row for row in matrix.answer(dnheap, "stat", path, "--dead")["tables"]["types"]}
    if types.get("System.Byte[]", {"bytes": 0})["bytes"] > 1 << 20:
        problems.append(f"the array that a Span holds is called dead: {types['System.Byte[]']}")
    return problems


def recursion(dnheap, path):
    """Every call of the recursion holds its object; the last one or two may not have come so far."""
    counts = []
    for options in ((), ("--live",)):
        rows = matrix.answer(dnheap, "stat", path, *options)["tables"]["types"]
        counts.append(sum(row["count"] for row in rows if row["type"] == "Frame"))
    frames = max(row["frames"] for row in matrix.answer(dnheap, "threads", path)["tables"]["threads"])
    print(f"{counts[0]} calls deep, of which {counts[1]} hold their objects, on a stack of {frames} methods")
    if abs(frames - counts[0] - 2) > 2:  # Crash and Main
        return [f"of a recursion of {counts[0]} calls the stack has {frames} methods"]
    return [] if counts[0] > LEAST_FRAMES and counts[1] >= counts[0] - 2 else [f"of {counts[0]} objects of the recursion {counts[1]} are alive"]


def mutual_recursion(dnheap, path):
    """Both methods are named, once; data formats have every call."""
    crash = matrix.answer(dnheap, "threads", path)["target"]["crash"]
    if sorted(crash["recursion"]) != [PING, PONG]:
        return [f"the recursion is of {crash['recursion']}"]
    frames = matrix.answer(dnheap, "stack", path, str(crash["os_id"]))["tables"]["frames"]
    calls = sum(frame["method"] in (PING, PONG) for frame in frames)
    problems = [] if calls > LEAST_FRAMES else [f"the stack has {calls} calls of the recursion"]
    for options, words in (([str(crash["os_id"])], "… the 2 calls above "), (["--merge"], f" ×{calls // 2:,}")):
        text = subprocess.run([dnheap, "stack", path, *options], capture_output=True, text=True, timeout=PATIENCE).stdout
        if words not in text or len(text) > 20000:
            problems.append(f"stack {options} does not fold calls ({words}): {text[:2000]}")
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
