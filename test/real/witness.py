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


def command(kind, dump, major, *more):
    """What runs the witness with the runtime's own DAC, which runs only where the runtime does."""
    dac = runtimes.runtime(major) / "libmscordaccore.so"
    asking = [str(part) for part in (build(), kind, dump, dac, *more)]
    if runtimes.on_musl():
        return ["env", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1", *runtimes.inside([runtimes.lay_out() / "dotnet", "exec", *asking])]
    return [str(runtimes.sdk()), *asking]


def survey(dump, major, statics=False, kind="all"):
    """The witness's account of a dump. "all": types, segments, totals, object_hash; of full dumps on demand static fields.
    "fields": names of fields and references; of full dumps only."""
    result = pathlib.Path(f"{dump}.witness.json")
    done = subprocess.run(command(kind, dump, major, result, *(["--statics"] if statics else [])), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the witness failed with code {done.returncode}:\n{done.stdout}")
    try:
        return json.loads(result.read_text())
    finally:
        result.unlink()


def corrupted(dump, major):
    """What ClrMD's VerifyHeap() finds: {address of an object: ObjectCorruptionKind}."""
    done = subprocess.run(command("corrupted", dump, major), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the witness failed with code {done.returncode}:\n{done.stdout}")
    return dict(line.split() for line in done.stdout.splitlines())


def stacks(dump, major, patience=120):
    """What ClrMD says of each thread's frames and roots, by OS id; and of what threads it says nothing: {OS id: why}. It reads
    some stacks until its memory ends, or crashes: then it is asked again, of the other threads."""
    result = pathlib.Path(f"{dump}.witness.stacks")
    threads, failed = {}, {}
    while True:
        asking = command("stacks", dump, major, result, "--skip=" + ",".join(map(str, [*threads, *failed])))
        result.unlink(missing_ok=True)
        why = None
        try:
            done = subprocess.run(asking, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=patience)
            if done.returncode != 0:
                why = f"ClrMD died of signal {-done.returncode}" if done.returncode < 0 else done.stdout.strip()[-500:]
        except subprocess.TimeoutExpired:
            why = f"ClrMD did not end within {patience} seconds"
        lines = result.read_text().splitlines() if result.exists() else []
        result.unlink(missing_ok=True)
        begun = None
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:  # cut off
                break
            begun = row.get("begin", begun)
            if "os_id" in row:
                threads[row["os_id"]] = row
        if why is None:
            return threads, failed
        if begun is None or begun in threads:
            raise RuntimeError(f"the witness failed: {why}")
        failed[begun] = why


class Died(Exception):
    """The witness, or rather the runtime's DAC in it, crashed."""


def addresses(dump, major, listed):
    """How a list of objects' addresses differs from those that ClrMD walks: [(lost | lost-carefully | more, address, size,
    what ClrMD says is wrong with it)], as test/witness/Addresses.cs has it; and how many it walks, and carefully."""
    asked = pathlib.Path(f"{dump}.addresses")
    asked.write_text("".join(f"{address:#x}\n" for address in listed))
    done = subprocess.run(command("addresses", dump, major, asked), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    asked.unlink()
    if done.returncode < 0:
        raise Died(f"ClrMD died of signal {-done.returncode}")
    if done.returncode != 0:
        raise RuntimeError(f"the witness failed with code {done.returncode}:\n{done.stdout}")
    *rows, last = [line.split() for line in done.stdout.splitlines()]
    return [(what, int(address, 16), int(size), wrong) for what, address, size, wrong in rows], tuple(map(int, last[1:]))
