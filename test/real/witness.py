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


class Died(Exception):
    """The witness, or rather the runtime's DAC in it, crashed."""


def addresses(dump, major, listed):
    """How a list of objects' addresses differs from those that ClrMD walks: [(lost | lost-carefully | more, address, size,
    what ClrMD says is wrong with it)], as test/witness/Addresses.cs has it; and how many it walks, and carefully."""
    asked = pathlib.Path(f"{dump}.addresses")
    asked.write_text("".join(f"{address:#x}\n" for address in listed))
    command = [runtimes.sdk(), build(), "addresses", dump, runtimes.runtime(major) / "libmscordaccore.so", asked]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    asked.unlink()
    if done.returncode < 0:
        raise Died(f"ClrMD died of signal {-done.returncode}")
    if done.returncode != 0:
        raise RuntimeError(f"the witness failed with code {done.returncode}:\n{done.stdout}")
    *rows, last = [line.split() for line in done.stdout.splitlines()]
    return [(what, int(address, 16), int(size), wrong) for what, address, size, wrong in rows], tuple(map(int, last[1:]))
