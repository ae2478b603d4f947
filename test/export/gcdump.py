"""Reads a .gcdump, byte for byte as PerfView's FastSerialization lays it out; whatever else is there is a ValueError."""
import struct


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def expect(self, wanted, what):
        if self.take("B") != wanted:
            raise ValueError(f"{what} at {self.at - 1:#x}")

    def text(self):
        """Of UTF-16 units, each encoded alone; None for null."""
        count = self.take("i")
        if count < 0:
            return None
        units = b""
        for _ in range(count):
            lead = self.data[self.at]
            size = 1 if lead < 0x80 else 2 if lead < 0xe0 else 3
            units += self.data[self.at:self.at + size].decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass")
            self.at += size
        return units.decode("utf-16-le", "surrogatepass")

    def number(self):
        byte = self.take("B")
        value = (byte & 0x7f) - (0x80 if byte & 0x40 else 0)
        while byte & 0x80:
            byte = self.take("B")
            value = value << 7 | byte & 0x7f
        return value

    def begin(self, name, versions, known):
        self.expect(4, "no object begins")
        place = self.at
        tag = self.take("B")
        if tag == 2:
            found = known[self.take("I")]
        else:
            if tag != 4:
                raise ValueError(f"no type at {place:#x}")
            self.expect(1, "no type of a type")
            version, least = self.take("ii")
            found = known[place] = (self.text(), (version, least))
            self.expect(6, "a type does not end")
        if found != (name, versions):
            raise ValueError(f"{found} at {place:#x}, not {name}")


def read(data, ours=True):
    """Not ours: of another writer, whose nodes are in any order, and who may know no segments. {types: [(name, size, module)], root, nodes: [(type, size, children, address)], segments, log, tool, total}"""
    of, known, out = Reader(data), {}, {}
    if of.text() != "!FastSerialization.1":
        raise ValueError("no such file")
    of.begin("GCHeapDump", (10, 8), known)
    of.begin("Graphs.MemoryGraph", (1, 0), known)
    out["total"], out["root"] = of.take("q"), of.take("i")
    out["types"] = [(of.text(), of.take("i"), of.text()) for _ in range(of.take("i"))]
    places = [of.take("I") for _ in range(of.take("i"))]
    length = of.take("i")
    start = of.at
    if data[start:start + 2] != b"\0\0":
        raise ValueError("no UNDEFINED node")
    nodes, at = [], start + 2
    for number, place in enumerate(places):
        if ours and start + place != at:
            raise ValueError(f"node {number} is not where the one before ends")
        of.at = start + place
        kind = of.number()
        size = of.number() if kind & 1 else out["types"][kind >> 1][1]
        nodes.append([kind >> 1, size, [number + of.number() for _ in range(of.number())]])
        at = of.at
    if ours and at != start + length:
        raise ValueError("the graph is longer than its nodes")
    of.at = start + length
    for node in nodes if of.take("i") == len(nodes) else []:
        node.append(of.take("Q"))
    out["nodes"] = nodes
    of.expect(8, "no byte")
    out["is64"] = of.take("B")
    of.expect(6, "the graph does not end")
    if of.take("B") != out["is64"] or of.take("ff") != (1.0, 1.0):
        raise ValueError("multipliers")
    of.expect(1, "JavaScript")
    out["segments"] = []
    if ours or data[of.at] != 1:
        of.begin("DotNetHeapInfo", (0, 0), known)
        out["segment_bytes"] = of.take("q")
        for _ in range(of.take("i")):
            of.begin("GCHeapDumpSegment", (1, 1), known)
            out["segments"].append(of.take("7Q"))
            of.expect(6, "a segment does not end")
        of.expect(6, "the segments do not end")
    else:
        of.at += 1
    out["log"], out["ticks"], out["machine"], out["process"] = of.text(), of.take("q"), of.text(), of.text()
    out["pid"], _, _, multipliers = of.take("iqqi")
    of.expect(12, "no region")
    if multipliers or of.take("i"):
        raise ValueError("multipliers, or another region")
    of.expect(1, "COM")
    behind = of.at
    of.expect(13, "no text")
    out["tool"] = of.text()
    of.expect(6, "the dump does not end")
    of.expect(6, "the stream does not end")
    forward = of.at
    if of.take("iI") != (1, behind):
        raise ValueError("forward references")
    end = of.at
    if of.take("II") != (forward, end) or of.at != len(data):
        raise ValueError("the end")
    return out
