#!/usr/bin/env python3
"""Measures `stat`, the live set and `retained` of the same programs on two versions of .NET, in turn: is a newer one read as fast?

    bench/versions.py [DNHEAP] [--versions 10 11] [--nodes 10000000] [--objects 5000000] [--rounds 9] [--keep] [--check]

Each round runs every command on one dump of each version, the page cache warm; what is printed is the median over the rounds of the
ratio within a round. Exit code: 0; 1 with --check where a ratio is more than 5 % from 1; 77 if .NET is not to be had.
"""
import argparse
import pathlib
import statistics
import sys

import dumps
from process import Run, read_whole

COMMANDS = {"stat": ["stat"], "stat --live": ["stat", "--live"], "retained": ["retained"]}
MOST = 0.05


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dnheap", nargs="?", type=pathlib.Path, default=dumps.PROJECT / "build" / "release" / "dnheap")
    parser.add_argument("--versions", type=int, nargs=2, default=(10, 11))
    parser.add_argument("--nodes", type=int, default=10_000_000)
    parser.add_argument("--objects", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--keep", action="store_true", help="keep the dumps made for this")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a ratio is more than 5 %% from 1")
    options = parser.parse_args()
    return dumps.measured(lambda made: run(options.dnheap.resolve(), options, made), options.keep)


def run(dnheap, options, made):
    met = True
    older, newer = options.versions
    print(f"| program | command | .NET {older}, s | .NET {newer}, s | ratio |\n|---|---|---:|---:|---:|")
    for make, size in ((dumps.graph, options.nodes), (dumps.business, options.objects)):
        pair = [make(size, made, major) for major in options.versions]
        for dump in pair:
            read_whole(dump.core)
        for name, words in COMMANDS.items():
            rounds = [[Run([dnheap, *words, dump.core]).wall for dump in pair] for _ in range(options.rounds)]
            ratio = statistics.median(second / first for first, second in rounds)
            first, second = (statistics.median(one) for one in zip(*rounds))
            print(f"| {pair[0].name} | {name} | {first:.2f} | {second:.2f} | {ratio:.2f} |", flush=True)
            met &= abs(ratio - 1) <= MOST
    return 1 if options.check and not met else 0


if __name__ == "__main__":
    sys.exit(main())
