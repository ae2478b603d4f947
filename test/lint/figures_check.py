#!/usr/bin/env python3
"""Does doc/ say of the program what the program says? Usage: figures_check.py DNHEAP [--update]

The guide's table of verbs has every verb, in the order of `dnheap --help`, and names no option that the program does not
know; the column `sample` of design.md is what the bundled sample gives. --update writes that column anew: look at the diff.
"""
import json
import pathlib
import re
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
SAMPLE = PROJECT / "sample" / "demo.core.zst"
DESIGN = PROJECT / "doc" / "design.md"


def ask(dnheap, *arguments):
    return subprocess.run([dnheap, *map(str, arguments)], stdout=subprocess.PIPE, check=True, text=True).stdout


def answer(dnheap, verb):
    return json.loads(ask(dnheap, verb, SAMPLE, "--format", "json"))


def verbs(text):
    """Those that answer a question: the groups before the commands, which run until somebody ends them."""
    groups = re.search(r"^to begin with:\n(.*?)^until you end them", text, re.DOTALL | re.MULTILINE)[1]
    return re.findall(r"^  (\w+)  ", groups, re.MULTILINE)


def options(text):
    return set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", text, re.MULTILINE))


def of_readme(dnheap):
    """What is wrong with what the README says of verbs and options."""
    text, guide = ask(dnheap, "--help"), (PROJECT / "doc" / "guide" / "verbs.md").read_text()
    rows = re.findall(r"^\| (`.*?`) +\|", guide.split("\n\n**", 1)[0], re.MULTILINE)
    listed = [re.match(r"`(\w+)", row)[1] for row in rows]
    if listed != verbs(text):
        yield f"the guide's table of verbs has {' '.join(listed)}; the program has {' '.join(verbs(text))}"
    known = options(text)
    shown = set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", "".join(page.read_text() for page in PROJECT.glob("doc/guide/*.md"))))
    for option in sorted(known - shown):
        yield f"doc/guide does not name {option}"
    for verb in verbs(text):
        known |= options(ask(dnheap, verb, "--help"))
    for words in re.findall(r"^\|.*`(dnheap [^`]*)`|^\$ (dnheap .*)", guide, re.MULTILINE):
        for option in re.findall(r"(?<= )--[a-z-]+", "".join(words).split(" | ")[0]):
            if option not in known:
                yield f"doc/guide/verbs.md shows {option}, which the program does not know"


def of_sample(dnheap):
    """Row of design.md → what the sample gives."""
    stat, segments, info = (answer(dnheap, verb) for verb in ("stat", "segments", "info"))
    types, facts = stat["tables"]["types"], {row["fact"]: row["value"] for row in info["tables"]["facts"]}
    return {
        "file, bytes": f"{SAMPLE.stat().st_size:,} (zstd)",
        "memory known": facts["memory in the dump"].split(" in ")[0],
        "memory ranges, adjacent ones merged": facts["memory in the dump"].split(" in ")[1].split()[0],
        "threads": facts["threads"],
        "segments (here: regions)": str(len(segments["tables"]["segments"])),
        "objects, Free included": f"{sum(row['count'] for row in types):,}",
        "aligned bytes of these": f"{sum(row['aligned_bytes'] for row in types):,}",
        "types (MethodTables with objects)": f"{len(types):,}",
        "… of different name": f"{len({row['type'] for row in types}):,}"
    }


def with_sample(text, figures):
    """design.md with the column `sample` filled in; and which rows changed."""
    lines, column, changed, seen = text.splitlines(), None, [], set()
    for number, line in enumerate(lines):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            column = None
        elif "sample" in cells:
            column = cells.index("sample")
        elif column and cells[0] in figures:
            seen.add(cells[0])
            if cells[column] != figures[cells[0]]:
                changed.append(f"design.md: {cells[0]}: {cells[column]} of the sample, now {figures[cells[0]]}")
                cells[column] = figures[cells[0]]
                lines[number] = "| " + " | ".join(cells) + " |"
    changed += [f"design.md has no row {row!r} with the sample's figure" for row in figures if row not in seen]
    return "\n".join(lines) + "\n", changed


def main(dnheap, update):
    dnheap = pathlib.Path(dnheap).resolve()
    text, changed = with_sample(DESIGN.read_text(), of_sample(dnheap))
    if update:
        DESIGN.write_text(text)
        changed = []
    wrong = [*of_readme(dnheap), *changed]
    print("\n".join(wrong) or "the guide and design.md say what the program says")
    if changed:
        print("If that is meant: test/lint/figures_check.py DNHEAP --update")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--update" in sys.argv[2:]))
