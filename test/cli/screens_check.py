#!/usr/bin/env python3
"""Screens of verbs that synthetic heaps have little for: diff, check, inspect. Usage: screens_check.py DNHEAP

Asks the bundled sample on 80 and 120 columns and compares with golden/screens.txt, line by line; DNHEAP_UPDATE_GOLDEN=1 writes
what came out instead: look at the difference before it is committed.
"""
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

import every_option

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden" / "screens.txt"
BUDGET = ('{"totals": {"live_bytes": "10MiB"}, "owners": [{"owner": "static Shop.Cache.SessionCache.Shared", "retained": "1MiB", '
          '"growth": {"retained": "10%"}}], "types": [{"type": "Shop.Order", "live": 1000000}]}')
ASKED = [["diff", "before.json", "demo.core", "--top", "6"],
         ["diff", "before.json", "demo.core", "demo.core", "--interval", "1h", "--top", "4"],
         ["check", "demo.core", "--budget", "budget.json", "--baseline", "before.json", "--no-instances-of", "Shop.Customer"],
         ["inspect", "list"]] + [["inspect", name, "demo.core", "--top", "5"] for name in
                                 ("timers", "events", "collections", "pools", "safehandles", "http")]


def screens(dnheap):
    asked = every_option.Asked(dnheap)
    with tempfile.TemporaryDirectory(prefix="dnheap-screens-") as folder:
        asked.dump = pathlib.Path(folder, "demo.core")
        subprocess.run(["zstd", "-qdo", asked.dump, every_option.COMPRESSED], check=True)
        every_option.other_record(asked, folder).rename(pathlib.Path(folder, "before.json"))
        pathlib.Path(folder, "budget.json").write_text(BUDGET)
        out = []
        for words in ASKED:
            for columns in (80, 120):
                done = subprocess.run([dnheap, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder,
                                      env={**os.environ, "COLUMNS": str(columns)})
                out += [f"=== {' '.join(words)} ({columns} columns): exit code {done.returncode}", *done.stdout.decode().splitlines()]
    return out


def main(dnheap):
    found = screens(str(pathlib.Path(dnheap).resolve()))
    if os.environ.get("DNHEAP_UPDATE_GOLDEN"):
        GOLDEN.write_text("\n".join(found) + "\n")
    differences = list(difflib.unified_diff(GOLDEN.read_text().splitlines(), found, "expected", "found", lineterm="", n=1))
    print("\n".join(differences[:200]) or "screens: ok")
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
