#!/usr/bin/env python3
"""Checks that every folder of src/ includes only what lies below it. Usage: include_order.py SRC"""
import pathlib
import re
import sys

BELOW = {
    "base": "",
    "report": "base",
    "target": "base",
    "image": "base target",
    "dump": "base target image",
    "contract": "base target image",
    "metadata": "base target image",
    "runtime": "base target image contract metadata",
    "heap": "base target image contract metadata runtime",
    "graph": "base target image contract metadata runtime heap",
    "snapshot": "base target image dump contract metadata runtime heap graph",
    "analysis": "base target image contract metadata runtime heap graph snapshot report",
    "cli": "base target image dump contract metadata runtime heap graph snapshot report analysis",
}


def violations(src):
    for path in sorted(src.rglob("*.[ch]*")):
        folder = path.relative_to(src).parts[0]
        allowed = {folder, *BELOW.get(folder, "").split()}
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"/]+)/', line)
            if folder not in BELOW:
                yield f"{path}: folder {folder} is not in the include order"
                break
            if match and match[1] not in allowed:
                yield f"{path}:{number}: {folder}/ may not include {match[1]}/"


if __name__ == "__main__":
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "include order: ok")
    sys.exit(bool(found))
