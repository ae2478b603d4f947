#!/usr/bin/env python3
"""Do the tools for which `export` writes read what dnheap says? Usage: export_check.py DNHEAP [npm|dotnet]

Exports the bundled sample and reads the files with the packages that package-lock.json names, installed into the cache folder
($DNHEAP_CACHE, or build/real-cache below the project); the part `dotnet` with the library of .gcdump, which needs a .NET SDK.
Skipped (exit code 77), with the reason, where there is no node, or no SDK.
"""
import base64
import collections
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import gcdump

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "support"))
import npm  # noqa: E402
from npm import Skipped  # noqa: E402

SAMPLE = PROJECT / "sample" / "demo.core.zst"


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

    def owners(self, *options):
        """Retained bytes by name; several rows may share one."""
        out = collections.Counter()
        for row in self.answer("retained", "--table", "owners", *options)["tables"]["owners"]:
            out[row["owner"]] += row["retained"]
        return out


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
    owners, found = asked.owners("--plain"), collections.Counter()
    for kind in read["kinds"]:
        for owner in kind["owners"]:
            if owner["name"] in owners:
                found[owner["name"]] += owner["retained"]
    yield from differences("retained by", {name: size for name, size in owners.items() if not name.startswith("(") and size}, {name: size for name, size in found.items() if size})


def references_of(asked):
    """The graph that ndjson has: {address: (type's name, aligned bytes, [addresses])}."""
    file, _ = asked.export("ndjson")
    types, out = {}, {}
    with open(file, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line["line"] == "type":
                types[line["id"]] = line["name"]
            elif line["line"] == "object":
                out[int(line["address"], 16)] = (types[line["type"]], line["aligned_bytes"], [int(one["to"], 16) for one in line.get("references", ())])
    return out


def check_gcdump(asked, _):
    file, told = asked.export("gcdump")
    read = gcdump.read(file.read_bytes())
    address = {number: node[3] for number, node in enumerate(read["nodes"]) if node[3]}
    objects = {node[3]: (read["types"][node[0]][0], node[1], [address.get(child) for child in node[2]]) for node in read["nodes"] if node[3]}
    yield from differences("objects", references_of(asked), objects)
    if read["types"][read["nodes"][read["root"]][0]][0] != "[.NET Roots]" or read["total"] != told["objects"]["bytes"]:
        yield "the root, or the sum of all sizes"
    if len(read["segments"]) != len(asked.answer("segments")["tables"]["segments"]) or not read["log"].startswith("dnheap: complete"):
        yield "the segments, or the log"
    held = sum(len(node[2]) for node in read["nodes"] if not node[3] and all(child in address for child in node[2]))
    if held != told["roots"]["count"]:
        yield f"{held} roots, not {told['roots']['count']}"


def check_query(asked, _):
    """What SQL sums up is what stat and retained say."""
    def rows(sql):
        return json.loads(subprocess.run([asked.dnheap, "query", SAMPLE, sql, "--format", "json"], check=True, stdout=subprocess.PIPE).stdout)["tables"]["rows"]
    yield from differences("types", asked.types(), {row["name"]: (row["n"], row["b"]) for row in rows(
        "select t.name, count(*) n, sum(o.aligned_bytes) b from objects o join types t on t.id = o.type group by 1")})
    yield from differences("rows of types", asked.types(), {row["name"]: (row["n"], row["b"]) for row in rows(
        "select name, sum(count) n, sum(aligned_bytes) b from types where name != 'Free' group by 1")})
    for table, options in (("dominators", ()), ("plain_dominators", ("--plain",))):
        owners = {row["owner"] or "(shared)": row["b"] for row in rows(f"select owner, sum(retained_bytes) b from {table} where dominator is null group by 1")}
        yield from differences(table, {name: size for name, size in asked.owners(*options).items() if size and name not in ("(unreachable)", "(frozen)")}, owners)
    yield from differences("owners", asked.owners(), {row["owner"]: row["b"] for row in rows("select owner, sum(retained_bytes) b from owners group by 1")})
    endless = subprocess.run([asked.dnheap, "query", SAMPLE, "with recursive n(i) as (select 1 union all select i + 1 from n) select sum(i) from n",
                              "--timeout", "1s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    if endless.returncode != 3 or "longer than the 1 s" not in endless.stderr:
        yield f"what never ends: {endless.returncode}, {endless.stderr}"


def check_sqlite(asked, _):
    file, told = asked.export("sqlite")
    with contextlib.closing(sqlite3.connect(file)) as database:
        def rows(sql):
            return database.execute(sql).fetchall()
        if rows("pragma integrity_check") != [("ok",)] or rows("pragma user_version") != [(1,)]:
            yield "it is no sound database"
        if rows("select count(*), sum(aligned_bytes) from objects") != [(told["objects"]["count"], told["objects"]["bytes"])]:
            yield "the objects, or their bytes"
        found = {}
        for source, target in rows("select source, target from refs order by rowid"):
            found.setdefault(source, []).append(target)
        names = dict(rows("select address, type_name from named_objects"))
        sizes = dict(rows("select address, aligned_bytes from objects"))
        yield from differences("objects", references_of(asked), {one: (names[one], sizes[one], found.get(one, [])) for one in names})
        yield from differences("owners", asked.owners(), dict(rows("select owner, sum(retained_bytes) from owners group by 1")))
        if rows("select count(*) - count(distinct name) from owner_names") != [(0,)]:
            yield "an owner's name is there twice"
        sums = "select owner, count(*), count(dominator), sum(retained_bytes), sum(retained_objects) from dominators group by 1"
        in_query = asked.answer("query", sums, "--limit", "100000")["tables"]["rows"]
        if sorted(map(str, rows(sums))) != sorted(str(tuple(row.values())) for row in in_query):
            yield "dominators, as a view"
        yield from differences("types", asked.types(), {name: (count, size) for name, count, size in rows("select type, count, aligned_bytes from stat where type != 'Free'")})
        if rows("select count(*) from strings where value is not null") != [(0,)]:
            yield "values, though nobody asked for them"


def frames_of_speedscope(file):
    """{stack: [bytes, objects]}, of what frames have of their own."""
    read = json.loads(file.read_text())
    names, out = [frame["name"] for frame in read["shared"]["frames"]], collections.defaultdict(lambda: [0, 0])
    for number, profile in enumerate(read["profiles"]):
        stack, at = (), 0
        for event in profile["events"]:
            if event["at"] > at:
                out[stack][number] += event["at"] - at
            at, stack = event["at"], stack + (names[event["frame"]],) if event["type"] == "O" else stack[:-1]
    return dict(out)


def check_flame_graphs(asked, modules):
    """Both files have the same frames, which add up to what retained says of each owner; the whole to all but garbage."""
    speedscope, told = asked.export("speedscope")
    pprof, told_again = asked.export("pprof")
    read = node("flame.js", modules, speedscope, pprof)
    yield from (f"against speedscope's schema: {problem}" for problem in read["wrong"])
    if read["types"] != [["inuse_objects", "count"], ["inuse_space", "bytes"]] or read["shown"] != "inuse_space" or told["objects"] != told_again["objects"]:
        yield "types of samples, or what the answers say"
    frames, samples = frames_of_speedscope(speedscope), collections.defaultdict(lambda: [0, 0])
    for stack, (objects, size) in read["samples"]:
        samples[tuple(stack)][0] += size
        samples[tuple(stack)][1] += objects
    yield from differences("frames", frames, dict(samples))
    owners = collections.defaultdict(lambda: [0, 0])
    for row in asked.answer("retained", "--table", "owners")["tables"]["owners"]:
        if row["kind"] != "unreachable":
            owners[row["owner"]][0] += row["retained"]
            owners[row["owner"]][1] += row["objects"]
    found = collections.defaultdict(lambda: [0, 0])
    for stack, values in frames.items():
        found[stack[0]] = [sum(pair) for pair in zip(found[stack[0]], values)]
    whole = [sum(values) for values in zip(*owners.values())]
    if [sum(values) for values in zip(*found.values())] != whole or [told["objects"]["bytes"], told["objects"]["count"]] != whole:
        yield f"the frames do not add up to {whole}"
    yield from differences("owners", {name: owners[name] for name in found if not name.startswith("(less")},
                           {name: values for name, values in found.items() if not name.startswith("(less")})
    yield from opened_by_speedscope(asked, speedscope, modules)


def opened_by_speedscope(asked, file, modules):
    """The tool itself, in Chromium where there is one, as its command line opens a file: its page, and a script with the file."""
    chromium = shutil.which("chromium")
    if not chromium:
        print("NOT TESTED: there is no chromium that could open the file with speedscope")
        return
    script = asked.folder / "file.js"
    script.write_text(f"speedscope.loadFileFromBase64('heap', '{base64.b64encode(file.read_bytes()).decode()}')")
    page = (modules / "speedscope" / "dist" / "release" / "index.html").as_uri() + "#localProfilePath=" + str(script)
    shown = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--virtual-time-budget=20000",
                            f"--user-data-dir={asked.folder / 'profile'}", "--dump-dom", page],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=120).stdout
    if "retained bytes" not in shown:
        yield f"speedscope does not show it: {shown[-1000:]}"


def check_gcdump_by_its_library(asked, _):
    """With FastSerialization, as PerfView reads it."""
    file, told = asked.export("gcdump")
    if not shutil.which("dotnet"):
        raise Skipped("there is no .NET SDK")
    build = npm.CACHE / "export" / "reader"
    shutil.copytree(HERE / "reader", build, dirs_exist_ok=True)
    done = subprocess.run(["dotnet", "build", build, "-o", build / "out", "-v", "q"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1"})
    if done.returncode:
        if "NU1" in done.stdout or "NETSDK" in done.stdout:
            raise Skipped(f"the package TraceEvent, or an SDK for it, is not to be had: {done.stdout[-500:]}")
        yield done.stdout[-2000:]
        return
    rows = [line.split("\t") for line in subprocess.run(["dotnet", build / "out" / "reader.dll", file], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()]
    counts, sizes, references = collections.Counter(), collections.Counter(), 0
    for name, _, nodes, size, children in rows[:-1]:
        if not name.startswith("["):
            counts[name] += int(nodes)
            sizes[name] += int(size)
            references += int(children)
    yield from differences("types", asked.types(), {name: (counts[name], sizes[name]) for name in counts})
    if references != told["references"]["count"] or rows[-1][:4] != ["total", str(told["objects"]["bytes"]), "root", "[.NET Roots]"]:
        yield f"references or sums: {references}, {rows[-1]}"


# By the test that they are part of: the second one needs a .NET SDK.
CHECKS = {"npm": {"ndjson": check_ndjson, "heapsnapshot": check_heapsnapshot, "gcdump": check_gcdump, "query": check_query, "sqlite": check_sqlite,
                  "flame graphs": check_flame_graphs},
          "dotnet": {"gcdump": check_gcdump_by_its_library}}


def main(dnheap, part="npm"):
    failed = []
    try:
        modules = npm.packages(HERE) if part == "npm" else None
        with tempfile.TemporaryDirectory(prefix="dnheap-export-") as folder:
            for name, check in CHECKS[part].items():
                failed += [f"{name}: {problem}" for problem in check(Asked(dnheap, folder), modules)]
    except Skipped as reason:
        print(f"NOT TESTED: {reason}")
        return 77
    print("\n".join(failed[:50]) or "what other tools read is what dnheap says")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
