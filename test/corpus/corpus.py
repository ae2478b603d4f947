"""Where the dumps of $DNHEAP_CORPUS lie, and each of them in turn; for the scripts beside this one."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

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


def check_each(doc, name, what, dumps, suffix, check):
    """The main function of a script that takes DNHEAP and --only NAME: check(dnheap, folder, dump's name, its file, an empty folder) gives
    problems, in words. The exit code."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dnheap")
    parser.add_argument("--only")
    options = parser.parse_args()
    path, failed = folder(name, what), 0
    for one in dumps:
        if options.only not in (None, one):
            continue
        with tempfile.TemporaryDirectory(prefix="dnheap-corpus-") as scratch:
            file = pathlib.Path(scratch) / f"{one}.{suffix}"
            subprocess.run(["zstd", "-qdo", file, path / f"{one}.{suffix}.zst"], check=True)
            problems = check(options.dnheap, path, one, file, pathlib.Path(scratch))
        print(f"{one}: {'ok' if not problems else f'{len(problems)} problems'}")
        for problem in problems[:20]:
            print(f"  {problem}"[:600])
        failed += bool(problems)
    return failed != 0
