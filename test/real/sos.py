#!/usr/bin/env python3
"""The same commands to dotnet-dump and to `dnheap shell`, of one core: figures must be equal wherever both have them.

    sos.py --list                            the kinds, written sos-PROGRAM:MAJOR:DUMP
    sos.py DNHEAP --one sos-inspect:10:heap  starts that program, dumps it, asks both, deletes the dump

Also that dotnet-dump has no command and no option which ../shell/sos_commands.txt does not list: `dnheap shell` knows what stands
there (../shell/sos_check.py). The tool comes from NuGet, into the cache; where it cannot be had this is skipped. Exit codes are those of matrix.py.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import matrix
import runtimes
import targets

VERSION = "10.0.750501"
COMMANDS = pathlib.Path(__file__).resolve().parents[1] / "shell" / "sos_commands.txt"
PROGRAMS = {"sos-inspect": ("inspect", []), "sos-locks": ("waits", ["locks"]), "sos-thrown": ("waits", ["thrown"]), "sos-async": ("waits", ["async"]),
            "sos-hangs": ("waits", ["hangs"]), "sos-pool": ("waits", ["pool"])}
KINDS = [f"{program}:10:heap" for program in PROGRAMS]
SAMPLE = ["sos-inspect:10:heap", "sos-locks:10:heap"]


def tool():
    """dotnet-dump, installed on first use."""
    folder = runtimes.cache() / "tools" / f"dotnet-dump-{VERSION}"
    program = folder / "dotnet-dump"
    with runtimes.lock():
        if not program.exists():
            command = [runtimes.sdk(), "tool", "install", "dotnet-dump", "--version", VERSION, "--tool-path", folder]
            done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                raise runtimes.Missing(f"dotnet-dump {VERSION} cannot be had: {done.stdout.strip()[-300:]}")
    return program


class Tool:
    """What dotnet-dump answers. Each question is asked once."""

    def __init__(self, dump):
        self.program, self.dump, self.known = tool(), dump, {}

    def ask(self, *lines):
        """Asks all of these in one run: it takes a second to start."""
        new = [line for line in lines if line not in self.known]
        if new:
            environment = dict(os.environ, DOTNET_ROLL_FORWARD="Major", DOTNET_ROOT=str(runtimes.sdk().parent))
            done = subprocess.run([str(self.program), "analyze", str(self.dump)], input="".join(f"{line}\n" for line in [*new, "exit"]), env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
            parts = re.split(r"^> (.*)\n", done.stdout, flags=re.MULTILINE)
            self.known |= {line: text.partition("<END_COMMAND")[0] for line, text in zip(parts[1::2], parts[2::2])}
        return [self.known.get(line, "") for line in lines]

    def rows(self, line, pattern):
        """All matches in an answer; numbers without commas."""
        return [tuple(number(cell) for cell in match) for match in re.findall(pattern, self.ask(line)[0], re.MULTILINE)]


def number(text):
    plain = text.replace(",", "")
    return int(plain) if plain.isdigit() else text


class Ours:
    """What the same fingers get here."""

    def __init__(self, dnheap, dump):
        self.dnheap, self.dump = dnheap, dump

    def text(self, line):
        done = subprocess.run([str(self.dnheap), "shell", str(self.dump), "-c", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"`{line}` ended with code {done.returncode} and said: {done.stderr.strip()}")
        return done.stdout

    def tables(self, line):
        return json.loads(self.text(line + " --format json"))["tables"]

    def rows(self, line):
        return next(iter(self.tables(line).values()))


def address(text):
    return int(text, 16)


def listed_commands(theirs):
    """dotnet-dump has what the list has, and no more."""
    known = {line.split(":")[0].split(",")[0]: line.strip() for line in COMMANDS.read_text().splitlines()}
    (listing,) = theirs.ask("help")
    found = re.findall(r"^([A-Za-z0-9, ]+?)(?: <\w+>)*  +[A-Z]", listing, re.MULTILINE)
    names = {entry.split(",")[0].strip() for entry in found}
    helps = dict(zip(sorted(names), theirs.ask(*(f"help {name}" for name in sorted(names)))))
    problems = [f"commands: {sorted(names ^ set(known))} are not in both lists"] if names != set(known) else []
    for name, text in helps.items():
        options = re.findall(r"^  (-[-\w, ]*?)(?:  |$)", text.partition("\nOptions:\n")[2], re.MULTILINE)
        missing = [word for option in options for word in option.split(", ") if word.strip() not in re.split("[ ,]", known.get(name, ""))]
        problems += [f"{name}: options {missing} are not in the list"] if missing else []
    return problems


def types(theirs, ours):
    """Every type's count and bytes: all, of a generation, from a size on."""
    for line in ("dumpheap -stat", "dumpgen gen2 -stat", "dumpheap -stat -min 1000", "dumpheap -stat -max 24", "dumpheap -stat -gen loh"):
        asked = line.removesuffix(" -stat") if line.startswith("dumpgen") else line
        found = {address(mt): (count, size) for mt, count, size in theirs.rows(asked, r"^ *([0-9a-f]{8,16}) +([\d,]+) +([\d,]+) \S")}
        mine = {address(row["method_table"]): (row["count"], row["bytes"]) for row in ours.rows(line)}
        if line.startswith("dumpgen"):  # which leaves out Free
            mine = {mt: row for mt, row in mine.items() if mt in found}
        yield line, found, mine


def objects(theirs, ours):
    """The objects of a type, one by one."""
    mt = next(row["method_table"] for row in ours.rows("dumpheap -stat") if row["type"] == "System.String")
    line = f"dumpheap -short -mt {mt[2:]}"
    found = re.findall(r"^[0-9a-f]+$", theirs.ask(line)[0], re.MULTILINE)
    yield line, sorted(map(address, found)), sorted(map(address, ours.text(line).split()))


def segments(theirs, ours):
    """The memory of each generation that holds objects."""
    rows = theirs.rows("gcheapstat", r"^Total +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)")
    mine = {row["generation"]: row for row in ours.rows("gcheapstat")}
    names = ("gen0", "gen1", "gen2", "loh", "poh")
    yield "gcheapstat", dict(zip(names, rows[0])), {name: mine.get(name, {}).get("segment_bytes", 0) for name in names}


def threads(theirs, ours):
    """Ids, objects of the runtime and states."""
    found = {os_id: (managed, address(at), bool(address(state) & 0x200))
             for managed, os_id, at, state in ((row[0], address(str(row[1])), str(row[2]), str(row[3])) for row in theirs.rows(
                 "clrthreads", r"^ *(?:\d+|XXXX) +(\d+) +([0-9a-f]+) ([0-9A-F]{16}) +([0-9a-f]+) "))}
    mine = {row["os_id"]: (row["managed_id"], address(row["address"]), "background" in row["state"])
            for row in ours.rows("clrthreads") if row["os_id"]}
    yield "clrthreads", {one: row for one, row in found.items() if one}, mine


def stacks(theirs, ours):
    """Each thread's managed frames, by their stack pointers."""
    text, = theirs.ask("clrstack -all")
    found = {}
    for part in text.split("OS Thread Id: ")[1:]:
        frames = re.findall(r"^([0-9A-F]{16}) [0-9A-F]{16} \S", part, re.MULTILINE)
        found[address(part.split()[0])] = [address(sp) for sp in frames]
    mine = {}
    for row in ours.tables("clrstack -all")["frames"]:
        if row["kind"] == "managed":
            mine.setdefault(row["os_id"], []).append(address(row["sp"]))
    yield "clrstack -all", {one: frames for one, frames in found.items() if frames}, mine


def locks(theirs, ours):
    """Who holds a monitor, by the object; and the objects with a lock in their header."""
    rows = theirs.rows("syncblk", r"^ *\d+ [0-9A-F]+ +(\d+) +(\d+) [0-9A-F]+ +([0-9a-f]+) +\S+ +([0-9a-f]+) ")
    found = {address(str(at)): address(str(os_id)) for _, _, os_id, at in rows}
    mine = ours.rows("syncblk")
    yield "syncblk", found, {address(row["object"]): row["owner_os_id"] for row in mine if row["kind"] == "monitor" and row["owner_os_id"]}
    thin = theirs.rows("dumpheap -thinlock", r"^ *([0-9a-f]{8,16}) +[0-9a-f]{8,16} .*ThinLock|^ *([0-9a-f]{8,16}) +[0-9a-f]{8,16} +\d")
    yield "dumpheap -thinlock", sorted(address(str(a or b)) for a, b in thin), \
        sorted(address(row["object"]) for row in ours.rows("dumpheap -thinlock --all"))


def handles(theirs, ours):
    """How many of each kind."""
    words = {"Strong": "strong", "Pinned": "pinned", "Weak Short": "weak_short", "Weak Long": "weak_long", "Dependent": "dependent"}
    found = {words[kind]: count for kind, count in theirs.rows("gchandles -stat", r"^ *(\w[\w ]+?) Handles: +(\d+)") if kind in words}
    mine = {row["kind"]: row["handles"] for row in ours.rows("gchandles -stat") if row["kind"] in words.values() and row["handles"]}
    yield "gchandles -stat", found, mine
    pinned = theirs.rows("gchandles -type Pinned", r"^([0-9a-fA-F]{16}) +Pinned +([0-9a-fA-F]{16})")
    yield "gchandles -type Pinned", sorted((address(str(slot)), address(str(at))) for slot, at in pinned), \
        sorted((address(row["handle"]), address(row["object"])) for row in ours.rows("gchandles -type Pinned"))


def counts(theirs, ours):
    """Sums of what the library has: timers, exceptions, types, finalizers, assemblies."""
    def total(line, pattern, none=0):
        found = theirs.rows(line, pattern)
        return sum(row[0] for row in found) if found else none
    yield "timerinfo", total("timerinfo", r"^ +(\d+) (timers)"), sum(row["count"] for row in ours.rows("timerinfo") if row["active"])
    yield "dumpexceptions", total("dumpexceptions", r"Total: (\d+) (objects)"), sum(row["count"] for row in ours.rows("dumpexceptions"))
    yield "dumpruntimetypes", len(theirs.rows("dumpruntimetypes", r"^ +([0-9a-f]{8,16}) +([0-9a-f]{8,16}) ")), len(ours.rows("dumpruntimetypes"))
    yield "finalizequeue", total("finalizequeue -stat", r"^Ready for finalization ([\d,]+) (objects)"), sum(row["count"] for row in ours.rows("finalizequeue -stat"))
    # Theirs counts four generations, as before there was the POH: what it calls 0 is gen1, and gen0 is in no line.
    of_generation = {("gen1", "gen2", "loh")[n]: count for n, count in theirs.rows("finalizequeue -stat", r"^generation (\d) has ([\d,]+) objects")}
    registered = ours.tables("finalizequeue --table registered")["registered"]
    yield "finalizequeue, by generation", of_generation, {key: sum(row[key] for row in registered) for key in ("gen1", "gen2", "loh")}
    files = [path for _, path in theirs.rows("assemblies", r"^([0-9A-F]{16}) [0-9A-F]+ (\S+)$") if path != "(Dynamic)"]
    yield "assemblies", sorted(pathlib.Path(path).name for path in files), \
        sorted(row["assembly"] for row in ours.rows("assemblies") if row["file"])
    sound = "No heap corruption detected" in theirs.ask("verifyheap")[0]
    yield "verifyheap", sound, not ours.rows("verifyheap")


def sizes(theirs, ours):
    """How many objects of each size in the oldest generation."""
    text = theirs.ask("sizestats")[0].partition("generation2 objects")[2].partition("Size Statistics")[0]
    found = {number(size): number(count) for size, count in re.findall(r"^ +([\d,]+) +([\d,]+) +[\d,]+ +[\d,]+$", text, re.MULTILINE)}
    mine = {}
    for row in ours.rows("sizestats --gen gen2"):
        aligned = row["size"] + 7 & ~7  # as theirs are
        mine[aligned] = mine.get(aligned, 0) + row["objects"]
    yield "sizestats", found, {size: count for size, count in mine.items() if count}


def single_objects(theirs, ours):
    """Of some objects: type, size, what they reach, their words, and where they lie. The tool ends at dumpobj, by a signal."""
    for row in ours.rows("dumpheap -min 100 -max 4000 -gen 2")[::97][:12] or ours.rows("dumpheap")[::97][:12]:
        at = row["address"][2:]
        lines = [f"lno {at}", f"objsize {at}", f"dq {at} -c 4", f"gcwhere {at}"]
        text, size, words, where = theirs.ask(*lines)
        fact = ours.tables(f"objsize {at}")["object"][0]
        size_, name = re.search(r"^Current: +[0-9a-f]+ +([\d,]+) \(0x[0-9a-f]+\) +(\S.*?)$", text, re.MULTILINE).groups()
        near = next(one for one in ours.rows(lines[0]) if one["address"] == row["address"])
        yield lines[0], (number(size_), name), (near["bytes"], near["type"])
        total = re.findall(r"^Total ([\d,]+) objects, ([\d,]+) bytes", size, re.MULTILINE)
        yield lines[1], number(total[-1][0]) if total else None, fact["closure_objects"]
        yield lines[2], re.findall(r"\b[0-9a-f]{16}\b(?!:)", words), [word for line in ours.rows(lines[2]) for word in line["hexadecimal"].split()]
        generation = re.search(r"^[0-9a-f]+ +\d+ +[0-9a-f]+ +(\w+)", where, re.MULTILINE)
        yield lines[3], generation and generation[1], {"gen0": "0", "gen1": "1", "gen2": "2", "loh": "Large", "poh": "Pinned", "frozen": "Frozen"}[fact["generation"]]


def names(theirs, ours):
    """Types by their names, methods by an address in their code."""
    (text,) = theirs.ask("name2ee System.Private.CoreLib.dll System.String")
    found = ours.tables("name2ee System.Private.CoreLib.dll System.String")["found"]
    yield "name2ee", address(re.search(r"^MethodTable: +([0-9a-fA-F]+)", text, re.MULTILINE)[1]), address(found[0]["address"])
    token = re.search(r"^Token: +([0-9a-fA-F]+)", text, re.MULTILINE)[1][-8:]
    yield "token2ee", "System.String", ours.tables(f"token2ee System.Private.CoreLib.dll {token}")["found"][0]["name"]
    for row in [row for row in ours.tables("clrstack -all")["frames"] if row["kind"] == "managed"][:6]:
        line = f"ip2md {row['ip'][2:]}"
        text, found = theirs.ask(line)[0], ours.tables(line)["found"]
        code = next((one for one in found if one["kind"] == "code"), None)
        method, md = (re.search(rf"^{word}: +(.*?)$", text, re.MULTILINE) for word in ("MethodDesc", "mdToken"))
        yield line, (address(method[1]), address(md[1])), code and (address(code["address"]), address(code["token"]))


def registers(theirs, ours):
    """Where a thread stands."""
    os_id = max(row["os_id"] for row in ours.rows("clrthreads") if row["os_id"] and row["frames"])
    lines = f"threads -t {os_id}", "registers"
    found = {name: address(value) for name, value in re.findall(r"^(r\w+) = 0x([0-9A-F]+)$", theirs.ask(*lines)[1], re.MULTILINE)}
    mine = {row["register"]: address(row["value"]) for row in ours.rows(f"registers {os_id}")}
    # The tool exchanges r8 and r9: of a thread in futex() it has the mask of all bits, the sixth argument, in r8.
    yield f"registers of {os_id}", {name: value for name, value in found.items() if name not in ("r8", "r9")}, \
        {("rip" if name == "ip" else name): value for name, value in mine.items() if name not in ("r8", "r9")}


def collections(theirs, ours):
    """How many items a concurrent dictionary or queue has."""
    for kind, line in (("ConcurrentDictionary<", "dcd"), ("ConcurrentQueue<", "dcq")):
        rows = [row for row in ours.rows("dumpheap -stat") if row["type"].startswith("System.Collections.Concurrent." + kind) and "+" not in row["type"] and not row["type"].endswith("]")]
        for row in rows[:4]:
            at = ours.rows(f"dumpheap -mt {row['method_table'][2:]}")[0]["address"]
            count = re.search(r"^(\d+) items?", theirs.ask(f"{line} {at}")[0], re.MULTILINE)
            mine = len(ours.tables(f"{line} {at}")["entries"])
            if count and (mine or line == "dcd"):  # of an empty queue the tool counts the items that were taken
                yield f"{line} {at}", int(count[1]), mine


def tasks(theirs, ours):
    """Pending calls of each async method, and the states of some tasks."""
    line = "dumpasync --stats"
    found = {name: count for _, count, name in theirs.rows(line, r"^([0-9a-f]{16}) ([\d,]+) +(\S.*)$")}
    mine = {row["type"]: row["count"] for row in ours.rows("dumpheap -stat -type AsyncStateMachineBox") if "[]" not in row["type"]}
    yield line, sum(found.values()), sum(mine.values())
    rows = ours.rows("dumpheap -type '^System.Threading.Tasks.Task(<.*>)?$'")  # the tool knows no tasks of other types
    for row in rows[:: max(1, len(rows) // 8)]:
        line = f"taskstate {row['address'][2:]}"
        if not (said := theirs.ask(line)[0]).startswith("Either"):
            yield line, said.split()[:1], [ours.tables(line)["object"][0]["task_status"]]


COMPARED = (types, objects, segments, threads, stacks, locks, handles, counts, sizes, single_objects, names, registers, collections, tasks)


def difference(found, mine):
    if isinstance(found, dict) and isinstance(mine, dict):
        return {key: (found.get(key), mine.get(key)) for key in [*found, *mine] if found.get(key) != mine.get(key)}
    return found, mine


def compare(dnheap, dump):
    """All problems, in words; and how many figures were compared."""
    theirs, ours = Tool(dump), Ours(dnheap, dump)
    problems, compared = listed_commands(theirs), 0
    for part in COMPARED:
        for line, found, mine in part(theirs, ours):
            compared += 1
            if found != mine:
                problems.append(f"{line}: (dotnet-dump, dnheap) {str(difference(found, mine))[:500]}")
    print(f"{compared} answers compared")
    return problems


def run(dnheap, kind, major, dump):
    tool()
    program, arguments = PROGRAMS[kind]
    with tempfile.TemporaryDirectory(prefix="dnheap-sos-") as folder:
        with targets.Target(program, major, arguments=arguments) as target:
            path = target.dump(dump, pathlib.Path(folder) / "sos.core")
        return compare(dnheap, path)


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
