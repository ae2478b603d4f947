#!/usr/bin/env python3
"""Writes a .gcdump of as many objects as one likes, without a program: for measuring what large listings take.
Usage: gcdump_file.py OUT [OBJECTS]        62,000,000 objects, the default, are a file of 1 GB

Orders of a shop: each holds two strings, an array and its lines. A static field holds the list with all of them; every sixteenth order is
held by a strong handle, too. The format is that of dotnet-gcdump (src/dump/records/gcdump_file.h); children are distances between nodes, so one
order's bytes are those of the next one.
"""
import array
import struct
import sys

OBJECTS = 62_000_000
TYPES = [("UNDEFINED", 0, ""), ("[root]", 0, ""), ("[static vars]", 0, ""), ("[static var Shop.Orders._all]", 0, ""), ("[handle:strong]", 0, ""),
         ("Shop.Order[]", -1, "System.Private.CoreLib.dll"), ("Shop.Order", 48, "Shop.dll"), ("System.String", -1, "System.Private.CoreLib.dll"),
         ("Shop.Line[]", -1, "Shop.dll"), ("Shop.Line", 32, "Shop.dll")]
ROOT, STATICS, STATIC, HANDLES, ORDERS, ORDER, STRING, LINES, LINE = range(1, len(TYPES))
FIRST_NODES = 5  # the root, two groups and theirs, the array
ORDER_NODES = 16
START = 0x7F00_0000_0000


def compressed(value):
    """A signed number in groups of seven bits."""
    groups = 1
    while not -(1 << 7 * groups - 1) <= value < 1 << 7 * groups - 1:
        groups += 1
    return bytes((value >> 7 * group & 0x7F) | (0x80 if group else 0) for group in range(groups - 1, -1, -1))


def node(kind, children, size=None):
    """`children`: distances. A size is written where the type's objects differ in size."""
    head = compressed(kind * 2 + (size is not None)) + (compressed(size) if size is not None else b"")
    return head + compressed(len(children)) + b"".join(map(compressed, children))


def order():
    """The nodes of one order, and the size of each."""
    lines = ORDER_NODES - 4
    nodes = [node(ORDER, [1, 2, 3]), node(STRING, [], 32), node(STRING, [], 56), node(LINES, range(1, lines + 1), 24 + 8 * lines)]
    # A line knows its order, as many do.
    return nodes + [node(LINE, [-4 - i]) for i in range(lines)], [48, 32, 56, 24 + 8 * lines] + [32] * lines


def text(word):
    return struct.pack("<i", len(word)) + word.encode() if word else struct.pack("<i", -1)


def begin(name, version, least):
    return b"\4\4\1" + struct.pack("<ii", version, least) + text(name) + b"\6"


def write(path, objects):
    orders = max(1, (objects - 1) // ORDER_NODES)
    heads = range(FIRST_NODES, FIRST_NODES + orders * ORDER_NODES, ORDER_NODES)
    first = [node(ROOT, [1, 3]), node(STATICS, [1]), node(STATIC, [2]), node(HANDLES, [head - 3 for head in heads[::16]]),
             node(ORDERS, [head - 4 for head in heads], 24 + 8 * orders)]
    parts, sizes = order()
    pattern = b"".join(parts)
    places, offsets, at = array.array("I"), [], 0
    for each in first:
        places.append(at)
        at += len(each)
    for part in parts:
        offsets.append(sum(map(len, parts[:len(offsets)])))
    order_bytes, array_bytes = sum(sizes), 24 + 8 * orders
    addresses = array.array("Q", [0, 0, 0, 0, START])
    behind = [sum(sizes[:i]) for i in range(len(sizes))]
    heap = START + array_bytes
    for number in range(orders):
        base, place = at + number * len(pattern), heap + number * order_bytes
        places.extend([base + offset for offset in offsets])
        addresses.extend([place + offset for offset in behind])
    with open(path, "wb") as out:
        out.write(text("!FastSerialization.1") + begin("GCHeapDump", 10, 8) + begin("Graphs.MemoryGraph", 1, 0))
        out.write(struct.pack("<qii", array_bytes + orders * order_bytes, 0, len(TYPES)))
        for name, size, module in TYPES:
            out.write(text(name) + struct.pack("<i", size) + text(module))
        out.write(struct.pack("<i", len(places)))
        places.tofile(out)
        out.write(struct.pack("<i", at + orders * len(pattern)) + b"".join(first))
        most = 1 << 16
        for done in range(0, orders, most):
            out.write(pattern * min(most, orders - done))
        out.write(struct.pack("<i", len(addresses)))
        addresses.tofile(out)
        out.write(b"\x08\1\6\1" + struct.pack("<ff", 1, 1) + b"\1\1" + text("") + struct.pack("<q", 0) + text("") + text("shop") + struct.pack("<iqqi", 1, 0, 0, 0))
        out.write(b"\x0c" + struct.pack("<i", 0) + b"\1")
        end = out.tell()
        out.write(b"\x0d" + text("dotnet-gcdump") + b"\6\6")
        table = out.tell()
        out.write(struct.pack("<iI", 1, end & 0xFFFFFFFF))
        last = out.tell()
        out.write(struct.pack("<II", table & 0xFFFFFFFF, last & 0xFFFFFFFF))
        return out.tell(), len(places) - FIRST_NODES + 1


if __name__ == "__main__":
    size, count = write(sys.argv[1], int(sys.argv[2].replace(",", "")) if len(sys.argv) > 2 else OBJECTS)
    print(f"{sys.argv[1]}: {size:,} bytes, {count:,} objects")
