"""Builds the target programs of test/programs, runs them on a runtime and GC of choice, and dumps them.

    with Target(program="zoo", major=10, server=True, gc="regions") as target:
        target.truth                     # what the program said of its own heap
        target.dump("full", "zoo.core")  # by the runtime's own createdump, by gdb, or by the kernel

A target is stopped (blocked on its standard input) from the moment it has printed its truth.
"""
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import runtimes

PROGRAMS = runtimes.PROJECT / "test" / "programs"


def place(program, file, part):
    """How dnheap writes the only source line that contains this: "(Program.cs:12)"."""
    lines = (PROGRAMS / program / file).read_text().splitlines()
    (line,) = [number for number, text in enumerate(lines, 1) if part in text]
    return f"({file}:{line})"


# GC flavour → the standalone GC library that DOTNET_GCName asks for; None is the one inside libcoreclr.so.
GC_LIBRARIES = {"regions": None, "clrgc": "libclrgc.so", "clrgcexp": "libclrgcexp.so"}

# What to compile for a program: folders of test/programs, all into one output folder.
PARTS = {"zoo": ["zoo", "zoo-plugin"], "holders": ["holders", "zoo-plugin"], "loaders": ["loaders", "zoo-plugin"]}
# What else a program is compiled from.
SOURCES = {"stacks": ["stacks-missing"], "stacks-debug": ["stacks", "stacks-missing"], "leaks": ["inspect"]}


def build(program, runtime_async=False):
    """Compiles a program, unless it is newer than its sources. Returns its .dll. With runtime_async its async methods are no state machines:
    the runtime itself suspends them, which .NET 11 is the first to do; the source can ask for RUNTIME_ASYNC."""
    name = f"{program}-runtime-async" if runtime_async else program
    output = runtimes.cache() / "programs" / name
    assembly = output / f"{program}.dll"
    parts = PARTS.get(program, [program])
    with runtimes.lock():
        if runtimes.outdated(assembly, [PROGRAMS / part for part in [*parts, *SOURCES.get(program, []), "common"]]):
            if runtime_async:
                properties = [f"-p:FrameworkAssemblies={runtimes.reference(11)}", "-p:RuntimeAsync=true"]
            else:
                pack = runtimes.restore() / runtimes.VERSIONS[8] / "runtimes" / "linux-x64" / "lib" / "net8.0"
                properties = [f"-p:FrameworkAssemblies={pack}"]
            for part in parts:
                runtimes.build(PROGRAMS / part / f"{part}.csproj", output, *properties, intermediate=f"obj-{name}" if runtime_async else "obj")
            assembly.touch()
    return assembly


def compiled(program, major):
    """The program with ready-to-run code for a version's framework. Returns its .dll."""
    source, output = build(program), runtimes.cache() / "programs" / f"{program}-{runtimes.VERSIONS[major]}"
    assembly = output / source.name
    runtimes.lay_out()
    compiler = runtimes.crossgen(major)
    with runtimes.lock():
        if not assembly.exists() or assembly.stat().st_mtime < source.stat().st_mtime:
            shutil.copytree(source.parent, output, dirs_exist_ok=True)
            command = [compiler, source, "-r", runtimes.runtime(major) / "*.dll", "--targetos", "linux", "--targetarch", "x64",
                       "-O", "-o", assembly]
            done = subprocess.run([str(part) for part in command], env=dict(os.environ, DOTNET_ROOT=str(runtimes.dotnet_root())),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"compiling {assembly} ahead of time failed:\n{done.stdout}")
    return assembly


# Of the framework: what is compiled into one image.
COMPOSED = ("System.Private.CoreLib", "System.Runtime", "System.Threading", "System.Collections", "System.Console", "System.Memory",
            "System.Linq")


def composite_root(major):
    """An installation in which a part of the framework is one composite image, as self-contained programs may have it."""
    version = runtimes.VERSIONS[major]
    source, root = runtimes.lay_out(), runtimes.cache() / f"dotnet-composite-{version}"
    folder = root / "shared" / "Microsoft.NETCore.App" / version
    compiler = runtimes.crossgen(major)
    with runtimes.lock():
        if (folder / "framework-r2r.dll").exists():
            return root
        for file in (source / "dotnet", *(source / "host").rglob("*.so"), *runtimes.runtime(major).iterdir()):
            if file.stem not in COMPOSED or file.suffix != ".dll":
                runtimes.link(file, root / file.relative_to(source))
        command = [compiler, *(runtimes.runtime(major) / f"{name}.dll" for name in COMPOSED), "--composite", "--inputbubble", "-r",
                   runtimes.runtime(major) / "*.dll", "--targetos", "linux", "--targetarch", "x64", "-O", "-o", folder / "framework-r2r.dll"]
        done = subprocess.run([str(part) for part in command], env=dict(os.environ, DOTNET_ROOT=str(source)), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            (folder / "framework-r2r.dll").unlink(missing_ok=True)
            raise RuntimeError(f"compiling the framework into one image failed:\n{done.stdout}")
    return root


def limits():
    """Threads get 1 MiB of stack instead of 8: createdump writes all of it. Cores of any size are allowed. On musl the runtime wants 1.5 MiB
    for each, and touches as much of the first one's at once."""
    resource.setrlimit(resource.RLIMIT_STACK, ((2 if runtimes.on_musl() else 1) << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))


class Target:
    """A running target program that has said its truth and waits."""

    def __init__(self, program, major, server=False, gc="regions", arguments=(), settings=None, ahead=False, root=None,
                 assembly=None, runtime_async=False):
        self.major = major
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("DOTNET_", "COMPlus_"))}
        root = root or runtimes.lay_out()
        environment["DOTNET_ROOT"] = str(root)
        environment["DOTNET_gcServer"] = "1" if server else "0"
        if GC_LIBRARIES[gc]:
            environment["DOTNET_GCName"] = GC_LIBRARIES[gc]
        environment.update(settings or {})
        self.settings = {name: value for name, value in environment.items() if name.lower().startswith("dotnet_gc")}
        command = [root / "dotnet", "exec", "--fx-version", runtimes.VERSIONS[major], "--runtimeconfig", PROGRAMS / "common" / "target.runtimeconfig.json",
                   assembly or (compiled(program, major) if ahead else build(program, runtime_async)), *arguments]
        command = runtimes.inside(command)
        self.start(command, environment, f"{program} on .NET {major}")

    def start(self, command, environment, label):
        """Runs the program until it is ready."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dnheap-target-"))
        self.process = subprocess.Popen([str(part) for part in command], env=environment, text=True, cwd=self.folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=limits,
                                        stderr=open(self.folder / "errors", "w"))
        self.truth = None
        for line in self.process.stdout:
            if line.startswith("TRUTH "):
                self.truth = json.loads(line[len("TRUTH "):])
            if line.startswith("READY "):
                self.pid = int(line.split()[1])
                return
        self.process.wait()
        errors = (self.folder / "errors").read_text()
        raise RuntimeError(f"{label} ended with code {self.process.returncode} before it was ready:\n{errors}")

    def dump(self, kind, path):
        """Writes a dump: full, heap, normal, triage (by createdump), gcore, kernel (which ends the process)."""
        path = pathlib.Path(path)
        path.unlink(missing_ok=True)
        return {"gcore": self.gcore, "kernel": self.kernel_core}.get(kind, lambda path: self.createdump(kind, path))(path)

    def createdump(self, kind, path):
        option = {"heap": "withheap"}.get(kind, kind)
        runtimes.lay_out()  # a program that brings its own runtime runs without
        command = [runtimes.runtime(self.major) / "createdump", f"--{option}", "-f", path, self.pid]
        for _ in range(3):  # it gives up when a thread ends while it attaches to it
            done = subprocess.run(runtimes.inside(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode == 0 or "No such process" not in done.stdout:
                break
        if done.returncode != 0 or not path.exists():
            raise RuntimeError(f"createdump --{option} failed with code {done.returncode}:\n{done.stdout}")
        return path

    def gcore(self, path):
        """Has gdb write a core, as people do who lack createdump."""
        gcore = shutil.which("gcore")
        if not gcore:
            raise runtimes.Missing("no `gcore` on PATH: install gdb")
        done = subprocess.run([gcore, "-o", str(path), str(self.pid)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        written = pathlib.Path(f"{path}.{self.pid}")
        if done.returncode != 0 or not written.exists():
            raise RuntimeError(f"gcore failed with code {done.returncode}:\n{done.stdout}")
        return written.rename(path)

    def kernel_core(self, path):
        """Ends the process by Environment.FailFast; the kernel writes a core into its working folder, file pages and all."""
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
        if "/" in pattern or pattern.startswith("|"):
            raise runtimes.Missing(f"the kernel does not leave cores in the working folder (core_pattern is {pattern})")
        pathlib.Path(f"/proc/{self.pid}/coredump_filter").write_text("0x3f")
        self.process.communicate("FAIL\n", timeout=300)
        written = [file for file in self.folder.iterdir() if file.name.startswith("core")]
        if len(written) != 1:
            raise RuntimeError(f"no core in {self.folder} after FailFast (code {self.process.returncode})")
        return written[0].rename(path)

    def stop_where_set(self, variable, path):
        """A core of a moment at which the 32-bit variable at an address is other than 0. A debugger's watchpoint would do it at once; but
        where virtual machines lack the processor's debug registers it never fires, and says nothing."""
        if not self.stop_when(lambda: self.is_set(variable), 10_000):
            raise RuntimeError("no moment inside a collection")
        return self.gcore(path)

    def stop_when(self, holds, tries):
        """Stops the process at a moment at which holds() is true; whether that came. resume() lets it go on."""
        for _ in range(tries):
            self.stop()
            if holds():
                return True
            self.resume()
            time.sleep(random.random() / 100)
        return False

    def stop(self):
        """Until all threads stand: one that goes on may answer what it is asked meanwhile."""
        os.kill(self.pid, signal.SIGSTOP)
        while any(state not in "TtZX" for state in self.thread_states()):
            time.sleep(0.0005)

    def resume(self):
        """A debugger that was attached meanwhile may leave a stop of its own behind."""
        while True:
            os.kill(self.pid, signal.SIGCONT)
            time.sleep(0.002)
            if "T" not in self.thread_states():
                return

    def wait_until_at_rest(self, seconds=30):
        """Until no thread has used a processor for a second: what a program does after it said READY takes long on a busy machine."""
        used = None
        for _ in range(seconds):
            now = [text.rsplit(") ", 1)[1].split()[11:13] for text in self.of_threads("stat")]
            if now == used:
                return
            used = now
            time.sleep(1)

    def thread_states(self):
        return [text.rsplit(") ", 1)[1][0] for text in self.of_threads("stat")]

    def of_threads(self, file):
        """Texts of a file in /proc, of each thread."""
        out = []
        for path in pathlib.Path(f"/proc/{self.pid}/task").glob(f"*/{file}"):
            try:
                out.append(path.read_text())
            except (FileNotFoundError, ProcessLookupError):
                pass
        return out

    def is_set(self, variable):
        """Whether the 32-bit variable at an address is other than 0."""
        with open(f"/proc/{self.pid}/mem", "rb") as memory:
            memory.seek(variable)
            return any(memory.read(4))

    def ask(self):
        """Writes a line to the program and returns its answer."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self):
        """Lets the program end by itself, so that it removes its diagnostics pipes; then makes sure."""
        if self.process.returncode is None:
            try:
                self.process.communicate("", timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
