#!/usr/bin/env python3
"""dnheap in a container beside the one that it looks at. Usage: containers_check.py DNHEAP

A pod is made of namespaces: one of users and one of processes for all, and of mounts one for each container. In the first runs a .NET
program, on a root folder with nothing but what it needs, at paths that are nowhere else. In others dnheap is asked about it: alone on
an empty root (an image FROM scratch), beside a busybox, without rights, in a namespace of users of its own, and outside of the pod; and
beside a program that has no rights either. Exit codes are those of ../real/matrix.py.
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(PROJECT / "test" / "real"))
import collect  # noqa: E402
import matrix  # noqa: E402
import runtimes  # noqa: E402
import targets  # noqa: E402

MAJOR, CRATES = 10, 100
PATIENCE = 30
PATHS = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
NAMESPACES = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


def libraries_of(*files):
    """What the dynamic loader would load for them, by their paths here."""
    out = set()
    for file in files:
        listed = subprocess.run(["ldd", str(file)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        out |= set(re.findall(r"(/[^ ]+) \(0x", listed))
    return out


def give_up_all_rights():
    """As containers do with `capabilities: {drop: [ALL]}`, `allowPrivilegeEscalation: false` and a profile that forbids tracing: without
    these in its bounding set even root's programs get none."""
    libc = ctypes.CDLL(None)
    drop_from_bounding_set, no_new_privileges = 24, 38
    for capability in range(64):
        libc.prctl(drop_from_bounding_set, capability, 0, 0, 0)  # refused for numbers that the kernel does not know
    libc.prctl(no_new_privileges, 1, 0, 0, 0)


def enter(root, command, is_bare, may_trace):
    """Becomes that command in a namespace of mounts of its own, as container runtimes do: with chroot alone the kernel would tell paths
    of the other containers from the outside."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_namespace, bind_all, detached = 0x20000, 0x5000, 2
    pivot_root = {"x86_64": 155, "aarch64": 41}[os.uname().machine]

    def call(function, *words):
        if function(*words):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    call(libc.unshare, new_namespace)
    call(libc.mount, root.encode(), root.encode(), None, bind_all, None)
    os.chdir(root)
    call(libc.syscall, pivot_root, b".", b".")
    call(libc.umount2, b".", detached)
    os.chdir("/")
    if is_bare:
        give_up_all_rights()
    if not may_trace:
        collect.forbid_tracing()
    os.execvp(command[0], command)


class Container:
    """A root folder in a namespace of mounts of its own; in its /proc are the processes of the pod."""

    def __init__(self, root, folders=("proc", "tmp", "dumps"), enter="--enter"):
        self.root, self.enter = pathlib.Path(root), enter
        for name in folders:
            (self.root / name).mkdir(parents=True)
        mount("-t", "proc", "proc", self.root / "proc")

    def put(self, source, path):
        to = self.root / path.lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, to)

    def bind(self, source, path):
        to = self.root / path.lstrip("/")
        to.mkdir(parents=True)
        mount("--rbind", source, to)

    def command(self, *words, around=()):
        return [*around, sys.executable, __file__, self.enter, str(self.root), *map(str, words)]

    def run(self, *words, around=()):
        return subprocess.run(self.command(*words, around=around), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=PATHS, timeout=PATIENCE, check=False)


class Program:
    """The .NET program, in its container."""

    def __init__(self, work, name="program", enter="--enter"):
        dotnet, assembly = runtimes.lay_out(), targets.build("swells")
        container = Container(work / name, enter=enter)
        for library in libraries_of(dotnet / "dotnet", *runtimes.runtime(MAJOR).glob("*.so")):
            if str(dotnet) not in library:
                container.put(library, library)
        container.bind(dotnet, "/opt/dotnet")
        container.bind(assembly.parent, "/app")
        container.put(targets.PROGRAMS / "common" / "target.runtimeconfig.json", "/target.runtimeconfig.json")
        command = container.command("/opt/dotnet/dotnet", "exec", "--fx-version", runtimes.VERSIONS[MAJOR], "--runtimeconfig",
                                    "/target.runtimeconfig.json", "/app/swells.dll", CRATES)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**PATHS, "DOTNET_ROOT": "/opt/dotnet", "TMPDIR": "/tmp"})
        self.pid = None
        for line in self.process.stdout:
            if line.startswith("READY "):
                self.pid = int(line.split()[1])
                return
        raise RuntimeError(f"the program ended with code {self.process.wait()} in its container")

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return next(line for line in self.process.stdout if not line.startswith("[createdump]")).split()  # which writes there, too

    def end(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)


class Asked:
    def __init__(self):
        self.problems = []

    def expect(self, holds, what):
        if not holds:
            self.problems.append(what)

    def json(self, container, *words, **how):
        done = container.run(*words, "--format", "json", **how)
        if done.returncode or done.stderr:
            raise RuntimeError(f"{' '.join(map(str, words))} ended with code {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def refused(self, container, pid, *wanted, around=()):
        done = container.run("/dnheap", "stat", "-p", pid, around=around)
        for words in wanted:
            self.expect(done.returncode == 3 and words in done.stderr and done.stderr.count("\n") == 1,
                        f"{' '.join(around)}: code {done.returncode}, not {words!r}: {done.stderr.strip()}")


def crates(answer):
    return sum(row["count"] for row in answer["tables"]["types"] if row["type"] == "Yard.Crate")


def scratch(asked, work, dnheap, program):
    """The file alone."""
    container = Container(work / "scratch")
    container.put(dnheap, "/dnheap")
    asked.expect(sorted(path.name for path in container.root.iterdir()) == ["dnheap", "dumps", "proc", "tmp"], "the root is not empty")
    rows = {row["pid"]: row for row in asked.json(container, "/dnheap", "ps")["tables"]["processes"]}
    asked.expect(list(rows) == [program.pid] and rows[program.pid]["version"] == runtimes.VERSIONS[MAJOR],
                 f"ps lists {rows}, the program is {program.pid}")
    asked.expect(crates(asked.json(container, "/dnheap", "stat", "-p", program.pid)) == CRATES, "stat does not know the crates")
    suspects = asked.json(container, "/dnheap", "report", "-p", program.pid)["tables"]["suspects"]
    asked.expect(any("Yard.Stack.Crates" in json.dumps(row) for row in suspects), f"report does not know who holds them: {suspects}")
    files = [row["file"] for row in asked.json(container, "/dnheap", "info", "-p", program.pid)["tables"]["assemblies"]]
    asked.expect("/app/swells.dll" in files, f"the program's files are those of its own root: {files}")
    asked.json(container, "/dnheap", "extract", "-p", program.pid, "-o", "/dumps/small.core.zst")
    core = container.root / "dumps" / "small.core.zst"
    asked.expect(crates(asked.json(container, "/dnheap", "stat", "/dumps/small.core.zst")) == CRATES, "the extract lacks crates")
    core.unlink()
    collects(asked, container, program)
    watches(asked, container, program)


def collects(asked, container, program):
    """The program dumps itself in its own container; dnheap has the file in another one."""
    asked.expect(asked.json(container, "/dnheap", "ps")["tables"]["processes"][0]["port"] == "answers", "ps does not see the program's port")
    for options in ([], ["--extract"]):
        row, = asked.json(container, "/dnheap", "collect", "-p", program.pid, "-o", "/dumps/own.core", *options)["tables"]["dump"]
        core = container.root / "dumps" / "own.core"
        asked.expect(row["bytes"] == core.stat().st_size and core.stat().st_mode & 0o777 == 0o600, f"the dump is another one than {row}")
        asked.expect(crates(asked.json(container, "/dnheap", "stat", "/dumps/own.core")) == CRATES, "the program's own dump lacks crates")
        core.unlink()
    left = [path.name for path in (container.root.parent / "program" / "tmp").iterdir() if not path.name.startswith(("dotnet-diagnostic-", "clr-debug-pipe-"))]
    asked.expect(not left, f"collect leaves {left} in the program's container")


def watches(asked, container, program):
    """Without -p: the one that there is."""
    command = container.command("/dnheap", "watch", "--when", "heap>1k", "--every", "1", "--format", "ndjson", "-o", "/dumps")
    watch = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=PATHS)
    began, taken = (json.loads(watch.stdout.readline() or "{}") for _ in range(2))
    watch.terminate()
    out, errors = watch.communicate(timeout=PATIENCE)
    asked.expect(watch.returncode == 0 and not errors, f"watch ended with code {watch.returncode}: {out}{errors}")
    asked.expect(began.get("event") == "began" and began.get("pid") == program.pid and taken.get("event") == "taken", f"watch: {began}, {taken}")
    if taken.get("file"):
        asked.expect(crates(asked.json(container, "/dnheap", "stat", taken["file"])) == CRATES, "the core that watch took lacks crates")


def busybox(asked, work, dnheap, program):
    """A small image with a shell."""
    found = shutil.which("busybox")
    if not found:
        print("SKIPPED: a root with busybox: there is none here", file=sys.stderr)
        return
    container = Container(work / "busybox")
    container.put(dnheap, "/bin/dnheap")
    container.put(found, "/bin/busybox")
    for library in libraries_of(found):
        container.put(library, library)
    done = container.run("/bin/busybox", "sh", "-c", "dnheap ps --format csv | busybox grep -c dotnet; dnheap stat -p $(busybox pidof dotnet) --format csv "
                         "| busybox grep ',Yard.Crate$'")
    lines = done.stdout.splitlines()
    asked.expect(lines[:1] == ["1"] and f",{CRATES}," in lines[-1], f"from a shell: {done.stdout}{done.stderr}")


def without_rights(asked, work, dnheap, program):
    container = Container(work / "refused")
    container.put(dnheap, "/dnheap")
    asked.refused(container, program.pid, "SYS_PTRACE", "Kubernetes", around=["setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"])
    asked.refused(container, program.pid, "user namespace", "Kubernetes", around=["unshare", "--user", "--map-root-user"])
    done = container.run("/dnheap", "ps", around=["unshare", "--user", "--map-root-user"])
    asked.expect(done.returncode == 0 and "not looked at for lack of rights" in done.stdout, f"ps without rights: {done.stdout}{done.stderr}")
    without = Container(work / "unmounted")
    without.put(dnheap, "/dnheap")
    subprocess.run(["umount", str(without.root / "proc")], check=True)
    done = without.run("/dnheap", "ps")
    asked.expect(done.returncode == 3 and "/proc is not mounted" in done.stderr, f"ps without /proc: {done.stderr}")


def dropped_capabilities(asked, work, dnheap, _):
    """As most clusters run containers: the same user in both, no capabilities in either. dnheap's root has the file and /proc alone."""
    program = Program(work, "bare-program", "--enter-bare")
    container = Container(work / "bare", ["proc"], "--enter-blind")
    container.put(dnheap, "/dnheap")
    asked.expect(sorted(path.name for path in container.root.iterdir()) == ["dnheap", "proc"], "the root is not empty")
    status = (container.root / "proc" / str(program.pid) / "status").read_text()
    asked.expect(re.search(r"^CapEff:\s*0+$", status, re.MULTILINE), f"the program has capabilities: {status}")
    asked.refused(container, program.pid, "may not be read")
    for words in (["report", "-p", program.pid, "--by-port"], ["collect", "-p", program.pid, "-o", "/own.core"], ["report", "/own.core"]):
        done = container.run("/dnheap", *words)
        asked.expect(done.returncode == 0 and not done.stderr, f"{words[0]} ended with code {done.returncode}: {done.stderr}")
        print(done.stdout.split("\n\n")[0], file=sys.stderr)
        if words[0] == "report":
            asked.expect("Yard.Crate" in done.stdout, f"the first screen does not name what fills the heap: {done.stdout}")
    (container.root / "own.core").unlink()
    program.end()


def inside(dnheap, work):
    """In the pod."""
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    asked = Asked()
    program = Program(work)
    print(f"INSIDE {program.pid}", flush=True)
    sys.stdin.readline()  # the node looks
    begin = time.monotonic()
    for part in (scratch, busybox, without_rights, dropped_capabilities):
        try:
            part(asked, work, dnheap, program)
        except (RuntimeError, subprocess.SubprocessError) as problem:
            asked.problems.append(f"{part.__name__}: {problem}")
    word, count = program.ask()
    asked.expect((word, int(count)) == ("GREW", 2 * CRATES), f"the program does not go on: {word} {count}")
    program.end()
    print(f"{time.monotonic() - begin:.1f} s in the pod", file=sys.stderr)
    return asked.problems


def node(dnheap, pid):
    """From outside of the pod: it has another number here, and says the same."""
    rows = json.loads(subprocess.run([dnheap, "ps", "--format", "json"], stdout=subprocess.PIPE, check=True, text=True).stdout)
    mine = [row["pid"] for row in rows["tables"]["processes"] if "/app/swells.dll" in (row["command_line"] or "")]
    if len(mine) != 1 or mine[0] == pid:
        return [f"seen from the node, the program is {mine}; in the pod it is {pid}"]
    answer = json.loads(subprocess.run([dnheap, "stat", "-p", str(mine[0]), "--format", "json"], stdout=subprocess.PIPE, check=True, text=True).stdout)
    problems = [] if crates(answer) == CRATES else [f"seen from the node, the program has {crates(answer)} crates"]
    with tempfile.TemporaryDirectory(prefix="dnheap-node-") as folder:
        subprocess.run([dnheap, "collect", "-p", str(mine[0]), "-o", f"{folder}/own.core"], stdout=subprocess.DEVNULL, check=True)
        answer = json.loads(subprocess.run([dnheap, "stat", f"{folder}/own.core", "--format", "json"], stdout=subprocess.PIPE, check=True, text=True).stdout)
        return problems + ([] if crates(answer) == CRATES else [f"its own dump, collected from the node, has {crates(answer)} crates"])


def run(dnheap):
    if subprocess.run([*NAMESPACES, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise runtimes.NoSdk("no namespaces of users, mounts and processes here")
    if b"INTERP" in subprocess.run(["readelf", "-l", dnheap], stdout=subprocess.PIPE, check=True).stdout:
        raise runtimes.NoSdk("this program is not one static file: ./dev build ci makes one")
    runtimes.lay_out()
    targets.build("swells")  # here, where there is a network
    with tempfile.TemporaryDirectory(prefix="dnheap-pod-") as work:
        pod = subprocess.Popen([*NAMESPACES, sys.executable, __file__, "--inside", dnheap, work], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        problems = []
        line = pod.stdout.readline().split()
        if line[:1] == ["INSIDE"]:
            problems += node(dnheap, int(line[1]))
        try:
            out, _ = pod.communicate("\n", timeout=10 * PATIENCE)
        finally:
            pod.kill()
        problems += [line for line in out.splitlines() if line]
        if pod.returncode or line[:1] != ["INSIDE"]:
            problems.append(f"the pod ended with code {pod.returncode}")
        return problems


if __name__ == "__main__":
    if sys.argv[1].startswith("--enter"):
        enter(sys.argv[2], sys.argv[3:], is_bare=sys.argv[1] != "--enter", may_trace=sys.argv[1] != "--enter-blind")
    if sys.argv[1] == "--inside":
        print("\n".join(inside(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))))
        sys.exit(0)
    sys.exit(matrix.exit_code(run, pathlib.Path(sys.argv[1]).resolve()))
