#!/usr/bin/env python3
"""Does the JSON of every verb keep to doc/schema/? Usage: schema_check.py DNHEAP EVERY-ROOT

Runs every verb on the bundled sample, and on a copy of it that lacks a piece of the heap. Each verb must have a schema
and each schema a verb; every table that a schema names must occur, with one set of options or another. Then every verb
once more on what the program EVERY-ROOT writes, and there and on the sample `path` and `show` of an object that each
kind of root holds.
"""
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import validator

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMAS = PROJECT / "doc" / "schema"
WITHOUT_TARGET = {"ps"}
OF_NO_VERB = {"envelope.json", "record.json", "budget.json", "summary_record.json", "watch.json"}
OF_PROCESSES = {"sample", "collect"}  # see test/real
SAMPLE = PROJECT / "sample" / "demo.core.zst"


# One limit of each kind; all are kept.
BUDGET = {"$schema": "budget.json", "comment": "for this test", "totals": {"live_bytes": "1.5GiB", "growth": {"objects": "5%"}},
          "types": [{"type": "Shop.Order", "count": 100000, "comment": "all"}, {"match": "^Shop", "each": True, "growth": {"bytes": "1MiB"}}],
          "owners": [{"owner": "static Shop.Never", "retained": 0}, {"signature": "7c1e09", "growth": {"objects": 3}}],
          "account": [{"class": "malloc_in_use", "bytes": "1T"}, {"group": "stacks", "growth": {"bytes": "1%"}}]}


def output(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE)
    if done.returncode not in ((0, 4) if "check" in command else (0,)):  # 4: of a heap that is not whole
        raise subprocess.CalledProcessError(done.returncode, command)
    return done.stdout


def verbs(dnheap):
    listed = output(dnheap, "--help").decode().partition("\nto begin with:\n")[2].partition("\nuntil you end them")[0]
    return [verb for verb in re.findall(r"^  (\w+) ", listed, re.MULTILINE) if verb not in OF_PROCESSES]


def without(core, address):
    """The ELF core without the bytes of the segment that holds `address`."""
    core = bytearray(core)
    table, size, count = struct.unpack_from("<Q14xHH", core, 32)
    for at in range(table, table + count * size, size):
        kind, _, _, start, _, length = struct.unpack_from("<IIQQQQ", core, at)
        if kind == 1 and start <= address < start + length:
            struct.pack_into("<Q", core, at + 32, 0)
            return core
    raise ValueError(f"no segment holds {address:#x}")


def incomplete_sample(dnheap, folder):
    segments = json.loads(output(dnheap, "segments", SAMPLE, "--format", "json"))["tables"]["segments"]
    row = max((row for row in segments if row["generation"] == "gen2"), key=lambda row: row["bytes"])
    path = pathlib.Path(folder, "incomplete.core")
    path.write_bytes(without(output("zstd", "-dc", SAMPLE), int(row["start"], 16)))
    return path


def command_lines(dnheap, verb, dump, folder):
    """What follows the verb and the dump: each way to ask that gives other tables or rows."""
    if verb == "check":
        record, budget = pathlib.Path(folder, "record.json"), pathlib.Path(folder, "budget.json")
        budget.write_text(json.dumps(BUDGET))
        output(dnheap, "check", dump, "--record", record)
        return [["--budget", budget, "--baseline", record], ["--no-instances-of", "Shop.Never"]]
    if verb == "export":
        array = first(dnheap, dump, "System.Object[]")
        return [["--as", "ndjson", "-o", f"{folder}/heap.ndjson", "--values"], ["--as", "heapsnapshot", "-o", f"{folder}/heap.heapsnapshot"],
                ["--as", "gcdump", "-o", f"{folder}/heap.gcdump"], ["--as", "sqlite", "-o", f"{folder}/heap.sqlite"],
                ["--as", "speedscope", "-o", f"{folder}/heap.speedscope.json"], ["--as", "pprof", "-o", f"{folder}/heap.pb.gz"],
                ["--as", "dot", "--around", array, "-o", f"{folder}/heap.dot"]]
    if verb == "query":
        return [["select name, method_table, count from types order by bytes desc limit 3"], ["select null as missing, 1.5 as half"]]
    if verb == "extract":
        return [["-o", f"{folder}/small.core", "--no-values"]]
    if verb == "show":
        return [[first(dnheap, dump, "System.String"), "--values", "--closure"], [first(dnheap, dump, "System.Object[]")],
                [first(dnheap, dump, "System.Int32[]"), "--values"], *collections(dnheap, dump),
                [first(dnheap, dump, "System.String", "method_table")],
                [first(dnheap, dump, "System.Object[]"), "--values", "--struct", first(dnheap, dump, "System.DateTime", "method_table")]]
    if verb == "path":
        return [["System.String"], [first(dnheap, dump, "System.String")], [first(dnheap, dump, "System.String"), "--all"],
                [first(dnheap, dump, "System.String"), "--from", first(dnheap, dump, "System.Object[]")]]
    if verb == "memory":
        text = first(dnheap, dump, "System.String")
        return [[text], *([text, "--by", word, "--values"] for word in ("pointers", "bytes", "words", "dwords", "qwords", "chars", "string", "wide_string"))]
    if verb == "lookup":
        order = first(dnheap, dump, "Shop.Order")
        return [[order], [first(dnheap, dump, "Shop.Order", "method_table")], ["Shop.Order"], [hex(int(order, 16) + 8)], ["System.Private.CoreLib.dll"]]
    return {"stat": [[], ["--live"], ["--by", "retained"]], "objects": [[], ["--dead"], ["--by", "size"], ["--by", "retained"], ["--type-exact", "System.String", "--fields", "_stringLength,_firstChar", "--values"],
                        ["--type-exact", "System.String", "--by-field", "_stringLength", "--values"]],
            "frag": [[], ["--by", "retained"]],
            "inspect": [["list"], [], ["timers"], ["events"], ["collections"], ["pools"], ["contexts"], ["finalizers"], ["http"], ["db"], ["sockets"], ["safehandles"], ["caches"], ["di"], ["requests"], ["regex"], ["ef"], ["asynclocals"]],
            "waste": [[], ["--live"]],
            "strings": [[], ["--live", "--values"]],
            "retained": [[], ["--tree"], ["--plain"]], "verify": [[], ["--all"]], "exceptions": [[], ["--values"]],
            "stack": [["--roots"], ["--all", "--merge"], ["--table", "registers"], ["--table", "registers", "--values"]],
            "diff": [[], ["--interval", "90m"]], "locks": [[], ["--all"]], "async": [[], ["--by", "retained"]]}.get(verb, [[]])


def collections(dnheap, dump):
    """Two collections of a dump, one with and one without contents, if it has a dictionary."""
    answer = output(dnheap, "objects", dump, "--type", r"^System\.Collections\.Generic\.Dictionary<[^+]*>$", "--format", "json", "--top", "1")
    return [[row["address"], *options] for row in json.loads(answer)["tables"]["objects"] for options in ([], ["--values"])]


def first(dnheap, dump, kind, column="address"):
    """Address, or another column, of the first object of a type."""
    answer = output(dnheap, "objects", dump, "--type-exact", kind, "--format", "json", "--top", "1")
    return json.loads(answer)["tables"]["objects"][0][column]


def check_verb(dnheap, schemas, verb, dump, complete, folder):
    file = f"{verb}.json"
    tables = list(schemas.files[file]["properties"]["tables"]["properties"])
    seen = set()
    target = [] if verb in WITHOUT_TARGET else [SAMPLE, dump] if verb == "diff" else [dump]
    for options in command_lines(dnheap, verb, dump, folder):
        answer = json.loads(output(dnheap, verb, *target, *options, "--format", "json"))
        yield from schemas.problems(answer, file)
        found = list(answer["tables"])
        seen.update(found)
        if found != [table for table in tables if table in found]:
            yield f"tables {found}: not in the order of {tables}"
        expected = complete and options != ["finalizers"]  # the sample lacks four entries of the finalization queue, and that is said
        if answer.get("completeness", {}).get("complete", expected) != expected:
            yield f"the heap is complete: {not expected}"
        for table in found:
            alone = json.loads(output(dnheap, verb, *target, *options, "--format", "json", "--table", table, "--top", "1"))
            yield from schemas.problems(alone, file)
            if list(alone["tables"]) != [table]:
                yield f"--table {table} gave {list(alone['tables'])}"
    if seen != set(tables):
        yield f"tables {sorted(seen)}, not {tables}"


def check_finding_kinds(dnheap, schemas):
    """Every kind of finding that the program knows, and no other, is in each schema that lists them."""
    done = subprocess.run([dnheap, "check", SAMPLE, "--no-findings-of", "none of them"], capture_output=True, text=True)
    known = set(done.stderr.split("is none of ")[1].strip().split(", ")) - {"any"}

    def lists(part):
        if isinstance(part, dict) and "root_scope" in part.get("enum", ()):
            yield set(part["enum"])
        for value in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            yield from lists(value)
    found = {name: kinds for name, schema in schemas.files.items() for kinds in lists(schema)}
    yield from (f"{name}: kinds of findings {sorted(kinds ^ known)}" for name, kinds in found.items() if kinds != known)
    if len(found) < 4:
        yield f"kinds of findings are listed in {sorted(found)} only"


ALL_KINDS = {"handle:strong", "handle:pinned", "handle:ref_counted", "handle:async_pinned", "handle:sized_ref",
             "finalizer", "static", "thread_static", "stack_conservative"}


def check_roots(dnheap, schemas, dump, kinds):
    """`path` and `show` of what each kind of root holds; of roots in slots and in registers, with and without a name."""
    def ask(verb, *options):
        answer = json.loads(output(dnheap, verb, dump, *options, "--format", "json"))
        yield from (f"{verb} {' '.join(options)}: {problem}" for problem in schemas.problems(answer, f"{verb}.json"))
        told.append(answer)

    subjects, told = {}, []
    for row in json.loads(output(dnheap, "roots", dump, "--format", "json"))["tables"]["roots"]:
        if row["type"]:
            subjects.setdefault((row["kind"], row["address"] is None, row["name"] is None), row)
    if not kinds <= {kind for kind, _, _ in subjects}:
        yield f"no root of the kinds {sorted(kinds - {kind for kind, _, _ in subjects})}"
    for (kind, _, _), row in subjects.items():
        yield from ask("show", row["object"], "--values", "--closure")
        for options in [], ["--all"]:
            yield from ask("path", row["object"], *options)
            roots = [path["root"] for path in told[-1]["tables"]["paths"]]
            if options and not any(root["kind"] == kind and root["object"] == row["object"] for root in roots):
                yield f"path {row['object']} --all does not tell that it is held by {kind}"
        yield from ask("path", row["type"])


def main(dnheap, every_root):
    if not SAMPLE.exists():
        print(f"{SAMPLE.relative_to(PROJECT)} is missing")
        return 1
    schemas = validator.Validator(SCHEMAS)
    known = sorted(set(schemas.files) - OF_NO_VERB - {f"{verb}.json" for verb in OF_PROCESSES})
    failed = []
    if known != sorted(f"{verb}.json" for verb in verbs(dnheap)):
        failed.append(f"verbs {verbs(dnheap)}, but schemas {known}")
    with tempfile.TemporaryDirectory(prefix="dnheap-schema-") as folder:
        for dump, complete in ((SAMPLE, True), (incomplete_sample(dnheap, folder), False)):
            for file in known:
                verb = file.removesuffix(".json")
                failed += [f"{verb} {dump.name}: {problem}"
                           for problem in check_verb(dnheap, schemas, verb, dump, complete, folder)]
        synthetic = pathlib.Path(folder, "every-root.core")
        subprocess.run([every_root, synthetic], check=True)
        for verb in sorted(set(verbs(dnheap)) - WITHOUT_TARGET - {"path", "show", "query", "memory", "lookup"}):
            options = {"extract": ["-o", f"{folder}/other.core"], "export": ["--as", "ndjson", "-o", f"{folder}/other.ndjson"], "inspect": ["timers"], "check": ["--no-instances-of", "Shop.Never"]}.get(verb, [])
            targets = [synthetic, SAMPLE] if verb == "diff" else [synthetic]
            answer = json.loads(output(dnheap, verb, *targets, *options, "--format", "json"))
            failed += [f"{verb} {synthetic.name}: {problem}" for problem in schemas.problems(answer, f"{verb}.json")]
        failed += check_finding_kinds(dnheap, schemas)
        failed += [f"the budget of this test: {problem}" for problem in schemas.problems(BUDGET, "budget.json")]
        for dump in SAMPLE, synthetic:
            output(dnheap, "check", dump, "--record", f"{folder}/record.json")
            record = json.loads(pathlib.Path(folder, "record.json").read_text())
            failed += [f"record of {dump.name}: {problem}" for problem in schemas.problems(record, "record.json")]
        for line in output(dnheap, "summary", SAMPLE, synthetic).splitlines():
            failed += [f"a line of summary: {problem}" for problem in schemas.problems(json.loads(line), "summary_record.json")]
        for dump, kinds in (synthetic, ALL_KINDS), (SAMPLE, {"static", "stack"}):
            failed += [f"{dump.name}: {problem}" for problem in check_roots(dnheap, schemas, dump, kinds)]
    print("\n".join(failed[:50]) or "every answer keeps to its schema")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
