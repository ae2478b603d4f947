#!/usr/bin/env python3
"""The C interface as C programs have it: what libdnheap-c.so exports, and whole.c, which uses all of it on the sample.
Usage: c_check.py LIBRARY COMPILER FLAGS…"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import abi

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADER = PROJECT / "include" / "dnheap.h"


def run(*command, **more):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, **more)


def exported(library):
    """Names, without their version; the version itself is a symbol, too."""
    lines = run("nm", "-D", "--defined-only", library, check=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines} - {"DNHEAP_0"}


def abi_problems(library, compiler):
    """What programs that were built earlier would meet, and whether that would be found."""
    before, now = abi.LIST.read_text().splitlines(), abi.lines_of(HEADER, compiler)
    yield from abi.problems(before, now)
    version = now[0].split()[-1]
    dynamic = run("readelf", "-d", library, check=True).stdout
    if f"[libdnheap-c.so.{version}]" not in dynamic or f" DNHEAP_{version}" not in run("nm", "-D", "--defined-only", library, check=True).stdout:
        yield f"the library's name, or the version of its symbols, is not of DNHEAP_ABI_VERSION {version}"
    header = HEADER.read_text()
    for old, new, found in (("uint64_t pid;  ", "uint32_t pid;  ", True), ("uint64_t target;", "uint64_t target, more;", True),
                            ("  uint32_t flags;\n} dnheap_root;", "} dnheap_root;", True), ("DNHEAP_ROOT_STACK,\n", "DNHEAP_ROOT_NEW,\n  DNHEAP_ROOT_STACK,\n", True),
                            ("dnheap_read(dnheap_snapshot *snapshot, ", "dnheap_read(const dnheap_snapshot *snapshot, ", True),
                            ("DNHEAP_API const char *dnheap_version(void);", "", True), ("DNHEAP_NOT_FOUND = 5", "DNHEAP_NOT_FOUND = 8", True),
                            ("  uint32_t flags;\n} dnheap_root;", "  uint32_t flags;\n  uint64_t more;\n} dnheap_root;", False),
                            ("DNHEAP_API const char *dnheap_version(void);", "DNHEAP_API const char *dnheap_version(void);\nDNHEAP_API int dnheap_more(int);", False)):
        with tempfile.TemporaryDirectory() as folder:
            changed = pathlib.Path(folder, "dnheap.h")
            changed.write_text(header.replace(old, new, 1))
            lines = abi.lines_of(changed, compiler)
        if old not in header or bool(abi.broken(now, lines)) != found or not list(abi.problems(now, lines)):
            yield f"abi.py, of a header with {new!r} for {old!r}: {abi.broken(now, lines)}"


def problems(library, compiler, flags):
    yield from abi_problems(library, compiler)
    declared = set(re.findall(r"^DNHEAP_API [^(]*?\b(dnheap_\w+)\(", HEADER.read_text(), re.MULTILINE))
    for name in sorted(declared ^ exported(library)):
        yield f"{name} is {'declared, but not exported' if name in declared else 'exported, but not declared'}"
    used = set(re.findall(r"\bdnheap_\w+(?=\()", (PROJECT / "test" / "c" / "whole.c").read_text()))
    for name in sorted(declared - used):
        yield f"whole.c does not use {name}"

    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "whole")
        common = [f"-I{PROJECT / 'include'}", "-Wall", "-Wextra", "-Werror", "-pedantic", *flags]
        if run(compiler, "-x", "c", "-std=c11", *common, PROJECT / "test" / "c" / "whole.c", "-x", "none", library,
               f"-Wl,-rpath,{library.parent}", "-pthread", "-o", program).returncode:
            yield "whole.c cannot be built"
            return
        if run(compiler, "-x", "c++", "-std=c++11", *common, "-fsyntax-only", HEADER).returncode:
            yield "the header is no C++"
        shown = re.search(r"^```c\n(.*?)^```", (PROJECT / "doc" / "guide" / "libraries.md").read_text(), re.DOTALL | re.MULTILINE)[1]
        readme = pathlib.Path(folder, "readme.c")
        readme.write_text(shown)
        run(compiler, "-x", "c", "-std=c11", *common, readme, "-x", "none", library, f"-Wl,-rpath,{library.parent}", "-o", readme.with_suffix(""), check=True)
        said = run(readme.with_suffix(""), PROJECT / "sample" / "demo.core.zst").stdout
        if '"type":"System.Byte[]"' not in said:
            yield f"the guide's program says {said}"
        environment = dict(os.environ, MALLOC_ARENA_MAX="1")  # no memory in reserve, for what happens when there is none
        if "sanitize" in " ".join(flags):
            environment["SANITIZED"] = "1"
        done = run(program, PROJECT / "sample" / "demo.core.zst", folder, env=environment)
        if done.returncode:
            yield f"{done.stdout}whole ended with {done.returncode}"

        throwing = pathlib.Path(folder, "throwing")
        run(compiler, "-std=c++17", *common, PROJECT / "test" / "c" / "throwing.cc", library, f"-Wl,-rpath,{library.parent}", "-o", throwing, check=True)
        done = run(throwing, PROJECT / "sample" / "demo.core.zst", env=environment, timeout=300)
        if done.returncode:
            yield f"{done.stdout}throwing ended with {done.returncode}"


if __name__ == "__main__":
    found = list(problems(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], " ".join(sys.argv[3:]).split()))
    print("\n".join(found) or "C interface: ok")
    sys.exit(bool(found))
