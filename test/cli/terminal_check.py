#!/usr/bin/env python3
"""Does text follow the terminal? Usage: terminal_check.py DNHEAP

Asks the bundled sample on terminals of 80 and 120 columns, and into a pipe: lines fit, colour is on a terminal alone and not
where NO_COLOR is set, --color and --full-names do what they say.
"""
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios

SAMPLE = pathlib.Path(__file__).resolve().parent.parent.parent / "sample" / "demo.core.zst"
CLEAN = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")} | {"TERM": "xterm"}
LONG = "System.Collections.Generic.LinkedListNode<Shop.Cache.Session>>+Entry[]"


def on_terminal(columns, *command, **more):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE, env={**CLEAN, **more})
    os.close(theirs)
    out = b""
    try:
        while part := os.read(ours, 65536):
            out += part
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    program.communicate()
    return out.decode().replace("\r\n", "\n")


def piped(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, env={**CLEAN, **more}, check=True).stdout.decode()


def main(dnheap):
    failed = []

    def expect(condition, what):
        if not condition:
            failed.append(what)

    stat, report = (dnheap, "stat", SAMPLE), (dnheap, "report", SAMPLE)
    for columns in (80, 120):
        for command in (stat, report):
            text = on_terminal(columns, *command)
            lines = re.sub("\x1b\\[[0-9]+m", "", text).splitlines()
            wide = [line for line in lines if len(line) > columns and not line.startswith("next:")]
            expect(lines and not wide, f"{command[1]} on {columns} columns: {wide}")
            expect("\x1b[1m" in text, f"{command[1]} on {columns} columns has no headings")
    expect("\x1b" not in on_terminal(80, *stat, NO_COLOR="1"), "colour in spite of NO_COLOR")
    expect("\x1b" not in on_terminal(80, *stat, "--color", "never"), "colour in spite of --color never")
    expect("\x1b" not in piped(*stat), "colour in a pipe")
    expect("\x1b" in piped(*stat, "--color", "always"), "no colour with --color always")
    expect("\x1b" not in piped(*stat, "--color", "always", "--format", "json"), "colour in JSON")
    expect(LONG not in piped(*stat, COLUMNS="100"), "COLUMNS shortens no names")
    expect(LONG in piped(*stat, "--full-names", COLUMNS="100"), "--full-names does not keep names")
    expect(LONG in piped(*stat) and LONG in piped(*stat, "--format", "csv"), "names shortened without need")
    print("\n".join(failed) or "terminal: ok")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
