#!/usr/bin/env python3
"""What fingers that know SOS type, in `dnheap shell`, on the bundled sample. Usage: sos_check.py DNHEAP

Every command and every option of dotnet-dump (sos_commands.txt, as its help has them) has an answer, or a sentence that says why not.
Compares with golden.txt, line by line; DNHEAP_UPDATE_GOLDEN=1 writes what came out instead: look at the difference before it is committed.
"""
import difflib
import itertools
import os
import pathlib
import re
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
         "dumpheep -stat", ORDERS, "help dumpheap", "help sos", "dumpheap -thinlock", "dumpheap -stat -min:200k", "gchandles -type Pinned", "clrthreads", f"dq {ORDERS} -c 4",
         f"dp {ORDERS} -c 4", f"db {ORDERS} -c 20", f"dumpmt -md {STRINGS}", f"dumpalc {ORDERS}", f"verifyobj {ORDERS}", "threadstate 20020", "taskstate -v 73728",
         "registers 4", "setthread 99999", "name2ee Shop.dll", "dumpil 0x1000", "loadsymbols", "logopen x", "dumpasync --type Read", "dumpasync --fields",
         "dcd 0x7ff3b5402fe0", "dcq 0x7ff3b805d420"]
# What a line leaves behind for the next: a thread, a line that was meant.
SESSIONS = {"threads -t 15359; registers": ["threads -t 15359", "registers --top 2"], "setthread 4; dso": ["setthread 4", "dso --top 3"], "y": ["dumpheep -stat --top 1", "y"], "a wrong option": ["stat --tpo 1", "yes"]}
# What the shell knows by itself.
OF_THE_SHELL = {"exit", "help", "sos"}


def unknown(dnheap, folder):
    """Commands and options of dotnet-dump for which there is neither an answer nor a reason; and how many have which."""
    rows = [line.partition(":") for line in (HERE / "sos_commands.txt").read_text().splitlines()]
    rows = [(names.split(","), [words.split(",") for words in options.split()]) for names, _, options in rows if names.split(",")[0] not in OF_THE_SHELL]
    lines = [word for names, _ in rows for name in names for word in ("-c", f"help {name}")]
    done = subprocess.run([dnheap, "shell", f"{folder}/demo.core", *lines], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    helps, problems, answered, reasons = done.stdout.splitlines(), [], 0, 0
    for names, options in rows:
        for name in names:
            at = [number for number, line in enumerate(helps) if line.split(":")[0].split(" ")[0] == name]
            problems += [] if at or name == "threads" else [f"{name}: neither an answer nor a reason"]  # that is a verb here
        text = [line for number in at for line in [helps[number], *itertools.takewhile(lambda one: one.startswith("  "), helps[number + 1:])]]
        has_answer = any(" is here: " in line for line in text)
        answered, reasons = answered + has_answer, reasons + (not has_answer)
        for words in options:
            found = [line for line in text for word in words if re.search(rf"(?<![\w-]){word}(?![\w-])", line, re.IGNORECASE)]
            if not found and has_answer:
                problems.append(f"{names[0]} {words[0]}: neither an answer nor a reason")
            is_answered = any(" is here: " in line or re.match("--|always so", re.split(" {2,}", line.strip())[-1]) for line in found)
            answered, reasons = answered + is_answered, reasons + (not is_answered)
    return problems, answered, reasons


def answers(dnheap):
    with tempfile.TemporaryDirectory(prefix="dnheap-shell-") as folder:
        subprocess.run(["zstd", "-qdo", f"{folder}/demo.core", SAMPLE], check=True)
        out = []
        for line in LINES:
            top = ["--top", "4"] if len(line) < 80 and not line.startswith(("help", "0x", "da ", ">")) else []
            done = subprocess.run([dnheap, "shell", "demo.core", "-c", " ".join([line, *top])], cwd=folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env={**os.environ, "COLUMNS": "100", "HOME": folder})
            out += [f"=== {line}: exit code {done.returncode}", *done.stdout.decode().splitlines()[:14]]
        for name, lines in SESSIONS.items():
            done = subprocess.run([dnheap, "shell", "demo.core", *(word for line in lines for word in ("-c", line))], cwd=folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env={**os.environ, "COLUMNS": "100", "HOME": folder})
            out += [f"=== {name}: exit code {done.returncode}", *done.stdout.decode().splitlines()[:14]]
        return out, unknown(dnheap, folder)


def main(dnheap):
    golden = HERE / "golden.txt"
    found, (problems, answered, reasons) = answers(str(pathlib.Path(dnheap).resolve()))
    if os.environ.get("DNHEAP_UPDATE_GOLDEN"):
        golden.write_text("\n".join(found) + "\n")
    differences = list(difflib.unified_diff(golden.read_text().splitlines(), found, "expected", "found", lineterm="", n=1))
    print("\n".join(differences[:200] + problems) or f"sos: {len(LINES)} lines answer as before; of dotnet-dump's commands and options {answered} have an answer, {reasons} a reason")
    return bool(differences or problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
