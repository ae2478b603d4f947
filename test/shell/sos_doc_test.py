#!/usr/bin/env python3
"""doc/sos.md has each command of SOS that the shell knows, with the words that it becomes, and no other."""
import pathlib
import re
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]


def of_source():
    """(name, option or argument without which it is another command) → our words and, where it has some, its options."""
    text = (PROJECT / "src/cli/shell/sos.cc").read_text()
    shared = re.findall(r'\{"(-\w+)"', re.search(r"of_objects\(\) \{.*?;", text, re.DOTALL)[0])
    out = {}
    for name, when, ours, rest in re.findall(r'^      \{"(\w+)",\s*"(.*?)",\s*"(.*?)"(.*?)\},?$', joined(text), re.MULTILINE):
        options = shared if "of_objects()" in rest else re.findall(r'\{"(-\w+)"', rest)
        out[name, when] = (places(ours), set(options)) if ours else None
    short = re.findall(r'\{"(\w+)", "(\w+)"\}', re.search(r"short_names\[\] = \{.*?;", text, re.DOTALL)[0])
    return out | {(name, when): row for name, of in short for (long, when), row in out.items() if long == of}


def joined(text):
    """Each row of the table in one line."""
    return re.sub(r"\n {7,}", " ", text)


def places(words):
    return " ".join(sorted(word for word in words.split() if not word.isupper() and not word.startswith("$")))


def of_doc():
    out = {}
    for theirs, ours, more in re.findall(r"^\| (`.*?) \| (.*?) \| ?(.*?) ?\|$", TEXT, re.MULTILINE):
        options = set(re.findall(r"`(-\w+)[` ]", more.replace("the options of `-stat`", OF_STAT)))
        for command in re.findall(r"`(.*?)`", theirs):
            name, _, rest = command.partition(" ")
            when = rest if rest.startswith("-") or name in ("pe", "printexception") else ""
            out[name, when] = places(ours.strip("`")), options
    return out


TEXT = (PROJECT / "doc/sos.md").read_text()
OF_STAT = re.search(r"^\| `dumpheap -stat` \|.*?\| (.*?)\. ", TEXT, re.MULTILINE)[1]


def main():
    source, doc = of_source(), of_doc()
    doc.pop(("threads", ""))  # ours as well
    source.pop(("threads", "-special"))
    # Those for which nothing is like it stand in a sentence.
    wrong = [f"{name}: not in doc/sos.md" for (name, _), row in source.items() if not row and f"`{name}`" not in TEXT]
    source = {key: row for key, row in source.items() if row}
    source["dumpheap", "-stat"][1].discard("-short")  # which lists no objects
    wrong += [f"{key}: {source.get(key)} in the program, {doc.get(key)} in doc/sos.md"
              for key in sorted(source.keys() | doc.keys()) if source.get(key) != doc.get(key)]
    print("\n".join(wrong) or f"doc/sos.md: {len(source)} commands")
    return bool(wrong) or len(source) < 45


if __name__ == "__main__":
    sys.exit(main())
