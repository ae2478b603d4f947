#!/usr/bin/env python3
"""Damages a core or a Windows minidump, over and over, and sorts what dnheap makes of it.

    damage.py DNHEAP CORE [--count N] [--seed S] [--cuts] [--memory MIB] [--check] [--verbose]

Every round overwrites 1, 8 or 200 bytes of a copy, half of them aimed at what dnheap reads (the core's headers, the
runtime's module, the GC's structures, MethodTables, metadata, objects), half anywhere, runs `dnheap stat --strict`, and puts
the bytes back. --cuts also cuts the file off at every sixteenth. What comes out of a round is one of

    same       exit 0, and the table of the undamaged core
    noted      an incomplete answer (exit 4), or a complete one with a note that the undamaged core does not have
    error      exit 3 (2: several runtimes seem to be there) and one line on standard error
    SILENT     exit 0, another table, and no word about it. The bytes to blame are narrowed down to one, and named
    CRASH      a signal, another exit code, no line or more than one
    HANG       more than ten seconds
    MEMORY     more than 512 MiB of memory of its own (RLIMIT_DATA; --memory: another bound, 0: none, for sanitizers)

--check ends with 1 if there was any of the last three, or if more than a hundredth (and two) was SILENT.
CORE may be compressed (.zst). The copy is kept in /dev/shm where there is one.
"""
import argparse
import bisect
import collections
import csv
import io
import json
import mmap
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile

SECONDS = 10
TALLY = ("count", "bytes", "aligned_bytes")
METHOD_TABLE = 128  # bytes looked at from its start: fixed part, some slots
SEGMENT = 80


class Core:
    """What lies where in the file."""

    def __init__(self, path, dnheap):
        if path.endswith(".zst"):
            self.data = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
        else:
            self.data = open(path, "rb").read()
        self.loads, self.notes, self.files = [], [], []
        self.read_minidump() if self.data.startswith(b"MDMP") else self.read_elf()
        self.loads.sort()
        self.by_offset = sorted((at, length, address) for address, at, length in self.loads)
        self.read_answers(path, dnheap)

    def read_elf(self):
        self.header_end = 64
        offset, = struct.unpack_from("<Q", self.data, 32)
        size, count = struct.unpack_from("<HH", self.data, 54)
        if count == 0xffff:
            count, = struct.unpack_from("<I", self.data, struct.unpack_from("<Q", self.data, 40)[0] + 44)
        self.program_headers = (offset, offset + size * count)
        self.program_header_size = size
        for i in range(count):
            kind, _, at, address, _, length, _, _ = struct.unpack_from("<IIQQQQQQ", self.data, offset + i * size)
            if kind == 1 and length:
                self.loads.append((address, at, length))
            elif kind == 4:
                self.notes.append((at, at + length))
                self.read_files(at, at + length)

    def read_minidump(self):
        """The directory in place of program headers, streams in place of notes."""
        module_list, memory_list, memory64_list = 4, 5, 9
        self.header_end = 32
        count, offset = struct.unpack_from("<II", self.data, 8)
        self.program_headers, self.program_header_size = (offset, offset + 12 * count), 12
        for i in range(count):
            kind, length, at = struct.unpack_from("<III", self.data, offset + 12 * i)
            if not length:
                continue
            self.notes.append((at, at + length))
            if kind == module_list:
                for row in range(at + 4, at + length - 107, 108):
                    base, size, _, _, name = struct.unpack_from("<QIIII", self.data, row)
                    end = name + 4 + struct.unpack_from("<I", self.data, name)[0]
                    path = self.data[name + 4:end].decode("utf-16-le", errors="replace")
                    self.files.append((base, base + size, path.split("\\")[-1]))
            elif kind == memory_list:
                for address, size, place in struct.iter_unpack("<QII", self.data[at + 4:at + length]):
                    self.loads.append((address, place, size))
            elif kind == memory64_list:
                place, = struct.unpack_from("<Q", self.data, at + 8)
                for address, size in struct.iter_unpack("<QQ", self.data[at + 16:at + length]):
                    self.loads.append((address, place, size))
                    place += size
        self.files.sort()

    def read_files(self, at, end):
        while at + 12 <= end:
            owner, length, kind = struct.unpack_from("<III", self.data, at)
            body = at + 12 + (owner + 3 & ~3)
            if kind == 0x46494c45:
                count, _ = struct.unpack_from("<QQ", self.data, body)
                names = self.data[body + 16 + 24 * count:body + length].split(b"\0")
                for i in range(count):
                    start, stop, _ = struct.unpack_from("<QQQ", self.data, body + 16 + 24 * i)
                    self.files.append((start, stop, os.path.basename(names[i]).decode(errors="replace")))
            at = body + (length + 3 & ~3)
        self.files.sort()

    def read_answers(self, path, dnheap):
        def ask(verb, *options):
            return subprocess.run([dnheap, verb, path, "--no-progress", *options], capture_output=True, check=True).stdout

        def addresses(rows, column):
            return sorted({int(row[column], 16) for row in rows})

        stat = json.loads(ask("stat", "--format", "json"))["tables"]["types"]
        self.method_tables = addresses(stat, "method_table")
        segments = json.loads(ask("segments", "--format", "json"))["tables"]["segments"]
        self.segments = addresses(segments, "segment")
        self.ranges = sorted((int(row["start"], 16), int(row["end"], 16), row["generation"]) for row in segments)
        globals_ = json.loads(ask("contract", "--format", "json"))["tables"]["globals"]
        self.variables = addresses([row for row in globals_ if row["indirect"]], "value")
        rows = csv.DictReader(io.StringIO(ask("objects", "--format", "csv", "--top", "0").decode()))
        self.objects = addresses(rows, "address")

    def offset(self, address):
        """Of a byte in the file; None where the core does not have it."""
        i = bisect.bisect_right(self.loads, (address, 1 << 64, 0)) - 1
        if i >= 0 and address < self.loads[i][0] + self.loads[i][2]:
            return address - self.loads[i][0] + self.loads[i][1]
        return None

    def stretches(self):
        """What dnheap reads, as stretches of the file, by kind."""
        out = collections.defaultdict(list)
        out["headers"] = [(0, self.header_end), self.program_headers, *self.notes]

        def add(kind, start, stop):
            at = self.offset(start) if start < stop else None
            if at is not None and self.offset(stop - 1) == at + stop - 1 - start:
                out[kind].append((at, at + stop - start))

        for start, stop, name in self.files:
            if name in ("libcoreclr.so", "libclrgc.so", "libclrgcexp.so", "coreclr.dll", "clrgc.dll", "clrgcexp.dll"):
                for address, at, length in self.loads:
                    if start <= address < stop:
                        out["runtime"].append((at, at + length))
        for at in self.segments:
            add("gc", at, at + SEGMENT)
        for at in self.variables:
            add("gc", at, at + 16)
        for at in self.method_tables:
            add("types", at, at + METHOD_TABLE)
            word = self.offset(at + 40)
            if word is not None:  # its EEClass, or the canonical MethodTable
                add("types", *(lambda a: (a, a + 64))(struct.unpack_from("<Q", self.data, word)[0] & ~1))
        at = self.data.find(b"BSJB")
        while at >= 0:
            out["metadata"].append((at, min(at + (64 << 10), len(self.data))))
            at = self.data.find(b"BSJB", at + 1)
        for start, stop, _ in self.ranges:
            add("heap", start, stop)
        for at in self.objects[::7]:
            add("objects", at, at + 16)
        return {kind: list_ for kind, list_ in out.items() if list_}

    def place(self, at):
        """What the byte at that offset of the file belongs to, in words."""
        if at < self.header_end:
            return f"header +{at}"
        if self.program_headers[0] <= at < self.program_headers[1]:
            return f"program header +{(at - self.program_headers[0]) % self.program_header_size}"
        if any(start <= at < stop for start, stop in self.notes):
            return "notes or streams"
        i = bisect.bisect_right(self.by_offset, (at, 1 << 64, 0)) - 1
        if i < 0 or at >= self.by_offset[i][0] + self.by_offset[i][1]:
            return "nothing"
        address = self.by_offset[i][2] + at - self.by_offset[i][0]

        def before(list_, size):
            k = bisect.bisect_right(list_, address) - 1
            return address - list_[k] if k >= 0 and address - list_[k] < size else None

        for start, stop, generation in self.ranges:
            if start <= address < stop:
                into = before(self.objects, 1 << 62)
                part = "MethodTable" if into < 8 else "number of components" if into < 12 else "content"
                return f"object's {part} +{into if into < 12 else '12…'}, {generation}"
        for list_, size, name in ((self.segments, SEGMENT, "heap_segment"), (self.variables, 8, "variable"),
                                  (self.method_tables, METHOD_TABLE, "MethodTable")):
            if (into := before(list_, size)) is not None:
                return f"{name} +{into}"
        for start, stop, name in self.files:
            if start <= address < stop:
                return f"image {name}"
        return "the runtime's own heaps"


class Rounds:
    def __init__(self, dnheap, core, copy, memory):
        self.dnheap, self.core, self.copy, self.memory = dnheap, core, copy, memory << 20
        self.counts = collections.Counter()
        self.by_kind = collections.defaultdict(collections.Counter)
        self.blame = collections.Counter()
        self.file = open(copy, "r+b")
        self.bytes = mmap.mmap(self.file.fileno(), 0)
        outcome, _ = self.run()
        if outcome != "same":
            sys.exit(f"damage.py: the undamaged core gives: {outcome}")

    expected = None

    def run(self):
        def limit():
            if self.memory:
                resource.setrlimit(resource.RLIMIT_DATA, (self.memory, self.memory))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        command = [self.dnheap, "stat", self.copy, "--format", "json", "--strict", "--no-progress"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            return "HANG", ""
        error = done.stderr.decode(errors="replace")
        # 2: damage can split a runtime's module into two, and then it wants --runtime.
        if done.returncode in (2, 3) and error.count("\n") == 1 and error.endswith("\n") and not done.stdout:
            return ("MEMORY" if "out of memory" in error else "error"), error
        if done.returncode == 4 and error.count("\n") == 1:
            return "noted", ""
        if done.returncode or error:
            return "CRASH", f"exit code {done.returncode}: {error[-500:]}"
        answer = json.loads(done.stdout)
        if self.expected is None:
            self.expected = answer
        if answer["tables"]["types"] == self.expected["tables"]["types"]:
            return "same", ""
        if set(answer["completeness"]["notes"]) - set(self.expected["completeness"]["notes"]):
            return "noted", ""
        return "SILENT", self.difference(answer["tables"]["types"])

    def difference(self, found):
        expected = self.expected["tables"]["types"]

        def view(rows, *columns):
            return sorted(tuple(row[c] for c in columns) for row in rows)

        if view(found, *TALLY, "method_table") == view(expected, *TALLY, "method_table"):
            return "names" if view(found, "type") != view(expected, "type") else "generations"
        if view(found, "type", "count") == view(expected, "type", "count"):
            return "bytes"
        return "counts"

    def damaged(self, change):
        for at, value in change.items():
            self.bytes[at] = value
        result = self.run()
        for at in change:
            self.bytes[at] = self.core.data[at]
        return result

    def narrow(self, change, what):
        """The one byte that makes the difference, if it is one."""
        while len(change) > 1:
            items = sorted(change.items())
            for half in (items[:len(items) // 2], items[len(items) // 2:]):
                outcome, difference = self.damaged(dict(half))
                if outcome == "SILENT":
                    change, what = dict(half), difference
                    break
            else:
                break
        return change, what

    def round(self, chance, stretches):
        aimed = chance.random() < 0.5
        kind = chance.choice(sorted(stretches)) if aimed else "anywhere"
        change = {}
        for _ in range(chance.choice((1, 8, 200))):
            if aimed:
                start, stop = chance.choice(stretches[kind])
                at = chance.randrange(start, stop)
            else:
                at = chance.randrange(len(self.core.data))
            change[at] = chance.randrange(256) if chance.random() < 0.5 else self.core.data[at] ^ 1 << chance.randrange(8)
        outcome, detail = self.damaged(change)
        self.counts[outcome] += 1
        self.by_kind[kind][outcome] += 1
        if outcome == "SILENT":
            change, detail = self.narrow(change, detail)
            places = sorted({self.core.place(at) for at in change})
            self.blame[f"{detail}: {places[0]}" + (f" and {len(places) - 1} others" if len(places) > 1 else "")] += 1
            detail += " " + " ".join(f"{at:#x}={value:#x}" for at, value in sorted(change.items())[:4])
        return kind, outcome, detail

    def cut(self, sixteenths):
        os.truncate(self.copy, len(self.core.data) * sixteenths // 16)
        outcome, detail = self.run()
        self.counts[outcome] += 1
        self.by_kind["cut"][outcome] += 1
        return "cut", outcome, detail


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("dnheap")
    parser.add_argument("core")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cuts", action="store_true")
    parser.add_argument("--memory", type=int, default=512)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    core = Core(options.core, options.dnheap)
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".core") as copy:
        copy.write(core.data)
        copy.flush()
        rounds = Rounds(options.dnheap, core, copy.name, options.memory)
        chance = random.Random(options.seed)
        stretches = core.stretches()

        def show(i, kind, outcome, detail):
            if outcome.isupper() or options.verbose:
                print(f"{i}: {kind}: {outcome} {detail.strip()}", flush=True)

        for i in range(options.count):
            show(i, *rounds.round(chance, stretches))
        rounds.bytes.close()
        for sixteenths in range(15, -1, -1) if options.cuts else ():
            show(f"{sixteenths}/16", *rounds.cut(sixteenths))
    columns = ("same", "noted", "error", "SILENT", "CRASH", "HANG", "MEMORY")
    print(f"{'':12}" + "".join(f"{c:>8}" for c in columns))
    for kind in [*sorted(rounds.by_kind), None]:
        counts = rounds.by_kind[kind] if kind else rounds.counts
        print(f"{kind or 'all':12}" + "".join(f"{counts[c]:8}" for c in columns))
    for what, times in rounds.blame.most_common():
        print(f"{times:6}  {what}")
    bad = rounds.counts["CRASH"] + rounds.counts["HANG"] + rounds.counts["MEMORY"]
    total = sum(rounds.counts.values())
    return 1 if options.check and (bad or rounds.counts["SILENT"] > 2 + total / 100) else 0


if __name__ == "__main__":
    sys.exit(main())
