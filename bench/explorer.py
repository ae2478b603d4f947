#!/usr/bin/env python3
"""Measures `dnheap explore` as its page sees it: how long until the first tables are there, until all is, and how long clicks take.

    bench/explorer.py DNHEAP DUMP [--clicks 1000]

Clicks are what the page asks for, at random: the map below a place, children page by page, one object with its fields, references,
referrers and the way that holds it, the types, the instances of one, searches, and pages of the referrers of the object that most refer
to. Figures: seconds from start; milliseconds per click, by kind, median and 95 %; the server's memory at most, beside that of
`retained`, and then what the overview takes, which looks at all contents for waste. The last lines say whether the aims are met: the
first view within 2 s, with progress; 95 % of the clicks below 200 ms; no more memory than `retained`, but for a
hundredth, as a server holds a page and threads beside it.
"""
import argparse
import collections
import json
import pathlib
import random
import re
import statistics
import sys
import threading
import time

PROJECT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "test" / "explore"))
import process
from served import Served

FIRST_VIEW, CLICK = 2.0, 200.0  # seconds, milliseconds
STAGES = ("graph", "tree", "ways", "ready")  # of the state; what is before each of them is there then


class Memory(threading.Thread):
    """The most memory of its own, without pages of files, that a process had, looked at 50 times per second."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.most = pid, 0
        self.start()

    def run(self):
        try:
            while True:
                status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
                self.most = max(self.most, int(re.search(r"RssAnon:\s*(\d+)", status)[1]) << 10)
                time.sleep(0.02)
        except (FileNotFoundError, ProcessLookupError, TypeError):
            pass


class Clicks:
    """Walks about the heap as somebody would who clicks here and there."""

    def __init__(self, page, seed=17):
        self.page, self.random, self.times, self.at = page, random.Random(seed), collections.defaultdict(list), "root"
        self.types = [row["type"] for row in page.json("api/ask/stat", top=100)["tables"]["types"] if row["type"] != "Free"]
        self.addresses = []
        self.popular, self.popular_referrers = self.most_referred()

    def ask(self, path, kind=None, **parameters):
        begin = time.perf_counter()
        status, _, body = self.page.get(path, **parameters)
        self.times[kind or path].append((time.perf_counter() - begin) * 1000)
        return json.loads(body) if status == 200 else None

    def most_referred(self, samples=400):
        """What many refer to is what references at random lead to again and again: the object, and how many refer to it."""
        seen = collections.Counter()
        for name in self.types[:20]:
            rows = self.page.json("api/ask/objects", **{"type-exact": name, "top": 2000})["tables"]["objects"]
            for row in self.random.sample(rows, min(len(rows), samples // 20)):
                seen.update({edge["node"]["at"] for edge in self.page.json("api/references", at=row["address"], count=20)["rows"]})
        found = [(self.page.json("api/object", at=at)["referrers"], at) for at, _ in seen.most_common(40)]
        return max(found)[::-1] if found else (None, 0)

    def drill(self):
        """Down the map: one of its larger parts, now and then a child of any rank, up to the root again where it ends."""
        node = self.ask("api/map", at=self.at, levels=3)
        page = self.ask("api/children", at=self.at, **{"from": self.random.choice([0, 0, 100, 5000]), "count": 100})
        rows = (page or {}).get("rows") or []
        self.addresses += [row["at"] for row in rows if row["kind"] == "object"][:20]
        if not rows or not node or node["objects"] <= 1 or self.random.random() < 0.1:
            self.at = "root"
        else:
            self.at = self.random.choice(rows[:10] if self.random.random() < 0.7 else rows)["at"]

    def object(self):
        at = self.random.choice(self.addresses)
        one = self.ask("api/object", at=at) or {"references": 0, "referrers": 0}
        self.ask("api/ask/show", subject=at, top=500, table="fields")
        for kind in ("references", "referrers"):
            self.ask("api/" + kind, at=at, count=50, **{"from": self.random.randrange(max(1, one[kind]))})
        self.ask("api/way", at=at)
        self.ask("api/above", at=at)

    def search(self):
        self.ask("api/find", text=self.random.choice(self.types)[-8:])

    def table(self):
        self.ask("api/ask/stat", kind="types", top=0, by="retained", **self.random.choice([{}, {}, {"live": "true"}, {"dead": "true"}]))

    def instances(self):
        name = self.random.choice(self.types)
        self.ask("api/ask/objects", kind="instances", sort="bytes", top=2000, **{"type-exact": name})
        self.ask("api/ask/stat", kind="instances", top=0, **{"type-exact": name})

    def referrers_of_many(self):
        if self.popular:
            self.ask("api/referrers", kind="referrers of many", at=self.popular, count=50,
                     **{"from": self.random.randrange(max(1, self.popular_referrers))})

    def go(self, count):
        while not self.addresses:
            self.drill()
        while sum(map(len, self.times.values())) < count:
            self.random.choice([self.drill, self.drill, self.object, self.object, self.search, self.table, self.instances, self.referrers_of_many])()


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("dnheap")
    parse.add_argument("dump")
    parse.add_argument("--clicks", type=int, default=1000)
    given = parse.parse_args()
    begin = time.perf_counter()
    with Served(given.dnheap, given.dump, wait=False) as page:
        memory = Memory(page.process.pid)
        for name in ("", "app.js", "app.css"):
            page.get(name)
        state = page.state()
        first = time.perf_counter() - begin
        print(f"{first:6.2f} s  the page, with its progress: {state['stage']}, {(state['pass'] or {}).get('name', 'no pass')}")
        page.json("api/ask/stat", top=0)
        print(f"{time.perf_counter() - begin:6.2f} s  types")
        for stage, what in zip(STAGES, ("counts", "graph", "dominators, map", "ways from the roots")):
            while (now := page.state()["stage"]) not in STAGES[STAGES.index(stage):]:
                if now == "failed":
                    raise SystemExit(page.state()["error"])
                time.sleep(0.01)
            print(f"{time.perf_counter() - begin:6.2f} s  {what}")
        clicks = Clicks(page)
        print(f"{clicks.popular_referrers:,} objects refer to {clicks.popular}, to which most do of those that were looked at")
        clicks.go(given.clicks)
        at_most = memory.most
        memory.most = 0
        begin = time.perf_counter()
        page.json("api/ask/report", top=200)
        print(f"{time.perf_counter() - begin:6.2f} s  the overview, {memory.most / 2**20:,.0f} MiB at most")
        memory.most = 0
        time.sleep(0.5)
        print(f"{memory.most / 2**20:,.0f} MiB after it")
        every = sorted(time for times in clicks.times.values() for time in times)
        for kind, times in [*sorted(clicks.times.items()), ("all", every)]:
            times.sort()
            print(f"{kind:18} {len(times):5}  median {statistics.median(times):8.1f} ms  95 % {times[int(len(times) * 0.95)]:8.1f} ms"
                  f"  most {times[-1]:8.1f} ms")
    retained = process.Run([given.dnheap, "retained", given.dump, "--format", "json"], every=0.02)
    print(f"memory at most: {at_most / 2**20:,.0f} MiB; of retained: {retained.own / 2**20:,.0f} MiB")
    slow = every[int(len(every) * 0.95)]
    for what, is_met in ((f"first view within {FIRST_VIEW:g} s: {first:.2f} s", first <= FIRST_VIEW),
                         (f"95 % of the clicks below {CLICK:g} ms: {slow:.1f} ms", slow < CLICK),
                         (f"no more memory than retained: {at_most / retained.own:.3f} of it", at_most <= 1.01 * retained.own)):
        print("met:    " if is_met else "NOT MET:", what)


if __name__ == "__main__":
    main()
