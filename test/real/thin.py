"""Makes a core as kernels write it by default out of one that holds everything (coredump_filter 0x3f).

The default (0x33) leaves out mappings of files of which no page was written to, but for the first page of those that begin
with an ELF header. ClrMD cannot open such a core; so the witness reads the whole one, and dnheap this.
"""
import struct

PT_LOAD, PT_NOTE, NT_FILE = 1, 4, 0x46494C45
PAGE = 4096


def thin(core):
    """Changes program headers only: what is left out stays in the file, but no header leads to it. Returns the bytes lost."""
    lost = 0
    with open(core, "r+b") as file:
        header = file.read(64)
        table, count = struct.unpack_from("<Q", header, 32)[0], struct.unpack_from("<H", header, 56)[0]
        file.seek(table)
        segments = [list(struct.unpack("<IIQQQQQQ", file.read(56))) for _ in range(count)]
        mapped = mapped_files(file, next(segment for segment in segments if segment[0] == PT_NOTE))
        for i, (kind, flags, offset, address, physical, size, memory_size, align) in enumerate(segments):
            source = mapped.get(address)
            if kind != PT_LOAD or not size or not source:
                continue
            file.seek(offset)
            content = file.read(size)
            try:
                with open(source[0], "rb") as original:
                    original.seek(source[1])
                    same = original.read(size)
            except OSError:
                continue
            if content != same.ljust(size, b"\0"):
                continue
            keep = PAGE if content.startswith(b"\x7fELF") else 0
            lost += size - keep
            file.seek(table + 56 * i)
            file.write(struct.pack("<IIQQQQQQ", kind, flags, offset, address, physical, keep, memory_size, align))
    return lost


def mapped_files(file, notes):
    """Start of each mapping of a file → its path and the offset in it."""
    file.seek(notes[2])
    content = file.read(notes[5])
    at = 0
    while at < len(content):
        name_size, size, kind = struct.unpack_from("<III", content, at)
        begin = at + 12 + (name_size + 3) // 4 * 4
        if kind == NT_FILE:
            count, unit = struct.unpack_from("<QQ", content, begin)
            names = content[begin + 16 + 24 * count:begin + size].split(b"\0")
            entries = [struct.unpack_from("<QQQ", content, begin + 16 + 24 * i) for i in range(count)]
            return {start: (name, page * unit) for (start, _, page), name in zip(entries, names)}
        at = begin + (size + 3) // 4 * 4
    return {}
