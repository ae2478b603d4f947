"""What programs were built against: functions, numbers and structs of dnheap.h, as one line each, beside the list in abi.txt of what there
was before. Within one DNHEAP_ABI_VERSION lines are only added, and structs only grow at their end.
Usage: abi.py COMPILER [--update]     --update adds to the list what is new; after a new DNHEAP_ABI_VERSION it begins another one"""
import pathlib
import re
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADER = PROJECT / "include" / "dnheap.h"
LIST = pathlib.Path(__file__).resolve().with_name("abi.txt")


def lines_of(header, compiler, flags=()):
    text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.DOTALL)
    out = ["version: " + re.search(r"#define DNHEAP_ABI_VERSION (\d+)", text)[1]]
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for declared in re.findall(r"DNHEAP_API ([^;]+);|(typedef [^;{}]+);", text):
        out.append(" ".join("".join(declared).split()))
    asked = []
    for name, members in re.findall(r"typedef struct (\w+) \{(.*?)\}", text, re.DOTALL):
        asked.append((f"struct {name}: bytes", f"sizeof({name})"))
        for member in filter(str.strip, members.split(";")):
            kind = re.match(r"\s*((?:const\s+)?\w+)", member)[1]
            for one in member.split(","):
                label = re.findall(r"\w+", one.split("[")[0])[-1]
                stars = "*" * one.count("*")
                asked.append((f"struct {name}: {kind}{stars} {label} at", f"offsetof({name}, {label})"))
                asked.append((f"struct {name}: {label} bytes", f"sizeof((({name} *)0)->{label})"))
    for numbers in re.findall(r"enum[^{;]*\{(.*?)\}", text, re.DOTALL):
        asked += [(f"number {name}", name) for name in re.findall(r"\b(DNHEAP_\w+)\b(?=\s*(?:=|,|$))", numbers, re.MULTILINE)]
    asked += [(f"number {name}", name) for name in re.findall(r"#define (DNHEAP_NO_\w+)", header.read_text())]
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "ask.c"), pathlib.Path(folder, "ask")
        source.write_text('#include "dnheap.h"\n#include <stdio.h>\nint main(void) {\n' + "".join(
            f'  printf("%s %llu\\n", "{label}", (unsigned long long)({expression}));\n' for label, expression in asked) + "}\n")
        subprocess.run([compiler, "-x", "c", "-std=c11", f"-I{header.parent}", *flags, source, "-o", program], check=True)
        return out + subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def size_in(line):
    found = re.fullmatch(r"(struct \w+: bytes) (\d+)", line)
    return (found[1], int(found[2])) if found else (line, 0)


def problems(before, now):
    """Lists of lines. Yields what a program that was built with the earlier header would meet."""
    if before[0] != now[0]:
        yield f"abi.txt is of {before[0]}, the header of {now[0]}: begin another list with test/c/abi.py COMPILER --update"
        return
    sizes = dict(map(size_in, now))
    for line in before:
        name, size = size_in(line)
        if re.search(r"\breserved\b", line):
            continue  # for whatever comes
        if name not in sizes:
            yield f"'{line}' is no longer so: that needs a new DNHEAP_ABI_VERSION, and with it a new name of the library"
        elif sizes[name] < size:
            yield f"'{line}': it shrank"
    known = {size_in(line)[0] for line in before}
    grown = {name for name, size in map(size_in, before) if sizes.get(name, 0) > size}
    for line in now:
        if size_in(line)[0] not in known or size_in(line)[0] in grown:
            yield f"'{line}' is new: test/c/abi.py COMPILER --update adds it to the list"


def broken(before, now):
    return [one for one in problems(before, now) if "is new:" not in one and "another list" not in one]


if __name__ == "__main__":
    now = lines_of(HEADER, sys.argv[1])
    before = LIST.read_text().splitlines() if LIST.exists() else now
    wrong = broken(before, now) if "--update" in sys.argv else list(problems(before, now))
    if "--update" in sys.argv and not wrong:
        LIST.write_text("\n".join(now) + "\n")
    print("\n".join(wrong) or "ABI: ok")
    sys.exit(bool(wrong))
