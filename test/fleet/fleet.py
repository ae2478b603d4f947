"""1,000 records of a fleet, made from those of a few real dumps: the same ones each time.

Services run some versions, one after the other, each in several pods that are dumped several times. Every figure has a few percent of
noise. What was planted in some of them is in GREW, SIBLINGS and REGRESSIONS: what the questions have to find, and nothing else. Beside it
there are things that look like it, and are not.
"""
import copy
import dataclasses
import json
import random

MIB = 1 << 20
DAY = 86400
BEGIN = 1790000000  # seconds since 1970
DUMPS = 5  # of each pod


@dataclasses.dataclass
class Service:
    name: str
    base: str  # whose record
    versions: list
    pods: int
    owners: int = 40  # how many a record lists
    types: int = 50


SERVICES = [Service("shop", "sample", ["1.8", "1.9", "1.10", "1.11", "1.12"], 10),  # in the order in which they came
            Service("mail", "extract", ["2024-06", "2024-07", "2024-08", "2024-09", "2024-10"], 10),
            Service("web", "sample", ["v1", "v2", "v3", "v4", "v5"], 10, owners=3, types=4),
            Service("quiet", "other", ["1", "2", "3", "4"], 12),
            Service("cron", "sample", ["a", "b"], 1)]

CACHE, BANNERS, ORDERS, FEED = ("static Shop.Cache.SessionCache.Shared", "static Shop.Images.banners", "static Shop.OrderBook.Orders",
                                "static Shop.Events.PriceFeed.Shared")


@dataclasses.dataclass(frozen=True)
class Dump:
    service: str
    version: int
    pod: int
    number: int


def planted(dump):
    """{(list, name): bytes more} of this dump."""
    out = {}

    def more(amount, *names):
        for name in names:
            out[name] = out.get(name, 0) + int(amount)

    if dump.service == "shop":
        if dump.version == 4:  # a leak, everywhere, since the last deploy
            more(1.5 * MIB * dump.number, ("owners", CACHE), ("types", "Shop.Cache.Session"), ("account", "live_objects"))
        if dump.version >= 2:  # a version that needs more, from its first dump on
            more(4 * MIB, ("owners", ORDERS), ("types", "Shop.Order"), ("account", "live_objects"))
        if dump.version == 3 and dump.pod == 7:  # one pod that is not as the others
            more(6 * MIB, ("owners", BANNERS), ("account", "live_objects"))
        if dump.version == 1 and dump.pod == 2:  # and one that has less
            more(-9 * MIB, ("owners", CACHE), ("account", "live_objects"))
    if dump.service == "mail":
        if dump.version == 4 and dump.pod < 8:  # native memory, in most pods
            more(3 * MIB * dump.number, ("account", "malloc_in_use"))
        if dump.version == 3:  # a leak, but not since the last deploy
            more(2 * MIB * dump.number, ("owners", CACHE))
        if dump.version == 4 and dump.pod < 4:  # grows in too few
            more(0.9 * MIB * dump.number, ("owners", CACHE))
    if dump.service == "web" and dump.version == 4:  # little; but in the first dumps it is none of the three that are listed
        more((0.5 + 0.15 * dump.number) * MIB, ("owners", ORDERS))
    if dump.service == "cron" and dump.version == 1:  # the only pod there is: it has no siblings
        more(4 * MIB * dump.number, ("owners", FEED))
    return out


# service, version, what, name; of SIBLINGS with the pod before what, and how it differs
GREW = {("shop", "1.12", "owner", CACHE), ("shop", "1.12", "type", "Shop.Cache.Session"), ("shop", "1.12", "memory", "live_objects"),
        ("mail", "2024-10", "memory", "malloc_in_use"), ("cron", "b", "owner", FEED)}
SIBLINGS = {("shop", "1.11", "shop-7", "owner", BANNERS, "more"), ("shop", "1.9", "shop-2", "owner", CACHE, "less"),
            ("shop", "1.9", "shop-2", "memory", "live_objects", "less"),
            *(("mail", "2024-10", f"mail-{pod}", "memory", "malloc_in_use", "less") for pod in (8, 9))}
REGRESSIONS = {("shop", "1.10", "owner", ORDERS), ("shop", "1.10", "type", "Shop.Order"), ("shop", "1.12", "type", "Shop.Cache.Session"),
               ("mail", "2024-10", "memory", "malloc_in_use"), ("cron", "b", "owner", FEED)}

KEYS = {"owners": ("owner", "retained", "objects"), "types": ("type", "bytes", "count"), "account": ("class", "bytes", None)}


def add(record, part, name, amount):
    key, size, count = KEYS[part]
    for row in record[part]:
        if row[key] == name:
            row[size] = max(row[size] + amount, 0)
            return
    assert amount > 0, name
    row = {"owners": {"signature": f"{random.Random(name).getrandbits(64):016x}", "kind": "static", "owner": name},
           "types": {"type": name}, "account": {"class": name, "group": "malloc"}}[part]
    record[part].append({**row, size: amount, **({count: amount // 100} if count else {})})


def cut(rows, most, size, count, rest):
    """As dnheap does: the largest, and all others as one row."""
    rows = sorted(rows, key=lambda row: -row[size])
    others = rows[most:]
    if not others:
        return rows
    return rows[:most] + [{**rest, count: sum(row[count] for row in others), size: sum(row[size] for row in others)}]


def make(base, service, dump):
    record = copy.deepcopy(base)
    for part in "owners", "types":
        record[part] = [row for row in record[part] if "(rest)" not in row.values()]
    chance = random.Random(f"{dump}")
    for part, (_, size, count) in KEYS.items():
        for row in record[part]:
            row[size] = int(row[size] * chance.uniform(0.96, 1.04))
            if count:
                row[count] = max(1, int(row[count] * chance.uniform(0.96, 1.04)))
    for (part, name), amount in planted(dump).items():
        if amount:
            add(record, part, name, amount)
    record["taken"] = BEGIN + dump.version * 7 * DAY + dump.number * DAY + 600 * dump.pod + chance.randrange(300)
    record["clock"] = "file"
    record["owners_count"], record["types_count"] = len(record["owners"]), len(record["types"])
    record["owners"] = cut(record["owners"], service.owners, "retained", "objects", {"signature": None, "kind": "(rest)", "owner": "(rest)"})
    record["types"] = cut(record["types"], service.types, "bytes", "count", {"type": "(rest)"})
    record["target"]["path"] = f"/dumps/{service.name}/{service.versions[dump.version]}/{service.name}-{dump.pod}/core.{dump.number}.zst"
    return record


def error_of(record, why):
    return {"schema": record["schema"], "dnheap_version": record["dnheap_version"], "target": {"path": record["target"]["path"]}, "error": why}


def fleet(bases):
    """Yields records, 1,000 of dumps that count, and others. `bases`: {"sample": a record with all rows, …}."""
    for service in SERVICES:
        for version in range(len(service.versions)):
            for pod in range(service.pods):
                for number in range(DUMPS):
                    record = make(bases[service.base], service, Dump(service.name, version, pod, number))
                    if (service.name, version, number) == ("shop", 0, 0):
                        yield error_of(record, "it was tried before it was there")  # and read later: that one counts
                    yield record
                    if (service.name, pod) == ("mail", 3):
                        yield record  # loaded twice
    # What is left out: dumps in which all is larger, but that are not whole; that have no time; that could not be read.
    for number, spoil in enumerate(({"complete": False}, {"taken": None}, {"error": "web: not a dump: text"})):
        web = SERVICES[2]
        record = make(bases[web.base], web, Dump("web", 4, number, 9))
        for row in record["owners"]:
            row["retained"] *= 9
        record["completeness"]["complete"] = spoil.get("complete", True)
        record["taken"] = spoil.get("taken", record["taken"])
        yield error_of(record, spoil["error"]) if "error" in spoil else record


def write(bases, path):
    with open(path, "w", encoding="utf-8") as out:
        for record in fleet(bases):
            out.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
