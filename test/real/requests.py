#!/usr/bin/env python3
"""An ASP.NET application with known requests (../programs/requests), dumped; `inspect requests` must tell all of them.

    requests.py --list --sample            the kinds that a short run makes, written requests:MAJOR; --all: all of them
    requests.py DNHEAP --one requests:10   starts the program, dumps it, compares, deletes the dump

Exit codes are those of matrix.py.
"""
import collections
import pathlib
import sys
import tempfile
import time

import kinds
import matrix
import runtimes

KINDS = [f"requests:{major}" for major in runtimes.MAJORS]
SAMPLE = ["requests:10"]
ENTRY = "Shop.AuditEntry.context"


def run(dnheap, kind, major):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-requests-") as folder:
        begin = time.time()
        with kinds.Process(kind, major) as target:
            path = target.dump("heap", pathlib.Path(folder) / "requests.core")
            said = target.truth["said"]
        rows = matrix.answer(dnheap, "inspect", "requests", path)["tables"]["requests"]
    return compare(said, rows) + ages(rows, (time.time() - begin) * 1000)


def ages(rows, most):
    """Requests in flight are no older than the process, and those that were sent 300 ms before the last ones are at least that old."""
    found = {row["method"]: row["age_ms_most"] for row in rows if row["kind"] == "request" and row["state"].startswith("in flight")}
    return [] if None not in found.values() and all(0 <= age <= most for age in found.values()) and found["POST"] >= 250 else [f"ages: {found}"]


def compare(said, rows):
    requests, ended, made, sessions = (collections.Counter() for _ in range(4))
    for row in rows:
        kind, state, count = row["kind"], row["state"], row["count"]
        if kind == "request":
            what = row["type"].split("<")[0].rsplit(".", 1)[1]
            requests[what, state, row["method"]] += count
        elif (kind, state) == ("context", "ended"):
            ended[row["held_by"]] += count
        elif kind == "context":
            made[state] += count
        else:
            sessions[state] += count
    # Each request that passes the middleware has a session: those in flight did not look at theirs.
    in_flight = said["paying"] + said["streaming"] + said["streams"]
    expected = {"requests": {("Http1Connection", "in flight", "POST"): said["paying"],
                             ("Http1Connection", "in flight, response begun", "GET"): said["streaming"],
                             ("Http2Stream", "in flight", "GET"): said["streams"],
                             ("Http1Connection", "idle", None): said["idle"]},
                "made": {"made by code": said["made"]}, "sessions": {"loaded": said["sessions"], "not loaded": in_flight}}
    found = {"requests": requests, "made": made, "sessions": sessions}
    problems = [f"{name}: {dict(found[name])}, not {expected[name]}" for name in expected if dict(found[name]) != expected[name]]
    if ended[ENTRY] != said["ended"]:
        problems.append(f"contexts that have ended: {dict(ended)}, not {said['ended']} of {ENTRY}")
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
