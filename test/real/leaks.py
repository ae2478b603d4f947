#!/usr/bin/env python3
"""A program with one problem of memory (../programs/leaks), dumped; the report must name it, in words, with the right bytes.

    leaks.py --list --sample                 the kinds that a short run makes, written leak:PROBLEM:MAJOR:DUMP; --all: all of them
    leaks.py DNHEAP --one leak:cache:10:heap     starts the program, dumps it, asks for the report, deletes the dump

`web` is an ASP.NET application whose services leak (../programs/leaks-web), with few requests pending and with many.
Exit codes are those of matrix.py.
"""
import json
import pathlib
import sys
import tempfile

import kinds
import matrix
import runtimes
import targets

NEAR = 0.01

# Problem → the verdict's rule; what the first screen must name, in the verdict and on the first line of `table`; whether that
# line's bytes are what the program knows.
PROBLEMS = {
    "cache": ("one_owner", ["static Shop.SessionCache.Sessions", "Shop.Session"], "suspects"),
    "arrays": ("one_owner", ["static Shop.Thumbnails.All", "Dictionary<Int32, Byte[]>: 20,000 × Byte[]"], "suspects"),
    "values": ("one_owner", ["static Shop.Thumbnails.Seen", "HashSet<Guid>: 1,000,000 entries"], "suspects"),
    "values-list": ("one_owner", ["static Shop.Thumbnails.Log", "List<ValueTuple<Int64, Int64>>: 3,000,000 entries"], "suspects"),
    "arrays-concurrent": ("one_owner", ["static Shop.Thumbnails.ByName", "ConcurrentDictionary<String, Byte[]>: 20,000 × Byte[]"], "suspects"),
    "arrays-immutable": ("one_owner", ["static Shop.Thumbnails.Frozen", "ImmutableDictionary<Int32, Byte[]>: 20,000 × Byte[]"], "suspects"),
    "events": ("one_owner", ["static Shop.OrderBus", "OrderChanged", "Shop.OrderView.OnOrderChanged"], "suspects"),
    "two-indexes": ("one_owner", ["static Shop.Index.", " and others", " and static Shop.Index.", "20,000 × Shop.Session"], "suspects"),
    "delegates": ("one_owner", ["static Shop.Jobs.Undone", "20,000 × Action", "which call a lambda in Run of Shop.Program, whose closure holds Shop.OrderView (view)"], "suspects"),
    "gchandles": ("one_holder", ["handle:strong Shop.Session", "by 20,000 GCHandles (strong) that nobody freed"], "suspects"),
    "timers": ("one_owner", ["static Shop.Reminder.All", "Shop.Reminder"], "suspects"),
    "chain": ("one_owner", ["static Shop.Undo.Last", "Shop.Undo+Step"], "suspects"),
    "weak": ("one_owner", ["static Shop.Form.Shared", "FormState", "dependent handle", "the ConditionalWeakTable of static Shop.FormState.All"], "suspects"),
    "queue": ("one_owner", ["static Shop.Batch.First", "40,000 × Shop.Session"], "suspects"),
    "chain-several": ("one_owner", ["static Shop.", " and others", "60,000 × Shop.Undo+Step"], "suspects"),
    "flow": ("one_owner", ["what flows with calls (AsyncLocal)", "60,000 × Shop.Span", "by the AsyncLocal static Shop.Span.current; the pending call of a lambda in Loop of Shop.Span carries it"], "suspects"),
    "flow-stands": ("one_owner", ["what flows with calls (AsyncLocal)", "60,000 × Shop.Span", "by the AsyncLocal static Shop.Span.current"], "suspects"),
    "own-timers": ("one_holder", ["the runtime's timers", "which call a lambda in Start of Shop.Poller"], "suspects"),
    "async": ("one_owner", ["static Shop.Payments.", " and others", "PayAsync"], "suspects"),
    "few": ("few_owners", ["OrderChanged", "static Shop.Reminder.All", "static Shop.Undo.Last", "static Shop.Payments.Pending"], None),
    "pool": ("one_owner", ["static Shop.Program.kept", "Byte[]"], "suspects"),
    "strings": ("duplicate_data", ["String", "Shop.Quote.Currency"], "waste"),
    "strings-few": ("one_owner", ["static Shop.Quotes.All"], None),  # copies are a third
    "contexts": ("contexts_cannot_unload", ["static Shop.Host.Stopping", "Shop.Plugin.OnStopping"], "suspects"),
    "http": ("http_clients", ["Shop.PaymentCall.client", "static Shop.PaymentCall.Done"], "suspects"),
    "db": ("db_connections", ["Shop.ReportJob.connection", "static Shop.ReportJob.Done"], "suspects"),
    "finalizer": ("finalizers", ["Shop.Handle", "waits for an event in Shop.Handle.Finalize"], None),
    "native": ("native", [], None),
    "threads": ("threads", ["700 of them sleep", "a lambda in Run of Shop.Program"], None),
    "dead": ("dead_objects", [], None),
    "empty": ("gc_holds_empty_memory", [], None),
    "holes": ("fragmentation", ["Byte[]", "handle:pinned"], "fragmentation"),
    "holes-few": ("one_owner", ["static Shop.Program.kept"], None),  # holes are a third
    "healthy": ("nothing", [], None),
    "steady": ("nothing", [], None),
}
# ASP.NET with so many pending requests: what each line must name; in the order of their bytes, the requests anywhere.
WEB = {"events": ["Shop.OrderBus .OrderChanged", "Shop.OrderView.OnOrderChanged"], "timers": ["Shop.Reminders .all", "Shop.Reminder"],
       "cache": ["Shop.SessionCache .Sessions", "Shop.Session"], "requests": ["Shop.PaymentGateway .answer", "PayAsync"]}
PENDING = (10, 40)
KINDS = [f"leak:{problem}:{major}:{'full' if problem in ('native', 'threads') else 'heap'}"
         for problem in [*PROBLEMS, "web"] for major in runtimes.MAJORS]
ENVIRONMENT = {"empty": {"DOTNET_GCRetainVM": "1"}}
SAMPLE = ["leak:timers:10:heap", "leak:web:11:heap"]  # even a short run makes these


def run(dnheap, _, kind, major, dump):
    """All problems of one kind, in words."""
    if kind == "web":
        return [f"{pending} pending: {problem}" for pending in PENDING for problem in services(dnheap, pending, major, dump)]
    with tempfile.TemporaryDirectory(prefix="dnheap-leaks-") as folder:
        with targets.Target("leaks", major, arguments=[kind], settings=ENVIRONMENT.get(kind)) as target:
            path = target.dump(dump, pathlib.Path(folder) / f"{kind}.core")
            said = target.truth["said"]
        answer = matrix.answer(dnheap, "report", path)
        return compare(dnheap, path, kind, answer, said)


def line_of(table, row):
    if table == "suspects":
        steps = [f"… {step['type']}" if step["field"] == "…" else step["field"] or "" for step in row["path"]]
        return " ".join([row["owner"], row["text"], *steps])
    return " ".join(str(value) for value in row.values())


def near(what, found, expected):
    return [] if abs(found - expected) <= NEAR * expected else [f"{what}: {found:,} bytes; the program knows of {expected:,}"]


# The code that is named below the first suspect.
CODE = {
    "delegates": "filled in a lambda in Run of Shop.Program; no method that uses the field removes from it",
    "gchandles": "GCHandle.Alloc is called in a lambda in Run of Shop.Program; no code that ran calls GCHandle.Free",
}


def compare(dnheap, path, kind, answer, said):
    rule, words, table = PROBLEMS[kind]
    verdict = answer["target"]["verdict"]
    suspects = answer["tables"]["suspects"]
    problems = []
    if verdict["rule"] != rule:
        problems.append(f"the verdict is {verdict}, not {rule}; suspects: {[row['text'] for row in suspects[:3]]}")
    if table:
        first = answer["tables"][table][0]
        bytes_of_first = first["retained" if table == "suspects" else "bytes"]
        problems += near(f"the first line of {table}", bytes_of_first, said["bytes"])
        problems += near("the verdict", verdict["bytes"], said["bytes"])
        line = line_of(table, first)
        problems += [f"the first line of {table} is {line!r}: it does not name {word}" for word in words
                     if word not in line and word.removesuffix(" and others") not in verdict["text"]]
    problems += [f"the verdict is {verdict['text']!r}: it does not name {word}" for word in words
                 if word.removesuffix(" and others") not in verdict["text"]]  # the verdict names the others
    if table == "suspects":  # the command that is shown next leads from that owner
        way = matrix.answer(dnheap, "path", path, "@1")
        problems += limited(dnheap, path, suspects)
        if way["tables"]["paths"][0]["root"]["owner"] != suspects[0]["owner"].removesuffix(" and others"):
            problems.append(f"path @1 begins at {way['tables']['paths'][0]['root']}, not at {suspects[0]['owner']}")
    if kind in CODE and suspects[0]["code"] != CODE[kind]:
        problems.append(f"the code behind the first suspect is {suspects[0]['code']!r}, not {CODE[kind]!r}")
    if kind == "two-indexes" and suspects[0]["also_owners"] not in ("static Shop.Index.ByNumber", "static Shop.Index.ByName"):
        problems.append(f"the other owner is {suspects[0]['also_owners']!r}")
    if kind == "native" and abs(answer_bytes(answer, "malloc_in_use") / said["bytes"] - 1) > 0.05:
        problems.append(f"malloc in use: {answer_bytes(answer, 'malloc_in_use')}, not {said['bytes']}")
    return problems


def limited(dnheap, path, suspects):
    """A budget by what stands beside a suspect, its owner or its signature, is of what the suspect holds at least. A chain that several
    owners enter has a row for each of them."""
    limits = [limit for row in suspects if row["kind"] != "chain" for limit in ({"owner": row["owner"], "retained": row["retained"] - 1},
                                                      {"signature": row["signature"][:6], "retained": row["retained"] - 1})]
    if not limits:
        return []
    budget = path.with_suffix(".budget.json")
    budget.write_text(json.dumps({"owners": limits}))
    checks = json.loads(matrix.ask(dnheap, "check", path, "--budget", str(budget), "--strict").stdout)["tables"]["checks"]
    return [f"a budget of a suspect's does not see it: {row['text']}" for row in checks if not row["exceeded"]]


def services(dnheap, pending, major, dump):
    """What the singletons of an ASP.NET application hold, each on a line of its own, with so many requests pending."""
    with tempfile.TemporaryDirectory(prefix="dnheap-leaks-") as folder:
        with kinds.Process("leaks-web", major, str(pending)) as target:
            path = target.dump(dump, pathlib.Path(folder) / "web.core")
            said = target.truth["said"]
        answer = matrix.answer(dnheap, "report", path)
        suspects = answer["tables"]["suspects"]
        kept = inspected(dnheap, path, said) + limited(dnheap, path, suspects) + [problem for row in suspects for problem in other_way(dnheap, path, row)]
    verdict = answer["target"]["verdict"]
    problems = kept + ([] if verdict["rule"] == "one_owner" else [f"the verdict is {verdict}"])
    order = []
    for what, words in WEB.items():
        lines = [row for row in suspects if all(word in line_of("suspects", row) for word in words)]
        if len(lines) != 1:
            problems.append(f"{len(lines)} lines of {what}: {[line_of('suspects', row) for row in suspects]}")
            continue
        problems += near(what, lines[0]["retained"], said[what])
        # A thread stands in a method of the cache, and Main's variables reach all.
        if lines[0]["owner"] != "the container of services":
            problems.append(f"{what} is what {lines[0]['owner']} holds")
        if what != "requests":
            order.append(lines[0]["rank"])
    if order != sorted(order):
        problems.append(f"ranks of {list(WEB)} are {order}")
    if sum(row["share"] for row in suspects) < 0.95:
        problems.append(f"the suspects explain {sum(row['share'] for row in suspects):.1%} of what is alive")
    return problems


def other_way(dnheap, path, suspect):
    """The command that a suspect's line ends with leads from the same owner, and has the same signature."""
    way = matrix.answer(dnheap, "path", path, f"@{suspect['rank']}")["tables"]["paths"][0]
    found = way["root"]["owner"], way["signature"]
    return [] if found == (suspect["owner"].removesuffix(" and others"), suspect["signature"]) else [
        f"path @{suspect['rank']} leads from {found}, not from {suspect['owner']} {suspect['signature']}"]


def inspected(dnheap, path, said):
    """The memory cache and the scopes that nobody disposes."""
    found = matrix.answer(dnheap, "inspect", "caches", path)["tables"]["caches"]
    caches = [(row["entries"], row["size"], row["size_limit"]) for row in found]
    scopes = [row for row in matrix.answer(dnheap, "inspect", "di", path)["tables"]["di"]
              if (row["kind"], row["state"]) == ("scope", "in use") and row["disposables"] == row["count"] == said["scopes"]]
    problems = [] if (said["entries"], said["size"], said["limit"]) in caches else [f"caches: {found}"]
    kept = [row for row in matrix.answer(dnheap, "inspect", "di", path)["tables"]["disposables"]
            if row["kind"] == "scope" and row["count"] == row["scopes"] == said["scopes"]]
    problems += [] if [(row["type"].rsplit(".", 1)[-1], row["most"]) for row in kept] == [("Connection", 1)] else [f"disposables: {kept}"]
    return problems + ([] if len(scopes) == 1 else [f"scopes: {scopes}"])


def answer_bytes(answer, memory):
    return sum(row["bytes"] for row in answer["tables"]["account"] if row["class"] == memory)


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
