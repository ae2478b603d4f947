#!/usr/bin/env python3
"""Writes secrets into real Windows dumps where the process had its environment (whoever made these dumps wrote x over it, in the system's
blocks, in native copies and in strings), extracts with --no-values, and looks for them: none is in what is written. On Linux real
programs have real secrets: real/planted.py.

    planted.py DNHEAP [--only NAME]
"""
import random
import re
import subprocess
import sys

import corpus

DUMPS = {"windows": ("net10-wks-ms-full", "net8-wks-ms-full", "net10-srv-dac-ms-heap", "net8-srv-ms-heap"), "windows-x86": ("x86-full",)}
MARK = b"Hg7kQ2vX"  # begins each secret
LEAST = 16  # letters of one


def plant(content):
    """Writes the secrets over each run of x; returns how many."""
    rng, count = random.Random(7), 0
    for wide in (False, True):
        for run in re.finditer(rb"(?:x\0){%d,}" % LEAST if wide else rb"x{%d,}" % LEAST, bytes(content)):
            letters = (run.end() - run.start()) // (2 if wide else 1)
            text = (MARK + bytes(rng.choices(b"abcdefghijklmnopqrstuvwyz", k=letters)))[:letters]
            content[run.start():run.end()] = text.decode().encode("utf-16-le") if wide else text
            count += 1
    return count


def check(dnheap, folder, name, dump, scratch):
    content = bytearray(dump.read_bytes())
    count = plant(content)
    dump.write_bytes(content)
    blanked = scratch / "blanked.core"
    done = subprocess.run([dnheap, "extract", dump, "--no-values", "-o", blanked], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        return [f"extract ended with {done.returncode}: {done.stdout[-300:]}"]
    written = blanked.read_bytes()
    left = [f"{encoding} at {found.start():#x}" for encoding in ("utf-8", "utf-16-le", "utf-16-be")
            for found in re.finditer(re.escape(MARK.decode().encode(encoding)[:8]), written)]
    print(f"{name}: {count} secrets in {len(content) >> 20} MiB, {len(left)} in the {len(written) >> 10} KiB extracted")
    problems = [f"only {count} secrets were written"] if count < 50 else []
    return problems + ([f"{len(left)} are left: {left[:8]}"] if left else [])


if __name__ == "__main__":
    sys.exit(any([corpus.check_each(__doc__, folder, f"dumps of {folder}", names, "dmp", check) for folder, names in DUMPS.items()]))
