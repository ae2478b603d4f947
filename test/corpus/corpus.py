"""Where the dumps of $DNHEAP_CORPUS lie; for the scripts beside this one."""
import os
import pathlib
import shutil
import sys

SKIPPED = 77


def folder(name, what):
    """$DNHEAP_CORPUS/name. Where it or zstd is missing nothing is tested: says so, loudly, and ends the program."""
    def skip(why):
        print(f"SKIPPED: {what} were NOT compared: {why}")
        sys.exit(SKIPPED)

    if "DNHEAP_CORPUS" not in os.environ:
        skip("DNHEAP_CORPUS does not name their folder")
    path = pathlib.Path(os.environ["DNHEAP_CORPUS"]) / name
    if not path.is_dir():
        skip(f"there is no {path}")
    if not shutil.which("zstd"):
        skip("zstd is not installed")
    return path
