#!/usr/bin/env python3
"""What is shipped for another system or processor, run here by Wine or qemu, beside dnheap here (beside.py, windows_ways.py).

    elsewhere.py win-x64|linux-arm64 DNHEAP [THERE]

Without THERE it is built first (preset of that name), where a compiler for it is. Nothing is tested, loudly and with exit code 77, where that or
what runs it cannot be had.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import beside
import windows_ways
from beside import PROJECT

WINES = ("/usr/lib/wine/wine64", shutil.which("wine64"), shutil.which("wine"))
QEMUS = (shutil.which("qemu-aarch64-static"), shutil.which("qemu-aarch64"))


def skip(why):
    print(f"SKIPPED: what is shipped for another system was NOT run: {why}")
    sys.exit(77)


def first(places, package):
    return next((place for place in places if place and os.path.exists(place)), None) or skip(f"there is no {package} (Debian's name)")


def built(target, name, compiler, package):
    if not shutil.which(compiler):
        skip(f"there is no {package} (Debian's name)")
    if subprocess.run([PROJECT / "dev", "build", target, "dnheap-cli"], stdout=subprocess.DEVNULL).returncode:
        sys.exit(f"{name} for {target} could not be built")
    return PROJECT / "build" / target / name


def ask_windows(here, there, folder):
    wine = first(WINES, "wine64")
    there = there or built("win-x64", "dnheap.exe", "x86_64-w64-mingw32-g++-posix", "g++-mingw-w64-x86-64-posix")
    both = beside.Beside(here, [wine, there], WINEDEBUG="-all", WINEPREFIX=folder)
    try:
        subprocess.run([*both.there, "--version"], env=both.environment, capture_output=True, timeout=600, check=True)
        # What it says of processes that are there: test/real/windows_live.py.
        for words, code, sentence in ((["ps"], 0, b"0 .NET processes"), (["stat", "-p", "1"], 3, b"there is no process 1")):
            done = subprocess.run([*both.there, *words], env=both.environment, capture_output=True, timeout=600, check=False)
            if done.returncode != code or sentence not in done.stdout + done.stderr:
                both.fail(words, done, sentence.decode())
        windows_ways.Ways(both, folder).try_all()
        return both.ask_all(folder)
    finally:
        subprocess.run([shutil.which("wineserver") or "/usr/lib/wine/wineserver", "-k"], env=both.environment, check=False)


def ask_arm64(here, there, folder):
    qemu = first(QEMUS, "qemu-user-static")
    there = there or built("linux-arm64", "dnheap", "aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu")
    return beside.Beside(here, [qemu, there]).ask_all(folder)


ASK = {"win-x64": ask_windows, "linux-arm64": ask_arm64}


def main():
    target, here = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    there = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None
    os.chdir(PROJECT)
    with tempfile.TemporaryDirectory() as folder:
        return ASK[target](here, there, folder)


if __name__ == "__main__":
    sys.exit(main())
