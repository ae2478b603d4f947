#!/usr/bin/env python3
"""`dnheap explore A B C` on the bundled sample: what grew is what `diff` says, of all dumps and of some; the last one is shown.
Usage: several_check.py DNHEAP"""
import json
import pathlib
import subprocess
import sys
import tempfile

from served import Served

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "sample" / "demo.core.zst"
failures = []


def equal(found, expected, what):
    if found != expected:
        failures.append(what)
        print(f"FAILED: {what}: {found!r:.300} is not {expected!r:.300}")


def tables(dnheap, *words):
    done = subprocess.run([dnheap, *words, "--format", "json", "--top", "200"], stdout=subprocess.PIPE)
    return json.loads(done.stdout)["tables"]


def make_files(dnheap, folder):
    """The sample as a record of half of its instances, as a .gcdump, which has no contents, and as a core."""
    record, gcdump, core = (str(pathlib.Path(folder, name)) for name in ("a.json", "b.gcdump", "c.core"))
    subprocess.run(["zstd", "-qdo", core, SAMPLE], check=True)
    subprocess.run([dnheap, "check", core, "--record", record, "--no-instances-of", "Shop.Never"], check=True, stdout=subprocess.DEVNULL)
    older = json.loads(pathlib.Path(record).read_text())
    for row in older["tables"]["types"]:
        row["count"], row["bytes"] = row["count"] // 2, row["bytes"] // 2
    pathlib.Path(record).write_text(json.dumps(older))
    subprocess.run([dnheap, "export", core, "--as", "gcdump", "-o", gcdump], check=True, stdout=subprocess.DEVNULL)
    return record, gcdump, core


def check_answers(dnheap, record, gcdump, core):
    with Served(dnheap, record, gcdump, core) as page:  # ready: all of them are summed up
        state = page.state()
        equal((state["file"], state["dumps"]), (core, 3), "the dump that is shown, and how many there are")
        equal(page.json("api/ask/diff")["tables"], tables(dnheap, "diff", record, gcdump, core), "what grew in three dumps")
        for numbers, dumps in (("0,1", (record, gcdump)), ("1,2", (gcdump, core)), ("0,2", (record, core)), ("0,1,2", (record, gcdump, core))):
            equal(page.json("api/ask/diff", dumps=numbers)["tables"], tables(dnheap, "diff", *dumps), f"what grew between {numbers}")
        equal(page.json("api/ask/stat", top=200)["tables"], tables(dnheap, "stat", core), "the last one is shown")
        for path in ("diff?dumps=0,3", "diff?dumps=1,0", "diff?dumps=0,0", "diff?dumps=0", "diff?dumps=0,", "diff?dumps=x",
                     "diff?dumps=0,1&dumps=1,2", "stat?dumps=0,1", "diff?dumps=0,18446744073709551616"):
            equal(page.get("api/ask/" + path)[0], 400, path)
        table = next(one for one in page.json("api/tables/diff", dumps="0,2")["tables"] if one["name"] == "types")
        equal([column["title"] for column in table["columns"][:4]], ["Change", "Per hour", "Before", "After"], "what grew, as text has it")


def check_left_out(dnheap, record, core):
    with Served(dnheap, __file__, record, core, wait=False) as page:
        answer = page.json("api/ask/diff")  # also before all stages are through
        equal(answer["tables"], tables(dnheap, "diff", record, core), "what grew without the one that cannot be read")
        notes = [note for note in answer["completeness"]["notes"] if "left out" in note and "several_check.py" in note]
        equal((answer["completeness"]["complete"], len(notes)), (False, 1), f"what is said of it: {answer['completeness']['notes']}")
        equal(page.wait_for("ready")["stage"], "ready", "the end of all stages")
    done = subprocess.run([dnheap, "explore", record, core + ".gone", core], capture_output=True, text=True)
    equal((done.returncode, ".gone: No such file" in done.stderr), (3, True), f"a file that is not there: {done.stderr}")


def main(dnheap):
    dnheap = str(pathlib.Path(dnheap).resolve())
    with tempfile.TemporaryDirectory(prefix="dnheap-several-") as folder:
        record, gcdump, core = make_files(dnheap, folder)
        check_answers(dnheap, record, gcdump, core)
        check_left_out(dnheap, record, core)
    print("explore, several dumps: ok" if not failures else f"explore, several dumps: {len(failures)} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
