#!/usr/bin/env python3
"""Reads the libraries of Microsoft's runtime packs for macOS, which no process here has loaded: UUID, sections and every export must be what LLVM's
tools say; libcoreclr.dylib's contract descriptor must be found in the file, and by the file in a core that holds only its headers.

    macos.py BUILD/macho-library --one 9|10|11

Without the packs or LLVM's tools nothing is tested, and the exit code is 77.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

import matrix
import runtimes

# NuGet has no pack of 8, and of 10 not the newest one.
VERSIONS = {9: "9.0.23", 10: "10.0.12", 11: "11.0.0"}
MACHINES = ("osx-arm64", "osx-x64")
# Types and contracts that a descriptor has at least: far fewer would mean that the test looked at something else.
LEAST = {9: (25, 5), 10: (90, 10), 11: (150, 25)}


class NoTool(runtimes.NoSdk):
    """LLVM's tools are not here."""


def tool(name):
    found = next(filter(None, (shutil.which(name + suffix) for suffix in ("", *(f"-{version}" for version in range(22, 13, -1))))), None)
    if not found:
        raise NoTool(f"no {name} here")
    return found


def output(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def exports(library):
    """{name: address}; names without C's underscore."""
    rows = (line.split() for line in output(tool("llvm-nm"), "-g", "--defined-only", library).splitlines())
    return {row[2].removeprefix("_"): int(row[0], 16) for row in rows if len(row) == 3}


def headers(library):
    """UUID, and the first address of each section's name."""
    text = output(tool("llvm-objdump"), "--macho", "--private-headers", library)
    uuid = re.search(r"uuid ([0-9A-F-]+)", text).group(1).replace("-", "").lower()
    places = {}
    for name, address in re.findall(r"sectname (\S+)\n.*\n\s+addr 0x([0-9a-f]+)", text):
        places.setdefault(name, int(address, 16))
    return uuid, places


def check_library(program, library):
    expected, (uuid, places) = exports(library), headers(library)
    found = json.loads(output(program, library, *expected, "no_such_name"))
    wrong = []
    if found["uuid"].lower() != uuid:
        wrong.append(f"UUID {found['uuid']}, not {uuid}")
    differ = {name: (at, found["exports"][name]) for name, at in expected.items() if found["exports"][name] != at}
    if differ or found["exports"]["no_such_name"] is not None:
        wrong.append(f"{len(differ)} of {len(expected)} exports differ: {dict(list(differ.items())[:5])}")
    sections = {name: (at, places.get(name)) for name, at in found["sections"].items() if at != places.get(name)}
    if sections:
        wrong.append(f"sections: {sections}")
    return found, len(expected), [f"{library.name}: {one}" for one in wrong]


def check(program, major):
    """All problems, in words."""
    packs, problems = runtimes.macos_packs(VERSIONS[major]), []
    for machine in MACHINES:
        folder = packs / f"microsoft.netcore.app.runtime.{machine}" / VERSIONS[major] / "runtimes" / machine / "native"
        libraries, names = sorted(folder.glob("*.dylib")), 0
        for library in libraries:
            found, count, wrong = check_library(program, library)
            names += count
            problems += [f"{machine}: {one}" for one in wrong]
            if library.name == "libcoreclr.dylib":
                descriptor = found["descriptor"] or [0, 0, 0]
                if descriptor[0] < LEAST[major][0] or descriptor[2] < LEAST[major][1]:
                    problems.append(f"{machine}: the descriptor has {descriptor[0]} types and {descriptor[2]} contracts")
                if found["stood_in"] != found["descriptor"]:
                    problems.append(f"{machine}: by the file in a core {found['stood_in']}, in the file {found['descriptor']}")
                print(f"{machine} {VERSIONS[major]}: UUID {found['uuid']}, descriptor of {descriptor[0]} types, {descriptor[1]} globals, {descriptor[2]} contracts")
        print(f"{machine} {VERSIONS[major]}: {len(libraries)} libraries, {names} exports")
        if len(libraries) < 10 or names < 500:
            problems.append(f"{machine}: only {len(libraries)} libraries with {names} exports")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--one", type=int, required=True)
    options = parser.parse_args()
    return matrix.exit_code(check, options.program, options.one)


if __name__ == "__main__":
    sys.exit(main())
