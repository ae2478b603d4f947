#!/usr/bin/env python3
"""Compares what dnheap says of a real minidump of a 32-bit Windows process with what ClrMD and Microsoft's DAC said of it. Exactly.

    windows_x86.py DNHEAP [--only NAME]

$DNHEAP_CORPUS/windows-x86 has NAME.dmp.zst and, beside it, the witness's answers NAME.VERB.txt.zst. No file of the runtime is used. Without
that folder nothing is tested, and the exit code is 77.
"""
import collections
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "real"))
import clrmd
import corpus
import matrix


def types(dnheap, dump, path, *options):
    """Count and bytes by MethodTable that differ: {MethodTable: (dnheap's, the witness's)}. ClrMD aligns all objects to 8 bytes, which the heap does not."""
    expected = {mt: row[:2] for mt, row in clrmd.read_types(path).items()}
    rows = matrix.answer(dnheap, "stat", dump, *options)["tables"]["types"]
    found = {int(row["method_table"], 16): (row["count"], row["bytes"]) for row in rows}
    print(f"{len(found)} types, {sum(count for count, _ in found.values())} objects {' '.join(options)}")
    return {mt: (found.get(mt), expected.get(mt)) for mt in {*found, *expected} if found.get(mt) != expected.get(mt)}


def alive(dnheap, dump, path):
    """ClrMD sees nothing of what threads' own arrays of statics hold: that comes on top."""
    differ = types(dnheap, dump, path, "--live")
    roots = matrix.answer(dnheap, "roots", dump)["tables"]["roots"]
    on_top = sum(ours[0] - (theirs or (0,))[0] for ours, theirs in differ.values() if ours)
    print(f"{on_top} objects more, with {sum(row['kind'] == 'thread_static' for row in roots)} thread statics")
    return [f"alive {mt:#x}: {one}" for mt, one in differ.items() if not one[0] or one[0][0] < (one[1] or (0,))[0]] + ["too many"] * (on_top > 100)


def on_stacks(dnheap, dump, path):
    """What methods on stacks hold: (object, thread), and where; of registers ClrMD does not say where. What may lead into an object, ClrMD calls
    interior even where it leads to its beginning."""
    expected, places = collections.Counter(), set()
    for line in path.read_text().splitlines():
        row = line.split("\t")
        if row[:2] == ["ROOT", "Stack"]:
            expected[int(row[3], 16), int(row[7], 16)] += 1
            places.add(int(row[2], 16))
    found, own = collections.Counter(), {0}
    for row in matrix.answer(dnheap, "roots", dump)["tables"]["roots"]:
        if row["kind"] == "stack":
            found[int(row["object"], 16), row["thread"]] += 1
            own.add(int(row["address"] or "0", 16))
    print(f"{sum(expected.values())} roots on stacks")
    return [f"on a stack: missing {expected - found}, too much {found - expected}"] * (found != expected) + [f"places {places - own}"] * (not places <= own)


def check(dnheap, folder, name, dump, scratch):
    for packed in folder.glob(f"{name}.*.txt.zst"):
        subprocess.run(["zstd", "-qdo", scratch / packed.name.removesuffix(".zst"), packed], check=True)
    of = lambda what: scratch / f"{name}.{what}.txt"
    problems = [f"type {mt:#x}: {one}" for mt, one in types(dnheap, dump, of("stat")).items()]
    return problems + clrmd.frames(dnheap, dump, of("frames")) + clrmd.handles(dnheap, dump, of("handles")) + alive(dnheap, dump, of("reach")) + on_stacks(dnheap, dump, of("roots")) + \
        clrmd.native_ends(dnheap, dump, ["ntdll.dll"])


if __name__ == "__main__":
    sys.exit(corpus.check_each(__doc__, "windows-x86", "minidumps of 32-bit Windows", ["x86-full"], "dmp", check))
