#!/usr/bin/env python3
"""The matrix test: real programs on real runtimes, dumped; dnheap must agree with ClrMD and with the programs, exactly.

    matrix.py --list --pairwise            a choice of combinations that covers all pairs
    matrix.py --list --all                 all of them, on the newest patch of each version
    matrix.py --list --patches             those on older patches
    matrix.py DNHEAP --one COMBINATION     makes the dumps of one combination, compares, deletes them

Exit code 0: agreement; 1: differences, each on a line, or, where CI is set, packages that are not to be had; 77: skipped,
because .NET or its packages are not to be had.
Everything downloaded or built is kept in $DNHEAP_CACHE, or build/real-cache below the project.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import combinations
import compare
import corrupted
import descriptor11
import extracted
import live
import mapped
import runtimes
import targets
import thin
import witness

SKIPPED = 77
SERIES = 8  # dumps taken of one process
PAUSE = 0.04  # seconds between them: of a background collection some see it mark, some see it sweep
BACKGROUND_TRIES = 4
PATIENCE = 60  # seconds for one dnheap command; each should take less than one


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dnheap", nargs="?", type=pathlib.Path, help="the program to test")
    parser.add_argument("--one", metavar="COMBINATION", type=combination_argument)
    parser.add_argument("--list", action="store_true", help="print combinations instead of running one")
    parser.add_argument("--pairwise", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--patches", action="store_true")
    options = parser.parse_args()

    if options.list and options.pairwise + options.all + options.patches == 1:
        chosen = combinations.pairwise() if options.pairwise else combinations.everything() if options.all else ()
        of_musl = combinations.MUSL_SAMPLE if options.pairwise else combinations.on_musl() if options.all else ()
        print("\n".join([*[combinations.text(one) for one in chosen], *of_musl] or combinations.patched()))
        return 0
    if not (options.dnheap and options.one):
        parser.error("say --list and --pairwise, --all or --patches, or DNHEAP and --one COMBINATION")
    combination, patch = options.one
    if patch:
        runtimes.choose(patch)
    return exit_code(run, options.dnheap.resolve(), combination)


def exit_code(run, *arguments):
    """Prints the problems that run(*arguments) finds."""
    try:
        problems = run(*arguments)
    except runtimes.Missing as reason:
        # A green run where .NET is must have looked at real dumps.
        fails = os.environ.get("CI") and not isinstance(reason, runtimes.NoSdk)
        print(f"{'FAILED' if fails else 'SKIPPED'}: NO REAL DUMPS WERE TESTED: {reason}", file=sys.stderr)
        return 1 if fails else SKIPPED
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def main_of_kinds(about, kinds, sample, run):
    """The program of a script that tests kinds of dumps, each written as words between colons: `--list` (all, or `--sample`: the few
    that even a short run makes) or `DNHEAP --one KIND`, which calls run(DNHEAP, each word): versions as numbers. Returns its exit code."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dnheap", nargs="?", type=pathlib.Path, help="the program to test")
    parser.add_argument("--one", metavar="KIND", choices=kinds)
    parser.add_argument("--list", action="store_true", help="print the kinds instead of running one")
    parser.add_argument("--sample", action="store_true", help="of these the few that even a short run makes")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(sample if options.sample else kinds))
        return 0
    if not (options.dnheap and options.one):
        parser.error("say --list, or DNHEAP and --one KIND")
    words = [int(word) if word.isdigit() else runtimes.choose(word) if word in runtimes.MUSL else word for word in options.one.split(":")]
    return exit_code(run, options.dnheap.resolve(), *words)


def combination_argument(text):
    try:
        return combinations.on_patch(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def run(dnheap, combination):
    """All problems of one combination, in words."""
    if combination.dump in ("normal", "triage"):
        return without_heap(dnheap, combination)
    if combination.mode == "background":
        return during_background_collection(dnheap, combination)
    if combination.mode == "busy":
        return while_allocating(dnheap, combination)
    if combination.mode in ("handles", "oom") or combination.mode.startswith("cpus"):
        return with_handles(dnheap, combination)
    if combination.mode.startswith("live"):
        return live_process(dnheap, combination)
    if combination.mode == "holders":
        return with_holders(dnheap, combination)
    if combination.mode == "values":
        return with_values(dnheap, combination)
    if combination.mode in ("emitted", "unloaded"):
        return with_loaders(dnheap, combination)
    if combination.mode == "fields":
        return with_fields(dnheap, combination)
    if combination.mode == "stopped":
        return inside_collection(dnheap, combination)
    if combination.mode == "business":
        return like_a_business(dnheap, combination)
    if combination.mode == "background-done":
        return at_rest(dnheap, combination, "graph", ["1000000", "background-done"])
    return at_rest(dnheap, combination, "zoo") + at_rest(dnheap, combination, "graph", ["600000"])


def start(combination, program, arguments=()):
    return targets.Target(program, combination.major, combination.heaps == "svr", combination.gc, arguments,
                          combinations.MODES[combination.mode])


def at_rest(dnheap, combination, program, arguments=()):
    with tempfile.TemporaryDirectory(prefix="dnheap-matrix-") as folder:
        with start(combination, program, arguments) as target:
            names = None
            if combination.dump in ("gcore", "kernel"):
                names = type_names(target, pathlib.Path(folder) / f"{program}-names.core")
            dump = target.dump(combination.dump, pathlib.Path(folder) / f"{program}.core")
        problems = check(dnheap, combination, dump, target.truth, compare.at_rest, names)
        if program == "zoo" and combination.dump == "full":
            problems += after_corruption(dnheap, combination, dump)
        return problems


def after_corruption(dnheap, combination, dump):
    """The same dump with bytes of its heap overwritten: `verify` and ClrMD's VerifyHeap() must find the same."""
    done, lost = corrupted.corrupt(dump, answer(dnheap, "objects", dump)["tables"]["objects"])
    found = corrupted.differences(done, lost, answer(dnheap, "verify", dump, "--verbose"), witness.corrupted(dump, combination.major))
    print(f"{dump.name}: {len(done)} objects corrupted")
    return [f"corrupted: {problem}" for problem in found]


def like_a_business(dnheap, combination):
    """A heap of many small shapes, with survivors of all ages, whose program counts some types; some of what it says is younger than
    the last collection, so the GC's own account of that is left out."""
    with tempfile.TemporaryDirectory(prefix="dnheap-matrix-") as folder:
        with start(combination, "business", ["200000"]) as target:
            dump = target.dump(combination.dump, pathlib.Path(folder) / "business.core")
        problems = check(dnheap, combination, dump, target.truth, compare.collecting)
        live, account = answer(dnheap, "stat", dump, "--live"), witness.survey(dump, combination.major)
        return problems + compare.references(answer(dnheap, "verify", dump), live, answer(dnheap, "handles", dump), account)


def live_process(dnheap, combination):
    """No dump: the process itself."""
    if combination.mode == "live-busy":
        with start(combination, "worker") as target:
            return live.under_load(dnheap, target)
    problems = []
    for program, arguments in (("zoo", []), ("graph", ["600000"])):
        with start(combination, program, arguments) as target:
            problems += live.at_rest(dnheap, target)
    return problems


def with_handles(dnheap, combination):
    """A program that counts its handles, or that ran out of memory."""
    argument = {"handles": [], "oom": ["oom"]}.get(combination.mode, ["cpus"])
    with tempfile.TemporaryDirectory(prefix="dnheap-matrix-") as folder:
        with start(combination, "handles", argument) as target:
            dump = target.dump(combination.dump, pathlib.Path(folder) / "handles.core")
        handles, gc = answer(dnheap, "handles", dump), answer(dnheap, "gc", dump)
        account = witness.survey(dump, combination.major)
    problems = compare.handles(handles, account, combination.major) + compare.finalization(gc, account)
    problems += compare.own_handles(handles, target.truth) + compare.gc_memory(gc, account)
    problems += compare.own_settings(gc, target.settings)
    print(f"{len(handles['tables']['handles'])} handles, of which ClrMD finds {len(account['handles'])}")
    if combination.mode == "oom":
        rows = [row for row in gc["tables"]["oom"] if row["happened"]]
        print("; ".join(row["words"] for row in rows))
        if not any(row["asked_bytes"] > 20 << 20 and "the GC could not get 20.0 MiB" in row["words"] for row in rows):
            problems.append(f"no allocation of 20 MiB is said to have failed: {gc['tables']['oom']}")
        if not any("limit is 128.0 MiB (DOTNET_GCHeapHardLimit=0x8000000)" in row["words"] for row in rows):
            problems.append(f"the GC's own limit is not named: {gc['tables']['oom']}")
    return problems


def with_holders(dnheap, combination):
    """A program that holds an object in every way there is: roots, paths and what would be freed must tell each, by name."""
    with tempfile.TemporaryDirectory(prefix="dnheap-matrix-") as folder:
        with start(combination, "holders") as target:
            dump = target.dump(combination.dump, pathlib.Path(folder) / "holders.core")
        roots, handles = answer(dnheap, "roots", dump), answer(dnheap, "handles", dump)
        account = witness.survey(dump, combination.major, statics=combination.dump == "full")
        problems = paths_and_retained(dnheap, dump, target.truth)
    print(", ".join(f"{row['roots']} {row['kind']}" for row in roots["tables"]["kinds"]))
    problems += compare.own_roots(roots, target.truth)
    return problems + compare.roots(roots, handles, account, combination.major)


def with_values(dnheap, combination):
    """A program with values of every kind: `show --values` tells each, of what type it is, and where in an array."""
    problems = []
    with tempfile.TemporaryDirectory(prefix="dnheap-matrix-") as folder:
        with start(combination, "values") as target:
            dump = target.dump(combination.dump, pathlib.Path(folder) / "values.core")
        for expected in target.truth["values"]:
            objects = answer(dnheap, "objects", dump, "--type-exact", expected["type"])["tables"]["objects"]
            shown = answer(dnheap, "show", dump, objects[0]["address"], "--values") if objects else None
            problems += compare.own_values(shown, expected)
        print(f"values of {len(target.truth['values'])} objects")
        return problems + extracted.problems(dnheap, dump)


def with_loaders(dnheap, combination):
    """A program with code that can be collected, or was: everything is found, named and held as the program says."""
    with tempfile.TemporaryDirectory(prefix="dnheap-matrix-") as folder:
        with start(combination, "loaders", [combination.mode]) as target:
            dump = target.dump(combination.dump, pathlib.Path(folder) / "loaders.core")
        roots, handles = answer(dnheap, "roots", dump), answer(dnheap, "handles", dump)
        account = witness.survey(dump, combination.major, statics=combination.dump == "full")
        missing = [row["value"] for row in answer(dnheap, "contract", dump)["tables"]["missing"]]
        verify = answer(dnheap, "verify", dump)
        problems = [problem for held in target.truth["held"]
                    for problem in compare.own_path(answer(dnheap, "path", dump, held["address"]), held)]
    print(f"{sum(row['kind'] == 'static' for row in roots['tables']['roots'])} static roots, missing: {missing}")
    unknown = {"Module.LoaderAllocator", "LoaderAllocator.ObjectHandle", "Module.DomainLocalModule", "SyncTableEntries",
               "SyncTableEntry.Object"} & set(missing)
    problems += [f"{value} was not found" for value in sorted(unknown)]
    problems += [f"verify: {note}" for note in verify["completeness"]["notes"]]
    problems += compare.own_roots(roots, target.truth)
    return problems + compare.roots(roots, handles, account, combination.major)


def paths_and_retained(dnheap, dump, truth):
    """Why each of the program's objects is alive, and how much who holds it would free."""
    problems, owners = [], []
    for held in truth["held"]:
        path = answer(dnheap, "path", dump, held["address"])
        problems += compare.own_path(path, held)
        size = answer(dnheap, "show", dump, held["address"])["tables"]["object"][0]["aligned_bytes"]
        owners.append((next((one["root"]["owner"] for one in path["tables"]["paths"]), None), size))
    return problems + compare.own_retained(answer(dnheap, "retained", dump, "--plain"), truth, owners)


def with_fields(dnheap, combination):
    """A program with references of every shape and delegates of every kind, and the zoo: what they are called."""
    problems = []
    for program in ("fields", "zoo"):
        with tempfile.TemporaryDirectory(prefix="dnheap-matrix-") as folder:
            with start(combination, program) as target:
                dump = target.dump(combination.dump, pathlib.Path(folder) / f"{program}.core")
            done = subprocess.run([dnheap.parent / "fields-dump", dump], capture_output=True, text=True, timeout=PATIENCE)
            if done.returncode != 0:
                return [f"fields-dump ended with code {done.returncode} and said: {done.stderr.strip()}"]
            found = json.loads(done.stdout)
            problems += compare.fields(found, witness.survey(dump, combination.major, kind="fields"))
        problems += compare.own_fields(found, target.truth) if program == "fields" else []
        print(f"{program}: {found['slots']} slots, {len(found['references'])} kinds of references, {found['delegates']} "
              "targets of delegates")
    return problems


def inside_collection(dnheap, combination):
    """A process stopped where the GC declares its structures invalid: dnheap must say so, and give what it can."""
    with tempfile.TemporaryDirectory(prefix="dnheap-matrix-") as folder:
        with start(combination, "handles", ["loop"]) as target:
            before = target.dump("full", pathlib.Path(folder) / "before.core")
            rows = answer(dnheap, "contract", before)["tables"]["globals"]
            variable = next(int(row["value"], 16) for row in rows if row["global"] == "StructureInvalidCount")
            dump = target.stop_where_set(variable, pathlib.Path(folder) / "stopped.core")
        state = {row["datum"]: row["value"] for row in answer(dnheap, "gc", dump)["tables"]["state"]}
        stat = answer(dnheap, "stat", dump)
        handles = answer(dnheap, "handles", dump)
    problems = [] if state["structures_valid"] == "false" else ["the structures are said to be valid"]
    found = stat["completeness"]
    if found["complete"] or not any("while the GC was changing the heap" in note for note in found["notes"]):
        problems.append(f"the heap is called complete, or not said why it is not: {found}")
    print(f"{found['objects']} objects, {found['bad_objects']} bad, {len(found['gaps'])} gaps; "
          f"{len(handles['tables']['handles'])} handles")
    counts = {row["type"]: row["count"] for row in stat["tables"]["types"]}
    made = sum(number for kind, number in target.truth["handles"].items() if kind != "ref_counted")
    # Each handle has an object of its own, each dependent one a second; all are old when the loop begins.
    if counts.get("Marked", 0) < made:
        problems.append(f"of the {made} objects with handles {counts.get('Marked', 0)} were found")
    strong = [row for row in handles["tables"]["handles"] if row["kind"] == "strong"]
    if len(strong) < target.truth["handles"]["strong"]:
        problems.append(f"of the program's strong handles {len(strong)} were found")
    return problems


def as_published(dnheap, combination, dump, derived):
    """The same dump with the descriptors of .NET 11 must get the same answers: what was derived, now read."""
    if combination.major != 10:
        return []
    path = dump.with_suffix(".net11.core")
    descriptor11.rewrite(dnheap, dump, path)
    problems = []
    for one in derived:
        problems += compare.same_answer(one, answer(dnheap, one["command"], path))
    rows = answer(dnheap, "contract", path)["tables"]["contracts"]
    if not any(row["contract"] == "GC" and row["origin"] == "published" for row in rows):
        problems.append("the GC contract that was written into the dump is not seen")
    path.unlink()
    return problems


def type_names(target, path):
    """ClrMD cannot tell the names of types from a core without file pages: it does so from another dump of the process."""
    rows = witness.survey(target.dump("full", path), target.major)["types"]
    path.unlink()
    return {row["method_table"]: row["type"] for row in rows}


def during_background_collection(dnheap, combination):
    """Dumps while a background collection marks and sweeps, until it has ended.

    The GC is free to turn the background collection asked for into a blocking one, so this is tried several times.
    """
    for _ in range(BACKGROUND_TRIES):
        with tempfile.TemporaryDirectory(prefix="dnheap-matrix-") as folder:
            dumps = []
            with start(combination, "graph", ["2000000", "background"]) as target:
                while len(dumps) < SERIES:
                    dumps.append(target.dump(combination.dump,
                                             pathlib.Path(folder) / f"background{len(dumps)}.core"))
                    if target.ask() == "COLLECTED":
                        break
                    time.sleep(PAUSE)
            if len(dumps) > 1:
                return check_all(dnheap, combination, dumps, target.truth, compare.collecting)
    return ["no background collection was still running when its first dump was taken: nothing was tested"]


def while_allocating(dnheap, combination):
    """Dumps of a process whose threads allocate all the time."""
    with tempfile.TemporaryDirectory(prefix="dnheap-matrix-") as folder:
        dumps = []
        with start(combination, "graph", ["200000", "busy"]) as target:
            while len(dumps) < SERIES:
                time.sleep(PAUSE)
                dumps.append(target.dump(combination.dump,
                                         pathlib.Path(folder) / f"busy{len(dumps)}.core"))
        return check_all(dnheap, combination, dumps, target.truth, compare.allocating)


# What answers of a dump without heap as far as it goes.
WITHOUT_HEAP = ("contract", "info", "threads", "stack", "exceptions", "locks")


def without_heap(dnheap, combination):
    """A mini or triage dump. What needs the heap refuses in one line, or says that it is not complete. Threads, stacks, and
    exceptions that threads deal with are those of a full dump of the same process, if the dump holds the runtime's description:
    from .NET 11 on it does, before that as much as can be derived; else all refuse alike."""
    with tempfile.TemporaryDirectory(prefix="dnheap-matrix-") as folder:
        with start(combination, "waits", ["thrown"]) as target:
            full = target.dump("full", pathlib.Path(folder) / "full.core")
            dump = target.dump(combination.dump, pathlib.Path(folder) / f"{combination.dump}.core")
            again = target.dump("full", pathlib.Path(folder) / "again.core")
        problems = without_objects("stat", ask(dnheap, "stat", dump))
        found = {verb: ask(dnheap, verb, dump) for verb in WITHOUT_HEAP}
        refused = [verb for verb in WITHOUT_HEAP if found[verb].returncode == 3]
        print(f"refused: {', '.join(refused) or 'none'}")
        for verb in refused:
            problems += refusal(verb, found[verb])
        if refused and (combination.major >= 11 or len(refused) < len(WITHOUT_HEAP)):
            problems.append(f"refused: {', '.join(refused)}: {found[refused[0]].stderr.strip()}")
        for verb in set(WITHOUT_HEAP) - set(refused):
            if found[verb].returncode != 0:
                problems.append(f"`dnheap {verb}` ended with code {found[verb].returncode}: {found[verb].stderr.strip()}")
            elif verb != "contract" and json.loads(found[verb].stdout)["completeness"]["complete"]:
                problems.append(f"{verb} of a dump without heap is called complete")
        if refused or problems:
            return problems
        return as_of_full(dnheap, combination.major, [full, again], {verb: json.loads(done.stdout)["tables"] for verb, done in found.items()})


def without_objects(verb, done):
    """What needs the heap refuses; where the dump happens to hold some of it, the answer says that it is not complete."""
    if done.returncode == 0 and not json.loads(done.stdout)["completeness"]["complete"]:
        return []
    return refusal(verb, done)


def refusal(verb, done):
    if done.returncode == 3 and not done.stdout and len(done.stderr.splitlines()) == 1:
        return []
    return [f"{verb}: exit code 3 and one line of error expected, not {done.returncode}: {done.stderr or done.stdout[:1000]}"]


def as_of_full(dnheap, major, fulls, found):
    """Threads, frames and exceptions in flight of a dump without heap are those of two full ones of the same process, taken before and
    after it, as far as these two are alike: a thread that compiles goes on meanwhile. Before .NET 11 createdump leaves out what leads to
    exceptions."""
    before, after = ({verb: answer(dnheap, verb, full)["tables"] for verb in ("threads", "stack", "exceptions", "locks")} for full in fulls)

    def threads(of):
        return {row["address"]: (row["os_id"], row["managed_id"], row["frames"], row["method"]) for row in of["threads"]["threads"]}

    def frames(of):
        stacks = {}
        for row in of["stack"]["frames"]:
            stacks.setdefault(row["os_id"], []).append((row["kind"], row["method"], row["ip"]))
        return stacks

    def flying(of):
        return {row["address"]: (row["os_id"], row["type"], row["nested"], row["stack"]) for row in of["exceptions"]["exceptions"]
                if row["os_id"]}

    problems = []
    for what, read in (("threads", threads), ("frames", frames), ("exceptions in flight", flying)):
        expected, later, there = read(before), read(after), read(found)
        moved = {key for key in set(expected) | set(later) if expected.get(key) != later.get(key)}
        print(f"{what}: {len(there)} of {len(expected)}, {len(moved)} of which went on")
        if not set(expected) - moved:
            problems.append(f"no {what} are in both full dumps")
        for key in sorted((set(expected) | set(there)) - moved, key=str):
            if expected.get(key) != there.get(key) and (key in there or major >= 11 or read != flying):
                problems.append(f"{what}: {key}: {there.get(key)} instead of {expected.get(key)}")
    held = {(row["object"], row["kind"], row["owner_os_id"]) for tables in (before, after) for row in tables["locks"]["locks"]}
    return problems + [f"locks: not in the full dump: {row}" for row in found["locks"]["locks"]
                       if (row["object"], row["kind"], row["owner_os_id"]) not in held]


def check_all(dnheap, combination, dumps, truth, judge):
    problems = []
    for dump in dumps:
        problems += check(dnheap, combination, dump, truth, judge)
        dump.unlink()
    return problems


def check(dnheap, combination, dump, truth, judge, names=None):
    """Asks dnheap and the witness about one dump and has `judge`, a function of compare.py, compare the answers.

    `names`, of types by method table, replace those that the witness tells.
    """
    answers = []
    problems = []
    for verb in ("stat", "segments"):
        found, words = checked_answer(dnheap, verb, dump)
        problems += words
        if found:
            answers.append(found)
    if len(answers) == 2:
        account = witness.survey(dump, combination.major)
        if names is not None:
            problems += compare.take_names(account, answers[0], names)
        problems += judge(*answers, account, truth, regions=combination.gc != "clrgc")
        problems += mapped.sums(answer(dnheap, "account", dump), dump)
        if judge is compare.at_rest:
            handles, gc = answer(dnheap, "handles", dump), answer(dnheap, "gc", dump)
            problems += compare.handles(handles, account, combination.major) + compare.finalization(gc, account)
            problems += compare.gc_memory(gc, account)
            live = answer(dnheap, "stat", dump, "--live")
            print(f"{dump.name}: alive are {compare.added(live)}; the witness does not see {compare.unseen_handles(handles, account)} handles")
            problems += compare.references(answer(dnheap, "verify", dump), live, handles, account)
            if combination.dump == "full" and dump.stem == "zoo":  # a hundred questions, three times
                problems += extracted.problems(dnheap, dump, secret="born before the last collection")
            problems += as_published(dnheap, combination, dump, [*answers, handles, gc])
    if combination.dump == "kernel" and answers:
        problems += without_file_pages(dnheap, dump, answers[0])
    return [f"{dump.name}: {problem}" for problem in problems]


def checked_answer(dnheap, verb, dump):
    """One answer, or None, and what is wrong with it whatever it says."""
    done = ask(dnheap, verb, dump)
    problems = []
    if done.returncode != 0 or done.stderr:
        problems.append(f"`dnheap {verb}` ended with code {done.returncode} and said: {done.stderr.strip()}")
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        return None, [*problems, f"`dnheap {verb}` gave no JSON: {error}"]
    if ask(dnheap, verb, dump, "--threads", "1").stdout != done.stdout:
        problems.append(f"`dnheap {verb}` answers differently with one thread")
    return found, problems


def without_file_pages(dnheap, dump, stat):
    """What kernels leave out by default comes from the files: the answer must be the same."""
    if not thin.thin(dump):
        return ["no mapping of a file could be left out of the kernel's core: nothing was tested"]
    done = ask(dnheap, "stat", dump)
    if done.returncode != 0 or done.stderr:
        return [f"without file pages `dnheap stat` ended with code {done.returncode} and said: {done.stderr.strip()}"]
    found = json.loads(done.stdout)
    return [f"without file pages {part} differ" for part in ("tables", "completeness") if found[part] != stat[part]]


def answer(dnheap, verb, dump, *options):
    """The answer of one command that must succeed."""
    done = ask(dnheap, verb, dump, *options)
    if done.returncode != 0 or done.stderr:
        raise RuntimeError(f"`dnheap {verb}` ended with code {done.returncode} and said: {done.stderr.strip()}")
    return json.loads(done.stdout)


def ask(dnheap, verb, dump, *options):
    """Runs one dnheap command. One that does not come to an end has the return code None."""
    command = [str(part) for part in [dnheap, verb, dump, "--format", "json", "--top", "0", *options]]
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, None, "", f"nothing within {PATIENCE} seconds")


if __name__ == "__main__":
    sys.exit(main())
