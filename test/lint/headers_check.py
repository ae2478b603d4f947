#!/usr/bin/env python3
"""Checks doc/design/types.md against the first sentence of each header in src/. --update writes the page."""
import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "doc" / "design" / "types.md"
INTRODUCTION = """# Headers

What each header of `src/` has, in the order of [design.md](../design.md)'s folders: the first sentence of its comment, which also says
what it costs, when it fails, and who may use it. `test/lint/headers_check.py --update` writes this page.
"""
ORDER = ["base", "target", "image", "dump", "contract", "metadata", "runtime", "heap", "algorithms", "objects", "snapshot",
         "report", "analysis", "explore", "lookout", "mcp", "api", "c", "cli"]


def first_sentence(header):
    comment = []
    for line in header.read_text().splitlines():
        if not line.startswith("//"):
            break
        comment.append(line[2:].strip())
    text = re.sub(r"\be\. ?g\.|\bi\. ?e\.", lambda found: found[0].replace(".", "\0"), " ".join(comment))
    text = re.split(r":? {2,}", text)[0]  # a list or an example follows
    return re.split(r"(?<=[.!?)])(?<!etc\.) (?=[A-Z`\"-])", text)[0].replace("\0", ".") if text else ""


def sentence_of(header):
    text = first_sentence(header)
    if not text:
        raise SystemExit(f"{header.relative_to(PROJECT)}: no comment in its first line says what it has")
    return text.replace("|", "\\|")


def page():
    folders = {}
    for header in sorted((PROJECT / "src").rglob("*.h")):
        folders.setdefault(header.parent.relative_to(PROJECT / "src"), []).append(header)
    unknown = {folder.parts[0] for folder in folders} - set(ORDER)
    if unknown:
        raise SystemExit(f"folders that ORDER lacks: {', '.join(sorted(unknown))}")
    out = [INTRODUCTION]
    for folder in sorted(folders, key=lambda one: (ORDER.index(one.parts[0]), one)):
        out += [f"## {folder}", "", "| header | what it has |", "|---|---|"]
        out += [f"| `{header.name}` | {sentence_of(header)} |" for header in folders[folder]] + [""]
    return "\n".join(out)


def main():
    text = page()
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        sys.exit("doc/design/types.md is not what the headers say: test/lint/headers_check.py --update")
    else:
        print("headers: ok")


if __name__ == "__main__":
    main()
