"""Is the answer of `account` about a core all that the core's own headers list?

    mapped.sums(answer, path)        problems, in words
"""
import mmap
import struct


def by_class(answer, column="bytes"):
    return {row["class"]: row[column] for row in answer["tables"]["account"]}


def union(stretches):
    total, end = 0, 0
    for start, stop in sorted(stretches):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def sums(answer, path):
    """Against the core's own headers: what is mapped by segments and by files, and what of it lies in the core."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as core:
        mapped, stored, gcore = headers(core)
    found, in_dump = by_class(answer), by_class(answer, "dump_bytes")
    reserved = found.get("reserved", 0)
    problems = []
    if sum(found.values()) != union(mapped):
        problems.append(f"the classes add up to {sum(found.values())}; mapped are {union(mapped)}")
    if sum(in_dump.values()) + (reserved if gcore else 0) != stored:
        problems.append(f"in the dump are {stored}, not {sum(in_dump.values())}; reserved: {reserved}")
    return problems


def headers(core):
    """Stretches of segments and files, bytes of the segments' contents, and whether gdb wrote it."""
    table, size, count = struct.unpack_from("<Q14xHH", core, 32)
    mapped, stored, gcore = [], 0, False
    if count == 0xffff:
        sections, = struct.unpack_from("<Q", core, 40)
        count, = struct.unpack_from("<I", core, sections + 44)
    for at in range(table, table + count * size, size):
        kind, _, offset, start, _, in_file, in_memory = struct.unpack_from("<IIQQQQQ", core, at)
        if kind == 1:
            mapped.append((start, start + max(in_file, in_memory)))
            stored += in_file
        elif kind == 4:
            listed, of_gdb = files(core[offset:offset + in_file])
            mapped += listed
            gcore |= of_gdb
    return mapped, stored, gcore


def files(notes):
    """The stretches that NT_FILE lists, and whether gdb wrote it: it counts offsets in bytes, and reserved memory as zeros."""
    at = 0
    while at + 12 <= len(notes):
        name, length, kind = struct.unpack_from("<III", notes, at)
        at += 12 + (name + 3 & ~3)
        if kind == 0x46494c45:
            many, unit = struct.unpack_from("<QQ", notes, at)
            return [struct.unpack_from("<QQ", notes, at + 16 + 24 * i) for i in range(many)], unit == 1
        at += length + 3 & ~3
    return [], False
