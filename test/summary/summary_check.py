#!/usr/bin/env python3
"""Is a line of summary what other verbs say? Usage: summary_check.py DNHEAP

Compares the bundled sample's line with demo.json beside this file (DNHEAP_UPDATE_GOLDEN=1 writes it: look at the difference), and
its figures with those of report, stat, retained and threads. Then several files, one of which is no dump.
"""
import difflib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "schema"))
import schema_check  # noqa: E402
SAMPLE = HERE.parent.parent / "sample" / "demo.core.zst"


def run(*words, cwd=None):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)


def check_golden(record):
    record = json.loads(json.dumps(record))
    record["dnheap_version"] = "0.0.0"
    record["target"]["path"] = "demo.core.zst"
    record["taken"] = 0  # as old as the file
    found = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    golden = HERE / "demo.json"
    if os.environ.get("DNHEAP_UPDATE_GOLDEN"):
        golden.write_text(found)
    yield from list(difflib.unified_diff(golden.read_text().splitlines(), found.splitlines(), "demo.json", "found", lineterm="", n=1))[:60]


def check_figures(dnheap, record):
    def answer(verb, *options):
        return json.loads(run(dnheap, verb, SAMPLE, *options, "--format", "json").stdout)
    report, stat, retained, threads = answer("report"), answer("stat"), answer("retained"), answer("threads")
    types = {}
    for row in stat["tables"]["types"]:
        count, size = types.get(row["type"], (0, 0))
        types[row["type"]] = count + row["count"], size + row["bytes"]
    listed = {row["type"]: (row["count"], row["bytes"]) for row in record["types"] if row["type"] != "(rest)"}
    same = [
        ("verdict", record["verdict"], report["target"]["verdict"]["rule"]),
        ("objects", record["completeness"]["objects"], report["completeness"]["objects"]),
        ("account", {row["class"]: row["bytes"] for row in record["account"]}, {row["class"]: row["bytes"] for row in report["tables"]["account"]}),
        ("waste", record["waste_bytes"], sum(row["bytes"] for row in report["tables"]["waste"])),
        ("waste rows", sum(row["bytes"] for row in record["waste"]), record["waste_bytes"]),
        ("types", listed, {name: types[name] for name in listed}),
        ("bytes of types", sum(row["bytes"] for row in record["types"]), sum(size for _, size in types.values())),
        ("number of types", record["types_count"], len(types)),
        ("owners", sum(row["retained"] for row in record["owners"]), sum(row["retained"] for row in retained["tables"]["owners"])),
        ("unreachable", record["unreachable_bytes"], sum(row["retained"] for row in retained["tables"]["owners"] if row["kind"] == "unreachable")),
        ("threads", record["threads_count"], sum(row["os_id"] is not None for row in threads["tables"]["threads"])),
        ("places of threads", sum(row["count"] for row in record["threads"]), record["threads_count"]),
    ]
    by_signature = {}
    for row in retained["tables"]["owners"]:
        by_signature[row["signature"]] = by_signature.get(row["signature"], 0) + row["retained"]
    for row in record["owners"]:
        if row["signature"]:
            same.append((row["owner"], row["retained"], by_signature[row["signature"]]))
    for what, found, expected in same:
        if found != expected:
            yield f"{what}: {found}, but other verbs say {expected}"
    if not any(row["owner"] == "static Shop.Cache.SessionCache.Shared" for row in record["owners"]):
        yield "the sample's largest owner is missing"


def check_several(dnheap, folder):
    (folder / "notes.txt").write_text("no dump")
    small = folder / "small.core"
    assert run(dnheap, "extract", SAMPLE, "-o", small).returncode == 0
    done = run(dnheap, "summary", small, "notes.txt", "missing", small, cwd=folder)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 3 or [line["target"]["path"] for line in lines] != [str(small), "notes.txt", "missing", str(small)]:
        yield f"of four files, two of them no dumps: exit code {done.returncode}, {[line['target']['path'] for line in lines]}"
    if ["error" in line for line in lines] != [False, True, True, False] or not lines[1]["error"].startswith("notes.txt: not a dump: text"):
        yield f"errors: {[line.get('error') for line in lines]}"
    if done.stderr.count("\n") != 2:
        yield f"standard error: {done.stderr!r}"
    if lines[0] != lines[3]:
        yield "the same dump twice gives two records"
    done = run(dnheap, "summary", small, "--format", "text", "--top", "3")
    if done.returncode or "Shop.Cache.SessionCache" not in done.stdout:
        yield f"as text: {done.returncode}, {done.stdout[:300]}"
    for options, code in (["--strict"], 4), ([], 0):
        done = run(dnheap, "summary", schema_check.incomplete_sample(dnheap, folder), *options)
        if done.returncode != code or json.loads(done.stdout)["completeness"]["complete"]:
            yield f"of a dump that lacks a piece {options}: exit code {done.returncode}: {done.stderr}"


def main(dnheap):
    dnheap = pathlib.Path(dnheap).resolve()
    done = run(dnheap, "summary", SAMPLE)
    if done.returncode or done.stderr or done.stdout.count("\n") != 1:
        print(f"exit code {done.returncode}, {done.stdout.count(chr(10))} lines, {done.stderr}")
        return 1
    record = json.loads(done.stdout)
    failed = [*check_golden(record), *check_figures(dnheap, record)]
    if len(done.stdout) > 65536:
        failed.append(f"the line has {len(done.stdout)} bytes")
    with tempfile.TemporaryDirectory(prefix="dnheap-summary-") as folder:
        failed += check_several(dnheap, pathlib.Path(folder))
    print("\n".join(failed) or f"summary: ok, {len(done.stdout)} bytes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
