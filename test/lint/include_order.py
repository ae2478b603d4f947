#!/usr/bin/env python3
"""Checks that every folder of src/ includes only what lies below it, and the public headers only each other and the standard
library. Usage: include_order.py SRC"""
import pathlib
import re
import sys

BELOW = {
    "base": "",
    "report": "base",
    "target": "base",
    "algorithms": "base",
    "image": "base target",
    "dump": "base target image",
    "contract": "base target image",
    "metadata": "base target image",
    "runtime": "base target image contract metadata",
    "heap": "base target image contract metadata runtime",
    "objects": "base target algorithms image contract metadata runtime heap",
    "snapshot": "base target algorithms image dump contract metadata runtime heap objects",
    "analysis": "base target algorithms image contract metadata runtime heap objects snapshot report",
    "lookout": "base target image contract metadata runtime heap objects snapshot report analysis",
    "api": "dnheap base target algorithms image contract metadata runtime heap objects snapshot report analysis lookout",
    "explore": "base target algorithms image contract metadata runtime heap objects snapshot report analysis",
    "mcp": "",
    "cli": "dnheap explore mcp",
    "c": "dnheap cli",
}

# The rooms of these folders, from the bottom: each may include those before it. ".": the files of no room.
ORDER = {
    "base": ". host process",
    "algorithms": ". paths",
    "dump": "decoders records . live",
    "snapshot": "files .",
    "report": ". formats",
    "analysis": ". process names shapes shapes/collections objects native threads waits/kinds waits sampling filters owners suspects waste verdict export records inspectors findings findings/gathered sql verbs/tables verbs verbs/groups",
    "cli": "options . shell",
}

# The rooms of runtime/, by their folders: what each may include besides itself, facts/ (what readers answer with) and the seam,
# runtime/ itself. They are blind to each other, but for what several need (compiled, vm, layout); describe/ puts them together.
ROOMS = {
    "facts": "",
    "compiled": "",
    "compiled/x86": "compiled",
    "vm": "",
    "gc": "",
    "layout": "",
    "layout/coreclr": "layout vm",
    "layout/nativeaot": "layout",
    "coreclr/types": "compiled vm",
    "coreclr/code": "coreclr/types compiled vm",
    "coreclr/threads": "coreclr/types coreclr/code compiled compiled/x86 vm",
    "coreclr/statics": "coreclr/types coreclr/threads vm",
    "coreclr": "coreclr/types coreclr/code coreclr/threads coreclr/statics compiled vm",
    "nativeaot": "compiled",
    "corert": "",
    "recorded": "",
    "describe": "vm gc layout layout/coreclr layout/nativeaot coreclr coreclr/types coreclr/threads nativeaot",
}

# Of the seam, only what chooses a reader or a runtime knows rooms.
SEAM = {
    "runtime/gc.cc": "gc",
    "runtime/find.cc": "describe coreclr corert nativeaot recorded",
}


# Who need not care for a module's format asks image/module_image.h, and image/debug_file.h for symbols and descriptions of
# types: these folders see no format of images.
BLIND_TO_FORMATS = {"contract", "runtime", "analysis"}
FORMATS = re.compile(r"(elf_\w+|pe_image|pe_file|dwarf)\.h")


# Nobody above runtime/ knows a kind of runtime: what only some kinds have is asked of a Runtime, too.
KINDS = {"coreclr/core_clr.h", "nativeaot/native_aot.h", "corert/core_rt.h"}


def room_of(path):
    """The room of a file in runtime/, "" for the seam."""
    return "/".join(path.split("/")[1:-1])


def is_above(folder, room, other):
    """May files of this room of the folder not include those of the other one?"""
    order = ORDER[folder].split()
    return order.index(other or ".") > order.index(room or ".")


def violations(src):
    for path in sorted(src.rglob("*.[ch]*")):
        name = path.relative_to(src).as_posix()
        folder = name.split("/")[0]
        if folder not in BELOW:
            yield f"{path}: folder {folder} is not in the include order"
            continue
        allowed = {folder, *BELOW[folder].split()}
        room = room_of(name) if folder == "runtime" or folder in ORDER else ""
        if room and room not in (ROOMS if folder == "runtime" else ORDER[folder].split()):
            yield f"{path}: room {room} of {folder}/ is not in the include order"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"/]+)/([^"]*)"', line)
            if not match:
                continue
            if match[1] == "dnheap" and name == "analysis/question.h":
                continue  # one Question on both sides
            if match[1] not in allowed:
                yield f"{path}:{number}: {folder}/ may not include {match[1]}/"
            elif folder in BLIND_TO_FORMATS and match[1] == "image" and FORMATS.fullmatch(match[2]):
                yield f"{path}:{number}: {folder}/ may not include image/{match[2]}: see image/module_image.h, image/debug_file.h"
            elif folder != "runtime" and match[1] == "runtime" and match[2] in KINDS:
                yield f"{path}:{number}: {folder}/ may not include runtime/{match[2]}: see runtime/runtime.h"
            elif folder == "runtime" and match[1] == "runtime":
                other = room_of(f"runtime/{match[2]}")
                sees = ROOMS[room] if room else SEAM.get(name, "")
                if other not in {"", "facts", room, *sees.split()}:
                    yield f"{path}:{number}: {f'runtime/{room}/' if room else name} may not include runtime/{other}/"
            elif folder in ORDER and match[1] == folder and is_above(folder, room, room_of(f"{folder}/{match[2]}")):
                yield f"{path}:{number}: {folder}/{room} may not include {folder}/{match[2]}"


# Of a library or system, by their folder; the standard library's have none, but for what the header for C has of C's.
FOREIGN = re.compile(r'\s*#\s*include\s+(<(?!std(?:def|int)\.h>)[^>]*[/.][^>]*>|"(?!dnheap/)[^"]*")')


def foreign_includes(include):
    """Of public headers: what an embedder need not have."""
    for path in sorted(include.rglob("*.h")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := FOREIGN.match(line):
                yield f"{path}:{number}: public headers may not include {match[1]}"


if __name__ == "__main__":
    source = pathlib.Path(sys.argv[1])
    found = [*violations(source), *foreign_includes(source.resolve().parent / "include")]
    print("\n".join(found) or "include order: ok")
    sys.exit(bool(found))
