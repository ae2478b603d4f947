#!/usr/bin/env python3
"""Do the tools for which `export` writes read what dnheap says? Usage: export_check.py DNHEAP

Exports the bundled sample and reads the files with the packages that package-lock.json names, installed into the cache folder
($DNHEAP_CACHE, or build/real-cache below the project). Skipped (exit code 77), with the reason, where there is no node.
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
SAMPLE = PROJECT / "sample" / "demo.core.zst"


class Skipped(Exception):
    pass


def packages():
    """The folder node_modules with what package-lock.json names."""
    if not shutil.which("node") or not shutil.which("npm"):
        raise Skipped("there is no node, or no npm")
    cache = pathlib.Path(os.environ.get("DNHEAP_CACHE") or PROJECT / "build" / "real-cache") / "export"
    lock = (HERE / "package-lock.json").read_text()
    if not (cache / "done").exists() or (cache / "done").read_text() != lock:
        cache.mkdir(parents=True, exist_ok=True)
        for name in "package.json", "package-lock.json":
            shutil.copy(HERE / name, cache)
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=cache, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise Skipped(f"npm cannot install them: {done.stdout[-500:]}")
        (cache / "done").write_text(lock)
    return cache / "node_modules"


class Asked:
    def __init__(self, dnheap, folder):
        self.dnheap, self.folder = dnheap, pathlib.Path(folder)

    def answer(self, verb, *options):
        return json.loads(subprocess.run([self.dnheap, verb, SAMPLE, *options, "--format", "json"], check=True, stdout=subprocess.PIPE).stdout)

    def export(self, kind, *options):
        file = self.folder / f"heap.{kind}"
        return file, {row["part"]: row for row in self.answer("export", "--as", kind, "-o", file, *options)["tables"]["exported"]}

    def types(self):
        """{name: (count, aligned bytes)} of stat, without Free."""
        out = collections.Counter(), collections.Counter()
        for row in self.answer("stat")["tables"]["types"]:
            if row["type"] != "Free":
                out[0][row["type"]] += row["count"]
                out[1][row["type"]] += row["aligned_bytes"]
        return {name: (out[0][name], out[1][name]) for name in out[0]}

    def owners(self):
        return {row["owner"]: row["retained"] for row in self.answer("retained", "--plain", "--table", "owners")["tables"]["owners"]}


def node(script, modules, *arguments):
    return json.loads(subprocess.run(["node", HERE / script, *map(str, arguments)], check=True, stdout=subprocess.PIPE,
                                     env={**os.environ, "NODE_PATH": str(modules)}).stdout)


def differences(what, wanted, found):
    for key in sorted(set(wanted) | set(found), key=str):
        if wanted.get(key) != found.get(key):
            yield f"{what}: {key}: {found.get(key)}, not {wanted.get(key)}"


def check_ndjson(asked, _):
    file, told = asked.export("ndjson")
    types, counts, sizes = {}, collections.Counter(), collections.Counter()
    references = 0
    with open(file, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line["line"] == "type":
                types[line["id"]] = line["name"]
            elif line["line"] == "object":
                counts[types[line["type"]]] += 1
                sizes[types[line["type"]]] += line["aligned_bytes"]
                references += len(line.get("references", ()))
    yield from differences("types", asked.types(), {name: (counts[name], sizes[name]) for name in counts})
    if references != told["references"]["count"]:
        yield f"{references} references, not {told['references']['count']}"


def check_heapsnapshot(asked, modules):
    file, told = asked.export("heapsnapshot")
    wanted = asked.types()
    raw = json.loads(file.read_text())
    fields = len(raw["snapshot"]["meta"]["node_fields"])
    if len(raw["nodes"]) != fields * raw["snapshot"]["node_count"] or len(raw["edges"]) != 3 * raw["snapshot"]["edge_count"]:
        yield "counts of nodes and edges"
    synthetic = sum(kind == 9 for kind in raw["nodes"][::fields])
    if raw["snapshot"]["node_count"] - synthetic != told["objects"]["count"] or sum(raw["nodes"][3::fields]) != told["objects"]["bytes"]:
        yield "the objects, or their bytes"
    read = node("heapsnapshot.js", modules, file)
    classes = {name: (count, size) for name, count, size in read["classes"] if name in wanted}
    yield from differences("classes", wanted, classes)
    # Retained sizes: of each owner what `retained --plain` says; several rows may share a name.
    owners, found = asked.owners(), collections.Counter()
    for kind in read["kinds"]:
        for owner in kind["owners"]:
            if owner["name"] in owners:
                found[owner["name"]] += owner["retained"]
    yield from differences("retained by", {name: size for name, size in owners.items() if not name.startswith("(") and size}, {name: size for name, size in found.items() if size})


CHECKS = {"ndjson": check_ndjson, "heapsnapshot": check_heapsnapshot}


def main(dnheap):
    try:
        modules = packages()
    except Skipped as reason:
        print(f"NOT TESTED: {reason}")
        return 77
    failed = []
    with tempfile.TemporaryDirectory(prefix="dnheap-export-") as folder:
        for name, check in CHECKS.items():
            failed += [f"{name}: {problem}" for problem in check(Asked(dnheap, folder), modules)]
    print("\n".join(failed[:50]) or "what other tools read is what dnheap says")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
