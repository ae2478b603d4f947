#!/usr/bin/env python3
"""Makes the bundled sample: sample/demo.core.zst, a dump of test/programs/demo, and sample/demo.truth.json.

    test/real/make_sample.py DNHEAP       compares its answers with the witness and the truth, and has it extract the sample

The sample shall say nothing about the machine it was made on, be small, and be nearly the same when made again. So the
runtime and the program are copied to FOLDER, run there with a bare environment and without address randomisation, and
deleted; what the C library frees is overwritten; and what names this machine still (the kernel's name for its build in the
vDSO, what the runtime read of mounts and control groups) is blanked in the dump.
Needs what the real-dump tests need (README.md), setarch (util-linux) and zstd.
"""
import argparse
import getpass
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import compare
import extracted
import runtimes
import targets
import witness

SAMPLE = runtimes.PROJECT / "sample"
FOLDER = pathlib.Path("/tmp/shop")  # what the dump will name as the place of its modules
MAJOR = 11
PIECE = 8  # characters: the shortest piece of text that is compared

# Fewer helper threads, no second mapping of code, and a small nursery: all of them would be written to the dump.
SETTINGS = {
    "DOTNET_ROOT": str(FOLDER / "dotnet"),
    "DOTNET_EnableDiagnostics": "0",
    "DOTNET_EnableWriteXorExecute": "0",
    "DOTNET_GCgen0size": "0x100000",
    "DOTNET_TieredCompilation": "0",
    "DOTNET_gcConcurrent": "0",
    "DOTNET_gcServer": "0",
    "MALLOC_PERTURB_": "255",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dnheap", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dnheap-sample-") as folder:
        dump = pathlib.Path(folder) / "demo.core"
        truth = make(dump)
        blank_private_text(dump)
        dnheap = options.dnheap.resolve()
        problems = check(dnheap, dump, truth) + extracted.problems(dnheap, dump)
        if problems:
            print("\n".join(problems), file=sys.stderr)
            return 1
        small = dump.with_name("small.core")
        subprocess.run([dnheap, "extract", dump, "-o", small], check=True, stdout=subprocess.DEVNULL)
        keep(small, truth)
    return 0


def make(dump):
    """Runs the program and dumps it. Returns its truth."""
    try:
        lay_out()
        command = ["setarch", "-R", FOLDER / "dotnet" / "dotnet", "exec", "--fx-version", runtimes.VERSIONS[MAJOR],
                   "--runtimeconfig", FOLDER / "runtimeconfig.json", FOLDER / "demo.dll"]
        with subprocess.Popen([str(part) for part in command], env=SETTINGS, cwd=FOLDER, text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, preexec_fn=targets.limits) as process:
            truth = json.loads(process.stdout.readline().removeprefix("TRUTH "))
            process.stdout.readline()
            createdump = runtimes.runtime(MAJOR) / "createdump"
            subprocess.run([createdump, "--withheap", "-f", dump, str(truth["pid"])], check=True, stdout=subprocess.DEVNULL)
            process.stdin.close()
        return truth
    finally:
        shutil.rmtree(FOLDER)


def lay_out():
    """Copies the runtime and the program to FOLDER."""
    FOLDER.mkdir()
    shutil.copytree(runtimes.lay_out() / "host", FOLDER / "dotnet" / "host")
    shutil.copy2(runtimes.dotnet_root() / "dotnet", FOLDER / "dotnet" / "dotnet")
    shutil.copytree(runtimes.runtime(MAJOR), FOLDER / "dotnet" / runtimes.runtime(MAJOR).relative_to(runtimes.dotnet_root()))
    shutil.copy2(targets.build("demo"), FOLDER)
    shutil.copy2(targets.PROGRAMS / "common" / "target.runtimeconfig.json", FOLDER / "runtimeconfig.json")


def blank_private_text(dump):
    """Overwrites text in the dump that is about this machine: what the runtime read of mounts and control groups, also in
    pieces, and every word that names the machine, its user or folders of theirs."""
    content = bytearray(dump.read_bytes())
    pieces = private_pieces()
    for run in re.finditer(rb"[ -~]{%d,}" % PIECE, bytes(content)):
        for at in range(run.start(), run.end() - PIECE + 1):
            if run[0][at - run.start():at - run.start() + PIECE] in pieces:
                content[at:at + PIECE] = bytes(PIECE)
    groups = {line.split(":")[2] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()}
    words = {str(runtimes.PROJECT), str(runtimes.cache()), str(pathlib.Path.home()), platform.node(), getpass.getuser(),
             platform.release(), *groups}
    for word in sorted(word for word in words if len(word) > 4):  # shorter ones, such as the user root, occur by chance
        for encoding, character in (("utf-8", rb"[!-~]"), ("utf-16-le", rb"(?:[!-~]\0)")):
            text = rb"%b*%b%b*" % (character, re.escape(word.encode(encoding)), character)
            for found in list(re.finditer(text, content)):
                content[found.start():found.end()] = bytes(len(found[0]))
    dump.write_bytes(content)


def private_pieces():
    """All stretches of PIECE characters in what this machine says of its mounts, unless they are in public files as well."""
    def cut(text):
        return {text[at:at + PIECE] for at in range(len(text) - PIECE + 1)}

    private = set()
    for name in ("mountinfo", "mounts", "cgroup"):
        for line in pathlib.Path("/proc/self", name).read_bytes().splitlines():
            private |= cut(line)
    for file in [*runtimes.runtime(MAJOR).iterdir(), pathlib.Path("/proc/self/maps")]:
        if private and file.suffix != ".json":
            for run in re.findall(rb"[ -~]{%d,}" % PIECE, file.read_bytes()):
                private -= cut(run)
    return private


def check(dnheap, dump, truth):
    answers = [json.loads(subprocess.run([dnheap, verb, dump, "--format", "json", "--top", "0"], check=True,
                                         stdout=subprocess.PIPE).stdout) for verb in ("stat", "segments")]
    return compare.at_rest(*answers, witness.survey(dump, MAJOR), truth, regions=True)


def keep(dump, truth):
    SAMPLE.mkdir(exist_ok=True)
    target = SAMPLE / "demo.core.zst"
    # dnheap, like zstd itself, decompresses windows of up to 128 MiB (2^27).
    subprocess.run(["zstd", "--ultra", "-22", "--long=27", "--quiet", "--force", dump, "-o", target], check=True)
    target.chmod(0o644)
    (SAMPLE / "demo.truth.json").write_text(json.dumps(truth, indent=1, sort_keys=True) + "\n")
    print(f"{target.relative_to(runtimes.PROJECT)}: {dump.stat().st_size:,} bytes as {target.stat().st_size:,}")


if __name__ == "__main__":
    sys.exit(main())
