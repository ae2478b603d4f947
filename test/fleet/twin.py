"""The questions of fleet/*/*.sql, answered from the records themselves, without any SQL: {question: rows}."""
import collections
import json
import statistics

MIB = 1 << 20


class Dump:
    def __init__(self, record):
        self.record = record
        self.path = record["target"]["path"]
        self.service, self.version, self.pod, self.file = self.path.replace("\\", "/").split("/")[-4:]
        self.error = record.get("error")
        self.taken = record.get("taken")
        if not self.error:
            self.measures, self.limits = self.read(record)
            self.names = {("owner", row["signature"]): row["owner"] for row in record["owners"]}

    @staticmethod
    def read(record):
        measures = collections.Counter()
        limits = {"memory": 0}
        for row in record["owners"]:
            if row["signature"] and row["kind"] != "unreachable":
                measures["owner", row["signature"]] += row["retained"]
        for row in record["types"]:
            if row["type"] not in ("(rest)", "Free"):
                measures["type", row["type"]] += row["bytes"]
        for row in record["account"]:
            if row["class"] not in ("dead_objects", "free_objects", "reserved"):
                measures["memory", row["class"]] += row["bytes"]
        whole = all(row["signature"] for row in record["owners"])
        limits["owner"] = 0 if whole else min(row["retained"] for row in record["owners"])
        listed = [row["bytes"] for row in record["types"] if row["type"] != "(rest)"]
        limits["type"] = min(listed) if len(listed) < len(record["types"]) else 0
        return measures, limits

    @property
    def is_whole(self):
        return not self.error and self.record["completeness"]["complete"] and self.taken is not None

    @property
    def order(self):
        return self.taken, self.path

    def at_least(self, key):
        return self.measures.get(key, 0)

    def at_most(self, key):
        return self.measures.get(key, self.limits[key[0]])


class Fleet:
    def __init__(self, path):
        dumps = {}
        with open(path, encoding="utf-8") as lines:
            for dump in map(Dump, map(json.loads, lines)):
                key = dump.service, dump.version, dump.pod, dump.file
                if key not in dumps or not dump.error:
                    dumps[key] = dump
        self.dumps = list(dumps.values())
        self.whole = sorted((dump for dump in self.dumps if dump.is_whole), key=lambda dump: dump.order)
        self.versions = collections.defaultdict(list)  # of a service, in the order of their first dumps
        self.pods = collections.defaultdict(lambda: collections.defaultdict(list))  # by service and version
        for dump in self.whole:
            if dump.version not in self.versions[dump.service]:
                self.versions[dump.service].append(dump.version)
            self.pods[dump.service, dump.version][dump.pod].append(dump)

    def name(self, dumps, key):
        return max((dump.names.get(key, key[1]) for dump in dumps if key in dump.measures), default=None)


def grew(fleet):
    for service, versions in fleet.versions.items():
        version = versions[-1]
        pods = {pod: dumps for pod, dumps in fleet.pods[service, version].items() if dumps[-1].taken > dumps[0].taken}
        found = collections.defaultdict(list)
        for dumps in pods.values():
            first, last = dumps[0], dumps[-1]
            for key in last.measures:
                more = last.at_least(key) - first.at_most(key)
                if more >= MIB and more * 5 >= first.at_most(key):
                    found[key].append((more, last.taken - first.taken, last))
        for key, growths in found.items():
            if len(growths) * 2 >= len(pods):
                bytes_, seconds, lasts = zip(*growths)
                yield {"service": service, "version": version, "what": key[0], "key": key[1], "name": fleet.name(lasts, key),
                       "pods": len(growths), "of_pods": len(pods), "bytes": sum(bytes_), "bytes_per_hour": sum(bytes_) * 3600 // sum(seconds)}


def siblings(fleet):
    for (service, version), pods in fleet.pods.items():
        lasts = [dumps[-1] for dumps in pods.values()]
        if len(lasts) < 3:
            continue
        for key in {key for dump in lasts for key in dump.measures}:
            least = statistics.median_low(dump.at_least(key) for dump in lasts)
            most = statistics.median_low(dump.at_most(key) for dump in lasts)
            for dump in lasts:
                row = {"service": service, "version": version, "pod": dump.pod, "what": key[0], "key": key[1], "name": fleet.name(lasts, key),
                       "pods": len(lasts)}
                low, high = dump.at_least(key), dump.at_most(key)
                if low >= 2 * most and low - most >= MIB:
                    yield {**row, "differs": "more", "bytes": low, "median": most}
                if least >= 2 * high and least - high >= MIB:
                    yield {**row, "differs": "less", "bytes": high, "median": least}


def regressions(fleet):
    for service, versions in fleet.versions.items():
        of_service = [dump for dump in fleet.whole if dump.service == service]
        for earlier, version in zip(versions, versions[1:]):
            before = [dump for dump in of_service if dump.version == earlier]
            after = [dump for dump in of_service if dump.version == version]
            for key in {key for dump in after for key in dump.measures}:
                was = statistics.median_low(dump.at_most(key) for dump in before)
                now = statistics.median_low(dump.at_least(key) for dump in after)
                if now - was >= MIB and (now - was) * 2 >= was:
                    yield {"service": service, "version": version, "earlier": earlier, "what": key[0], "key": key[1],
                           "name": fleet.name(of_service, key), "bytes_before": was, "bytes_after": now, "dumps": len(after)}


def left_out(fleet):
    for dump in fleet.dumps:
        if not dump.is_whole:
            why = dump.error or ("the heap is not complete: " + "; ".join(dump.record["completeness"]["notes"])
                                 if not dump.record["completeness"]["complete"] else "nobody says when it was taken")
            yield {"service": dump.service, "version": dump.version, "pod": dump.pod, "file": dump.file, "why": why}


QUESTIONS = {"grew": grew, "siblings": siblings, "regressions": regressions, "left_out": left_out}


def answers(path):
    fleet = Fleet(path)
    return {name: list(answer(fleet)) for name, answer in QUESTIONS.items()}
