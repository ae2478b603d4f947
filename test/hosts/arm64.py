#!/usr/bin/env python3
"""A real Linux arm64 system, in an emulator: .NET programs run there, are dumped there, and dnheap looks at them there, living and dumped.

    arm64.py [DNHEAP [DNHEAP_ARM64]] [--pages 4|16] [--all] [--only NAME]…

Debian's kernel for arm64 with pages of 4 KiB runs, or (--pages 16) Debian 13's with pages of 16 KiB; in it Microsoft's runtimes for
linux-arm64, on which the programs of test/programs run, and some of these compiled ahead of time. What each program knows of itself is
compared with dnheap's answers here; what the program for arm64 answers there, on the same dumps, must be the same bytes; and what it says
of processes that live there is compared with what a dump of them says. One line for each check.

Without the programs they are built first (presets ci and linux-arm64). Everything is kept in $DNHEAP_CACHE/hosts/arm64. Needs root, a mirror of
Debian, NuGet and the .NET SDK. Exit code 0: all is right; 1: not; 77: nothing was tested.
"""
import argparse
import concurrent.futures
import io
import json
import os
import pathlib
import secrets
import shlex
import shutil
import string
import subprocess
import sys
import threading
import time
import traceback

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("real", "release", "hosts")]
import arm64_guest  # noqa: E402
import arm64_targets  # noqa: E402
import beside  # noqa: E402
import compare  # noqa: E402
import crashes  # noqa: E402
import live  # noqa: E402
import mapped  # noqa: E402
import matrix  # noqa: E402
import nativeaot  # noqa: E402
import planted  # noqa: E402
import runtimes  # noqa: E402
import stacks  # noqa: E402
import waits  # noqa: E402

# By size of pages in KiB: the suite, and its package.
KERNELS = {4: ("bookworm", "linux-image-arm64"), 16: ("trixie", "linux-image-arm64-16k")}
SKIPPED = 77
ASKED_LIVE = (*live.VERBS, "locks", "async")
# What else runs there of a living process: each must answer.
RUN_LIVE = ("report", "threads", "stack --all", "info", "exceptions", "contract", "waste", "strings", "frag", "inspect timers", "path System.String --top 2",
            "show {object}", "query 'select count(*) from objects'", "extract -o {file}", "export --as ndjson -o {file}", "summary", "check --no-instances-of No.Such")
TEXTS = {"LC_ALL": "C.UTF-8", "COLUMNS": "120"}
ATTEMPTS = 3


class There:
    """dnheap for arm64, in the emulated system."""

    def __init__(self, guest, program):
        self.guest, self.program = guest, "/tmp/dnheap"
        shutil.copy(program, guest.share / "dnheap")
        guest.run(f"cp {guest.share}/dnheap {self.program} && chmod 755 {self.program}")

    def run(self, *words):
        return self.guest.run(" ".join([f"LC_ALL=C.UTF-8 COLUMNS=120 {self.program}", *(shlex.quote(str(word)) for word in words)]))

    def ask(self, verb, pid, *options):
        done = self.run(verb, "-p", pid, "--format", "json", "--top", "0", *options)
        if done.returncode != 0 or done.stderr:
            raise RuntimeError(f"`dnheap {verb} -p` ended with code {done.returncode} and said: {done.stderr.strip()}")
        return json.loads(done.stdout)


class Checks:
    """Each returns problems, in words. `here` is dnheap on this machine."""

    def __init__(self, guest, here, there):
        self.guest, self.here, self.there = guest, here, there

    def waits(self, kind, major, *arguments):
        with arm64_targets.Target(self.guest, "waits", major, [kind, *arguments]) as target:
            path = target.dump("heap", f"waits-{kind}-{major}")
        said = target.truth["said"] | {name: target.truth[name] for name in ("addresses", "version") if name in target.truth}
        return waits.CHECKS[kind](self.here, path, said) + self.whole_stacks(path) + self.beside(path, beside.OF_LARGE_DUMPS) + self.done_with(path)

    def stacks(self, major):
        with arm64_targets.Target(self.guest, "stacks", major, ["idle"]) as target:
            path = target.dump("heap", f"stacks-{major}")
        held, found = target.truth["held"], stacks.Found(self.here, path)
        return (stacks.lines(found, held, "tiered") + stacks.traces(found, held) + stacks.held_by_frames(found, held) + stacks.threads(found, held)
                + stacks.roots(found) + stacks.paths(self.here, path, found, held) + [f"INCOMPLETE: {row}" for row in found.incomplete]
                + self.beside(path, ["stack TARGET --all --roots", "roots TARGET"]) + self.done_with(path))

    def zoo(self, major, dump):
        with arm64_targets.Target(self.guest, "zoo", major) as target:
            path = target.dump(dump, f"zoo-{major}-{dump}")
        stat, segments, account_ = (matrix.answer(self.here, verb, path) for verb in ("stat", "segments", "account"))
        problems = compare.truth_counts(stat, target.truth) + compare.addresses(segments, target.truth)
        problems += compare.gc_info(segments, None, target.truth, regions=True) + mapped.sums(account_, path)
        problems += [f"{row['method_table']} is called {row['type']}, not {name}" for row in stat["tables"]["types"]
                     for name in [target.truth["names"].get(row["method_table"], row["type"])] if name != row["type"]]
        verify = matrix.answer(self.here, "verify", path)
        problems += [f"verify: {row}" for row in verify["tables"]["problems"]]
        problems += [] if stat["completeness"]["complete"] and not stat["completeness"]["notes"] else [f"stat: {stat['completeness']}"]
        return problems + self.beside(path, beside.QUESTIONS if dump == "heap" else beside.OF_LARGE_DUMPS) + self.done_with(path)

    def crash(self, way, major):
        """The runtime dumps itself."""
        path = self.guest.share / f"crash-{way}-{major}.core"
        settings = {"DOTNET_DbgEnableMiniDump": "1", "DOTNET_DbgMiniDumpType": "2", "DOTNET_DbgMiniDumpName": f"/tmp/crash-{way}-{major}"}
        with arm64_targets.Target(self.guest, "crash", major, [way], settings) as target:
            target.say()
            self.guest.finish(target.job)
            self.guest.run(f"mv /tmp/crash-{way}-{major} {path}")
        if not path.exists():
            return [f"no dump: {pathlib.Path(f'{target.out}.errors').read_text()[-1000:]}"]
        problems = crashes.held_by_stacks(self.here, path, target.truth["held"]) + crashes.led_by(self.here, path, way, target.truth)
        return problems + self.beside(path, ["report TARGET", "exceptions TARGET", "threads TARGET"]) + self.done_with(path)

    def ahead(self, major, dump):
        """Compiled ahead of time."""
        with arm64_targets.Target(self.guest, "aot", major, ahead=True) as target:
            path, truth = target.dump(dump, f"aot-{major}-{dump}"), target.truth
        stat, segments = matrix.answer(self.here, "stat", path), matrix.answer(self.here, "segments", path)
        problems = nativeaot.target(stat, major, "wks", truth) + nativeaot.complete(stat) + nativeaot.complete(segments)
        problems += compare.truth_counts(stat, truth) + nativeaot.bytes_by_type(stat, truth) + nativeaot.names(stat, truth)
        problems += nativeaot.handles(matrix.ask(self.here, "handles", path), truth) + nativeaot.stacks(self.here, path, truth)
        problems += nativeaot.threads(self.here, path, truth) + nativeaot.known(self.here, path, truth, major)
        problems += compare.addresses(segments, truth) + compare.gc_info(segments, None, truth, regions=True)
        problems += mapped.sums(matrix.answer(self.here, "account", path), path) + self.pending(path) + self.whole_stacks(path)
        problems += nativeaot.static_paths(self.here, path, truth) if dump == "gcore" else []
        return problems + self.beside(path, (*beside.OF_LARGE_DUMPS, "async TARGET", "locks TARGET")) + self.done_with(path)

    def pending(self, path):
        rows = matrix.answer(self.here, "async", path)["tables"]["calls"]
        print(f"{sum(row['calls'] for row in rows)} calls are pending")
        return [] if rows else ["async lists none"]

    def secrets(self, major, dump, ahead=False):
        word = "".join(secrets.choice(string.ascii_lowercase) for _ in range(12))
        variables = {f"SECRET_{i:02}": f"{word}{i:02}v" for i in range(planted.VARIABLES)}
        with arm64_targets.Target(self.guest, "secrets", major, [word], variables, ahead) as target:
            path = target.dump(dump, f"secrets-{major}")
        said = target.truth["said"]
        texts = [*said["texts"], *variables.values(), word]
        before = planted.found(path, texts, [])[0]
        problems = [] if before >= len(texts) // 2 else [f"the dump itself has only {before} of {len(texts)} texts"]
        blanked = path.with_suffix(".blanked")
        done = self.there.run("extract", path, "--no-values", "-o", blanked)
        problems += [] if done.returncode == 0 else [f"extract ended with code {done.returncode}: {done.stderr}"]
        left = planted.found(blanked, texts, said["numbers"])
        if any(left):
            problems.append(f"{left[0]} of {len(texts)} texts and {left[1]} of {len(said['numbers'])} numbers are left: {left[2][:5]}")
        print(f"{len(texts)} texts and {len(said['numbers'])} numbers, of which the dump has {before} texts")
        return problems + self.done_with(path, blanked)

    def account(self, major):
        """What is resident is what the system says, however often it is asked."""
        with arm64_targets.Target(self.guest, "account", major, [40, 10, 16, 5], {"DOTNET_GCgen0size": "4000000"}) as target:
            target.wait_until_at_rest(quiet=3)
            return self.resident(target, "first", "second", "third")

    def resident(self, target, *runs):
        """The total is exact, as pages are counted; of a class it is not, where a page has several. Looking at a process makes pages resident
        that were only in files, so it is between what the system says before and after."""
        problems = []
        for run in runs:
            before, rows = self.rss(target.pid), self.there.run("account", "-p", target.pid, "--exact").stdout.splitlines()
            after = self.rss(target.pid)
            (low, high), (kernels, _) = (next(([int(word.replace(",", "")) for word in row.split()[1:3]] for row in rows if text in row), [0, 0])
                                         for text in ("total, excluding reserved memory", "the kernel's pages"))
            print(f"{run} run: resident are {low >> 10} KiB, by smaps {before >> 10} before and {after >> 10} after")
            # Not all of the kernel's own pages count for the system.
            if not (before <= low == high <= after + kernels):
                problems.append(f"{run} run: resident are {low} to {high} bytes, by smaps {before} before and {after} after; the kernel's are {kernels}")
        return problems

    def rss(self, pid):
        text = self.guest.run(f"cat /proc/{pid}/smaps_rollup").stdout
        return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(("Rss:", "Swap:"))) * 1024

    def living(self, program, major, *arguments):
        with arm64_targets.Target(self.guest, program, major, arguments, ahead=program == "aot") as target:
            return self.alive(target) + self.watched(target)

    def alive(self, target):
        """A dump says the same; what the program has is not changed by asking."""
        problems = []
        for _ in range(ATTEMPTS):  # the runtime's own threads may have something to do meanwhile
            target.wait_until_at_rest()
            answers = {"segments": self.there.ask("segments", target.pid)}
            problems = self.resident(target, "first", "second")
            answers.update({verb: self.there.ask(verb, target.pid) for verb in ASKED_LIVE if verb not in answers})
            path = target.dump("full", f"living-{target.name}")
            if matrix.answer(self.here, "segments", path)["tables"] == answers["segments"]["tables"]:
                break
            print("its heap was not at rest: once more")
        else:
            problems.append("its heap is not what it was before, again and again")
        for verb, answer in answers.items():
            problems += live.compare(verb, answer, matrix.answer(self.here, verb, path))
        found = matrix.answer(self.here, "objects", path, "--type-exact", "System.String")["tables"]["objects"][0]["address"]
        file = self.guest.share / f"{target.name}.file"
        for question in RUN_LIVE:
            verb, _, options = question.partition(" ")
            done = self.guest.run(f"{self.there.program} {verb} -p {target.pid} {options.format(object=found, file=file)}")
            right = (0, 4) if target.ahead and verb == "check" else (0,)  # a limit may not hold where not all is told of programs compiled ahead
            if done.returncode not in right or done.stderr or not (done.stdout or file.exists()):
                problems.append(f"`dnheap {verb} -p` ended with code {done.returncode} and said: {done.stderr.strip()}")
            if "INCOMPLETE" in done.stdout and not (target.ahead and verb in ("exceptions", "report")):
                problems.append(f"`dnheap {verb} -p` is incomplete: {[line for line in done.stdout.splitlines() if 'INCOMPLETE' in line or line.startswith('note')]}")
            file.unlink(missing_ok=True)
        rows = json.loads(self.there.run("ps", "--format", "json").stdout)["tables"]["processes"]
        problems += [] if target.pid in [row["pid"] for row in rows] else [f"ps does not list it: {rows}"]
        states = self.guest.run(f"cat /proc/{target.pid}/task/*/stat").stdout.splitlines()
        problems += [f"a thread stands still: {line}" for line in states if line.rsplit(") ", 1)[1][0] in "tT"]
        paused = ", ".join(f"{verb} {answer['target']['paused_ms']:.0f} ms" for verb, answer in answers.items())
        print(f"paused: {paused}")
        return problems + self.done_with(path)

    def watched(self, target):
        """A core is taken at once, as it has grown beyond 1 MiB."""
        folder = self.guest.share / f"watched-{target.name}"
        folder.mkdir()
        done = self.guest.run(f"timeout 60 {self.there.program} watch -p {target.pid} --when 'rss>1M' --every 1 --keep 1 --format ndjson -o {folder} >{folder}.events & "
                              f"i=0; while ! grep -q '\"taken\"' {folder}.events && [ $i -lt 50 ]; do sleep 1; i=$((i+1)); done; kill $!; cat {folder}.events")
        taken = [json.loads(line) for line in done.stdout.splitlines() if '"taken"' in line]
        if not taken:
            return [f"watch took nothing: {done.stdout}{done.stderr}"]
        counts = {}
        for row in matrix.answer(self.here, "stat", taken[0]["file"])["tables"]["types"]:
            counts[row["type"]] = counts.get(row["type"], 0) + row["count"]
        return [f"watch's core has {counts.get(name, 0)} of {name}, not {count}" for name, count in target.truth["types"].items()
                if counts.get(name, 0) != count] + self.done_with(pathlib.Path(taken[0]["file"]))

    def whole_stacks(self, path):
        return [f"stack: of {row['os_ids']}: {row['problem']}" for row in matrix.answer(self.here, "stack", path, "--all")["tables"]["problems"]]

    def beside(self, path, questions):
        """The same bytes from both programs, and the same exit codes. All questions of a dump are one command there."""
        folder = self.guest.share / f"{path.name}.asked"
        commands = []
        for i, question in enumerate(questions):
            words = [{"SELECT-COUNTS": beside.SQL, "FILE": str(folder / "FILE")}.get(word, word.replace("TARGET", str(path))) for word in question.split(" ")]
            commands.append(words)
        found = []
        for ask in (self.ask_here, self.ask_there):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            ask(folder, commands)
            found.append([{kind: file.read_bytes() if (file := folder / f"{i}.{kind}").exists() else b"" for kind in ("code", "out", "err", "file")}
                          for i in range(len(commands))])
        shutil.rmtree(folder)
        print(f"{len(commands)} questions asked on both")
        return [f"`dnheap {' '.join(words)}` differs in {kind}: {beside.first_difference(here[kind], there[kind])}"
                for words, here, there in zip(commands, *found) for kind in ("code", "out", "err", "file") if here[kind] != there[kind]]

    def ask_here(self, folder, commands):
        """With the files of the other system, as both may read modules."""
        program = self.guest.share / "dnheap-here"
        if not program.exists():
            shutil.copy(self.here, program)
        for i, words in enumerate(commands):
            with open(folder / f"{i}.out", "wb") as out, open(folder / f"{i}.err", "wb") as errors:
                done = subprocess.run([str(program), *words], stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=TEXTS, cwd="/",
                                      preexec_fn=lambda: os.chroot(self.guest.root))
            (folder / f"{i}.code").write_text(f"{done.returncode}\n")
            if (folder / "FILE").exists():
                (folder / "FILE").rename(folder / f"{i}.file")

    def ask_there(self, folder, commands):
        self.guest.run("\n".join([*(f"export {name}={value}" for name, value in TEXTS.items()), "cd /", *(
            f"{shlex.join([self.there.program, *words])} </dev/null >{folder}/{i}.out 2>{folder}/{i}.err; echo $? >{folder}/{i}.code; "
            f"[ ! -e {folder}/FILE ] || mv {folder}/FILE {folder}/{i}.file" for i, words in enumerate(commands))]))

    def done_with(self, *paths):
        for path in paths:
            path.unlink(missing_ok=True)
        return []


# By name: which check, of what. The longest first.
CHECKS = {
    "zoo:10:heap": ("zoo", 10, "heap"),
    "living:10": ("living", "waits", 10, "locks"), "living:11": ("living", "zoo", 11), "living-aot:10": ("living", "aot", 10),
    **{f"stacks:{major}": ("stacks", major) for major in (9, 10, 11)},
    "zoo:9:full": ("zoo", 9, "full"), "zoo:11:kernel": ("zoo", 11, "kernel"),
    "aot:10:full": ("ahead", 10, "full"), "aot:11:full": ("ahead", 11, "full"),
    **{f"waits:locks:{major}": ("waits", "locks", major) for major in (9, 10, 11)},
    "waits:hangs:9": ("waits", "hangs", 9), "waits:thrown:10": ("waits", "thrown", 10), "waits:async:11": ("waits", "async", 11, "200"),
    "crash:unhandled:9": ("crash", "unhandled", 9), "crash:segv:10": ("crash", "segv", 10), "crash:unhandled:11": ("crash", "unhandled", 11),
    "secrets:10:heap": ("secrets", 10, "heap"), "secrets:11:kernel": ("secrets", 11, "kernel"), "secrets-aot:10:full": ("secrets", 10, "full", True),
    "account:10": ("account", 10),
}
# What takes minutes there: gdb.
LONG = {"aot:10:gcore": ("ahead", 10, "gcore"), "zoo:10:gcore": ("zoo", 10, "gcore"), "waits:kinds:11": ("waits", "kinds", 11)}


def run_one(checks, name):
    """(problems, seconds, what it printed)"""
    begin, out = time.monotonic(), io.StringIO()
    SAID.of.file = out
    try:
        problems = getattr(checks, (CHECKS | LONG)[name][0])(*(CHECKS | LONG)[name][1:])
    except Exception as error:  # one that fails must not hide the others
        where = traceback.extract_tb(error.__traceback__)[-1]
        problems = [f"{type(error).__name__} at {pathlib.Path(where.filename).name}:{where.lineno}: {error}"]
    finally:
        SAID.of.file = None
    return problems, time.monotonic() - begin, out.getvalue().splitlines()


class Said(io.TextIOBase):
    """Standard output, or what a thread has in its place: two checks run at a time."""

    def __init__(self, other):
        self.other, self.of = other, threading.local()

    def write(self, text):
        return (getattr(self.of, "file", None) or self.other).write(text)

    def flush(self):
        self.other.flush()


SAID = sys.stdout = Said(sys.stdout)


def built(preset):
    done = subprocess.run([runtimes.PROJECT / "dev", "build", preset, "dnheap-cli"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"FAILED: dnheap could not be built ({preset}):\n{done.stdout[-3000:]}")
    return runtimes.PROJECT / "build" / preset / "dnheap"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dnheap", nargs="?", type=pathlib.Path)
    parser.add_argument("there", nargs="?", type=pathlib.Path)
    parser.add_argument("--pages", type=int, choices=KERNELS, default=4)
    parser.add_argument("--all", action="store_true", help="what takes minutes there, too")
    parser.add_argument("--only", action="append", metavar="NAME", help="of the checks those that begin so")
    options = parser.parse_args()
    try:
        if os.geteuid() != 0:
            raise runtimes.Missing("it needs root, for the packages of another machine")
        runtimes.sdk()
        if "DNHEAP_OWN_MOUNTS" not in os.environ:  # they end with this program
            command = ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv]
            os.execvpe(command[0], command, {**os.environ, "DNHEAP_OWN_MOUNTS": "1"})
        return run(options)
    except runtimes.Missing as reason:
        print(f"SKIPPED Linux arm64: NOT TESTED: {reason}")
        return SKIPPED


def run(options):
    begin = time.monotonic()
    here = options.dnheap.resolve() if options.dnheap else built("ci")
    there = options.there.resolve() if options.there else built("linux-arm64")
    kept = runtimes.cache() / "hosts" / "arm64"
    names = [name for name in (CHECKS | LONG if options.all else CHECKS) if not options.only or any(name.startswith(one) for one in options.only)]
    failed = 0
    with arm64_guest.Guest(kept, *KERNELS[options.pages], arm64_targets.installation()) as guest:
        what = guest.run("uname -r; getconf PAGESIZE 2>/dev/null").stdout.split()
        print(f"ok booted Linux {what[0]} for arm64, pages of {options.pages} KiB, after {time.monotonic() - begin:.0f} s", flush=True)
        checks = Checks(guest, here, There(guest, there))
        with concurrent.futures.ThreadPoolExecutor(arm64_guest.PROCESSORS) as pool:
            running = {pool.submit(run_one, checks, name): name for name in names}
            for done in concurrent.futures.as_completed(running):
                name, (problems, seconds, said) = running[done], done.result()
                print("\n  | ".join([f"{'FAILED' if problems else 'ok'} {name} in {seconds:.0f} s", *(line[:600] for line in said), *(problem[:600] for problem in problems[:12])]),
                      flush=True)
                failed += bool(problems)
    print(f"{len(names) - failed} of {len(names)} checks passed on Linux arm64, pages of {options.pages} KiB, in {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
