#!/usr/bin/env python3
"""A program with secrets in every place that programs have for them (../programs/secrets), run by CoreCLR or compiled ahead of time,
dumped and extracted with --no-values: none of them is in what is written, in any encoding. That extracts answer as their dumps do is
tested with other programs.

    planted.py --list --sample                the kinds that a short run makes, written secrets:MAJOR:DUMP; --all: all of them
    planted.py DNHEAP --one secrets:10:gcore  starts the program, dumps it, extracts, searches, deletes both

Exit codes are those of matrix.py.
"""
import pathlib
import secrets
import string
import struct
import subprocess
import sys
import tempfile

import matrix
import nativeaot
import runtimes
import targets

KINDS = [f"secrets:{major}:{dump}" for major in runtimes.MAJORS for dump in ("heap", "full", "gcore")]
KINDS += [f"secrets-aot:{major}:{dump}" for major in (9, 10, 11) for dump in ("full", "gcore")]
SAMPLE = ["secrets:10:heap"]
VARIABLES = 20


def run(dnheap, kind, major, dump):
    """All problems of one kind, in words."""
    word = "".join(secrets.choice(string.ascii_lowercase) for _ in range(12))
    variables = {f"SECRET_{i:02}": f"{word}{i:02}v" for i in range(VARIABLES)}
    with tempfile.TemporaryDirectory(prefix="dnheap-secrets-") as name:
        folder = pathlib.Path(name)
        runtimes.lay_out()  # for createdump
        with (nativeaot.AotTarget(major, "wks", "secrets", [word], variables) if kind == "secrets-aot"
              else targets.Target(kind, major, arguments=[word], settings=variables)) as target:
            path = target.dump(dump, folder / "secrets.core")
            said = target.truth["said"]
        texts = [*said["texts"], *variables.values(), word]
        problems = [f"the dump itself has only {before} of {len(texts)} texts" for before in [found(path, texts, [])[0]] if before < len(texts) // 2]
        blanked = folder / "blanked.core"
        subprocess.run([dnheap, "extract", path, "--no-values", "-o", blanked], check=True, stdout=subprocess.DEVNULL)
        left = found(blanked, texts, said["numbers"])
        if any(left):
            problems.append(f"{left[0]} of {len(texts)} texts and {left[1]} of {len(said['numbers'])} numbers are left: {left[2][:5]}")
        return problems


def found(path, texts, numbers):
    """How many of them are in the file, and where."""
    content = path.read_bytes()
    places = []
    for text in texts:
        at = [content.find(text.encode(encoding)) for encoding in ("utf-8", "utf-16-le", "utf-16-be")]
        places += [f"{text} at {max(at):#x}"] if max(at) >= 0 else []
    of_texts = len(places)
    for number in numbers:
        at = content.find(struct.pack("<q", number))
        places += [f"{number:#x} at {at:#x}"] if at >= 0 else []
    return of_texts, len(places) - of_texts, places


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
