"""Packages that npm installs for a test, into the cache folder ($DNHEAP_CACHE, or build/real-cache below the project)."""
import fcntl
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
CACHE = pathlib.Path(os.environ.get("DNHEAP_CACHE") or PROJECT / "build" / "real-cache")


class Skipped(Exception):
    pass


def packages(folder):
    """The folder node_modules with what `folder`/package-lock.json names."""
    if not shutil.which("node") or not shutil.which("npm"):
        raise Skipped("there is no node, or no npm")
    cache = CACHE / f"{folder.parent.name}-{folder.name}"
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "lock", "w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # tests that run beside each other share them
        install(folder, cache)
    return cache / "node_modules"


def install(folder, cache):
    wanted = (folder / "package-lock.json").read_text()
    if (cache / "done").exists() and (cache / "done").read_text() == wanted:
        return
    for name in "package.json", "package-lock.json":
        shutil.copy(folder / name, cache)
    # Not npm ci, which wants the libraries for all other systems listed, too.
    done = subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=cache, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Skipped(f"npm cannot install what package-lock.json names: {done.stdout[-500:]}")
    (cache / "done").write_text(wanted)
