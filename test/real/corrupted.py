"""Writes into the heap of a core what a stray pointer may write there, one object each, and compares what `dnheap verify` says of
it with what ClrMD's VerifyHeap() says.
"""
import collections
import re
import struct

PT_LOAD = 1
HASH_OR_INDEX, HASH = 0x08000000, 0x04000000

# What dnheap says (test against the text), and ClrMD's word for it.
KINDS = (
    ("header names sync block 0,", "SyncBlockZero"),
    ("header names sync block", "SyncBlockMismatch"),
    ("is its own, but its header does not say so", "SyncBlockMismatch"),
    ("at which no object can begin", "ObjectReferenceNotPointerAligned"),
    ("refers to free space", "FreeObjectReference"),
    ("refers to", "InvalidObjectReference"),
    ("for which there is no room", "ObjectTooLarge"),
    ("is not a MethodTable", "InvalidMethodTable"),
)


class Heap:
    """The bytes of a core that can be written to."""

    def __init__(self, path):
        self.file = open(path, "r+b")
        header = self.file.read(64)
        table, = struct.unpack_from("<Q", header, 32)
        count, = struct.unpack_from("<H", header, 56)
        if count == 0xffff:
            self.file.seek(struct.unpack_from("<Q", header, 40)[0] + 44)
            count, = struct.unpack("<I", self.file.read(4))
        self.file.seek(table)
        rows = [struct.unpack("<IIQQQQQQ", self.file.read(56)) for _ in range(count)]
        self.loads = [(row[3], row[5], row[2]) for row in rows if row[0] == PT_LOAD]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def seek(self, address, size):
        for start, length, offset in self.loads:
            if start <= address and address + size <= start + length:
                self.file.seek(offset + address - start)
                return
        raise ValueError(f"{address:#x} is not in the core")

    def read(self, address, form):
        size = struct.calcsize(form)
        self.seek(address, size)
        return struct.unpack(form, self.file.read(size))[0]

    def write(self, address, form, value):
        self.seek(address, struct.calcsize(form))
        self.file.write(struct.pack(form, value))


def corrupt(core, objects):
    """`objects`: rows of `dnheap objects`. Returns the addresses of what was corrupted, and of these where no object is left."""
    free = next(int(row["address"], 16) for row in objects if row["type"] == "Free")
    with Heap(core) as heap:
        referrers, owners, strings = [], [], collections.defaultdict(list)
        for row in objects:
            address = int(row["address"], 16)
            header = heap.read(address - 4, "<I")
            if header & (HASH_OR_INDEX | HASH) == HASH_OR_INDEX:
                owners.append(address)
            elif header == 0 and row["type"] == "System.Object[]" and heap.read(address + 8, "<I") and heap.read(address + 16, "<Q"):
                referrers.append(address)
            elif header == 0 and row["type"] == "System.String":
                strings[row["generation"]].append(address)
        plain, others = [group for group in strings.values() if len(group) > 40][:2]
        # At the end of a segment, since ClrMD does not go on behind.
        lost = plain[-1], others[-1]
        heap.write(lost[0], "<Q", 0xccccc0)
        heap.write(lost[1] + 8, "<I", 0xcccccccc)
        heap.write(plain[0] - 4, "<I", HASH_OR_INDEX)
        heap.write(plain[1] - 4, "<I", HASH_OR_INDEX | 1)
        heap.write(plain[2] - 4, "<I", HASH_OR_INDEX | 0x12345)
        done = [*lost, *plain[:3]]
        if len(owners) > 1:
            # The others tell where the table of sync blocks lies, if the runtime does not.
            heap.write(owners[0] - 4, "<I", 0)
            done.append(owners[0])
        for at, value in zip(referrers, (0xccccc0, 0xccccc1, free)):
            heap.write(at + 16, "<Q", value)
            done.append(at)
    return done, lost


def differences(done, lost, verify, witness):
    """What dnheap does not say and ClrMD does, what it does say and ClrMD does not, and what neither says though it is so."""
    found, gaps = {}, verify["completeness"]["gaps"]
    for row in verify["tables"]["problems"]:
        kind = next((kind for text, kind in KINDS if text in row["problem"]), row["problem"])
        target = int(row["target"] or "0", 16)
        # ClrMD is content with a target whose MethodTable is one, were it in the middle of another object.
        if not any(int(gap["start"], 16) <= target < int(gap["end"], 16) for gap in gaps):
            found.setdefault(row["address"], set()).add(kind)
    behind = {row["address"] for row in verify["tables"]["problems"] if row["target"]} - found.keys()
    problems = [f"ClrMD says {kind} of {address}, dnheap {found.get(address)}" for address, kind in witness.items()
                if kind not in found.get(address, ()) and address not in behind]
    problems += [f"dnheap says {kinds} of {address}, ClrMD nothing" for address, kinds in found.items() if address not in witness]
    problems += [f"neither says that {address:#x} is corrupted" for address in done
                 if f"{address:#x}" not in found and f"{address:#x}" not in witness]
    if not all(re.search(r"no valid object", row["problem"]) for row in verify["tables"]["problems"]
               if int(row["address"], 16) in lost):
        problems.append("an object that is none any more is not told as a gap")
    return problems
