#!/usr/bin/env python3
"""`collect`: programs that dump themselves, when dnheap asks them to on their diagnostics port (../programs/values).

    collect.py --list --sample         the kinds that a short run makes, written collect:MAJOR; --all: all of them
    collect.py DNHEAP --one collect:10 starts the program, collects dumps of it, compares them with the program itself

What cannot be had by waiting is made: a createdump that takes its time, that fails, or that is missing.
Exit codes are those of matrix.py.
"""
import ctypes
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import matrix
import runtimes
import targets

sys.path.insert(0, str(runtimes.PROJECT / "test" / "schema"))
import validator  # noqa: E402

KINDS = [f"collect:{major}" for major in (*runtimes.MAJORS, *runtimes.MUSL)]
SAMPLE = ["collect:10"]
PATIENCE = 60
FAILED, USAGE, INTERRUPTED = 3, 2, 130
SCHEMAS = validator.Validator(runtimes.PROJECT / "doc" / "schema")


class Asked:
    """dnheap, asked in a folder of its own."""

    def __init__(self, dnheap, folder):
        self.dnheap, self.folder, self.problems = dnheap, pathlib.Path(folder), []

    def expect(self, holds, what):
        if not holds:
            self.problems.append(what)

    def command(self, *words):
        return [str(word) for word in (self.dnheap, *words)]

    def collect(self, pid, *options, **how):
        """The row about the file, and the answer."""
        done = subprocess.run(self.command("collect", "-p", pid, "--format", "json", *options), cwd=self.folder, capture_output=True, text=True,
                              timeout=PATIENCE, **how)
        if done.returncode or done.stderr:
            raise RuntimeError(f"`collect {' '.join(map(str, options))}` ended with code {done.returncode} and said: {done.stderr.strip()}")
        answer = json.loads(done.stdout)
        self.problems += [f"{answer}: {problem}" for problem in SCHEMAS.problems(answer, "collect.json")]
        return answer["tables"]["dump"][0], answer

    def by_socket(self, *options):
        """The same, of the process at a socket; what is said of the waiting is no error."""
        done = subprocess.run(self.command("collect", *options, "--format", "json"), cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode or done.stderr.count("\n") > 1:
            raise RuntimeError(f"`collect {options}` ended with code {done.returncode} and said: {done.stderr.strip()}")
        answer = json.loads(done.stdout)
        self.problems += [f"{answer}: {problem}" for problem in SCHEMAS.problems(answer, "collect.json")]
        return answer["tables"]["dump"][0], answer

    def settled(self, pid):
        """The types of a process that has begun to wait: on a busy machine it may still be about to."""
        before, now = None, self.types(f"--pid={pid}")
        for _ in range(20):
            if now == before:
                break
            time.sleep(0.1)
            before, now = now, self.types(f"--pid={pid}")
        return now

    def refused(self, code, words, *arguments, lines=1):
        """It ends with that code and says these words, in one line, and leaves no file."""
        before = self.files()
        done = subprocess.run(self.command(*arguments), cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.expect(done.returncode == code and words in done.stderr and done.stderr.count("\n") == lines and not done.stdout,
                    f"{arguments}: code {done.returncode}, not {code} and {words!r}: {done.stderr.strip()}")
        self.expect(self.files() == before, f"{arguments}: leaves {self.files()}")

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def types(self, target):
        """Counts and bytes by type, and what is walked in all."""
        answer = matrix.answer(self.dnheap, "stat", target)
        return sorted((row["type"], row["count"], row["bytes"]) for row in answer["tables"]["types"]), answer["completeness"]["objects"]

    def port(self, pid):
        rows = json.loads(subprocess.run(self.command("ps", "--format", "json"), capture_output=True, text=True, check=True).stdout)["tables"]["processes"]
        return next((row["port"] for row in rows if row["pid"] == pid), None)


def run(dnheap, _, major):
    """All problems of one kind, in words."""
    with tempfile.TemporaryDirectory(prefix="dnheap-collect-") as folder:
        asked = Asked(dnheap, folder)
        with targets.Target("values", major) as target:
            for part in (each_kind, names, small_core, without_tracing, refusals, stopped):
                part(asked, target)
        with targets.Target("values", major, settings={"DOTNET_EnableDiagnostics": "0"}) as target:
            asked.refused(FAILED, "DOTNET_EnableDiagnostics=0", "collect", "-p", target.pid)
            asked.expect(asked.port(target.pid) == "none", "ps sees a port where there is none")
        amid_other_sockets(asked, major)
        on_made_socket(asked, major)
        if not runtimes.on_musl():
            at_start(asked, major)
        if not runtimes.on_musl():
            with_other_createdump(asked, major)
        return asked.problems


def each_kind(asked, target):
    """Of the kinds with a heap the same objects as in the process; of the others what is small."""
    asked.expect(asked.port(target.pid) == "answers", "ps does not see the port")
    live, version = asked.types(f"--pid={target.pid}"), runtimes.VERSIONS[target.major]
    sizes = {}
    for kind in ("heap", "full", "mini", "triage"):
        row, answer = asked.collect(target.pid, "--kind", kind, "-o", f"{kind}.core")
        core = asked.folder / f"{kind}.core"
        sizes[kind] = row["bytes"]
        asked.expect(row["file"] == core.name and row["kind"] == kind and row["bytes"] == core.stat().st_size, f"{core} is not {row}")
        asked.expect(core.stat().st_mode & 0o777 == 0o600, f"others may read {core}")
        if kind in ("heap", "full"):
            asked.expect(answer["target"]["version"] == version and answer["target"]["pid"] == target.pid, f"{kind}: {answer['target']}")
            asked.expect(asked.types(core) == live, f"the {kind} dump has other objects than the process: {live[1]}, {asked.types(core)[1]}")
        core.unlink()
    asked.expect(sizes["full"] > sizes["heap"] > sizes["mini"] >= sizes["triage"] > 0, f"sizes are {sizes}")
    print(f"bytes of dumps: {sizes}; {live[1]} objects in each heap")


def names(asked, target):
    """A file that is there is replaced, a link stays; signs that createdump would replace do not matter."""
    (asked.folder / "old.core").write_text("old")
    (asked.folder / "link.core").symlink_to("old.core")
    for name in ("link.core", "100 %p%d%.core", "größe.core"):
        row, _ = asked.collect(target.pid, "-o", name, "--kind", "mini")
        asked.expect((asked.folder / name).stat().st_size == row["bytes"], f"{name} is not there")
    asked.expect((asked.folder / "link.core").is_symlink() and (asked.folder / "old.core").stat().st_size > 3, "the link is not followed")
    row, _ = asked.collect(target.pid, "--kind", "mini")
    asked.expect(row["file"].startswith(f"values-{target.pid}-2") and row["file"].endswith("Z.core"), f"the usual name is {row['file']}")
    asked.expect(asked.files() == sorted(["100 %p%d%.core", "größe.core", "link.core", "old.core", row["file"]]), f"in the folder are {asked.files()}")
    for name in asked.files():
        (asked.folder / name).unlink()


def small_core(asked, target):
    live, whole = asked.types(f"--pid={target.pid}"), {}
    for options in ([], ["--no-values"]):
        row, _ = asked.collect(target.pid, "--extract", *options)
        asked.expect(asked.files() == [row["file"]] and row["file"].endswith(".core.zst"), f"in the folder are {asked.files()}")
        asked.expect(row["bytes"] < row["dump_bytes"], f"it is not small: {row}")
        whole[len(options)] = asked.types(asked.folder / row["file"])
        (asked.folder / row["file"]).unlink()
    asked.expect(whole == {0: live, 1: live}, "the small core has other objects than the process")


def forbid_tracing():
    """From now on this process may neither trace another one nor read its memory by a system call."""
    no_new_privileges, seccomp, filtering, allow, refuse = 38, 22, 2, 0x7FFF0000, 0x00050001
    calls = {"x86_64": (101, 310), "aarch64": (117, 270)}[os.uname().machine]
    load, equal, answer = 0x20, 0x15, 0x06
    steps = [(load, 0, 0, 0), (equal, 1, 0, calls[0]), (equal, 0, 1, calls[1]), (answer, 0, 0, refuse), (answer, 0, 0, allow)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in steps))
    table = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(seccomp, filtering, ctypes.c_void_p(ctypes.addressof(table)), 0, 0):
        raise OSError(ctypes.get_errno(), "no filter of system calls")


def without_tracing(asked, target):
    """As in most containers."""
    done = subprocess.run(asked.command("stat", "-p", target.pid), capture_output=True, text=True, preexec_fn=forbid_tracing, check=False)
    asked.expect(done.returncode == FAILED and "may not be read" in done.stderr, f"tracing is not forbidden: {done.stderr}")
    row, _ = asked.collect(target.pid, "-o", "own.core", preexec_fn=forbid_tracing)
    asked.expect(asked.types(asked.folder / "own.core")[1] > 0 and row["bytes"] > 0, "nothing is in a dump without the right to trace")
    (asked.folder / "own.core").unlink()


def refusals(asked, target):
    pid = target.pid
    asked.refused(FAILED, "there is no process 2147483640", "collect", "-p", 2147483640)
    asked.refused(FAILED, "is no .NET process", "collect", "-p", os.getpid())
    asked.refused(FAILED, "No such file or directory", "collect", "-p", pid, "-o", asked.folder / "missing" / "x.core")
    asked.refused(FAILED, "cannot write to", "collect", "-p", pid, "-o", "/proc/x.core")
    asked.refused(FAILED, "not a regular file", "collect", "-p", pid, "-o", asked.folder)
    asked.refused(USAGE, "not compressed", "collect", "-p", pid, "-o", "x.core.zst")
    asked.refused(USAGE, "is none of heap, full, mini, triage", "collect", "-p", pid, "--kind", "huge")
    asked.refused(USAGE, "has no heap", "collect", "-p", pid, "--kind", "mini", "--extract")
    asked.refused(USAGE, "only the small core", "collect", "-p", pid, "--no-values")
    asked.refused(USAGE, "--no-pause", "collect", "-p", pid, "--no-pause")
    if os.geteuid() == 0 and not subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "test", "-x", asked.dnheap], check=False).returncode:
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", *asked.command("collect", "-p", pid, "-o", "/tmp/x.core")], capture_output=True,
                              text=True, check=False)
        asked.expect(done.returncode == FAILED and "belongs to user 0" in done.stderr, f"of another user: {done.stderr}")


def stopped(asked, target):
    """It listens, but does not answer."""
    target.stop()
    try:
        asked.expect(asked.port(target.pid) == "silent", "ps does not say that the port is silent")
        asked.refused(FAILED, "does not answer", "collect", "-p", target.pid)
    finally:
        target.resume()


def amid_other_sockets(asked, major):
    """Ended processes of the same number leave their files, and another process may listen under that name."""
    with tempfile.TemporaryDirectory(prefix="dnheap-sockets-") as folder, targets.Target("values", major, settings={"TMPDIR": folder}) as target:
        with socket.socket(socket.AF_UNIX) as dead, socket.socket(socket.AF_UNIX) as other:
            dead.bind(f"{folder}/dotnet-diagnostic-{target.pid}-99999999998-socket")
            dead.close()
            other.bind(f"{folder}/dotnet-diagnostic-{target.pid}-99999999999-socket")
            other.listen()
            row, _ = asked.collect(target.pid, "-o", "own.core", "--kind", "mini")
            asked.expect(row["bytes"] > 0, "no dump amid other sockets")
        (asked.folder / "own.core").unlink()


def on_made_socket(asked, major):
    """The runtime connects to a socket that is made when the program runs already; and is found by the socket that it makes itself."""
    path = asked.folder / "made.sock"
    with tempfile.TemporaryDirectory(prefix="dnheap-sockets-") as folder:
        with targets.Target("values", major, settings={"TMPDIR": folder, "DOTNET_DiagnosticPorts": f"{path},nosuspend"}) as target:
            live = asked.settled(target.pid)
            for kind in ("heap", "full"):
                row, answer = asked.by_socket("--listen", path, "--kind", kind, "-o", "made.core")
                asked.expect(answer["target"]["pid"] == target.pid and row["kind"] == kind, f"of another process: {answer['target']}, {row}")
                asked.expect(asked.types(asked.folder / "made.core") == live, "a dump over a made socket has other objects than the process")
                asked.expect(asked.files() == ["made.core"], f"beside the dump are {asked.files()}")
                (asked.folder / "made.core").unlink()
            (own,) = pathlib.Path(folder).glob("dotnet-diagnostic-*-socket")
            row, _ = asked.by_socket("--connect", own, "-o", "own.core")
            asked.expect(asked.types(asked.folder / "own.core") == live, "a dump over its own socket has other objects than the process")
            (asked.folder / "own.core").unlink()
    asked.refused(FAILED, "no .NET runtime has connected", "collect", "--listen", path, "--wait", "1s", lines=2)
    asked.refused(FAILED, "no .NET runtime listens on", "collect", "--connect", path)
    path.write_text("text")
    asked.refused(FAILED, "it is there already, and no socket", "collect", "--listen", path)
    path.unlink()
    waiting = subprocess.Popen(asked.command("collect", "--listen", path), stderr=subprocess.PIPE, text=True)
    wait_until(path.is_socket, "there is no socket")
    asked.expect(path.stat().st_mode & 0o777 == 0o600, "others may open the socket")
    waiting.send_signal(signal.SIGINT)
    asked.expect("interrupted" in waiting.communicate(timeout=PATIENCE)[1] and waiting.returncode == INTERRUPTED, f"interrupted: code {waiting.returncode}")
    asked.expect(not asked.files(), f"after Ctrl-C there are {asked.files()}")


def at_start(asked, major):
    """A runtime that waits for somebody to resume it."""
    path = asked.folder / "made.sock"
    waiting = subprocess.Popen(asked.command("collect", "--listen", path, "-o", "start.core"), cwd=asked.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    wait_until(path.is_socket, "there is no socket")
    with targets.Target("values", major, settings={"DOTNET_DiagnosticPorts": str(path)}) as target:  # which is ready only if it is resumed
        out, errors = waiting.communicate(timeout=PATIENCE)
        asked.expect(waiting.returncode == 0 and f"of process {target.pid}," in out and "was only starting" in out, f"at the start: {out}{errors}")
    asked.expect(asked.files() == ["start.core"] and asked.types(asked.folder / "start.core")[1] > 0, f"at the start: {asked.files()}")
    (asked.folder / "start.core").unlink()


def with_other_createdump(asked, major):
    """An installation whose createdump does what it is made to do."""
    source, version = runtimes.lay_out(), runtimes.VERSIONS[major]
    with tempfile.TemporaryDirectory(prefix="dnheap-runtime-", dir=runtimes.cache()) as folder:
        root, own = pathlib.Path(folder), pathlib.Path("shared") / "Microsoft.NETCore.App" / version
        for file in (source / "dotnet", *(source / "host").rglob("*.so"), *(source / own).iterdir()):
            if file.name != "createdump":
                runtimes.link(file, root / file.relative_to(source))
        createdump = root / own / "createdump"
        with targets.Target("values", major, root=root) as target:
            asked.refused(FAILED, f"has no createdump, which writes dumps: copy that file there from an installation of .NET {version}", "collect", "-p", target.pid)
            script(createdump, 'echo "[createdump] ptrace(ATTACH, 7) FAILED Operation not permitted" >&2; exit 1')
            asked.refused(FAILED, "ptrace(ATTACH, 7) FAILED Operation not permitted: createdump may not trace", "collect", "-p", target.pid)
            script(createdump, "exit 0")
            asked.refused(FAILED, "says that it has dumped itself, but there is no dump", "collect", "-p", target.pid)
            begun = root / "begun"
            script(createdump, f'echo $$ > "{begun}.new"; mv "{begun}.new" "{begun}"; sleep 3; exec "{source / own / "createdump"}" "$@"')
            interrupted(asked, target, begun)
            ended(asked, target, begun)


def script(path, text):
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def begin(asked, target, begun):
    begun.unlink(missing_ok=True)
    out = subprocess.Popen(asked.command("collect", "-p", target.pid), cwd=asked.folder, stderr=subprocess.PIPE, text=True)
    wait_until(begun.exists, "createdump does not begin")
    return out


def wait_until(holds, what):
    last = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > last:
            raise RuntimeError(what)
        time.sleep(0.05)


def interrupted(asked, target, begun):
    """Nothing is left, not even when the runtime begins its file later; the program goes on, and can be asked again."""
    collecting = begin(asked, target, begun)
    collecting.send_signal(signal.SIGINT)
    _, errors = collecting.communicate(timeout=PATIENCE)
    asked.expect(collecting.returncode == INTERRUPTED and "cannot be stopped" in errors, f"interrupted: code {collecting.returncode}, {errors}")
    asked.expect(not asked.files(), f"after Ctrl-C there are {asked.files()}")
    writer = int(begun.read_text())
    wait_until(lambda: not pathlib.Path(f"/proc/{writer}").exists(), "createdump does not end")
    asked.expect(not asked.files(), f"some time after Ctrl-C there are {asked.files()}")
    row, _ = asked.collect(target.pid, "-o", "again.core", "--kind", "mini")
    asked.expect(row["bytes"] > 0, "no dump after an interrupted one")
    (asked.folder / "again.core").unlink()


def ended(asked, target, begun):
    collecting = begin(asked, target, begun)
    target.process.kill()
    target.process.wait()
    _, errors = collecting.communicate(timeout=PATIENCE)
    asked.expect(collecting.returncode == FAILED and "ended while it wrote its dump" in errors, f"ended: code {collecting.returncode}, {errors}")
    asked.expect(not asked.files(), f"after the program's end there are {asked.files()}")


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
