#!/usr/bin/env python3
"""Programs compiled ahead of time (NativeAOT), dumped; dnheap must agree with what the program says of itself, exactly.

    nativeaot.py --list                    the combinations, written aot:MAJOR:HEAPS
    nativeaot.py DNHEAP --one aot:9:svr    builds that program, dumps it with gcore and createdump, compares, deletes the dumps

There is no witness for these: no other tool reads them. The program (../programs/aot) counts its objects by type, asks the
GC how many bytes each took and what the generations hold, says where some objects lie, and what stands on the stacks of threads
that then wait. Where frames stand gdb says, too. Then it crashes in several ways.

Exit code 0: agreement; 1: differences, each on a line; 77: skipped, because .NET, its packages or a linker are not to be had.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import compare
import live
import mapped
import matrix
import runtimes
import targets

PROGRAM = targets.PROGRAMS / "aot"
COMBINATIONS = [f"aot:{major}:{heaps}" for major in (8, 9, 10, 11) for heaps in ("wks", "svr")] + ["aot:11:async"]
COMBINATIONS += [f"aot:{major}-musl:{heaps}" for major in (10, 11) for heaps in ("wks", "svr")]  # linked as link_for_musl.sh says
SAMPLE = ["aot:10:wks", "aot:11:wks", "aot:10-musl:wks"]  # what people compile today
# The runtimes of later patches are not where the packs come from.
VERSIONS = {8: "8.0.33", 9: "9.0.22", 10: "10.0.12", 11: "11.0.0"}
NEWEST_OF_SDK = 10
DUMPS = ("gcore", "full", "heap")
CREATEDUMP, CREATEDUMP_ON_MUSL = 9, 10  # whose createdump writes the dumps

# What the linker and NuGet say when something from outside is missing.
NOT_TO_BE_HAD = ("NU1101", "NU1102", "NU1301", "Platform linker", "cannot find -lz", "unable to find library -lz")


def build(major, heaps, program=PROGRAM.name):
    """Compiles the program, unless it is newer than its sources. Returns the executable. `heaps`: "async": the workstation GC, and
    methods without state machines. `program`: its sources' folder."""
    name = f"{program}{major}-{heaps}" + "-musl" * runtimes.on_musl()
    output = runtimes.cache() / "programs" / name
    executable = output / "aot"
    linker, settings = [], {}
    if runtimes.on_musl():
        linker, settings = [f"-p:CppCompilerAndLinker={PROGRAM / 'link_for_musl.sh'}"], {"MUSL_ROOT": str(runtimes.musl_root())}
    with runtimes.lock():
        if runtimes.outdated(executable, [PROGRAM, targets.PROGRAMS / program, targets.PROGRAMS / "common"]):
            if not any(map(shutil.which, ("clang", "gcc"))):
                raise runtimes.Missing("no linker for programs compiled ahead of time: install gcc or clang, and zlib1g-dev")
            # Restore and build forget what one version's left behind only where each has its own intermediate files.
            done = runtimes.run_sdk("publish", PROGRAM / "aot.csproj", "-c", "Release", "-o", output,
                                    f"-p:AotFramework={runtimes.framework(major)}", f"-p:AotVersion={VERSIONS[major]}",
                                    f"-p:AotServer={str(heaps == 'svr').lower()}",
                                    f"-p:AotNewer={str(major > NEWEST_OF_SDK).lower()}",
                                    *([f"-p:AotReference={runtimes.reference(major)}"] if heaps == "async" else []),
                                    *([f"-p:AotProgram={program}"] if program != PROGRAM.name else []),
                                    *linker, intermediate=f"obj-{name}", settings=settings)
            if done.returncode != 0:
                reasons = [line for line in done.stdout.splitlines() if any(part in line for part in NOT_TO_BE_HAD)]
                if reasons:
                    raise runtimes.Missing(f"programs cannot be compiled ahead of time: {reasons[0].strip()}")
                raise RuntimeError(f"publishing {name} failed:\n{done.stdout}")
            executable.touch()
    return executable


def createdump():
    return CREATEDUMP_ON_MUSL if runtimes.on_musl() else CREATEDUMP


class AotTarget(targets.Target):
    """The program, or the one of another folder, running."""

    def __init__(self, major, heaps, program=PROGRAM.name, arguments=(), settings=None):
        self.major = createdump()
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("DOTNET_", "COMPlus_"))}
        environment.update(settings or {})
        self.start(runtimes.inside([build(major, heaps, program), *arguments]), environment, f"{program} {major} {heaps}")


def run(dnheap, _, major, heaps):
    """All problems of one combination, in words."""
    runtimes.lay_out()  # for createdump
    problems = []
    with tempfile.TemporaryDirectory(prefix="dnheap-aot-") as folder, AotTarget(major, heaps) as target:
        for kind in DUMPS:
            dump = target.dump(kind, pathlib.Path(folder) / f"{kind}.core")
            problems += check(dnheap, major, heaps, kind, dump, target.truth)
            if kind == "gcore":
                problems += without_metadata(dnheap, dump, build(major, heaps), target.truth, pathlib.Path(folder))
                problems += without_debug_file(dnheap, dump, build(major, heaps), target.truth, pathlib.Path(folder), major)
            dump.unlink()
        problems += live.at_rest(dnheap, target)
    return problems + (crashes(dnheap, major, heaps) if heaps == "wks" else [])


CRASH, FAULT = "Aot.Crashes.Crash", "0x123456780"
# ld-musl does not say how it is left, and of what calls abort() without a transition no word is left: these stand nowhere.
IN_MUSL = {"failfast": ("SIGABRT", "fail_fast", None, ": Environment.FailFast, with Aot.Failure 0x"),
           "access": ("SIGABRT", "fatal_error", None, ": invalid access to memory")}
# What answers lead with: signal, cause, the innermost method, what is in the words.
LED_BY = {"unhandled": ("SIGABRT", "unhandled_exception", CRASH, ": unhandled Aot.Failure 0x", f", thrown in {CRASH}"),
          "failfast": ("SIGABRT", "fail_fast", CRASH, f": Environment.FailFast, called by {CRASH}, with Aot.Failure 0x"),
          "access": ("SIGABRT", "fatal_error", CRASH, f": invalid access to memory in {CRASH}"),
          "segv": ("SIGSEGV", "signal", "Aot.Crashes.strlen", f"(invalid address {FAULT})", ": in l", ", which Aot.Crashes.strlen called"),
          "overflow": ("SIGSEGV", "stack_overflow", "Aot.Crashes.Recurse", ": stack overflow in Aot.Crashes.Recurse")}
BY_KERNEL = ("overflow",)  # the program has no stack left on which to call createdump


class Crashing(AotTarget):
    """The program where it has a createdump beside it, so that it can dump itself when it crashes; with its debug file or without."""

    def __init__(self, major, heaps, way, folder, debug_file):
        self.major = createdump()
        executable = build(major, heaps)
        for file in (executable, runtimes.runtime(self.major) / "createdump"):
            shutil.copy(file, folder)
        if debug_file:
            shutil.copy(executable.with_suffix(".dbg"), folder)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("DOTNET_", "COMPlus_"))}
        self.dump_path = folder / f"{way}.core"
        environment.update(DOTNET_DbgEnableMiniDump="1", DOTNET_DbgMiniDumpType="4", DOTNET_DbgMiniDumpName=str(self.dump_path))
        self.start(runtimes.inside([folder / executable.name, way]), environment, f"aot {major} {way}")

    def crash(self):
        pathlib.Path(f"/proc/{self.pid}/coredump_filter").write_text("0x3f")
        self.process.communicate("\n", timeout=300)
        if self.dump_path.stem in BY_KERNEL:
            return next(file for file in self.folder.iterdir() if file.name.startswith("core"))
        if not self.dump_path.exists():
            raise RuntimeError(f"no dump after {self.dump_path.stem}: {(self.folder / 'errors').read_text()[-1000:]}")
        return self.dump_path


def crashes(dnheap, major, heaps):
    """Dumps that the program writes when it crashes lead with the reason, in whichever way it does."""
    problems = []
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    for way, debug_file in [(way, True) for way in LED_BY] + [("unhandled", False)] * (major >= NEWEST_OF_SDK):
        signal, cause, method, *words = IN_MUSL.get(way, LED_BY[way]) if runtimes.on_musl() else LED_BY[way]
        if way in BY_KERNEL and ("/" in pattern or pattern.startswith("|")):
            print(f"{way}: not tested, as the kernel leaves no cores in the working folder")
            continue
        with tempfile.TemporaryDirectory(prefix="dnheap-aot-") as folder, Crashing(major, heaps, way, pathlib.Path(folder), debug_file) as target:
            crash = matrix.answer(dnheap, "threads", target.crash())["target"].get("crash")
        if crash is None:
            problems.append(f"{way}: nothing is said of a crash")
            continue
        print(crash["text"])
        found = tuple(crash[key] for key in ("signal", "cause", "method", "managed_id"))
        problems += [] if found == (signal, cause, method, 1) else [f"{way}: the reason is {found}"]
        problems += [f"{way}: {part} is not in: {crash['text']}" for part in [*words, f"ended by {signal} "] if part not in crash["text"]]
    return problems


def check(dnheap, major, heaps, kind, dump, truth):
    """Asks dnheap about one dump and compares its answers with the program's."""
    problems = []
    answers = []
    for verb in ("stat", "segments"):
        answer, words = matrix.checked_answer(dnheap, verb, dump)
        problems += words
        if answer:
            answers.append(answer)
    if len(answers) == 2:
        stat, segments = answers
        problems += mapped.sums(matrix.answer(dnheap, "account", dump), dump)
        problems += target(stat, major, heaps, truth)
        for answer in answers:
            if kind == "heap":
                problems += lacks_variables(answer)
            problems += complete(answer)
        if kind == "heap":
            problems += take_lost_names(stat, truth)
        problems += compare.truth_counts(stat, truth) + bytes_by_type(stat, truth) + names(stat, truth)
        problems += handles(matrix.ask(dnheap, "handles", dump), truth)
        if kind == "gcore":
            problems += static_paths(dnheap, dump, truth) + fields(dnheap, dump, major)
            if not runtimes.on_musl():  # gdb guesses how ld-musl is left, as that does not say so
                problems += frames_of_gdb(dnheap, dump, build(major, heaps))
        problems += stacks(dnheap, dump, truth) + threads(dnheap, dump, truth)
        if kind != "heap":
            problems += known(dnheap, dump, truth, major)
        problems += compare.addresses(segments, truth) + compare.gc_info(segments, None, truth, regions=True)
    return [f"{dump.name}: {problem}" for problem in problems]


def without_metadata(dnheap, dump, executable, truth, folder):
    """gcore leaves out what nobody wrote to, the metadata too. With an executable in which that is made unreadable, as if it had
    been built without, the debug file beside it names the types: as the metadata does, or mangled as the linker knows them."""
    signature = 0xdeaddffd.to_bytes(4, "little")
    blind = folder / "blind"
    blind.mkdir()
    (blind / executable.name).write_bytes(executable.read_bytes().replace(signature, bytes(4)))

    shutil.copy(executable.with_suffix(".dbg"), blind)

    def types(*options):
        done = matrix.ask(dnheap, "stat", dump, *options)
        if done.returncode != 0:
            raise RuntimeError(f"`dnheap stat` ended with code {done.returncode} and said: {done.stderr.strip()}")
        return {row["method_table"]: row["type"] for row in json.loads(done.stdout)["tables"]["types"]}

    known, found = types(), types("--modules", blind)
    problems = [f"the debug file names type {place} {found.get(place)}, not {name}"
                for place, name in truth["names"].items() if place in known and found.get(place) != name]
    other = {place: name for place, name in known.items() if found.get(place) != name}
    problems += [f"{name} is called {found.get(place)}, which is neither its name nor what the linker calls it"
                 for place, name in other.items() if not re.fullmatch(r"\w+(<[\w<>,]+>)?", found.get(place, ""))]
    if len(other) > len(known) // 50:
        problems.append(f"the debug file names only {len(known) - len(other)} of {len(known)} types")
    return problems


def known(dnheap, dump, truth, major, *options):
    """Calls that wait, events, timers, exceptions and locks, as the program made them."""
    frames = {}
    for row in matrix.answer(dnheap, "async", dump, *options)["tables"]["calls"]:
        for frame in row["stack"]:
            frames[frame] = frames.get(frame, 0) + row["count"]
    handlers = {}
    for row in matrix.answer(dnheap, "inspect", dump, "events", *options)["tables"]["events"]:
        for handler in row["methods"]:
            handlers[handler["method"]] = handlers.get(handler["method"], 0) + handler["count"]
    thrown = {}
    for row in matrix.answer(dnheap, "exceptions", dump, *options)["tables"]["exceptions"]:
        thrown[row["type"]] = thrown.get(row["type"], 0) + row["count"]
    found = {"async": frames, "events": handlers, "exceptions": thrown}
    problems = [f"{kind}: {found[kind].get(name)} × {name}, the program made {count}" for kind, of in found.items()
                for name, count in truth[kind].items() if found[kind].get(name) != count]
    if major >= NEWEST_OF_SDK:  # before, Monitor and Lock kept other things
        owners = {row["owner_managed_id"] for row in matrix.answer(dnheap, "locks", dump, *options)["tables"]["locks"]}
        problems += [] if truth["lock_owner"] in owners else [f"locks: held by threads {owners}, the program by {truth['lock_owner']}"]
    return problems


def without_debug_file(dnheap, dump, executable, truth, folder, major):
    """As on the machine that the program was shipped to: what waits, is thrown and locked is known all the same."""
    if major < NEWEST_OF_SDK:
        return []
    alone = folder / "alone"
    alone.mkdir()
    shutil.copy(executable, alone)
    debug_file = executable.with_suffix(".dbg")
    hidden = debug_file.with_suffix(".hidden")
    debug_file.rename(hidden)
    try:
        return [f"without the debug file: {problem}" for problem in known(dnheap, dump, truth, major, "--modules", alone)]
    finally:
        hidden.rename(debug_file)


def target(answer, major, heaps, truth):
    """What kind of process it is."""
    found = answer["target"]
    problems = compare.different({"container": "elf-core", "os": "linux", "pointer_size": 8, "runtime": "nativeaot",
                                  "pid": truth["pid"]}, found, "target")
    if not truth["version"].startswith(f"{major}.0."):
        problems.append(f"the program runs on .NET {truth['version']}, not on {major}.0")
    if not str(found["version"]).startswith(f"{major}.0"):
        problems.append(f"target: version is {found['version']}, not {major}.0")
    if truth["server"] != (heaps == "svr"):
        problems.append(f"the program's GC is not the one that was asked for ({heaps})")
    return problems + compare.different({"server": heaps == "svr", "regions": True}, found["gc"], "target: gc")


def complete(answer):
    return compare.different({"bad_objects": 0, "complete": True, "gaps": []}, answer["completeness"],
                             f"{answer['command']}: completeness")


LOST = "unknown whether a GC was in progress: "


def lacks_variables(answer):
    """createdump --withheap leaves out the program's initialised variables. Where it leaves out the one that tells whether the
    GC was at work, the answer is not complete, and says why. That is all that may be missing from it."""
    found = answer["completeness"]
    if any(note.startswith(LOST) for note in found["notes"]):
        if found["complete"]:
            return ["complete, although it is not known whether the GC was changing the heap"]
        found["complete"] = True
    return []


def take_lost_names(stat, truth):
    """Also in these variables are the lists of generic arguments, if there are two or more. dnheap then says which type it is by
    its address, and that names are missing; the rest is compared under the program's names."""
    for row in stat["tables"]["types"]:
        name = truth["names"].get(row["method_table"])
        several = name and (name.count("<") > 1 or "<" in name and ", " in name)
        if several and "!0x" in row["type"]:
            row["type"] = name
            if not any(note.startswith("type names: ") for note in stat["completeness"]["notes"]):
                return [f"the name of {row['method_table']} is missing, and no note says so"]
    return []


def bytes_by_type(stat, truth):
    """What the GC says that the objects of each type took, all together."""
    found = {}
    for row in stat["tables"]["types"]:
        found[row["type"]] = found.get(row["type"], 0) + row["aligned_bytes"]
    return [f"{name}: the GC gave {size} bytes, dnheap found {found.get(name, 0)}"
            for name, size in truth["bytes"].items() if found.get(name, 0) != size]


def handles(done, truth):
    """How many handles of each kind lead to objects of each of the program's types."""
    if done.returncode != 0:
        return [f"`dnheap handles` ended with code {done.returncode} and said: {done.stderr.strip()}"]
    found = {}
    for row in json.loads(done.stdout)["tables"]["handles"]:
        key = row["kind"], row["type"]
        found[key] = found.get(key, 0) + 1
    return [f"the program made {count} {kind} handles to {name}, dnheap found {found.get((kind, name), 0)}"
            for kind, types in truth["handles"].items() for name, count in types.items()
            if found.get((kind, name), 0) != count]


def static_paths(dnheap, dump, truth):
    """The paths to what the program's static fields hold begin at these fields."""
    problems = []
    for name, field in truth["statics"].items():
        kind, field = field.split()
        rows = matrix.answer(dnheap, "objects", dump, "--type-exact", name)["tables"]["objects"]
        found = [(path["root"]["kind"], path["root"]["name"]) for row in rows
                 for path in matrix.answer(dnheap, "path", dump, row["address"])["tables"]["paths"]]
        # A static class has no type of its own. Its name is known if stack traces name one of its methods; else it is as it is mangled.
        if not found or any(root != kind or not re.fullmatch(rf"(Aot\.|\w+_Aot_){re.escape(field)}", called or "") for root, called in found):
            problems.append(f"the paths to {name} begin at {found}, not at the {kind} field {field}")
    return problems


def frames(dnheap, dump):
    """The rows of each thread's frames, and what is wrong with the answer."""
    answer = matrix.answer(dnheap, "stack", dump, "--all")
    found = {}
    for row in answer["tables"]["frames"]:
        found.setdefault(row["os_id"], []).append(row)
    return found, [f"stack: of {row['os_ids']}: {row['problem']}" for row in answer["tables"]["problems"]]


# Programs of 11 say no offsets, as they may say lines in their place.
TRACE_LINE = re.compile(r"   at (?P<name>.+)\(.*\)(?: \+ 0x(?P<offset>[0-9a-f]+))?$")
SAYS = ("System.Environment.get_StackTrace", "Aot.Waits.Say")  # above what was standing when it was said


def as_in_traces(name):
    """How the runtime's own stack traces spell it."""
    return re.sub(r"<T1(, T\d+)*>", lambda found: f"`{found[0].count('T')}", name).replace("+", ".")


def stands_in(rows, trace):
    """Whether these frames end in the ones that were said. The innermost of these has called something else since."""
    rows = rows[-len(trace):]
    return len(rows) == len(trace) and all(
        name == said and (not index or offset is None or place == offset)
        for index, ((name, place), (said, offset)) in enumerate(zip(rows, trace)))


def stacks(dnheap, dump, truth):
    """Each thread that said what stood on its stack, stands there still: the same methods, at the same places of their code.
    Only the innermost one has called something else since."""
    found, problems = frames(dnheap, dump)
    methods = {thread: [(as_in_traces(row["method"]), row["code_offset"]) for row in rows if row["kind"] == "managed"]
               for thread, rows in found.items()}
    said = 0
    for text in truth["stacks"]:
        lines = [TRACE_LINE.match(line) for line in text.split("\n")]
        trace = [(line["name"], line["offset"] and int(line["offset"], 16)) for line in lines if line]
        if len(trace) != len(lines) or tuple(name for name, _ in trace[:2]) != SAYS:
            problems.append(f"stacks: the program's trace is not understood: {text}")
            continue
        trace = trace[2:]
        said += len(trace)
        fitting = [thread for thread, rows in methods.items() if stands_in(rows, trace)]
        if len(fitting) != 1:
            problems.append(f"stacks: {len(fitting)} threads stand in what the program said: {trace[:3]} …")
    if said < 100:
        problems.append(f"stacks: the program said only {said} frames")
    # Where the runtime keeps what they wait for in objects, these are named.
    named = {"System.Threading.Lock": "a lock", "System.Threading.ManualResetEvent": "a wait handle"}
    waits = {named.get((row["waits_for"] or "").split(" ")[0], row["waits_for"]) for row in matrix.answer(dnheap, "threads", dump)["tables"]["threads"]}
    if not waits >= {"sleep", "a lock", "a wait handle", "the console"}:
        problems.append(f"threads: they wait for {waits}")
    return problems


def threads(dnheap, dump, truth):
    """Number, name and state of each thread that said them."""
    rows = {row["os_id"]: row for row in matrix.answer(dnheap, "threads", dump)["tables"]["threads"]}
    if len(truth["threads"]) < 6:
        return [f"threads: the program said only {truth['threads']}"]
    found = [{key: rows.get(one["os_id"], {}).get(key) for key in one} for one in truth["threads"]]
    return [f"threads: {ours}, the program said {theirs}" for ours, theirs in zip(found, truth["threads"]) if ours != theirs]


GDB_FRAMES = """
import json
found = {}
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, places = gdb.newest_frame(), []
    while frame:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):  # these are on no stack
            places.append(hex(frame.pc()))
        frame = frame.older()
    found[thread.ptid[1]] = places
print("FRAMES " + json.dumps(found))
"""


def frames_of_gdb(dnheap, dump, executable):
    """Every frame stands where gdb says."""
    script = dump.with_suffix(".py")
    script.write_text(GDB_FRAMES)
    done = subprocess.run(["gdb", "-batch", "-nx", "-ex", "set backtrace past-main on", "-ex", "set backtrace past-entry on",
                           "-ex", "set backtrace limit unlimited", "-x", script, executable, dump],
                          capture_output=True, text=True, check=False)
    line = next((line for line in done.stdout.splitlines() if line.startswith("FRAMES ")), None)
    if line is None:
        return [f"gdb said nothing of its frames: {done.stderr.strip()}"]
    expected = {int(thread): places for thread, places in json.loads(line[len("FRAMES "):]).items()}
    found, problems = frames(dnheap, dump)
    for thread, rows in found.items():
        places = [row["ip"] for row in rows]
        if places != expected.get(thread):
            problems.append(f"thread {thread} stands at {places[:12]}, gdb says {expected.get(thread, [])[:12]}")
    return problems


# What the references of the program's types are called: as its source has them, so far as that says it.
FIELDS = {
    "Aot.Node": {".Next", ".Payload"},
    "Aot.Derived": {".Next", ".Payload"},
    "Aot.Pair<System.String, Aot.Node>": {".Key", ".Value"},
    "Aot.Pair<Aot.Color, Aot.Pair<System.String, Aot.Node>>": {".Value"},
    "Aot.Outer<Aot.Node>+Inner": {".Value"},
    "Aot.Outer<System.String>+Other<Aot.Point>": {".Value"},
    "Aot.WithEnum": {".Node"},
    "Aot.Mixed": {".First", ".Second"},
    "Aot.Nested": {".Inner.First", ".Inner.Second", ".Row.cell[*]", ".Tuple.Item2.First",
                   ".Tuple.Item2.Second"},
    "Aot.Mixed[]": {"[*].First", "[*].Second"},
    "Aot.Mixed[,]": {"[*].First", "[*].Second"},
    "Aot.Node[,]": {"[*]"},
    "Aot.Pair<System.String, Aot.Node>[]": {"[*]"},
    "Aot.Value": {".To"},
}
# References that have no name: static fields of types that the compiler does not describe.
MOST_UNNAMED = {8: 64, 9: 0, 10: 0, 11: 0}


def fields(dnheap, dump, major):
    """Every reference of every object has a name, and those of the program's objects the right ones."""
    done = subprocess.run([dnheap.parent / "fields-dump", dump], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [f"fields-dump ended with code {done.returncode} and said: {done.stderr.strip()}"]
    found = json.loads(done.stdout)
    slots = {row["type"]: row["slots"] for row in found["types"]}
    problems = [f"the references of {name} are called {slots.get(name)}, not {sorted(expected)}"
                for name, expected in FIELDS.items() if set(slots.get(name, [])) != expected]
    # What the compiler made up for static fields and for suspended calls, is called by its place.
    problems += [f"{name}: a reference has no name ({slot})" for name, all_of in slots.items()
                 if "!0x" not in name and not name.startswith("Continuation_")
                 for slot in all_of if ".0x" in slot]
    if found["unnamed_references"] > MOST_UNNAMED[major]:
        problems.append(f"{found['unnamed_references']} of {found['slots']} references have no name")
    return problems + [f"fields: {words}" for words in found["problems"]]


def names(stat, truth):
    """The names of types, by method table."""
    return [f"type {row['method_table']} {row['type']}: the program's name is {truth['names'][row['method_table']]}"
            for row in stat["tables"]["types"]
            if truth["names"].get(row["method_table"], row["type"]) != row["type"]]


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, COMBINATIONS, SAMPLE, run))
