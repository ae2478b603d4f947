"""A root folder in which programs for musl run, and commands that run in it: for runtimes.py.

    musl.py ROOT FOLDER… -- COMMAND        runs the command there

musl_root.sh makes it: musl, libgcc, libstdc++. It is entered in a namespace of mounts that the command has of its own, so this machine has no
musl loader afterwards. Folders are at the same places inside and outside.
"""
import ctypes
import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

SCRIPT = pathlib.Path(__file__).resolve().parent / "musl_root.sh"
NEEDED = ("apt-get", "dpkg", "g++", "make", "xz")
MOST_SECONDS = 300
SAME_RUN = 1800
SHARED = ("/proc", "/dev", "/sys")


def why_not():
    """Why there can be no such root here, or None."""
    if platform.machine() != "x86_64":
        return "it is for x86-64"
    if os.geteuid() != 0:
        return "only root may enter a folder as its root"
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        return f"{', '.join(missing)} is not here"
    with tempfile.TemporaryDirectory(prefix="dnheap-musl-") as empty:
        trial = subprocess.run(inside(empty, ("/bin", "/lib", "/lib64", "/usr"), ["/bin/true"]), cwd="/", capture_output=True, text=True)
    return f"a folder cannot be made the root: {trial.stderr.splitlines()[-1]}" if trial.returncode != 0 else None


def folder(cache):
    """Where the root is, or is to be: another one for another compiler, or if how it is made has changed."""
    compiler = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    return cache / f"musl-{compiler}-{hashlib.sha256(SCRIPT.read_bytes()).hexdigest()[:12]}"


def make(root):
    """Makes it, unless it is there. What is wrong, or None; what was wrong a short time ago, it does not try again."""
    failed = root.with_name(root.name + ".failed")
    if root.exists():
        return None
    if failed.exists() and time.time() - failed.stat().st_mtime < SAME_RUN:
        return failed.read_text()
    code = subprocess.run(["timeout", "--kill-after=10", str(MOST_SECONDS), SCRIPT, root]).returncode
    if code == 0:
        return None
    log = root.with_name(root.name + ".log").read_text().splitlines()
    reason = next((line for line in reversed(log) if "error" in line or line.startswith("E:")), log[-1] if log else "no word")
    failed.write_text(f"it takes longer than {MOST_SECONDS} s" if code == 124 else f"{reason} ({root}.log)")
    return failed.read_text()


def inside(root, folders, command):
    """The command, in that root, with these folders at their places. It keeps the id of the process that begins it."""
    return [sys.executable, __file__, str(root), *SHARED, *map(str, folders), "--", *map(str, command)]


BIND, RECURSIVE, PRIVATE, DETACH, NEW_MOUNTS = 0x1000, 0x4000, 1 << 18, 2, 0x20000  # of <sys/mount.h> and <sched.h>
PIVOT_ROOT = 155  # the system call's number


def enter(root, *arguments):
    """Goes where inside() leads, as programs that make containers do: nothing of the old root is left there."""
    system = ctypes.CDLL(None, use_errno=True)

    def do(what, *words):
        if getattr(system, what)(*(word.encode() if isinstance(word, str) else word for word in words)) != 0:
            raise OSError(ctypes.get_errno(), f"{what} {words}: {os.strerror(ctypes.get_errno())}")

    split, at = arguments.index("--"), os.getcwd()
    do("unshare", NEW_MOUNTS)
    do("mount", None, "/", None, RECURSIVE | PRIVATE, None)
    do("mount", root, root, None, BIND, None)  # what is to be the root must be mounted
    for folder in arguments[:split]:
        os.makedirs(root + folder, exist_ok=True)
        do("mount", folder, root + folder, None, BIND | RECURSIVE, None)
    os.chdir(root)
    do("syscall", PIVOT_ROOT, ".", ".")
    do("umount2", ".", DETACH)
    os.chdir(at)
    os.execv(arguments[split + 1], arguments[split + 1:])


if __name__ == "__main__":
    enter(*sys.argv[1:])
