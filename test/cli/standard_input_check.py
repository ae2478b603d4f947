#!/usr/bin/env python3
"""Does `-` read a dump from standard input? Usage: standard_input_check.py DNHEAP

The bundled sample through a pipe, compressed and not, and as a redirected file; and all that standard input may be instead.
"""
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
SAMPLE = PROJECT / "sample" / "demo.core.zst"


class Asked:
    def __init__(self, dnheap):
        self.dnheap, self.problems = dnheap, []

    def run(self, *arguments, **how):
        done = subprocess.run([self.dnheap, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, **how)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def expect(self, condition, *what):
        if not condition:
            self.problems.append(" ".join(str(one) for one in what))


def check_answers(asked, folder):
    packed = SAMPLE.read_bytes()
    _, expected, _ = asked.run("stat", SAMPLE, "--format", "csv")
    core = pathlib.Path(folder, "a dump")
    code, _, err = asked.run("extract", SAMPLE, "-o", core)  # a plain one
    asked.expect(code == 0 and expected, "the sample itself:", err)
    for name, content in (("compressed", packed), ("plain", core.read_bytes())):
        for options in ([], ["--temp-dir", folder]):
            code, out, err = asked.run("stat", "-", "--format", "csv", *options, input=content)
            asked.expect(code == 0 and out == expected and not err, name, options, "through a pipe:", code, err)
    left = sorted(os.listdir(folder))
    asked.expect(left == ["a dump"], "files are left:", left)
    for words in (["-"], ["report", "-"], ["stat", "-"]):
        code, out, err = asked.run(*words, input=packed)
        asked.expect(code == 0 and out.startswith("standard input: .NET "), words, "through a pipe:", code, out[:200], err)
        asked.expect("\nnext: " not in out and "dnheap - " not in out and " - --" not in out,
                     words, "name a command that cannot work:", out[-300:])
    with open(core, "rb") as file:
        code, out, err = asked.run("stat", "-", stdin=file)
    asked.expect(code == 0 and out.startswith("a dump: .NET ") and f"\nnext: dnheap objects '{core}' " in out,
                 "a redirected file:", code, out[:100], out[-200:], err)
    with open(core, "rb", buffering=0) as file:  # no longer at its beginning
        file.seek(100)
        code, _, err = asked.run("stat", "-", stdin=file)
    asked.expect(code == 3 and "not a dump" in err, "the rest of a file:", code, err)


def check_others(asked):
    empty = "dnheap: standard input: it is empty: the program that writes the dump wrote nothing\n"
    for how in ({"input": b""}, {"stdin": subprocess.DEVNULL}, {"preexec_fn": lambda: os.close(0)}):
        code, out, err = asked.run("stat", "-", **how)
        asked.expect((code, out, err) == (3, "", empty), "empty:", code, out, err)
    master, slave = pty.openpty()
    code, _, err = asked.run("stat", "-", stdin=slave)
    os.close(master)
    os.close(slave)
    asked.expect(code == 3 and err == "dnheap: standard input: it is a terminal: pipe a dump into it, or name a file\n",
                 "a terminal:", code, err)
    code, _, err = asked.run("stat", "-", input=b"hello\n")
    asked.expect(code == 3 and err.startswith("dnheap: standard input: not a dump: text"), "text:", code, err)
    code, _, err = asked.run("stat", "-", "--temp-dir", "/no/such/folder", input=b"hello\n")
    asked.expect(code == 3 and "/no/such/folder" in err, "no folder:", code, err)
    for words in (["explore", "-"], ["shell", "-"], ["diff", "-", SAMPLE], ["report", "-", "--html", "page"]):
        code, _, err = asked.run(*words, input=b"")
        asked.expect(code == 2 and "needs a file with a name; '-' is standard input" in err, words, code, err)
    code, _, err = asked.run("diff", "-", "-", input=b"")
    asked.expect(code == 2 and "can be read once" in err, "twice:", code, err)


def check_interrupt(asked, folder):
    """While it waits for more."""
    child = subprocess.Popen([asked.dnheap, "stat", "-", "--temp-dir", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    child.stdin.write(SAMPLE.read_bytes()[:500_000])
    child.stdin.flush()
    for _ in range(1000):  # until the temporary file is there: from then on signals are caught
        if any(folder in os.readlink(link) for link in pathlib.Path(f"/proc/{child.pid}/fd").iterdir()):
            break
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    try:
        code = child.wait(60)
    except subprocess.TimeoutExpired:
        child.kill()
        code = "none: it goes on"
    err = child.stderr.read().decode()
    asked.expect(code == 130 and err == "dnheap: interrupted\n", "interrupted:", code, err)


def main(dnheap):
    asked = Asked(dnheap)
    with tempfile.TemporaryDirectory(prefix="dnheap-input-") as folder:
        check_answers(asked, folder)
        check_others(asked)
        if pathlib.Path("/proc/self/fd").exists():
            check_interrupt(asked, folder)
    print("\n".join(asked.problems) or "standard input: ok")
    return bool(asked.problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
