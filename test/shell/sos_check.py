#!/usr/bin/env python3
"""What fingers that know SOS type, in `dnheap shell`, on the bundled sample. Usage: sos_check.py DNHEAP

Compares with golden.txt, line by line; DNHEAP_UPDATE_GOLDEN=1 writes what came out instead: look at the difference before it is committed.
"""
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SAMPLE = HERE.parents[1] / "sample" / "demo.core.zst"
ARRAY, ORDERS, STRINGS, SESSION, DATE = "0x7ff3b6018720", "0x7ff3b55996a8", "0x7fff796af268", "0x7ff3b559a6c0", "0x7fff797a2550"
LINES = ["dumpheap -stat", "!DumpHeap -stat -min 1k", "dumpheap -stat -live", "dumpheap -stat -dead", "dumpheap -type Shop.Order$",
         f"dumpheap -mt {STRINGS}", "dumpheap -min 200k", "dumpheap -max 24 -type Shop", "dumpheap -stat -min 1k -max 2k",
         "dumpheap -short -type Shop.Order$", "dumpheap -strings", "DUMPHEAP -STAT -type Shop", f"dumpheap {ORDERS} 0x7ff3b55997e8",
         f"dumpheap -stat {ORDERS}", f"gcroot {ORDERS}", f"GCRoot {ORDERS[2:]}", f"gcroot -all {SESSION}", f"pathto {ORDERS} {SESSION}",
         f"pathto {ORDERS} {ARRAY}", f"objsize {ORDERS}", f"dumpobj {ORDERS}", f"dumpobj -nofields {ORDERS}", f"do {ORDERS}", f"dumparray {ARRAY}",
         f"da -length 2 {ARRAY}", f"dumpvc {DATE} {ORDERS[:-4]}97f0", f"dumpmt {STRINGS}", f"dumpobjgcrefs {ORDERS}", "eeheap -gc", "eeheap", "eeversion",
         "gchandles", "gchandles -stat", f"gcwhere {ORDERS}", "gcheapstat", "finalizequeue", "threads", "clrthreads", "clrstack", "clrstack 7",
         "clrstack -a 7", "clrstack -all", "dso 7", "parallelstacks", "pe", "pe 0x7ff3afc8c338", "printexception", "dumpexceptions", "syncblk", "threadpool", "dumpasync",
         "timerinfo", "analyzeoom", "verifyheap", "dumpgen gen1", "dumpgen 0 -type Shop", "dumpgen foh", "sizestats", f"listnearobj {ORDERS}",
         f"lno {int(ORDERS, 16) + 9:#x}", "ephrefs", "ephtoloh", "clrmodules", "dumphttp", "pathto 1", "dumpheap -nonsense", "setthread 3",
         "fq", "fq -short", f"da -start 1 {ARRAY}", f"dumpmt -md {STRINGS}", "threads -special", "lm", "clrstack -f 7", "> out", "| wc",
         "dumpheep -stat", ORDERS, "help dumpheap", "help sos"]


def answers(dnheap):
    with tempfile.TemporaryDirectory(prefix="dnheap-shell-") as folder:
        subprocess.run(["zstd", "-qdo", f"{folder}/demo.core", SAMPLE], check=True)
        out = []
        for line in LINES:
            top = ["--top", "4"] if len(line) < 80 and not line.startswith(("help", "0x", "da ", ">")) else []
            done = subprocess.run([dnheap, "shell", "demo.core", "-c", " ".join([line, *top])], cwd=folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env={**os.environ, "COLUMNS": "100", "HOME": folder})
            out += [f"=== {line}: exit code {done.returncode}", *done.stdout.decode().splitlines()[:14]]
        return out


def main(dnheap):
    golden = HERE / "golden.txt"
    found = answers(str(pathlib.Path(dnheap).resolve()))
    if os.environ.get("DNHEAP_UPDATE_GOLDEN"):
        golden.write_text("\n".join(found) + "\n")
    differences = list(difflib.unified_diff(golden.read_text().splitlines(), found, "expected", "found", lineterm="", n=1))
    print("\n".join(differences[:200]) or f"sos: {len(LINES)} lines answer as before")
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
