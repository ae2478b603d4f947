#!/usr/bin/env python3
"""doc/sos.md has each command of SOS that the shell knows, with the words that it becomes, and no other."""
import pathlib
import re
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]


def of_source():
    """(name, option) → our words, "–" where there are none."""
    text = (PROJECT / "src/cli/shell_line.cc").read_text()
    rows = re.findall(r'\{"(\w+)",\s*"(-?\w*)",\s*\{(.*?)\}', text)
    return {(name, option): " ".join(re.findall(r'"(.*?)"', ours)) or "–" for name, option, ours in rows}


def of_doc():
    out = {}
    for theirs, ours in re.findall(r"^\| (`.*?) \| (.*?) \|", (PROJECT / "doc/sos.md").read_text(), re.MULTILINE):
        words = " ".join(word for word in ours.strip("`").split() if not word.isupper())
        for command in re.findall(r"`(.*?)`", theirs):
            name, _, rest = command.partition(" ")
            out[name, rest if rest.startswith("-") else ""] = words
    return out


def main():
    source, doc = of_source(), of_doc()
    doc.pop(("threads", ""))  # one name for both
    source[("clrstack", "")] = source.pop(("clrstack", "")) if source.pop(("clrstack", "-all")) == "stack --all" else "?"
    wrong = [f"{key}: {source.get(key)} in the program, {doc.get(key)} in doc/sos.md"
             for key in sorted(source.keys() | doc.keys()) if source.get(key) != doc.get(key)]
    print("\n".join(wrong) or f"doc/sos.md: {len(source)} commands")
    return bool(wrong) or len(source) < 30


if __name__ == "__main__":
    sys.exit(main())
