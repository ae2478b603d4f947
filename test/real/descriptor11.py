#!/usr/bin/env python3
"""Makes a dump of .NET 10 speak as .NET 11 does: with a contract descriptor of version 2 that has a GC sub-descriptor.

    descriptor11.py DNHEAP CORE OUTPUT

So one and the same memory is read in both ways, which no dump of .NET 11 can show. It finds GcDacVars in the dump by its
signature, and says in a descriptor what that table, and the structures' known layouts, say. What it knows is written
down here a second time, on purpose: that `dnheap gc` and `dnheap handles` answer the same from CORE, where they derive
everything, and from OUTPUT, where they only read, shows that both are right.

The new descriptors lie in an added stretch of memory; the main one takes the old one's place.
"""
import json
import pathlib
import struct
import subprocess
import sys

PLACE = 0x6110_0000_0000  # of the added memory: where no process has anything

# No pointers of GcDacVars: where they are is taken from what dnheap found.
DERIVED = ("GCLowestAddress", "GCHighestAddress", "GCHeapCardTable")
# Pointers of GcDacVars, by index. All but build_variant and built_with_svr are globals under other names.
VARIABLES = {2: "GCGlobalMechanisms", 3: "GCHeapGenerationTable", 4: "MaxGeneration", 5: "GCHeapMarkArray", 6: "CurrentGCState",
             7: "GCHeapEphemeralHeapSegment", 8: "GCHeapSavedSweepEphemeralSeg", 9: "GCHeapSavedSweepEphemeralStart",
             10: "GCHeapBackgroundMinSavedAddr", 11: "GCHeapBackgroundMaxSavedAddr", 12: "GCHeapAllocAllocated",
             13: "GCHeapNextSweepObj", 14: "GCHeapOomData", 15: "GCHeapFinalizeQueue", 16: "GCHeapInternalRootArray",
             17: "GCHeapInternalRootArrayIndex", 18: "GCHeapHeapAnalyzeSuccess", 19: "NumHeaps", 20: "Heaps",
             21: "StructureInvalidCount", 22: "GCHeapInterestingData", 23: "GCHeapCompactReasons",
             24: "GCHeapExpandMechanisms", 25: "GCHeapInterestingMechanismBits", 26: "HandleTableMap", 29: "BookkeepingStart",
             30: "GlobalRegionsToDecommit", 31: "GlobalFreeHugeRegions", 32: "GCHeapFreeRegions",
             33: "GCHeapFreeableSohSegment", 34: "GCHeapFreeableUohSegment"}
HEAP_OFFSETS, GENERATION_OFFSETS = 27, 28
HEAP_FIELDS = ("AllocAllocated EphemeralHeapSegment FinalizeQueue OomData InterestingData CompactReasons ExpandMechanisms "
               "InterestingMechanismBits InternalRootArray InternalRootArrayIndex HeapAnalyzeSuccess CardTable MarkArray "
               "NextSweepObj BackgroundMinSavedAddr BackgroundMaxSavedAddr SavedSweepEphemeralSeg SavedSweepEphemeralStart "
               "GenerationTable FreeableSohSegment FreeableUohSegment FreeRegions").split()
GENERATION_FIELDS = "AllocationContext StartSegment AllocationStart".split()

# Of 10.0 on x64.
TYPES = {
    "HeapSegment": {"Allocated": 0, "Committed": 8, "Reserved": 16, "Used": 24, "Mem": 32, "Flags": 40, "Next": 48,
                    "BackgroundAllocated": 56},
    "OomHistory": {"Reason": 0, "AllocSize": 8, "Reserved": 16, "Allocated": 24, "GcIndex": 32, "Fgm": 40, "Size": 48,
                   "AvailablePagefileMb": 56, "LohP": 64},
    "CFinalize": {"FillPointers": 0},
    "CardTableInfo": {"Recount": 0, "Size": 8, "NextCardTable": 16},
    "RegionFreeList": {"!": 56, "HeadFreeRegion": 40},
    "HandleTableMap": {"BucketsPtr": 0, "Next": 8},
    "HandleTableBucket": {"Table": 0},
    "HandleTable": {"SegmentList": 56},
    "TableSegment": {"RgAllocation": 480, "RgUserData": 1680, "RgTail": 1920, "NextSegment": 1998, "RgValue": 4096},
}
NUMBERS = {"TotalGenerationCount": 5, "CFinalizeFillPointersLength": 7, "InitialHandleTableArraySize": 10,
           "HandleSegmentSize": 0x10000, "HandleBlocksPerSegment": 120, "HandleMaxInternalTypes": 13, "HandlesPerBlock": 64,
           "BlockInvalid": 0xff, "DebugDestroyedHandleValue": 0, "CountFreeRegionKinds": 3, "CardTableInfoSize": 64}
LENGTHS = {"InterestingDataLength": 9, "CompactReasonsLength": 11, "ExpandMechanismsLength": 6,
           "InterestingMechanismBitsLength": 2, "GlobalMechanismsLength": 6}


class Core:
    """An ELF core of x64: its memory, and the means to add some."""

    def __init__(self, path):
        self.bytes = bytearray(pathlib.Path(path).read_bytes())
        self.table, self.count = struct.unpack_from("<Q", self.bytes, 32)[0], struct.unpack_from("<H", self.bytes, 56)[0]
        self.headers = [struct.unpack_from("<IIQQQQQQ", self.bytes, self.table + 56 * i) for i in range(self.count)]
        self.loads = [(h[3], h[5], h[2]) for h in self.headers if h[0] == 1 and h[5]]

    def read(self, address, size):
        for start, length, offset in self.loads:
            if start <= address and address + size <= start + length:
                return bytes(self.bytes[offset + address - start:offset + address - start + size])
        return None

    def word(self, address):
        found = self.read(address, 8)
        return struct.unpack("<Q", found)[0] if found else None

    def save(self, path, written):
        """Writes the core with memory changed, or added where there was none."""
        out = self.bytes
        headers = []
        for address, content in written:
            if self.read(address, len(content)) is not None:
                start, _, offset = next(load for load in self.loads if load[0] <= address < load[0] + load[1])
                out[offset + address - start:offset + address - start + len(content)] = content
                continue
            out += bytes(-len(out) % 4096)
            headers.append((1, 6, len(out), address, 0, len(content), len(content), 1))
            out += content
        out += bytes(-len(out) % 8)
        struct.pack_into("<Q", out, 32, len(out))
        struct.pack_into("<H", out, 56, self.count + len(headers))
        for header in headers + self.headers:
            out += struct.pack("<IIQQQQQQ", *header)
        pathlib.Path(path).write_bytes(out)


def find_dac_vars(core, near):
    """The address of GcDacVars: the one place near `near` with its signature and a pointer to it behind it."""
    found = []
    for start, length, offset in core.loads:
        if abs(start - near) > 1 << 24:
            continue
        at = core.bytes.find(b"\x02", offset, offset + length)
        while at >= 0:
            if (at - offset) % 8 == 0 and core.bytes[at + 2:at + 8] == bytes(6) and at + 336 <= offset + length:
                size, generations = struct.unpack_from("<QQ", core.bytes, at + 8)
                address = start + at - offset
                if 64 <= size <= 2048 and generations == 5 and core.word(address + 328) == address:
                    found.append(address)
            at = core.bytes.find(b"\x02", at + 1, offset + length)
    if len(found) != 1:
        raise ValueError(f"{len(found)} places look like GcDacVars")
    return found[0]


class Descriptor:
    """One descriptor to be written: its JSON and pointer data."""

    def __init__(self):
        self.json = {"version": 2, "baseline": "empty", "types": {}, "globals": {}, "contracts": {}}
        self.pointers = [0]

    def pointer(self, address):
        self.pointers.append(address)
        return [[len(self.pointers) - 1], "pointer"]

    def write(self, memory, base):
        """Appends it to `memory`, which will lie at `base`; returns the struct."""
        text = json.dumps(self.json).encode()
        at = base + len(memory)
        memory += text + bytes(-len(text) % 8)
        pointers = base + len(memory)
        memory += struct.pack(f"<{len(self.pointers)}Q", *self.pointers)
        return struct.pack("<QIIQIIQ", 0x0043414443434e44, 1, len(text), at, len(self.pointers), 0, pointers)


def offsets(core, array, names):
    """Of those fields that the build has, by name."""
    found = struct.unpack(f"<{len(names)}i", core.read(array, 4 * len(names)))
    return {name: offset for name, offset in zip(names, found) if offset >= 0}


def table_count(core, handle_map):
    """How many handle tables the array of the first bucket holds: as many as its first segments point back at."""
    array = core.word(core.word(core.word(handle_map)))
    count = 0
    while (table := core.word(array + 8 * count)) and (segment := core.word(table + 56)) and segment % 0x10000 == 0 and \
            core.word(segment + 2006) == table:
        count += 1
    return count


def gc_descriptor(core, dac_vars, processors):
    """What .NET 11 would say of this GC."""
    out = Descriptor()
    pointers = struct.unpack("<35Q", core.read(dac_vars + 24, 280))
    server = pointers[20] != 0
    types, values = out.json["types"], out.json["globals"]
    types.update({name: dict(fields) for name, fields in TYPES.items()})
    types["Generation"] = {"!": core.word(dac_vars + 8), **offsets(core, pointers[GENERATION_OFFSETS], GENERATION_FIELDS)}
    if server:
        types["GCHeap"] = offsets(core, pointers[HEAP_OFFSETS], HEAP_FIELDS)
        types["HeapSegment"]["Heap"] = 64
    regions = "AllocationStart" not in types["Generation"]
    words = ["server" if server else "workstation", "regions" if regions else "segments", "background"]
    for index, name in VARIABLES.items():
        if pointers[index]:
            values[name] = out.pointer(pointers[index])
    adaptation = core.word(dac_vars + 320)
    if adaptation:
        words.append("dynamic_heap")
        values["DynamicAdaptationMode"] = out.pointer(adaptation)
    if server:
        values["TotalCpuCount"] = out.pointer(processors)
    values["GCIdentifiers"] = [", ".join(words) + ",", "string"]
    numbers = dict(NUMBERS)
    if "GCHeapInterestingData" in values or "InterestingData" in types.get("GCHeap", {}):
        numbers.update(LENGTHS)
    values.update({name: [hex(number), "uint32"] for name, number in numbers.items()})
    out.json["contracts"] = {"GC": "c1"}
    return out


def main_descriptor(published):
    """What the runtime publishes already, by the rows of `dnheap contract`, as version 2."""
    out = Descriptor()
    for row in published["contracts"]:
        if row["origin"] == "published":
            out.json["contracts"][row["contract"]] = row["version"]
    for row in published["types"]:
        if row["origin"] != "published":
            continue
        fields = out.json["types"].setdefault(row["type"], {})
        if row["size"] is not None:
            fields["!"] = row["size"]
        fields[row["field"]] = [row["offset"], row["field_type"]] if row["field_type"] else row["offset"]
    for row in published["globals"]:
        if row["origin"] != "published":
            continue
        value = out.pointer(int(row["value"], 16))[0] if row["indirect"] else row["value"]
        out.json["globals"][row["global"]] = [value, row["type"]] if row["type"] else value
    return out


def contract(dnheap, core):
    command = [str(part) for part in [dnheap, "contract", core, "--format", "json", "--top", "0"]]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["tables"]


def rewrite(dnheap, source, output):
    tables = contract(dnheap, source)
    place = next(int(row["address"], 16) for row in tables["descriptors"] if row["name"] == "(main)")
    derived = {row["global"]: int(row["value"], 16) for row in tables["globals"] if row["global"] in DERIVED}
    core = Core(source)
    dac_vars = find_dac_vars(core, place)
    # Added memory: the number of processors, the pointer to the sub-descriptor, then the descriptors.
    handle_map = core.word(dac_vars + 24 + 8 * 26)
    memory = bytearray(struct.pack("<QQ", table_count(core, handle_map), 0))
    gc = gc_descriptor(core, dac_vars, PLACE)
    struct_bytes = gc.write(memory, PLACE)
    memory += bytes(-len(memory) % 8)
    struct.pack_into("<Q", memory, 8, PLACE + len(memory))
    memory += struct_bytes
    main = main_descriptor(tables)
    for name, variable in derived.items():
        main.json["globals"].setdefault(name, main.pointer(variable))
    main.json["subDescriptors"] = {"GC": main.pointer(PLACE + 8)}
    main_bytes = main.write(memory, PLACE)
    core.save(output, [(place, main_bytes), (PLACE, bytes(memory))])


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    rewrite(*sys.argv[1:])
