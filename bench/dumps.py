"""Dumps to measure on, kept in the cache ($DNHEAP_CACHE, or build/real-cache): made where they are not there yet."""
import json
import pathlib
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "test" / "real"))
import runtimes
import targets

MAJOR = 10
SKIPPED = 77
SAMPLE = PROJECT / "sample" / "demo.core.zst"


class Dump:
    """`truth`: what the program said of its heap."""

    def __init__(self, name, core, truth):
        self.name, self.core, self.truth = name, core, truth


def measured(run, keep):
    """What run(made) returns, and 77 where .NET is not to be had; the files that it puts into `made` are gone then, unless they are kept."""
    made = []
    try:
        return run(made)
    except runtimes.Missing as reason:
        say(f"SKIPPED: NOTHING WAS MEASURED: {reason}")
        return SKIPPED
    finally:
        for file in made if not keep else []:
            file.unlink(missing_ok=True)


def say(text):
    print(text, file=sys.stderr, flush=True)


def folder():
    path = runtimes.cache() / "bench"
    path.mkdir(parents=True, exist_ok=True)
    return path


def of_program(name, program, arguments, made, major=MAJOR):
    """A dump of test/programs/PROGRAM, workstation GC. `made` gets the files that were not there before."""
    of_version = [] if major == MAJOR else [f"net{major}"]
    core = folder() / f"{'-'.join([program, *map(str, arguments), *of_version])}.core"
    truth = core.with_suffix(".truth.json")
    if not (core.exists() and truth.exists()):
        say(f"making {core.name}")
        made += [core, truth]
        with targets.Target(program, major, arguments=[str(one) for one in arguments]) as target:
            target.dump("heap", core)
        truth.write_text(json.dumps(target.truth))
    return Dump(name, core, json.loads(truth.read_text()))


def graph(nodes, made, major=MAJOR):
    return of_program(f"graph, {nodes / 1e6:g} M nodes", "graph", [nodes], made, major)


def tree(nodes, made, major=MAJOR):
    return of_program(f"tree, {nodes / 1e6:g} M nodes", "graph", [nodes, "tree"], made, major)


def business(objects, made, major=MAJOR):
    return of_program(f"business, {objects / 1e6:g} M objects", "business", [objects], made, major)


def many_types(objects, types, made):
    return of_program(f"business, {objects / 1e6:g} M objects of {types:,} types", "business", [objects, types], made)


def sample(made):
    core = folder() / "demo.core"
    if not core.exists() or core.stat().st_mtime < SAMPLE.stat().st_mtime:
        made.append(core)
        subprocess.run(["zstd", "-dqf", SAMPLE, "-o", core], check=True)
        core.touch()
    return Dump("the sample, decompressed", core, json.loads(SAMPLE.with_name("demo.truth.json").read_text()))


def compressed(dump, made):
    """The same dump as `zstd -3` leaves it: one frame."""
    file = dump.core.with_suffix(".core.zst")
    if not file.exists() or file.stat().st_mtime < dump.core.stat().st_mtime:
        say(f"making {file.name}")
        made.append(file)
        subprocess.run(["zstd", "-qf", "-3", "-T1", dump.core, "-o", file], check=True)
    return Dump(dump.name, file, dump.truth)
