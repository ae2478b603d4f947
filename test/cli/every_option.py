#!/usr/bin/env python3
"""Does every verb take whatever its help lists? Usage: every_option.py DNHEAP

Asks each verb of the bundled sample with each option that `VERB --help` lists, each word of --table, --sort and --by, and
checks that it is answered; and that those that choose or change what is shown do so, in every format. What the help does
not list has to be refused.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
COMPRESSED = PROJECT / "sample" / "demo.core.zst"
WITHOUT_TARGET = {"ps"}
OF_PROCESSES = {"sample", "collect"}  # see test/real
# What to give them, and which of them cannot be seen in an answer about this dump. Memory: more than AddressSanitizer maps.
VALUES = {"type": "Shop", "type-exact": "string", "gen": "2", "min": "100", "range": "0x7ff3b5000000-0x7ff3b9000000",
          "depth": "2", "top": "1", "modules": "/", "symbols": "/etc", "runtime": "1", "threads": "1", "max-memory": "64T", "temp-dir": "/tmp", "interval": "1h", "no-instances-of": "Shop.NoSuch", "no-findings-of": "deadlock", "hub": "Shop.Customer", "color": "always", "limit": "1", "timeout": "5m",
          "max": "60", "near": "0x7ff3b55996a8", "from": "0x7ff3b55996a8", "refers-to": "younger", "struct": "System.DateTime", "fields": "_stringLength", "by-field": "_stringLength"}
KINDS = {"handles": "pinned", "roots": "static", "threads": "background", "locks": "monitor"}
UNSEEN = {"modules", "symbols", "runtime", "threads", "max-memory", "temp-dir", "strict", "no-progress", "perf", "verbose", "exact", "top",
          "output", "format", "baseline", "color", "full-names", "timeout"}


class Asked:
    def __init__(self, dnheap):
        self.dnheap = dnheap
        self.dump = self.other = None
        self.failed = []

    def run(self, *words, ok=True):
        done = subprocess.run([self.dnheap, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if ok and done.returncode:
            self.failed.append(f"dnheap {' '.join(map(str, words))}: {done.returncode}: {done.stderr.decode().strip()}")
        return done


def options_of(text):
    """{name: takes a value?} of the lists of options in a help text."""
    return {name: bool(value) for name, value in re.findall(r"^  (?:-\w, |    )--([a-z-]+)( [A-Z][A-Z-]*)?  ", text, re.MULTILINE)}


def words_after(text, start):
    found = re.search(re.escape(start) + r": (.*)", text)
    return found.group(1).split(", ") if found else []


def subjects(asked, verb):
    """What stands behind the target: one of each kind that the verb takes."""
    def first(kind):
        rows = asked.run("objects", asked.dump, "--type-exact", kind, "--top", "1", "--format", "csv").stdout.decode()
        return rows.splitlines()[1].split(",")[:2]
    if verb == "inspect":
        return [["list"], ["timers"], ["events"], ["collections"], ["pools"], ["contexts"], ["finalizers"], ["http"], ["db"], ["sockets"], ["safehandles"], ["caches"], ["di"], ["requests"], ["regex"], ["ef"], ["asynclocals"]]
    if verb == "query":
        return [["select object, value from strings"]]
    if verb not in ("show", "path", "memory", "lookup"):
        return [[]]
    (array, method_table), (order, _) = first("System.Int32[]"), first("Shop.Order")
    lines, _ = first("System.Collections.Generic.List<Shop.OrderLine>")
    return {"show": [[array], [order], [method_table], [lines]], "path": [[array], ["Shop.Order"]], "memory": [[array]],
            "lookup": [[order], [method_table], ["Shop.Order"]]}[verb]


def options_before(verb, table, folder):
    """Options without which a table does not exist, or the verb asks for more."""
    if verb == "export":
        return ["-o", f"{folder}/heap.file", *([] if table == "as" else ["--as", "ndjson"])]
    out = ["-o", f"{folder}/small.core"] if verb == "extract" else ["--no-instances-of", "Shop.Dice"] if verb == "check" else []
    return out + (["--values"] if table == "elements" else ["--by-field", "_stringLength", "--values"] if (verb, table) == ("objects", "groups") else [])


def other_record(asked, folder):
    """Of the dump, but that all odd owners and types were half as large, every third one twice as large."""
    path = pathlib.Path(folder, "other.json")
    asked.run("check", asked.dump, "--record", path)
    record = json.loads(path.read_text())
    for table, keys in {"owners": ["retained"], "types": ["count", "bytes"]}.items():
        for number, row in enumerate(record["tables"][table]):
            for key in keys:
                row[key] = row[key] // 2 if number % 2 else row[key] * 2 if number % 3 == 0 else row[key]
    path.write_text(json.dumps(record))
    return path


def check_tables(asked, verb, words, base, tables, folder):
    for table in tables:
        for form in ("text", "csv"):
            exits = {asked.run(verb, *base, *subject, "--table", table, "--format", form,
                               *options_before(verb, table, folder), ok=False).returncode for subject in words}
            if 0 not in exits or not exits <= {0, 5}:
                asked.failed.append(f"{verb} --table {table} --format {form}: exit codes {exits}")


def check_files(asked, verb, base, words, folder):
    """Each kind of file is written, and those that show a neighbourhood change with what they are asked for."""
    object_rows = asked.run("objects", asked.dump, "--type-exact", "Shop.Order", "--top", "1", "--format", "csv").stdout.decode()
    around = ["--around", object_rows.splitlines()[1].split(",")[0]]
    for word in words:
        file = pathlib.Path(folder, f"heap.{word}")
        command = [verb, *base, "--as", word, "-o", file]
        written = []
        for more in [around, around + ["--depth", "1"], around + ["--limit", "3"]] if word == "dot" else [[]]:
            file.unlink(missing_ok=True)
            asked.run(*command, *more)
            written.append(file.read_bytes() if file.exists() else b"")
        if not all(written) or len(set(written)) != len(written):
            asked.failed.append(f"{verb} --as {word}: {[len(one) for one in written]} bytes")
        done = asked.run(*command, *([] if word == "dot" else around), ok=False)
        if done.returncode != 2:
            asked.failed.append(f"{verb} --as {word}: --around is neither needed nor refused")
    asked.run(verb, *base, "-o", pathlib.Path(folder, "heap.file"), ok=False).returncode == 2 or asked.failed.append("export without --as")


def check_verb(asked, verb, folder):
    text = asked.run(verb, "--help").stdout.decode()
    listed = options_of(text)
    base = [] if verb in WITHOUT_TARGET else [asked.other, asked.dump] if verb == "diff" else [asked.dump]
    words = subjects(asked, verb)
    usage = re.search(r"^usage: (.*)$", text, re.MULTILINE).group(1)
    if ("TARGET" in usage) != bool(base) or ("-o FILE" in usage) != (verb in ("extract", "export")):
        asked.failed.append(f"{verb} --help: {usage}")
    check_tables(asked, verb, words, base, words_after(text, "tables (--table)"), folder)
    extra = options_before(verb, "", folder)
    if verb == "export":
        check_files(asked, verb, base, words_after(text, "files (--as)"), folder)
    for subject in words:
        plain = asked.run(verb, *base, *subject, *extra).stdout
        unseen = [word for name in listed if name in UNSEEN - {"output", "format"}
                  for word in ([f"--{name}", VALUES[name]] if listed[name] else [f"--{name}"])]
        if subject == ["finalizers"]:  # the sample lacks four entries of the finalization queue, and that is said
            unseen.remove("--strict")
        asked.run(verb, *base, *subject, *unseen, *(extra or ["--output", f"{folder}/answer"]), "--format", "json")
        for name, takes_value in listed.items():
            if name in {"help", "version", "pid", "no-pause", "by-port", "table"} | UNSEEN:
                continue
            if verb == "export" and name in ("as", "around", "limit", "depth"):
                continue
            of_type = verb == "path" and not subject[0].startswith("0x")
            if verb == "path" and name in (("all", "raw", "from", "no-stacks") if of_type else ("sort",)):
                continue
            values = ({"sort": words_after(text, "columns to sort by (--sort)"), "by": words_after(text, "words for --by")}
                      .get(name, [KINDS.get(verb) if name == "kind" else VALUES.get(name)]) if takes_value else [None])
            if (verb, name) == ("async", "type"):
                values = ["Nothing"]  # all calls of the sample are Shop's
            if (verb, name) == ("memory", "by"):
                values = values[:1]  # the others need --values
            needed = (["--tree"] if name == "depth" or (verb, name) == ("retained", "raw")
                      else ["--table", "registers"] if (verb, name) == ("stack", "values")
                      else {"by-field": ["--values"], "values": ["--fields", "_stringLength"]}.get(name, extra) if verb == "objects" else extra)
            changed = False
            for value in values:
                word = [f"--{name}"] if value is None else [f"--{name}", value]
                changed |= asked.run(verb, *base, *subject, *word, *needed).stdout != plain
            if not changed and name not in ("all", "no-values") and (verb, name) != ("memory", "by") and len(words) == 1 and verb not in WITHOUT_TARGET:
                asked.failed.append(f"{verb} --{name} {values}: changes nothing")
    for name in ("type", "gen", "min", "live", "closure", "tree", "by", "sort", "table", "no-values", "pid", "modules", "raw"):
        if name not in listed:
            value = [VALUES.get(name, "x")] if name not in ("live", "closure", "tree", "raw", "no-values") else []
            done = asked.run(verb, *base, *words[0], f"--{name}", *(value if name != "pid" else ["1"]), ok=False)
            if done.returncode != 2:
                asked.failed.append(f"{verb} --{name}: not listed, but exit code {done.returncode}")


def main(dnheap):
    asked = Asked(dnheap)
    listed = asked.run("--help").stdout.decode().partition("\nto begin with:\n")[2].partition("\nuntil you end them")[0]
    with tempfile.TemporaryDirectory(prefix="dnheap-options-") as folder:
        asked.dump = pathlib.Path(folder, "demo.core")
        subprocess.run(["zstd", "-qdo", asked.dump, COMPRESSED], check=True)
        asked.other = other_record(asked, folder)
        VALUES["html"] = f"{folder}/page.html"
        VALUES["record"], VALUES["baseline"] = f"{folder}/new.json", str(asked.other)
        VALUES["budget"] = f"{folder}/budget.json"
        pathlib.Path(VALUES["budget"]).write_text('{"types": [{"type": "Shop.Order", "live": 1000000}]}')
        for verb in re.findall(r"^  (\w+) ", listed, re.MULTILINE):
            if verb not in OF_PROCESSES:
                check_verb(asked, verb, folder)
    print("\n".join(asked.failed) or "every option: ok")
    return bool(asked.failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
