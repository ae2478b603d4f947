"""The target programs of test/programs, running in the emulated system: as test/real/targets.py has them here.

    with Target(guest, "waits", 10, ["locks"]) as target:
        target.truth
        target.dump("heap", "locks")     # a file in the share
"""
import json
import pathlib
import shlex
import shutil
import stat
import subprocess
import time

import nativeaot
import runtimes
import targets

MAJORS = (9, 10, 11)
AOT_VERSIONS = {10: "10.0.15", 11: "11.0.0"}
START_SECONDS, DUMP_SECONDS = 300, 300
NAME_IN_HOST = b"c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2"  # where an apphost keeps the name of its .dll
CREATEDUMP = 9  # whose createdump dumps what is compiled ahead of time


def packs():
    """The folders of the runtime pack and of the host's; downloaded at the first call."""
    runtime, host = (runtimes.packages() / f"microsoft.netcore.app.{kind}.linux-arm64" for kind in ("runtime", "host"))
    wanted = [*(runtime / runtimes.VERSIONS[major] for major in MAJORS), host / runtimes.VERSIONS[10]]
    if not all((folder / ".nupkg.metadata").exists() for folder in wanted):
        with runtimes.lock():
            properties = [f"-p:Net{major}={runtimes.VERSIONS[major]}" for major in MAJORS]
            done = runtimes.run_sdk("restore", runtimes.HERE / "packages" / "arm64.csproj", *properties, intermediate="obj-arm64")
            if done.returncode != 0:
                errors = [line for line in done.stdout.splitlines() if "error" in line] or ["no error message"]
                raise runtimes.Missing(f"NuGet cannot restore the .NET runtimes for arm64: {errors[0].strip()}")
    return runtime, host / runtimes.VERSIONS[10] / "runtimes" / "linux-arm64" / "native"


def installation():
    """The files of one .NET for each version, by their name there."""
    out = {}
    for major in MAJORS:
        version = runtimes.VERSIONS[major]
        pack = packs()[0] / version / "runtimes" / "linux-arm64"
        for source in [*(pack / "native").iterdir(), *(pack / "lib" / f"net{major}.0").iterdir()]:
            folder = f"host/fxr/{version}" if source.name == "libhostfxr.so" else f"shared/Microsoft.NETCore.App/{version}"
            out[f"dotnet/{version}/{folder}/{source.name}"] = source
    return out


def folder_of(major):
    """A runtime's, there."""
    return f"/dotnet/{runtimes.VERSIONS[major]}/shared/Microsoft.NETCore.App/{runtimes.VERSIONS[major]}"


def hosted(guest, program):
    """The program with an executable for arm64, in the share. Returns that."""
    folder = guest.share / "programs" / program
    executable = folder / program
    if not executable.exists():
        assembly = targets.build(program)
        shutil.copytree(assembly.parent, folder)
        shutil.copy(targets.PROGRAMS / "common" / "target.runtimeconfig.json", folder / f"{program}.runtimeconfig.json")
        host = (packs()[1] / "apphost").read_bytes()
        if host.count(NAME_IN_HOST) != 1:
            raise RuntimeError("the apphost has no place for the name of its program, or several")
        executable.write_bytes(host.replace(NAME_IN_HOST, f"{program}.dll".encode().ljust(len(NAME_IN_HOST), b"\0")))
        executable.chmod(0o755)
    return executable


def compiled(guest, program, major):
    """The program compiled ahead of time for arm64, in the share. Returns the executable."""
    output = runtimes.cache() / "programs" / f"{program}{major}-wks-arm64"
    executable = output / "aot"
    with runtimes.lock():
        sources = [nativeaot.PROGRAM, targets.PROGRAMS / program, targets.PROGRAMS / "common", pathlib.Path(__file__).parent]
        if runtimes.outdated(executable, sources):
            linker = linker_without_target()
            done = runtimes.run_sdk("publish", nativeaot.PROGRAM / "aot.csproj", "-c", "Release", "-o", output,
                                    f"-p:AotFramework={runtimes.framework(major)}", f"-p:AotVersion={AOT_VERSIONS[major]}", "-p:AotServer=false",
                                    f"-p:AotNewer={str(major > nativeaot.NEWEST_OF_SDK).lower()}",
                                    *([f"-p:AotProgram={program}"] if program != nativeaot.PROGRAM.name else []),
                                    "-p:RuntimeIdentifier=linux-arm64", f"-p:CppCompilerAndLinker={linker}",
                                    "-p:ObjCopyName=aarch64-linux-gnu-objcopy", "-p:LinkerFlavor=bfd", intermediate=f"obj-{program}{major}-arm64")
            if done.returncode != 0:
                reasons = [line for line in done.stdout.splitlines() if any(part in line for part in nativeaot.NOT_TO_BE_HAD)]
                if reasons:
                    raise runtimes.Missing(f"programs cannot be compiled ahead of time: {reasons[0].strip()}")
                raise RuntimeError(f"publishing {program} for arm64 failed:\n{done.stdout[-4000:]}")
            executable.touch()
    there = guest.share / "programs" / output.name
    if not there.exists():
        shutil.copytree(output, there)
    return there / "aot"


def linker_without_target():
    """gcc for arm64, which does not know the option that the compiler has for clang."""
    if not shutil.which("aarch64-linux-gnu-gcc"):
        subprocess.run([runtimes.PROJECT / "dev", "install", "g++-aarch64-linux-gnu"], check=False)
    if not shutil.which("aarch64-linux-gnu-gcc"):
        raise runtimes.Missing("no linker for arm64: install g++-aarch64-linux-gnu")
    path = runtimes.cache() / "hosts" / "arm64" / "gcc"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('#!/bin/bash\nfor word; do [[ $word == --target=* ]] || words+=("$word"); done\nexec aarch64-linux-gnu-gcc "${words[@]}"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


class Target:
    """A program that has said its truth and waits."""

    def __init__(self, guest, program, major, arguments=(), settings=None, ahead=False):
        self.guest, self.major, self.ahead = guest, CREATEDUMP if ahead else major, ahead
        with guest.copying:
            executable = compiled(guest, program, major) if ahead else hosted(guest, program)
        variables = {} if ahead else {"DOTNET_ROOT": f"/dotnet/{runtimes.VERSIONS[major]}", "DOTNET_ROLL_FORWARD": "Major"}
        variables.update(settings or {})
        self.name = f"{program}{major}-{guest.next():03}"
        self.out = guest.share / f"{self.name}.out"
        words = " ".join(shlex.quote(str(word)) for word in ("env", *(f"{key}={value}" for key, value in variables.items()), executable, *arguments))
        self.job = guest.begin(f"mkdir /tmp/{self.name} && cd /tmp/{self.name} && mkfifo in && ulimit -s 1024 && ulimit -c unlimited\n"
                               f"exec 3<>in\n{words} <in 3>&- >{self.out} 2>{self.out}.errors &\necho $! >{self.out}.pid\nwait $!")
        self.truth = self.pid = None
        end = time.monotonic() + START_SECONDS
        while self.pid is None:
            time.sleep(0.05)
            for line in (self.out.read_text() if self.out.exists() else "").splitlines(keepends=True):
                if line.startswith("TRUTH ") and line.endswith("\n"):
                    self.truth = json.loads(line[len("TRUTH "):])
                if line.startswith("READY ") and line.endswith("\n"):
                    self.pid = int(line.split()[1])
            if self.pid is None and (time.monotonic() > end or (guest.share / "done" / f"{self.job}.code").exists()):
                raise RuntimeError(f"{self.name} is not ready: {pathlib.Path(f'{self.out}.errors').read_text()[-2000:]}")

    def dump(self, kind, name):
        """heap, full, gcore or kernel, which ends the process. Returns the file in the share."""
        path, there = self.guest.share / f"{name}.core", f"/tmp/{self.name}/core"
        createdump = f"{folder_of(self.major)}/createdump -f {there}"
        command = {"heap": f"{createdump} --withheap {self.pid}", "full": f"{createdump} --full {self.pid}",
                   "gcore": f"gcore -o {there} {self.pid} && mv {there}.{self.pid} {there}",
                   "kernel": f"echo 0x3f >/proc/{self.pid}/coredump_filter; echo FAIL >/tmp/{self.name}/in; "
                             f"while [ -d /proc/{self.pid} ]; do sleep 0.1; done"}[kind]
        done = self.guest.run(f"{command} && cp {there} {path} && rm {there}", DUMP_SECONDS)
        if done.returncode != 0:
            raise RuntimeError(f"{kind} of {self.name} failed with code {done.returncode}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
        return path

    def wait_until_at_rest(self, quiet=22, seconds=120):
        """Until no thread has used a processor or ended for so long: compilation in the background takes long there, and workers of the
        thread pool that have nothing to do end after 20 seconds."""
        self.guest.run(f"last=; same=0; for i in $(seq {seconds}); do now=$(cut -d' ' -f14,15 /proc/{self.pid}/task/*/stat); same=$((same+1)); "
                       f"[ \"$now\" = \"$last\" ] || same=0; [ $same -lt {quiet} ] || exit; last=$now; sleep 1; done")

    def say(self, text=""):
        """Writes a line to the program."""
        self.guest.run(f"echo {shlex.quote(text)} >/tmp/{self.name}/in")

    def close(self):
        self.guest.run(f"kill -9 {self.pid} 2>/dev/null; rm -rf /tmp/{self.name}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

