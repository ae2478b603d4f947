#!/usr/bin/env python3
"""The program where the system allows it little: system calls that a profile forbids, few files, a control group with little memory. It
says what is wrong in a sentence, or answers; it is never ended by the kernel. Usage: limits_check.py DNHEAP"""
import ctypes
import errno
import os
import pathlib
import platform
import resource
import struct
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
SAMPLE = PROJECT / "sample" / "demo.core.zst"
CALLS = {"ptrace": 101, "memfd_create": 319, "process_vm_readv": 310}  # of x86-64
failures = []


def forbid(call, error):
    """From now on this process, and what it starts, gets that error of the system call (seccomp)."""
    load, equal, answer, allow, refuse = 0x20, 0x15, 0x06, 0x7FFF0000, 0x00050000
    program = b"".join(struct.pack("HBBI", *one) for one in (
        (load, 0, 0, 0), (equal, 0, 1, CALLS[call]), (answer, 0, 0, refuse | error), (answer, 0, 0, allow)))
    buffer = ctypes.create_string_buffer(program)
    filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer)))
    libc = ctypes.CDLL(None)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(filter), 0, 0):
        raise OSError("no filter to be had")


def run(*words, **more):
    return subprocess.run([DNHEAP, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, **more)


def equal(found, expected, what):
    if found != expected:
        failures.append(what)
        print(f"FAILED: {what}: {found!r} is not {expected!r}")


def check_forbidden_calls():
    if platform.machine() != "x86_64":
        return
    unconfined = ("a seccomp or security profile of this container forbids it (docker: --security-opt seccomp=unconfined; Kubernetes: "
                  "securityContext.seccompProfile.type: Unconfined); change that, or run dnheap outside of the container")
    with subprocess.Popen(["sleep", "1000"]) as process:
        target = f"process {process.pid}"
        for call, error, said in (
                ("ptrace", errno.ENOSYS, f"{target} may not be read: {unconfined}"),
                ("memfd_create", errno.EPERM, "no temporary file can be made in memory: Operation not permitted; --temp-dir DIR uses a folder instead"),
                ("memfd_create", errno.ENOSYS, "no temporary file can be made in memory: Function not implemented; --temp-dir DIR uses a folder instead")):
            done = run("stat", "-p", process.pid, preexec_fn=lambda: forbid(call, error))
            equal((done.returncode, done.stderr), (3, f"dnheap: {said}\n"), f"{call}, which is answered with {errno.errorcode[error]}")
        plain = run("stat", "-p", process.pid)
        done = run("stat", "-p", process.pid, preexec_fn=lambda: forbid("process_vm_readv", errno.ENOSYS))
        equal((done.returncode, done.stderr), (plain.returncode, plain.stderr), "process_vm_readv, for which there is another way")
        done = run("stat", "-p", process.pid, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)))
        equal((done.returncode, done.stderr), (3, f"dnheap: {target} cannot be read: Too many open files (ulimit -n)\n"), "no file may be opened")
        done = run("stat", "-p", process.pid, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5)))
        equal((done.returncode, done.stderr), (3, "dnheap: no temporary file can be made in memory: Too many open files\n"), "no more than two files may be opened")
        process.kill()


class Group:
    """A control group of this test's own with so much memory; none where there may be none."""

    def __init__(self, megabytes):
        self.folder = None
        for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            folder = pathlib.Path(root, f"dnheap-test-{os.getpid()}")
            try:
                folder.mkdir()
                self.folder = folder
                (folder / limit).write_text(str(megabytes << 20))
                return
            except OSError:
                self.__exit__()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.folder:
            self.folder.rmdir()
        self.folder = None

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))


def check_little_memory():
    for megabytes in (24, 32, 400):
        with Group(megabytes) as group:
            if not group.folder:
                return False
            for words in (("retained", SAMPLE), ("report", SAMPLE)):
                done = run(*words, preexec_fn=group.enter)
                if done.returncode == 3 and "memory" in done.stderr and megabytes < 400:
                    continue
                equal((done.returncode, done.stderr), (0, ""), f"{words[0]} in a group of {megabytes} MiB")
    return True


if __name__ == "__main__":
    DNHEAP = str(pathlib.Path(sys.argv[1]).resolve())
    check_forbidden_calls()
    if not check_little_memory():
        print("SKIPPED: no control group may be made here, so none with little memory was tried")
    print("limits: ok" if not failures else f"{len(failures)} failures")
    sys.exit(bool(failures))
