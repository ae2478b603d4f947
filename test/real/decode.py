#!/usr/bin/env python3
"""Reads the GC info and unwind data of every method of a runtime's System.Private.CoreLib: all of it must be sound.

    decode.py BUILD/decode-image --one 8|9|10|11
"""
import argparse
import json
import pathlib
import subprocess
import sys

import matrix
import runtimes

# Of the real images; far fewer would mean that the test looked at something else.
LEAST = {"functions": 30_000, "main": 20_000, "safe_points": 50_000, "range_points": 20_000, "live": 100_000}


def check(program, major):
    """All problems, in words."""
    runtimes.lay_out()
    done = subprocess.run([program, runtimes.runtime(major) / "System.Private.CoreLib.dll"], capture_output=True, text=True)
    if done.returncode != 0:
        return [done.stderr]
    counts = json.loads(done.stdout)
    print(f".NET {runtimes.VERSIONS[major]}: {counts}")
    wrong = [f"{counts[name]:,} {name}, not {least:,}" for name, least in LEAST.items() if counts[name] < least]
    if counts["errors"]:
        wrong.append(done.stderr)
    if counts["unwound"] != counts["functions"]:
        wrong.append(f"{counts['unwound']:,} of {counts['functions']:,} functions can be left")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--one", type=int, required=True)
    options = parser.parse_args()
    return matrix.exit_code(check, options.program, options.one)


if __name__ == "__main__":
    sys.exit(main())
