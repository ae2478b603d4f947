#!/usr/bin/env python3
"""Threads, frames and what frames hold: a program whose threads are stopped in every way there is (../programs/stacks), dumped;
dnheap must agree with ClrMD, slot by slot, and with what the program says of itself.

    stacks.py --list --sample                     the kinds that a short run makes, written MODE:MAJOR:GC:DUMP; --all: all of them
    stacks.py DNHEAP --one optimised:9:svr:gcore  starts that program, dumps it, compares, deletes the dumps

    tiered       code as it is by default: the framework's compiled ahead of time, the program's not optimised
    optimised    all code is
    compiled     the program is compiled ahead of time, too
    composite    much of the framework is compiled into one image
    debug        the program is compiled as for a debugger; its symbols are inside its .dll
    spin         threads stopped amid loops that never wait
    collect      threads that allocate while another one collects without end
    helpers      threads amid loops that are in helpers of the runtime most of the time, which leave no Frame: eight dumps
    many         3,000 threads
    symbols      the program's symbols are not where the compiler put them, but in a folder that --symbols names

DUMP is heap, full or gcore (of which the witness knows no stacks: it looks at a full dump of the same process). Exit codes are
those of matrix.py. Where ClrMD is known to be wrong, `ClrmdIsWrong` says why, and what proves it.
"""
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import live
import matrix
import runtimes
import targets
import witness

ARGUMENTS = {"tiered": ["idle", "unhandled"], "optimised": ["idle", "unhandled"], "debug": ["idle", "unhandled"],
             "compiled": ["idle", "unhandled"], "composite": ["idle", "unhandled"], "spin": ["spin"],
             "collect": ["collect"], "helpers": ["helpers"], "many": ["many", "3000"], "symbols": ["idle"]}
SETTINGS = {"optimised": {"DOTNET_TieredCompilation": "0"}}
AT_REST = ("tiered", "optimised", "compiled", "composite", "debug", "many")  # nothing changes between two dumps
ALL, HEAPS = ("heap", "full", "gcore"), ("wks", "svr")
DUMPS = {"tiered": (HEAPS, ALL), "optimised": (HEAPS, ALL), "debug": (("wks",), ALL), "compiled": (("wks",), ALL),
         "composite": (("wks",), ("heap", "gcore")), "spin": (HEAPS, ("heap", "full")), "collect": (HEAPS, ("heap", "full")),
         "helpers": (("wks",), ("heap",)),
         "many": (("wks",), ("heap",)), "symbols": (("wks",), ("heap", "gcore"))}
KINDS = [f"{mode}:{major}:{gc}:{dump}" for mode, (heaps, dumps) in DUMPS.items() for major in runtimes.MAJORS for gc in heaps for dump in dumps]
# Not helpers: which stand in ld-musl now and then, and that has no unwind data.
KINDS += [f"{mode}:{version}:{rest}" for version in runtimes.MUSL for mode, rest in (("tiered", "wks:heap"), ("optimised", "wks:full"), ("optimised", "svr:gcore"), ("spin", "wks:heap"),
                                                                                 ("collect", "svr:heap"), ("many", "wks:heap"))]
SAMPLE = ["tiered:11:wks:heap", "optimised:10:svr:gcore", "spin:8-musl:wks:heap"]  # even a short run makes these

TRIES = 10  # of createdump, which fails when a thread ends meanwhile


# Names. ClrMD and the runtime's own stack traces spell generic arguments, by-references and namespaces of parameters in other ways.

def without_arguments(text):
    """Without generic arguments and arity; what compilers call <Main>$ or <>c stays."""
    text = re.sub(r"`\d+", "", text)
    out, depth = [], 0
    for i, c in enumerate(text):
        opens = c == "<" and (depth or (i and (text[i - 1].isalnum() or text[i - 1] in "_>") and not text[i - 1:i + 1] == ".<"))
        opens = opens or (c == "[" and (depth or text[i + 1:i + 2] not in ("]", ",", "*")))
        if opens:
            depth += 1
        elif depth and c in ">]":
            depth -= 1
        elif not depth:
            out.append(c)
    return "".join(out)


def parameter(text):
    text = text.strip().replace(" ByRef", "&")
    by_reference = re.match(r"(ref|in|out) ", text)
    if by_reference:
        text = text[by_reference.end():] + "&"
    return re.split(r"[.+]", text)[-1]


def method_name(signature):
    """(Type.Method, [short types of parameters]) of a signature."""
    text = without_arguments(re.sub(r"^\[\w+\] ?", "", signature))  # the kind of an explicit frame
    name, _, rest = text.partition("(")
    inside = rest.rpartition(")")[0]
    return name.replace("+", "."), [parameter(one) for one in inside.split(",")] if inside else []


def frame_name(signature):
    """Type.Method as Environment.StackTrace has it: what the compiler made of an iterator or async method is that method."""
    name = method_name(signature)[0]
    if name.startswith("DynamicClass."):  # made at run time; stack traces name no class
        return name[len("DynamicClass."):]
    made = re.search(r"\.<(\w+)>d(__\w+)?\.", name)
    return f"{name[:made.start()]}.{made.group(1)}" if made else name


def trace_name(line):
    return frame_name(line.split(" in /")[0].split(")+")[0])


def short(names):
    return " < ".join(names[:12])


# Comparisons.

class Found:
    """What dnheap says of one dump, by thread."""

    def __init__(self, dnheap, dump, *options):
        self.threads = {row["os_id"]: row for row in matrix.answer(dnheap, "threads", dump)["tables"]["threads"]}
        stacks = matrix.answer(dnheap, "stack", dump, "--all", "--roots", *options)
        self.frames, self.references = collections.defaultdict(list), collections.defaultdict(list)
        for row in stacks["tables"]["frames"]:
            self.frames[row["os_id"]].append(row)
        for row in stacks["tables"]["references"]:
            self.references[row["os_id"]].append(row)
        self.incomplete = stacks["tables"]["problems"]
        self.roots = matrix.answer(dnheap, "roots", dump)["tables"]["roots"]


def frames_of(found, os_id):
    return [row for row in found.frames[os_id] if row["kind"] == "managed"]


def compare_frames(found, account, wrong):
    """Managed frames of every thread: ip, sp, method and order."""
    problems, equal, differ = [], 0, 0
    for os_id, thread in account.items():
        ours = [(row["ip"], row["sp"], method_name(row["method"] or "")) for row in frames_of(found, os_id)]
        theirs = [(row["ip"], row["sp"], method_name(row["method"] or "") if row.get("method") else None)
                  for row in thread["frames"] if row["kind"] == "ManagedMethod"]
        if [row[:2] for row in ours] != [row[:2] for row in theirs]:
            differ += 1
            if not wrong.of_frames(os_id):
                problems.append(f"thread {os_id}: {len(ours)} frames, ClrMD has {len(theirs)}: "
                                f"{short([row[2][0] for row in ours])}; ClrMD: {short([(row[2] or ['?'])[0] for row in theirs])}")
            continue
        equal += 1
        problems += [f"thread {os_id}: the method at {a[0]} is {a[2]}, ClrMD has {b[2]}" for a, b in zip(ours, theirs)
                     if b[2] and a[2] != b[2]]
    return problems, equal, differ


def compare_references(found, account, wrong):
    """What frames hold: every slot that ClrMD finds, and no other."""
    problems, equal, extra = [], 0, collections.Counter()
    for os_id, thread in account.items():
        rest = list(found.references[os_id])
        for row in sorted(thread["roots"], key=lambda row: row["address"] == "0x0"):  # ClrMD says of registers no address
            match = best(rest, row)
            if match is not None:
                equal += 1
                rest.remove(match)
            elif not wrong.of_frames(os_id) and not is_known_difference(found, os_id, row):
                problems.append(f"thread {os_id}: {row['type']} {row['object']} in {row['address']} {row['register']}{row['offset']:+} of "
                                f"{row.get('method') or row.get('frame')} (interior {row['interior']}, pinned {row['pinned']}), says ClrMD")
        frames = {row["index"]: row for row in found.frames[os_id]}
        for row in rest:
            frame = frames.get(row["index"], {"kind": "none", "method": None})
            extra[frame["kind"]] += 1
            if frame["kind"] == "managed" and row["certain"] and not wrong.of_more_references(os_id, frame):
                problems.append(f"thread {os_id}: {row['type']} {row['object']} in {row['address'] or row['register']} of {frame['method']}, "
                                f"which ClrMD has not: {row}")
    return problems, equal, extra


def is_known_difference(found, os_id, row):
    """A byref to a place on the stack: ClrMD lists the object that this place holds, which counts where it is held. And what
    .NET 9's frames that dispatch an exception hold, whose handler runs: the exception, which a handle holds."""
    if row["interior"]:
        return any(one["object"] == row["object"] and not one["interior"] for one in found.references[os_id])
    dispatches = (row.get("method") or "").startswith("System.Runtime.EH.")
    return dispatches and any(one["object"] == row["object"] and one["kind"].startswith("handle") for one in found.roots)


def best(rows, wanted):
    """The reference that ClrMD means: by slot and flags; of registers, where it has no slots, by object and flags."""
    for row in sorted(rows, key=lambda row: not row["certain"]):
        same = row["object"] == wanted["object"] and (row["interior"], row["pinned"]) == (wanted["interior"], wanted["pinned"])
        if same and (wanted["address"] in (row["address"], "0x0") or row["address"] is None):
            return row
    return None


def wanted_names(one):
    """The end of a thread's stack as the program printed it. Who passes on what it made, or has done with it, may have been
    replaced by the method that it called last."""
    names = [trace_name(line) for line in one["trace"][1 if one["by"] in ("argument", "nothing") else 0:]]
    # Of one call into native code .NET 10 prints two lines.
    return [name for i, name in enumerate(names) if i == 0 or name != names[i - 1]]


def lines(found, held, mode):
    """Each call that the program printed with file and line has them: those further out than the one that printed it, which
    goes on meanwhile."""
    problems, told = [], 0
    for one in held:
        known = {(row["source"], row["line"]) for row in found.frames[one["os_id"]]}
        for call in one["trace"][1:]:
            match = re.search(r" in (.*):line (\d+)$", call)
            if not match:
                continue
            told += 1
            if (match[1], int(match[2])) not in known:
                problems.append(f"{one['scenario']}: no frame of thread {one['os_id']} stands at {call}")
    return problems if told > 100 or mode not in AT_REST or mode == "many" else problems + [f"only {told} lines were told"]


def traces(found, held):
    """What the program printed of its stacks is there, in that order, up to the end of the stack."""
    problems = []
    for one in held:
        rows = found.frames[one["os_id"]]
        names = [frame_name(row["method"] or "") for row in rows]
        # .NET 8 and 9 note which of the runtime's functions was called only when somebody asks.
        unnamed = sum((row["method"] or "").startswith("[HelperMethodFrame") and not names[i] for i, row in enumerate(rows))
        rest, missing = iter(names), []
        for name in wanted_names(one):
            if name not in names and unnamed:
                unnamed -= 1
            elif name not in rest:
                missing.append(name)
        if missing:
            problems.append(f"{one['scenario']}: {missing[0]} is not in the stack of thread {one['os_id']}: {short(names)}")
    return problems


def holders(found, one):
    """Methods whose frames hold an object of that type."""
    frames = {row["index"]: row for row in found.frames[one["os_id"]]}
    return {frames[row["index"]]["method"] for row in found.references[one["os_id"]] if row["type"] == one["type"]}


def held_by_frames(found, held):
    """Each object is held by a frame of its thread, and of the right method."""
    problems = []
    for one in held:
        rows = [row for row in found.references[one["os_id"]] if row["type"] == one["type"]]
        objects = {row["object"] for row in rows}
        if one["by"] == "nothing" and one["address"] is None:
            if objects:
                problems.append(f"{one['scenario']}: {one['type']}, which the GC had freed, is held: {rows}")
            continue
        if len(objects) != one["count"]:
            problems.append(f"{one['scenario']}: {len(objects)} of {one['count']} {one['type']} are held by thread {one['os_id']}")
            continue
        frames = {row["index"]: row for row in found.frames[one["os_id"]]}
        # What may be a register of the method that a HelperMethodFrame was called by is listed with that Frame.
        indices = {row["index"] + (frames[row["index"]]["kind"] == "explicit" and not row["certain"]) for row in rows if row["index"] in frames}
        methods = {frame_name(frames[index]["method"] or "") for index in indices if index in frames}
        if one["by"] not in ("argument", "nothing") and trace_name(one["trace"][0]) not in methods:
            problems.append(f"{one['scenario']}: {one['type']} is held by {methods}, not by {one['trace'][0]}")
        for way in ("interior", "pinned"):
            if one["by"] == way and not any(row[way] for row in rows):
                problems.append(f"{one['scenario']}: {one['type']} is not held {way}: {rows}")
    return problems


def threads(found, held):
    problems = []
    for one in held:
        row = found.threads.get(one["os_id"])
        if row is None or row["managed_id"] != one["managed_id"]:
            problems.append(f"{one['scenario']}: thread {one['os_id']} has the managed id {one['managed_id']}: {row}")
            continue
        methods = sum(not frame["left"] for frame in frames_of(found, one["os_id"]))
        if row["frames"] != methods:
            problems.append(f"{one['scenario']}: `threads` counts {row['frames']} frames, `stack` lists {methods}")
        # The finalizer thread has a name for debuggers alone; Thread.Name, which the program tells, is null there.
        wanted = ".NET Finalizer" if one["scenario"] == "Finalize" else one["thread"]
        if row["name"] != wanted:
            problems.append(f"{one['scenario']}: thread {one['os_id']} is called {row['name']}, not {wanted}")
    return problems


def roots(found):
    """`roots` has what `stack --roots` has, no more and no less, and names thread and method."""
    ours = {(os_id, row["address"], row["object"]) for os_id, rows in found.references.items() for row in rows if row["certain"]}
    listed = {(row["thread"], row["address"], row["object"]) for row in found.roots if row["kind"] == "stack"}
    problems = [f"`roots` lacks thread {one[0]}, slot {one[1]}, {one[2]}" for one in sorted(ours - listed, key=str)[:5]]
    problems += [f"only `roots` has thread {one[0]}, slot {one[1]}, {one[2]}" for one in sorted(listed - ours, key=str)[:5]]
    return problems + [f"a root on a stack has no name: {row}" for row in found.roots if row["kind"] == "stack" and not row["name"]][:1]


def paths(dnheap, dump, found, held):
    """`path` on an object that only a frame holds names thread and method; what only pointers into it hold is alive."""
    problems = []
    for one in held:
        if one["address"] is None or one["by"] == "nothing":
            continue
        rows = matrix.answer(dnheap, "path", dump, one["address"])["tables"]["paths"]
        root = rows[0]["root"] if rows else {"kind": None}
        method = trace_name(one["trace"][0])
        kinds = ("stack", "stack_conservative") if one["by"] == "argument" else ("stack",)
        if root["kind"] not in kinds or root["thread"] != one["os_id"]:
            problems.append(f"{one['scenario']}: the path to {one['type']} {one['address']} is {rows}")
        elif root["kind"] == "stack" and root["name"] not in holders(found, one):
            problems.append(f"{one['scenario']}: the path to {one['type']} names none of {holders(found, one)}: {root}")
    dead = {row["type"] for row in matrix.answer(dnheap, "stat", dump, "--dead")["tables"]["types"]}
    return problems + [f"{one['type']} is called dead" for one in held if one["type"] in dead and one["by"] != "nothing"]


class ClrmdIsWrong:
    """Of which threads ClrMD's account is not to be compared with, and why. What proves it is the program: what it printed of its
    own stack, and objects that its last collection left alive though nothing but a frame held them.

    .NET 9: of optimised code ClrMD lacks what catch, finally and fault handlers hold, and all methods that those call: also where it
    lists just these on the same thread of a program that was compiled ahead of time. .NET 10: the DAC crashes on filters
    and on first-chance and unhandled exceptions' events. Any: a thread whose return address was replaced to stop it ends there.
    """

    def __init__(self, account, failed, held, found_frames):
        self.failed, self.lost_frames, self.lost_objects, self.lost_callees = failed, {}, {}, {}
        for os_id, thread in account.items():
            handlers = [int(frame["sp"], 16) for frame in thread["frames"] if (frame.get("method") or "").startswith("System.Runtime.EH.")]
            methods = [frame for frame in thread["frames"] if frame["kind"] == "ManagedMethod"]
            if methods and not found_frames.get(os_id) and not any(frame.get("method") for frame in methods):
                self.lost_frames[os_id] = "ClrMD takes a place in native code for a frame of no method"
            if handlers and not any(int(root["sp"], 16) < handlers[0] for root in thread["roots"]):
                self.lost_callees[os_id] = handlers[0]
        for one in held:
            thread = account.get(one["os_id"])
            if thread is None:
                continue
            rest = iter([frame_name(row.get("method") or "") for row in thread["frames"]])
            missing = [name for name in wanted_names(one) if "." in name and name not in rest]
            if missing:
                self.lost_frames[one["os_id"]] = f"ClrMD does not come to {missing[0]}"
            alive = one["address"] is not None and one["by"] != "nothing"
            if alive and one["type"] not in {row["type"] for row in thread["roots"]}:
                self.lost_objects[one["os_id"]] = f"ClrMD has not what {one['scenario']} holds"

    def of_frames(self, os_id):
        return self.failed.get(os_id) or self.lost_frames.get(os_id)

    def of_more_references(self, os_id, frame=None):
        if frame and int(frame["sp"], 16) < self.lost_callees.get(os_id, 0):
            return "ClrMD lists nothing that methods hold which an exception's handler called"
        return self.of_frames(os_id) or self.lost_objects.get(os_id)


def strangers_symbols(dnheap, major, gc, kind):
    """Lines come from the symbols in a folder that --symbols names, whatever lies beside them there; not from those of another
    build; and an answer without them says so."""
    problems = []
    with tempfile.TemporaryDirectory(prefix="dnheap-stacks-") as folder:
        folder = pathlib.Path(folder)
        ours, strangers, wrong = folder / "program", folder / "symbols" / "of" / "stacks", folder / "wrong"
        shutil.copytree(targets.build("stacks").parent, ours)
        # Where the compiler put its symbols there must be none.
        assembly = ours / "stacks.dll"
        content = assembly.read_bytes()
        assembly.write_bytes(content.replace(b"/release/stacks.pdb", b"/nowhere/stacks.pdb"))
        if content == assembly.read_bytes():
            return ["the path of the symbols is not in stacks.dll"]
        with targets.Target("stacks", major, gc == "svr", "regions", ARGUMENTS["symbols"], assembly=assembly) as target:
            time.sleep(1)
            dump = dumped(target, kind, folder / "stacks.core")
            held = target.truth["held"]
        strangers.mkdir(parents=True)
        wrong.mkdir()
        (ours / "stacks.pdb").rename(strangers / "stacks.pdb")
        shutil.copy(targets.build("zoo").parent / "zoo.pdb", wrong / "stacks.pdb")
        for options in ((), ("--symbols", wrong)):
            answer = matrix.answer(dnheap, "stack", dump, "--all", *options)
            told = [row["source"] for row in answer["tables"]["frames"] if row["source"]]
            problems += [f"with {options}: lines of {told[0]} though it has no symbols"] if told else []
            problems += [] if any("stacks.dll" in note for note in answer["completeness"]["notes"]) else [f"with {options}: no note about stacks.dll"]
        for options, outcome in (((), "missing"), (("--symbols", wrong), "rejected"), (("--symbols", folder / "symbols"), "used")):
            rows = [row["outcome"] for row in matrix.answer(dnheap, "info", dump, *options)["tables"]["symbols"] if row["module"] == "stacks.dll"]
            problems += [] if rows == [outcome] else [f"`info` with {options} says of the symbols of stacks.dll {rows}, not {outcome}"]
        (strangers / "stacks.pdb").rename(strangers / "4711")  # its id finds it
        found = Found(dnheap, dump, "--symbols", folder / "symbols")
        return problems + lines(found, held, "debug")


def helped(dnheap, major, gc, kind):
    """Wherever a thread stands, the method whose loop it is in is on its stack; what that holds is alive."""
    problems, seen, without_frame = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="dnheap-stacks-") as folder:
        with targets.Target("stacks", major, gc == "svr", "regions", ARGUMENTS["helpers"]) as target:
            dumps = []
            for i in range(8):
                time.sleep(0.3)
                dumps.append(dumped(target, kind, pathlib.Path(folder) / f"{i}.core"))
            held = [one for one in target.truth["held"] if one["thread"]]
        for dump in dumps:
            found = Found(dnheap, dump)
            for one in held:
                frames = found.frames[one["os_id"]]
                seen += 1
                without_frame += not any(row["kind"] == "explicit" and row["method"] != "[DebuggerU2MCatchHandlerFrame]" for row in frames)
                if not any((row["method"] or "").startswith(f"Stacks.Busy.{one['thread']}(") for row in frames):
                    problems.append(f"{dump.name}: {one['thread']} is not on the stack of its thread: {[row['method'] for row in frames]}")
            dead = {row["type"] for row in matrix.answer(dnheap, "stat", dump, "--dead")["tables"]["types"]}
            problems += [f"{dump.name}: Held.Helped is called dead"] if "Held.Helped" in dead else []
            problems += [f"{dump.name}: thread {row}" for row in found.incomplete]
    print(f"{seen} stacks, {without_frame} without a Frame of their own")
    return problems


def run(dnheap, mode, major, gc, kind):
    """All problems of one kind, in words."""
    if mode == "helpers":
        return helped(dnheap, major, gc, kind)
    if mode == "symbols":
        return strangers_symbols(dnheap, major, gc, kind)
    with tempfile.TemporaryDirectory(prefix="dnheap-stacks-") as folder:
        folder = pathlib.Path(folder)
        program = "stacks-debug" if mode == "debug" else "stacks"
        with targets.Target(program, major, gc == "svr", "regions", ARGUMENTS[mode], SETTINGS.get(mode),
                            ahead=mode == "compiled", root=targets.composite_root(major) if mode == "composite" else None) as target:
            if mode in AT_REST:
                target.wait_until_at_rest()
            else:
                time.sleep(1)
            dump = dumped(target, kind, folder / "stacks.core")
            looked_at = dumped(target, "full", folder / "full.core") if kind == "gcore" else dump
            alive = live.ask(dnheap, "stack", ["-p", target.pid], "--all", "--roots") if mode in AT_REST else None
            truth = target.truth
        account, failed = witness.stacks(looked_at, major)
        if looked_at != dump:  # taken later: the runtime's own threads may have gone on
            account = {one["os_id"]: account[one["os_id"]] for one in truth["held"] if one["os_id"] in account}
        problems = compare(dnheap, dump, account, failed, truth, mode)
        stacks = matrix.answer(dnheap, "stack", dump, "--all", "--roots")
        return problems + as_live(alive, stacks, truth["held"]) + extracted(dnheap, dump, stacks, folder / "small.core")


def rows_of(answer, only=None):
    return {name: [row for row in answer["tables"][name] if only is None or row["os_id"] in only] for name in ("frames", "references")}


LACKS_OFFSETS = "source lines: the IL offsets of "


def as_live(alive, stacks, held):
    """The process itself has the stacks that a dump of it has. Threads of the runtime's own may have gone on; and of images without
    a header in the dump it may lack the constants that lie in writable sections, which is said."""
    if not alive:
        return []
    threads = {one["os_id"] for one in held}
    ours, theirs = rows_of(stacks, threads), rows_of(alive, threads)
    if any(note.startswith(LACKS_OFFSETS) for note in stacks["completeness"]["notes"]):
        for row, other in zip(ours["frames"], theirs["frames"]):
            if row["il_offset"] is None:
                other["il_offset"] = None
    return [f"of the process itself the table {name} differs: {differing(rows, theirs[name])}"
            for name, rows in ours.items() if theirs[name] != rows]


def differing(rows, others, most=4):
    """A few rows that only one of the two has."""
    return [row for row in rows if row not in others][:most], [row for row in others if row not in rows][:most]


def managed(rows):
    """Without native frames, and without the places among them."""
    return [{key: cell for key, cell in row.items() if key != "index"} for row in rows if row.get("kind") != "native"]


def extracted(dnheap, dump, stacks, small):
    """An extracted core, with values and without, has the same stacks."""
    problems = []
    for options in ((), ("--no-values",)):
        done = subprocess.run([dnheap, "extract", dump, "-o", small, *options], capture_output=True, text=True, timeout=matrix.PATIENCE)
        if done.returncode:
            problems.append(f"extract {options} ended with code {done.returncode} and said: {done.stderr.strip()}")
            continue
        for name, rows in rows_of(matrix.answer(dnheap, "stack", small, "--all", "--roots")).items():
            expected = rows_of(stacks)[name]
            if options:  # registers that native functions saved may hold values, so some native frames cannot be unwound then
                rows, expected = managed(rows), managed(expected)
            if rows != expected:
                problems.append(f"extracted {options}: the table {name} differs: {len(rows)} rows, {len(expected)} of the dump")
        small.unlink()
    return problems


def dumped(target, kind, path):
    for _ in range(TRIES):
        try:
            return target.dump(kind, path)
        except RuntimeError as error:
            last = error
            time.sleep(2)
    raise last


def compare(dnheap, dump, account, failed, truth, mode):
    found, held = Found(dnheap, dump), truth["held"]
    managed = {os_id: frames_of(found, os_id) for os_id in account}
    wrong = ClrmdIsWrong(account, failed, held, managed)
    problems, equal, differ = compare_frames(found, account, wrong)
    words, same, extra = compare_references(found, account, wrong)
    problems += words
    print(f"{len(account)} threads, {equal} with equal frames, {differ} where ClrMD differs; {same} references equal, others in frames "
          f"that are {dict(extra)}")
    for os_id in sorted({*account, *failed}):
        if wrong.of_more_references(os_id):
            print(f"thread {os_id}: {wrong.of_more_references(os_id)}")
    problems += [f"the stacks of threads {row['os_ids']} could not be followed: {row['problem']}" for row in found.incomplete]
    problems += lines(found, held, mode) + traces(found, held) + held_by_frames(found, held) + threads(found, held) + roots(found)
    if mode in AT_REST:
        problems += paths(dnheap, dump, found, held)
    if truth["many"]:
        objects = {row["object"] for rows in found.references.values() for row in rows if row["type"] == "Held.Many"}
        problems += [] if len(objects) == truth["many"] else [f"{len(objects)} of {truth['many']} Held.Many are held"]
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
