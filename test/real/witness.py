"""Builds and runs the witness (test/witness): what ClrMD and the runtime's own DAC say of a dump."""
import json
import pathlib
import subprocess

import runtimes

SOURCES = runtimes.PROJECT / "test" / "witness"


def build():
    """Compiles the witness, unless it is newer than its sources. Returns its .dll."""
    output = runtimes.cache() / "witness"
    assembly = output / "witness.dll"
    with runtimes.lock():
        if runtimes.outdated(assembly, [SOURCES, SOURCES / "stub"]):
            runtimes.restore()
            clrmd = (runtimes.packages() / "microsoft.diagnostics.runtime" / runtimes.CLRMD_VERSION / "lib" / "net10.0" /
                     "Microsoft.Diagnostics.Runtime.dll")
            runtimes.build(SOURCES / "witness.csproj", output, f"-p:ClrMD={clrmd}")
            assembly.touch()
    return assembly


def survey(dump, major, statics=False, kind="all"):
    """The witness's account of a dump. "all": types, segments, totals, object_hash; of full dumps on demand static fields.
    "fields": names of fields and references; of full dumps only."""
    result = pathlib.Path(f"{dump}.witness.json")
    dac = runtimes.runtime(major) / "libmscordaccore.so"
    command = [runtimes.sdk(), build(), kind, dump, dac, result, *(["--statics"] if statics else [])]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the witness failed with code {done.returncode}:\n{done.stdout}")
    try:
        return json.loads(result.read_text())
    finally:
        result.unlink()


def corrupted(dump, major):
    """What ClrMD's VerifyHeap() finds: {address of an object: ObjectCorruptionKind}."""
    command = [runtimes.sdk(), build(), "corrupted", dump, runtimes.runtime(major) / "libmscordaccore.so"]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the witness failed with code {done.returncode}:\n{done.stdout}")
    return dict(line.split() for line in done.stdout.splitlines())
