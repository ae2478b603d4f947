#!/usr/bin/env python3
"""The table of doc/sos.md is made from the shell's own, src/cli/shell/sos_*_table.cc, and stands between two marks there.

    sos_doc_test.py            says whether it is as it would be written
    sos_doc_test.py --write    writes it
"""
import pathlib
import re
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
TABLES = ("src/cli/shell/sos_heap_table.cc", "src/cli/shell/sos_process_table.cc")
DOC = PROJECT / "doc/sos.md"
BEGIN, END = "<!-- made by test/shell/sos_doc_test.py --write from the shell's tables -->\n", "<!-- end of what it makes -->\n"
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_][\w:]*|[{}(),;=]|\.(?=\w)')


class Reader:
    """Initializers of C++: texts, names, lists in braces, and lists of named values."""

    def __init__(self, text, known):
        self.tokens = TOKEN.findall(re.sub(r"(?m)^\s*//.*$", "", text))
        self.at, self.known = 0, known

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def here(self):
        return self.tokens[self.at]

    def value(self):
        token = self.next()
        if token.startswith('"'):
            while self.here().startswith('"'):
                token = token[:-1] + self.next()[1:]
            return token[1:-1]
        if token == "{":
            return self.braces()
        if self.here() == "(":  # and_also(one, more)
            self.next()
            parts = [self.value()]
            while self.next() == ",":
                parts.append(self.value())
            return [each for part in parts for each in part]
        return self.known.get(token, token)

    def braces(self):
        out, named = [], {}
        while self.here() != "}":
            if self.here() == ".":
                self.next()
                name = self.next()
                assert self.next() == "=", name
                named[name] = self.value()
            else:
                out.append(self.value())
            if self.here() == ",":
                self.next()
        self.next()
        return named or out


def commands():
    """All rows of the tables, as dictionaries."""
    out = []
    for file in TABLES:
        text, known = (PROJECT / file).read_text(), {"true": True, "false": False}
        for found in re.finditer(r"constexpr std::string_view (\w+) =", text):
            known[found[1]] = Reader(text[found.end():], known).value()
        for found in re.finditer(r"const std::vector<SosOption> (\w+) =", text):
            known[found[1]] = Reader(text[found.end():], known).value()
        out += Reader(text[re.search(r"vector<SosCommand> all =", text).end():], known).value()
    return out


def theirs(row):
    when, arguments = row.get("when", "").split("|")[0], row.get("arguments", "")
    parts = [part for part in (when if when != arguments else "", arguments) if part]
    return ", ".join("`" + " ".join([name, *parts]) + "`" for name in [row["name"], *row.get("also", "").split()])


def ours(row):
    if "says" in row:
        return "an answer of the shell"
    out, arguments = row.get("ours", ""), row.get("arguments", "")
    if not out:
        return "the thread that other commands look at"
    if "$" not in out and arguments:
        verb, _, rest = out.partition(" ")
        out = " ".join(part for part in (verb, arguments, rest) if part)
    for number, name in enumerate(arguments.split(), 1):
        out = out.replace(f"${number}", name)
    return f"`{out}`"


def option(one):
    names = ", ".join(f"`{name}`" for name in [one["theirs"], *one.get("also", "").split()])
    ours = one.get("ours", "").replace("$1-", "ADDR-END")
    is_same = one.get("ours", "").strip("-") == one["theirs"].strip("-")
    return names + (f" (`{ours}`)" if ours and not is_same else "")


def answered(row):
    known = ", ".join(option(one) for one in row.get("options", []) if not one.get("instead"))
    return f"| {theirs(row)} | {ours(row)} | {known} | {row.get('differs', '')} |"


def together(lines):
    """{key: names} of pairs, in their order: what has the same reason stands in one line."""
    out = {}
    for key, name in lines:
        out.setdefault(key, []).append(name)
    return out


def not_answered(rows):
    """Lines for the commands without an answer, then for options without one."""
    whole = together((row["instead"], theirs(row)) for row in rows if row.get("instead"))
    yield from (f"| {', '.join(names)} | {cell(why)} |" for why, names in whole.items())
    pairs = []
    for row in rows:
        options = [one for one in row.get("options", []) if one.get("instead") and not row.get("instead")]
        for why, names in together((one["instead"], option(one)) for one in options).items():
            pairs.append(((", ".join(names), why), theirs(row)))
    for (names, why), of in together(pairs).items():
        yield f"| {', '.join(dict.fromkeys(of))}: {names} | {cell(why)} |"


def cell(text):
    return text.replace("|", "\\|")


def table():
    rows = commands()
    lines = ["| SOS | here | options | where answers differ |", "|---|---|---|---|",
             *(answered(row) for row in rows if not row.get("instead")),
             "", "What has no answer here, and why:", "", "| SOS | why |", "|---|---|", *not_answered(rows)]
    return "\n".join(lines).replace("|  |", "| |").replace("|  |", "| |") + "\n"


def made(text):
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


def main():
    text = DOC.read_text()
    if BEGIN not in text or END not in text:
        print("doc/sos.md: the marks around the table are missing")
        return 1
    if "--write" in sys.argv:
        DOC.write_text(made(text))
    elif made(text) != text:
        print("doc/sos.md is not what the shell's tables say: test/shell/sos_doc_test.py --write makes it")
        return 1
    print(f"doc/sos.md: {len(commands())} rows, as the shell has them")
    return len(commands()) < 100


if __name__ == "__main__":
    sys.exit(main())
