#!/usr/bin/env python3
"""`dnheap shell` at a terminal, as fingers meet it: completion, history, Ctrl-C, Ctrl-D, long lines, UTF-8, terminals of which nothing
is known, and none. Usage: pty_check.py DNHEAP
"""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "sample" / "demo.core.zst"
PROMPT = "dnheap> "
PATIENCE = 60  # seconds; on a busy machine, under sanitizers


class Terminal:
    def __init__(self, dnheap, dump, folder, columns=100, **environment):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        clean = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "XDG_STATE_HOME", "LC_ALL", "LANG")}
        # libedit forgets to free the names of functions that it is given; the shell's own leaks show without a terminal.
        sanitizers = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        env = {**clean, **sanitizers, "TERM": "xterm", "NO_COLOR": "1", "HOME": folder, **environment}
        def own_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        self.program = subprocess.Popen([dnheap, "shell", dump], stdin=theirs, stdout=theirs, stderr=theirs, env=env, preexec_fn=own_terminal)
        os.close(theirs)
        self.text = ""
        self.is_plain = environment.keys() & {"TERM"}

    def type(self, text, at_once=False):
        """Once keys are waited for: what comes before is the terminal's own, Ctrl-R for one."""
        end = time.monotonic() + PATIENCE
        while not (self.is_plain or at_once) and termios.tcgetattr(self.ours)[3] & termios.ICANON and time.monotonic() < end:
            time.sleep(0.01)
        os.write(self.ours, text.encode())

    def read_until(self, what):
        """What came up to and with `what`, a regular expression; without a terminal's escapes."""
        end = time.monotonic() + PATIENCE
        while not (found := re.search(what, self.text)):
            if time.monotonic() > end or not select.select([self.ours], [], [], PATIENCE)[0]:
                raise AssertionError(f"{what!r} does not come; there is {self.text[-500:]!r}")
            try:
                part = os.read(self.ours, 65536)
            except OSError:
                part = b""
            if not part:
                raise AssertionError(f"{what!r} does not come, the program has ended; there is {self.text[-500:]!r}")
            self.text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\a|\r", "", part.decode(errors="replace"))
        out, self.text = self.text[:found.end()], self.text[found.end():]
        return out

    def answer(self, line):
        """Types a line and Enter; what is written up to the next prompt."""
        self.type(line + "\r")
        return self.read_until(r"\n" + PROMPT)

    def end(self):
        code = self.program.wait(PATIENCE)
        os.close(self.ours)
        return code


def check_typing(start):
    shell = start()
    greeting = shell.read_until(PROMPT)
    assert "'help' lists what can be asked" in greeting and ".NET 11" in greeting, greeting
    # Verbs, options and their words, types and addresses with TAB.
    shell.type("sta\t")
    shell.read_until(r"stat +stack\n" + PROMPT + "sta")
    shell.type("t --top 1 --sor\tcou\t")
    answer = shell.answer("")
    assert "System.String" in answer and "30,733" in answer, answer
    shell.type("objects --type-exact SessionCach\t")
    answer = shell.answer("")
    assert "Shop.Cache.SessionCache" in answer, answer
    address = re.search(r"0x[0-9a-f]{8,}", answer)[0]
    shell.type(f"show {address[:6]}\t")
    answer = shell.answer("")
    assert "retained" in answer and address in answer, answer
    shell.type("stat --type-exact 'System.Collections.Generic.Dictionary<System.String, System.Collections.Generic.LinkedListNode<Shop.Cache.S\t")
    shell.read_until(re.escape("Cache.Session>>"))
    shell.type("\x03")
    shell.read_until(r"\^C\n" + PROMPT)
    # SOS' names, and what they are called here, once.
    answer = shell.answer("dumpheap -stat -type Shop.Order$")
    assert "dnheap runs: stat --type Shop.Order$" in answer and "Shop.Order" in answer, answer
    assert "dnheap runs: " not in shell.answer("dumpheap -stat -type Shop.Order$")
    # A mistyped word: Enter or y takes what was probably meant.
    assert "did you mean 'dumpheap'? Enter or y runs: dumpheap -stat --top 1" in shell.answer("dumpheep -stat --top 1")
    assert "System.Byte[]" in shell.answer("")
    assert "Enter or y runs: stat --top 1" in shell.answer("stat --tpo 1")
    assert "System.Byte[]" in shell.answer("y")
    assert "look at thread 4 from now on" in shell.answer("setthread 4")
    assert "dnheap runs: stack 4" in shell.answer("clrstack")
    assert "--refers-to" in shell.answer("stat -?")
    assert "-strings" in shell.answer("help dumpheap")
    assert "path ADDR|TYPE|@N" in shell.answer("help")
    # Arrows, Ctrl-R, Ctrl-A, and a line that is longer than the terminal.
    shell.answer("eeversion")
    shell.type("\x1b[A")
    assert "11.0.0" in shell.answer("")
    shell.type("\x12type Shop")
    shell.read_until("bck")
    shell.type("\x1b")
    time.sleep(0.1)
    shell.type("\r")
    assert "Shop.Order" in shell.read_until(r"\n" + PROMPT)
    shell.type("--top 1 --exact\x01stat \r")
    assert "System.Byte[]" in shell.read_until(r"\n" + PROMPT)
    long_type = "|".join(f"NoSuchType{number}" for number in range(40)) + "|SessionCache$"
    answer = shell.answer(f"stat --type '{long_type}'")
    assert "Shop.Cache.SessionCache" in answer, answer
    # Letters of more than one byte: typed, rubbed out, and given to the question.
    answer = shell.answer("stat --type 'Größe€x\x7f\x7f'")
    assert "no type matches Größe;" in answer, answer
    # Ctrl-C gives a line up, and a question; the shell goes on with both.
    shell.type("stat --nonsense\x03")
    shell.read_until(r"\^C\n" + PROMPT)
    shell.type("query 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'\r")
    shell.read_until(r"from *\x08?n'\n")
    time.sleep(1)
    shell.type("\x03", at_once=True)
    assert "interrupted" in shell.read_until(r"\n" + PROMPT)
    assert "System.Byte[]" in shell.answer("stat --top 1")
    # Ctrl-D amid a line does not end it; on an empty one it does.
    shell.type("x\x04\x04")
    shell.type("\x7f")
    shell.type("\x04")
    assert shell.end() == 0


def check_history(start, folder):
    file = pathlib.Path(folder, ".local/state/dnheap/history")
    lines = file.read_text().splitlines()
    assert file.stat().st_mode & 0o777 == 0o600 and "eeversion" in lines, lines
    assert not any("nonsense" in line for line in lines), "what was given up is not kept"
    shell = start()
    shell.read_until(PROMPT)
    shell.answer("segments --top 1")
    shell.answer(" gc --table oom")
    shell.type("quit\r")
    assert shell.end() == 0
    assert file.read_text().splitlines()[-2:] == ["segments --top 1", "quit"], "not what begins with a space"
    shell = start()
    shell.read_until(PROMPT)
    shell.type("\x1b[A\x1b[A\r")
    assert "Committed end" in shell.read_until(r"\n" + PROMPT)
    shell.type("\x04")
    assert shell.end() == 0
    # Nowhere to keep it: nothing is said of that.
    shell = start(XDG_STATE_HOME="/proc/nowhere")
    assert "history" not in shell.read_until(PROMPT)
    assert "System.Byte[]" in shell.answer("stat --top 1")
    shell.type("\x04")
    assert shell.end() == 0


def check_plain(start, dnheap, dump):
    """Terminals of which nothing is known: a plain prompt, and not a word about it."""
    for environment in {"TERM": "dumb"}, {"TERM": "no-such-terminal"}:  # without any terminfo: test/static
        shell = start(**environment)
        greeting = shell.read_until(PROMPT)
        assert greeting.count("\n") == 1 and "termcap" not in greeting, greeting
        assert "System.Byte[]" in shell.answer("stat --top 1")
        shell.type("\x04")
        assert shell.end() == 0
    # No terminal: no prompt, no greeting, no history.
    done = subprocess.run([dnheap, "shell", dump], input=b"eeversion --format csv\nnonsense\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"dnheap>" not in done.stdout and b"help" not in done.stdout, done
    # The terminal goes away, or somebody ends the program: it ends, and leaves the terminal as it was.
    shell = start()
    shell.read_until(PROMPT)
    shell.type("stat")
    shell.program.send_signal(signal.SIGTERM)
    assert shell.program.wait(PATIENCE) == -signal.SIGTERM
    os.close(shell.ours)


def main(dnheap):
    dnheap = str(pathlib.Path(dnheap).resolve())
    with tempfile.TemporaryDirectory(prefix="dnheap-shell-") as folder:
        dump = f"{folder}/demo.core"
        subprocess.run(["zstd", "-qdo", dump, SAMPLE], check=True)

        def start(**environment):
            return Terminal(dnheap, dump, folder, **environment)
        check_typing(start)
        check_history(start, folder)
        check_plain(start, dnheap, dump)
    print("the shell at a terminal: ok")


if __name__ == "__main__":
    main(sys.argv[1])
