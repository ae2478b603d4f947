#!/usr/bin/env python3
"""A program that grows by known numbers of objects (../programs/grows), dumped three times; `diff` and `check` must say what it knows.

    grows.py --list --sample               the kinds that a short run makes, written grows:MAJOR:DUMP; --all: all of them
    grows.py DNHEAP --one grows:10:heap    starts the program, dumps it, lets it grow, compares, deletes the dumps

Exit codes are those of matrix.py.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import matrix
import targets

FIRST, MORE = 20000, 15000  # orders at first, and those that come each time
KINDS = ["grows:8:full", "grows:9:heap", "grows:10:heap", "grows:10:gcore", "grows:11:heap", "grows:11:gcore"]
SAMPLE = ["grows:9:heap"]  # even a short run makes these
OWNER, STEADY = "static Shop.Ledger.Orders", "static Shop.Settings.All"
NEAR = 0.01


def run(dnheap, kind, major, dump):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-grows-") as folder:
        folder = pathlib.Path(folder)
        with targets.Target(kind, major, arguments=[FIRST, MORE]) as target:
            said, dumps, orders = target.truth["said"], [target.dump(dump, folder / "0.core")], [FIRST]
            for number in (1, 2):
                orders.append(int(target.ask().split()[1]))
                dumps.append(target.dump(dump, folder / f"{number}.core"))
        return differences(dnheap, dumps, said, orders) + records(dnheap, dumps, folder) + checks(dnheap, dumps, folder, said, orders)


def row_of(answer, table, key, name):
    found = [row for row in answer["tables"][table] if row[key] == name]
    return found[0] if len(found) == 1 else {}


def near(what, found, expected):
    return [] if found is not None and abs(found - expected) <= NEAR * abs(expected) else [f"{what}: {found}, not {expected}"]


def differences(dnheap, dumps, said, orders):
    answer = matrix.answer(dnheap, "diff", dumps[0], *dumps[1:], "--interval", "30m")
    more = orders[-1] - orders[0]
    order, setting = row_of(answer, "types", "type", "Shop.Order"), row_of(answer, "types", "type", "Shop.Setting")
    owner, steady = row_of(answer, "owners", "owner", OWNER), row_of(answer, "owners", "owner", STEADY)
    problems = near("bytes of the type", order.get("change"), more * said["size"])
    problems += near("bytes of the owner", owner.get("change"), more * said["size"])
    problems += near("the owner's rate per hour", owner.get("per_hour"), more * said["size"])  # 2 times 30 minutes
    for what, found, expected in (("instances", order.get("count_change"), more), ("live instances", order.get("live_change"), more),
                                  ("objects of the owner", owner.get("objects_change"), more),
                                  ("trend of the type", order.get("trend"), "grew each time"),
                                  ("trend of the owner", owner.get("trend"), "grew each time"),
                                  ("first of the owners", answer["tables"]["owners"][0]["owner"], OWNER),
                                  ("first of the types", answer["tables"]["types"][0]["type"], "Shop.Order"),
                                  ("instances of the steady type", setting.get("count_after"), said["settings"]),
                                  ("state of the steady type", setting.get("state"), "steady"),
                                  ("trend of the steady owner", steady.get("trend"), "steady"),
                                  ("state of the steady owner", steady.get("state"), "steady")):
        if found != expected:
            problems.append(f"{what}: {found}, not {expected}")
    alone = matrix.answer(dnheap, "retained", dumps[2], "--plain", "--table", "owners")
    if row_of(alone, "owners", "source", OWNER).get("retained") != owner.get("after"):
        problems.append(f"the owner retains {owner.get('after')}; `retained` says {row_of(alone, 'owners', 'source', OWNER)}")
    return problems


def check(dnheap, dump, *options):
    return subprocess.run([str(part) for part in (dnheap, "check", dump, *options)], capture_output=True, text=True)


def records(dnheap, dumps, folder):
    """Saved records do what dumps do."""
    saved = []
    for number, dump in enumerate(dumps):
        saved.append(folder / f"{number}.json")
        done = check(dnheap, dump, "--record", saved[-1])
        if done.returncode != 0 or done.stderr:
            return [f"check --record ended with code {done.returncode}: {done.stderr}"]
    of_dumps = matrix.answer(dnheap, "diff", dumps[0], *dumps[1:])["tables"]
    of_records = matrix.answer(dnheap, "diff", saved[0], *saved[1:])["tables"]
    same = all(of_dumps[table] == of_records[table] for table in ("owners", "types", "account"))
    return [] if same else ["records give another answer than their dumps"]


def checks(dnheap, dumps, folder, said, orders):
    budget, more = folder / "budget.json", orders[1] - orders[0]
    growth = more * said["size"]
    cases = []  # budget, options, exit code
    for limit, code in ((more, 0), (more - 1, 1)):
        cases += [({"types": [{"type": "Shop.Order", "growth": {"live": limit}}]}, ["--baseline", folder / "0.json"], code)]
    for limit, code in ((int(growth * 1.01), 0), (int(growth * 0.99), 1)):
        cases += [({"owners": [{"owner": OWNER, "growth": {"retained": limit}}]}, ["--baseline", dumps[0]], code),
                  ({"owners": [{"match": "^static Shop", "each": True, "growth": {"retained": limit}}]}, ["--baseline", folder / "0.json"], code)]
    cases += [({"types": [{"type": "Setting", "live": said["settings"]}], "totals": {"live_bytes": "1GiB"}}, [], 0),
              ({"types": [{"match": "^Shop\\.", "live": orders[1]}]}, [], 1), (None, ["--no-instances-of", "Shop.Order"], 1),
              (None, ["--no-instances-of", "Gone", "--no-instances-of", "Shop.Never"], 0)]
    problems = []
    for content, options, code in cases:
        if content:
            budget.write_text(json.dumps(content))
            options = ["--budget", budget, *options]
        done = check(dnheap, dumps[1], *options, "--format", "json")
        if done.returncode != code or done.stderr:
            problems.append(f"check {content} {options} ended with code {done.returncode}, not {code}: {done.stderr} {done.stdout}")
        junit = xml.etree.ElementTree.fromstring(check(dnheap, dumps[1], *options, "--format", "junit").stdout)
        if (int(junit.get("failures")) > 0) != (code == 1):
            problems.append(f"check {content}: JUnit says {junit.get('failures')} failures")
    dead = row_of(matrix.answer(dnheap, "diff", dumps[0], dumps[1]), "types", "type", "Shop.Gone")
    if not dead.get("count_after") or dead.get("live_after"):
        problems.append(f"dead objects that wait for a collection: {dead}")
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
