#!/usr/bin/env python3
"""dnheap.exe under Wine beside dnheap here (beside.py).

    windows.py DNHEAP [DNHEAP.EXE]

Without the second it is built first (preset win-x64), where mingw-w64 is. Nothing is tested, loudly and with exit code 77, where that or Wine
cannot be had.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import beside
from beside import PROJECT

WINES = ("/usr/lib/wine/wine64", shutil.which("wine64"), shutil.which("wine"))


def skip(why):
    print(f"SKIPPED: dnheap.exe was NOT run: {why}")
    sys.exit(77)


def wine():
    for place in WINES:
        if place and os.path.exists(place):
            return place
    return skip("Wine is not installed (Debian: wine64)")


def built():
    if not shutil.which("x86_64-w64-mingw32-g++-posix"):
        skip("mingw-w64 is not installed (Debian: g++-mingw-w64-x86-64-posix)")
    if subprocess.run([PROJECT / "dev", "build", "win-x64", "dnheap-cli"], stdout=subprocess.DEVNULL).returncode:
        sys.exit("dnheap.exe could not be built")
    return PROJECT / "build/win-x64/dnheap.exe"


def main():
    here = pathlib.Path(sys.argv[1]).resolve()
    wine()
    there = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else built()
    os.chdir(PROJECT)
    with tempfile.TemporaryDirectory() as prefix:
        both = beside.Beside(here, [wine(), there], WINEDEBUG="-all", WINEPREFIX=prefix)
        try:
            subprocess.run([*both.there, "--version"], env=both.environment, capture_output=True, timeout=600, check=True)
            for words in (["ps"], ["stat", "-p", "1"]):
                done = subprocess.run([*both.there, *words], env=both.environment, capture_output=True, timeout=600, check=False)
                if done.returncode != 3 or b"on Linux only" not in done.stderr:
                    both.fail(words, done, "a sentence that only Linux has that")
            return both.ask_all(prefix)
        finally:
            subprocess.run([shutil.which("wineserver") or "/usr/lib/wine/wineserver", "-k"], env=both.environment, check=False)


if __name__ == "__main__":
    sys.exit(main())
