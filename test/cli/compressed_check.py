#!/usr/bin/env python3
"""Is the bundled sample the same dump however it is compressed? Usage: compressed_check.py DNHEAP

It is compressed anew by the tools that are here: zstd, gzip, xz (one block, and several) and lz4. Whole, the answer is that of the
sample; cut off, it is one that says so.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
SAMPLE = PROJECT / "sample" / "demo.core.zst"
TOOLS = {".gz": ["gzip", "-1c"], ".xz": ["xz", "-0c", "-T1"], ".blocks.xz": ["xz", "-0c", "-T2", "--block-size=8MiB"],
         ".lz4": ["lz4", "-qc"], ".blocks.lz4": ["lz4", "-qc", "-B4", "-BD", "-BX"]}


def stat(dnheap, path, *options):
    done = subprocess.run([dnheap, "stat", path, "--format", "csv", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def problems_of(dnheap, path, expected, folder):
    for options in ([], ["--temp-dir", folder], ["--threads", "1"]):
        code, out, err = stat(dnheap, path, *options)
        if code or out != expected:
            yield f"{path.name} {' '.join(options)}: exit code {code}, {len(out)} bytes of {len(expected)}: {err}"
    content = path.read_bytes()
    cut = pathlib.Path(folder, f"cut{path.suffix}")
    cut.write_bytes(content[:len(content) * 3 // 4])
    done = subprocess.run([dnheap, "info", cut], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if f"the {path.suffix[1:].replace('gz', 'gzip')} data are cut off".encode() not in done.stdout:
        yield f"{path.name}, cut off: {done.stdout.decode()[-2000:]}"


def main(dnheap):
    if not shutil.which("zstd"):
        print("NOT TESTED: zstd is not installed")
        return 0
    code, expected, err = stat(dnheap, SAMPLE)
    problems = [f"the sample itself: exit code {code}: {err}"] if code else []
    with tempfile.TemporaryDirectory(prefix="dnheap-compressed-") as folder:
        plain = pathlib.Path(folder, "demo.core")
        subprocess.run(["zstd", "-qdo", plain, SAMPLE], check=True)
        for ending, command in TOOLS.items():
            if not shutil.which(command[0]):
                print(f"NOT TESTED: {command[0]} is not installed")
                continue
            path = pathlib.Path(folder, f"demo.core{ending}")
            with open(path, "wb") as out:
                subprocess.run([*command, plain], stdout=out, check=True)
            problems += problems_of(dnheap, path, expected, folder)
    print("\n".join(problems) or "compressed: ok")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
