#!/usr/bin/env python3
"""Do the questions of fleet/ find what was planted among 1,000 records, and nothing else? Usage: questions_check.py ENGINE DNHEAP

ENGINE is duckdb or clickhouse: a folder of fleet/, with its schema and its questions, and of the same name here, with the engine: an npm
package, installed into the cache folder ($DNHEAP_CACHE, or build/real-cache below the project). The records are made from those of the
sample, of an extract of it, and of a larger dump where the benchmark left one. Skipped (exit code 77), with the reason, where there is no
node or no engine.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent / "schema"), str(HERE.parent / "support")]
import fleet  # noqa: E402
import npm  # noqa: E402
import twin  # noqa: E402
import validator  # noqa: E402

SAMPLE = PROJECT / "sample" / "demo.core.zst"
LARGER = npm.CACHE / "bench" / "business-4000000-44000.core"


def base_records(dnheap, folder):
    extract = folder / "extract.core"
    subprocess.run([dnheap, "extract", SAMPLE, "-o", extract, "--no-values"], check=True, stdout=subprocess.DEVNULL)
    dumps = {"sample": SAMPLE, "extract": extract, "other": LARGER if LARGER.exists() else SAMPLE}
    return {name: json.loads(subprocess.run([dnheap, "summary", dump, "--top", "300"], check=True, stdout=subprocess.PIPE).stdout)
            for name, dump in dumps.items()}


def schema_problems(path):
    schemas = validator.Validator(PROJECT / "doc" / "schema")
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % 25 == 0 or '"error"' in line:
                yield from (f"record {number}: {problem}" for problem in schemas.problems(json.loads(line), "summary_record.json"))


class Engine:
    """Asks in a folder of its own, in which records/ has what is to be read."""

    def __init__(self, name, modules):
        self.name, self.modules = name, modules
        self.questions = PROJECT / "fleet" / name

    def ask(self, folder, *questions):
        """{question: rows}; a sentence, where the engine refuses. Questions are files: joined to a folder, an absolute path stays what it is."""
        command = ["node", HERE / self.name / "ask.js", self.questions / "schema.sql", *((self.questions / name).with_suffix(".sql") for name in questions)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
                              env={**os.environ, "NODE_PATH": str(self.modules)})
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def rows_as_text(rows):
    """Engines write large numbers as text, and in any order what is equal."""
    return sorted(json.dumps({key: str(value) for key, value in row.items()}, sort_keys=True, ensure_ascii=False) for row in rows)


def check_answers(engine, folder):
    wanted = twin.answers(folder / "records" / "store.ndjson")
    for question, expected, parts in (("grew", fleet.GREW, ("service", "version", "what", "name")),
                                      ("siblings", fleet.SIBLINGS, ("service", "version", "pod", "what", "name", "differs")),
                                      ("regressions", fleet.REGRESSIONS, ("service", "version", "what", "name"))):
        found = {tuple(row[part] for part in parts) for row in wanted[question]}
        if found != expected:
            yield f"{question}: planted and not found: {expected - found}; found and not planted: {found - expected}"
    answers = engine.ask(folder, *wanted)
    if isinstance(answers, str):
        yield answers
        return
    for question, rows in wanted.items():
        right, given = rows_as_text(rows), rows_as_text(answers[question])
        yield from (f"{question}: missing: {row}" for row in right if row not in given)
        yield from (f"{question}: wrong: {row}" for row in given if row not in right)
    sizes = [int(row["bytes"]) for row in answers["grew"]]
    if sizes != sorted(sizes, reverse=True):
        yield f"grew: not the largest first: {sizes}"


def check_tables(engine, folder):
    """The sums of each list's table."""
    sums = {"owners": "retained", "types": "bytes", "account": "bytes", "waste": "bytes", "threads": "count"}
    dumps = [dump.record for dump in twin.Fleet(folder / "records" / "store.ndjson").dumps if not dump.error]
    for table, column in sums.items():
        prefix = "fleet." if engine.name == "clickhouse" else ""
        (folder / f"{table}.sql").write_text(f"select count(*) as lines, sum({column}) as total, count(distinct dump) as dumps from {prefix}{table};")
    answers = engine.ask(folder, *(folder / table for table in sums))
    if isinstance(answers, str):
        yield answers
        return
    for table, column in sums.items():
        rows = [row for record in dumps for row in record[table]]
        wanted = [{"lines": len(rows), "total": sum(row[column] for row in rows), "dumps": sum(bool(record[table]) for record in dumps)}]
        if rows_as_text(answers[table]) != rows_as_text(wanted):
            yield f"{table}: {answers[table]}, not {wanted}"


def check_refusals(engine, folder):
    """What is no record is not taken for one, nor left out in silence."""
    (folder / "records").mkdir()
    for line in "no JSON", '{"schema": "dnheap-summary/2", "target": {"path": "/dumps/shop/2/shop-1/core.1"}}':
        (folder / "records" / "store.ndjson").write_text(line + "\n")
        told = engine.ask(folder, "left_out")
        if isinstance(told, dict):
            told = " ".join(row["why"] for row in told["left_out"])
        if "dnheap-summary/1" not in told and "Malformed JSON" not in told:
            yield f"of {line!r} is said: {told!r}"


def main(name, dnheap):
    try:
        modules = npm.packages(HERE / name)
    except npm.Skipped as reason:
        print(f"SKIPPED: the questions of fleet/{name} were NOT asked: {reason}")
        return 77
    engine = Engine(name, modules)
    with tempfile.TemporaryDirectory(prefix="dnheap-fleet-") as folder:
        folder = pathlib.Path(folder)
        records = folder / "fleet" / "records" / "store.ndjson"
        records.parent.mkdir(parents=True)
        fleet.write(base_records(pathlib.Path(dnheap).resolve(), folder), records)
        (folder / "refused").mkdir()
        failed = [*schema_problems(records), *check_answers(engine, folder / "fleet"), *check_tables(engine, folder / "fleet"),
                  *check_refusals(engine, folder / "refused")]
    print("\n".join(failed[:30]) or f"{name}: finds what was planted, and nothing else")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
