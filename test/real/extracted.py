#!/usr/bin/env python3
"""Does `dnheap extract` give a core on which every verb answers what it answers on the dump?

    extracted.py DNHEAP DUMP [--modules DIR]...     extracts the dump, with and without values, and compares
"""
import argparse
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

VERBS = ("stat", "segments", "objects", "roots", "handles", "gc", "contract", "verify", "info", "retained", "exceptions", "locks",
         "async")
# What says which file was read, or how.
OWN_FACTS = ("file", "extracted", "memory in the dump", "program")
MOST_TYPES = 24
LEAST_LETTERS = 8  # of literals that are looked for: shorter ones may lie anywhere by chance


def ask(dnheap, verb, dump, *options):
    """The answer without the file's name, or what the error says."""
    done = subprocess.run([dnheap, verb, dump, *options, "--format", "json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return done.returncode, done.stderr.replace(str(dump), "")
    answer = json.loads(done.stdout)
    del answer["target"]["path"]
    if verb == "gc":  # settings are values, in the environment and in strings; that they are missing is said
        tables = answer["tables"]
        said = [row for row in tables["problems"] if "GC settings" in row["problem"]]
        assert tables["settings"] or said, "no settings of the GC, and no word of that"
        tables["problems"] = [row for row in tables["problems"] if row not in said]
        del tables["settings"]
    if verb == "locks":  # threads' names are values
        for row in [*answer["tables"]["locks"], *answer["tables"]["waits"]]:
            row.pop("name", None)
            row.pop("owner_name", None)
    # A word of a type's that looks like text is blanked, too, as said: how many types have no row number then. Names stand in tables.
    if answer.get("completeness"):
        del answer["completeness"]["noted"]  # says the same
        answer["completeness"]["notes"] = [note for note in answer["completeness"]["notes"] if not note.startswith("type names: ")]
    if verb == "show":  # so are the numbers of elements
        for row in answer["tables"].get("object", []):
            row.pop("entries"), row.pop("capacity")
        answer["tables"].pop("entries", None)  # where they lie is in numbers
        # Who counts elements asks for the names of all types, so more of them are found to have none.
        notes = answer["completeness"]["notes"]
        answer["completeness"]["notes"] = [re.sub(r" \(\d+ types\)$", "", note) for note in notes
                                           if not note.startswith("the entries of collections are not listed")]
    if verb == "info":
        answer["tables"]["facts"] = [row for row in answer["tables"]["facts"] if row["fact"] not in OWN_FACTS]
    return answer


def specimens(objects):
    """One object of each of some types, those that are rare and those that are not."""
    by_type = {}
    for row in objects["tables"]["objects"]:
        if row["type"] != "Free":
            by_type.setdefault(row["type"], row["address"])
    step = max(len(by_type) // MOST_TYPES, 1)
    return list(sorted(by_type.items()))[::step]


def user_strings(memory):
    """What the code of assemblies has as literals, as it lies in their metadata (ECMA-335 II.24.2.4): length, UTF-16, a flag."""
    found = set()
    for root in re.finditer(rb"BSJB\x01\x00\x01\x00", memory):
        version, = struct.unpack_from("<I", memory, root.start() + 12)
        at = root.start() + 16 + version
        if version > 255 or at + 4 > len(memory):
            continue
        streams, = struct.unpack_from("<H", memory, at + 2)
        at += 4
        for _ in range(min(streams, 8)):
            offset, size = struct.unpack_from("<II", memory, at)
            name = memory[at + 8:at + 40].split(b"\0")[0]
            at += 8 + (len(name) // 4 + 1) * 4
            if name == b"#US":
                found |= blobs(memory[root.start() + offset:root.start() + offset + size])
    return found


def blobs(heap):
    found, at = set(), 1
    while at < len(heap) and heap[at] < 0xc0:
        wide = heap[at] >= 0x80 and at + 1 < len(heap)
        length = (heap[at] & 0x3f) << 8 | heap[at + 1] if wide else heap[at]
        end = at + 1 + wide + length
        if length > 2 * LEAST_LETTERS and end <= len(heap):
            found.add(heap[at:end])
        at = end
    return found


def problems(dnheap, dump, modules=(), secret=None):
    """`secret`: a text that is nowhere but in strings of the program."""
    options = [word for folder in modules for word in ("--modules", str(folder))]
    questions = [[verb] for verb in VERBS] + [["retained", "--tree"], ["stat", "--live"]]
    whole = {}
    for question in questions:
        whole[tuple(question)] = ask(dnheap, question[0], dump, *question[1:], *options)
    for name, address in specimens(whole[("objects",)]):
        for question in (["show", address], ["path", address]):
            whole[tuple(question)] = ask(dnheap, question[0], dump, *question[1:], *options)
    found = []
    with tempfile.TemporaryDirectory(prefix="dnheap-extracted-") as folder:
        for core, more in ((pathlib.Path(folder, "whole.core"), []), (pathlib.Path(folder, "blanked.core.zst"), ["--no-values"])):
            done = subprocess.run([dnheap, "extract", dump, "-o", core, *more, *options], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
            if done.returncode:
                return found + [f"extract ended with code {done.returncode} and said: {done.stderr.strip()}"]
            print(f"{dump.name}: extracted as {core.name}, {core.stat().st_size:,} bytes")
            for question, wanted in whole.items():
                if ask(dnheap, question[0], core, *question[1:]) != wanted:
                    found.append(f"{' '.join(question)} answers differently on {core.name}")
            if not more:
                continue
            memory = subprocess.run(["zstd", "-dc", core], stdout=subprocess.PIPE, check=True).stdout
            left = sorted(literal for literal in user_strings(pathlib.Path(dump).read_bytes()) if literal in memory)
            found += [f"the literal {literal[1:-1].decode('utf-16-le', 'replace')!r} is in {core.name}" for literal in left]
            if secret:
                found += [f"'{secret}' is in {core.name}" for text in (secret.encode(), secret.encode("utf-16-le"))
                          if text in memory]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dnheap", type=pathlib.Path)
    parser.add_argument("dump", type=pathlib.Path)
    parser.add_argument("--modules", action="append", default=[])
    parser.add_argument("--secret")
    options = parser.parse_args()
    found = problems(options.dnheap.resolve(), options.dump, options.modules, options.secret)
    print("\n".join(found) or "the same")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
