"""Lays out a private .NET installation with the runtimes that the real-dump tests run their targets on.

The runtimes come as NuGet packs (packages/packages.csproj), the muxer and everything a pack lacks from the installed
SDK. The layout is what `dotnet exec --fx-version VERSION app.dll` expects:

    <cache>/packages/                                     the packs, as NuGet unpacks them
    <cache>/dotnet/dotnet
    <cache>/dotnet/host/fxr/<newest>/libhostfxr.so
    <cache>/dotnet/shared/Microsoft.NETCore.App/<version>/  managed and native files, createdump, libmscordaccore.so

Files are hard links into the packs, so the layout costs no space. It must stay where it is while its dumps are in
use: a dump names its modules by the path they were loaded from.
"""
import contextlib
import fcntl
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile

import musl

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent

# The runtime that each major version's tests use.
VERSIONS = {8: "8.0.34", 9: "9.0.23", 10: "10.0.15", 11: "11.0.0"}
CLRMD_VERSION = "4.2.750101"

# Older patches that people still run: the first of a version, and some of which the newest differs in what is derived.
PATCHES = ("8.0.0", "8.0.29", "8.0.33", "9.0.18", "9.0.22", "10.0.11", "10.0.14")

MAJORS = tuple(VERSIONS)

# Those that NuGet has for musl, too: "10-musl" where a version is asked for.
MUSL = tuple(f"{major}-musl" for major in (8, 10, 11))


class Missing(Exception):
    """Something from outside (a package) is not to be had: the tests are skipped, loudly; with CI set, they fail."""


class NoSdk(Missing):
    """There is no .NET here: skipped in any case."""


class NoMusl(NoSdk):
    """No program for musl can run here."""


def framework(major):
    """What to compile for: the SDK here knows none that is newer than itself. What it made runs on newer ones."""
    return f"net{min(major, 10)}.0"


def choose(version):
    """From now on this process runs its targets on this patch, or on musl. Returns its major version."""
    if version in MUSL:
        global _on_musl
        _on_musl = True
        return int(version.removesuffix("-musl"))
    major = int(version.split(".")[0])
    VERSIONS[major] = version
    return major


_on_musl = False


def on_musl():
    return _on_musl


def musl_root():
    """The root folder for programs for musl; made at the first call."""
    if reason := musl.why_not():
        raise NoMusl(f"no program for musl can run: {reason}")
    root = musl.folder(cache())
    with lock():
        if wrong := musl.make(root):
            raise NoMusl(f"the root folder for musl cannot be made: {wrong}")
    return root


def inside(command):
    """The command as it is run where the targets run."""
    return musl.inside(musl_root(), (cache(), PROJECT, tempfile.gettempdir()), command) if on_musl() else [str(part) for part in command]


def cache():
    """The folder that holds everything downloaded or built; safe to delete, slow to refill."""
    return pathlib.Path(os.environ.get("DNHEAP_CACHE") or PROJECT / "build" / "real-cache")


def packages():
    return cache() / "packages"


def dotnet_root():
    return cache() / ("dotnet-musl" if on_musl() else "dotnet")


def runtime(major):
    """The folder of a runtime: libcoreclr.so, createdump, libmscordaccore.so, the framework's assemblies."""
    return dotnet_root() / "shared" / "Microsoft.NETCore.App" / VERSIONS[major]


def sdk():
    """The installed SDK's muxer."""
    found = shutil.which("dotnet")
    if not found:
        raise NoSdk("no `dotnet` on PATH: the real-dump tests need a .NET SDK (10.0 or newer)")
    return pathlib.Path(found).resolve()


@contextlib.contextmanager
def lock():
    """Only one process at a time fills the cache."""
    cache().mkdir(parents=True, exist_ok=True)
    with open(cache() / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run_sdk(*arguments, intermediate="obj", settings=None):
    """Runs a dotnet command of the SDK with packages and intermediate files kept in the cache. `settings`: of its environment."""
    environment = dict(os.environ, NUGET_PACKAGES=str(packages()), DOTNET_CLI_TELEMETRY_OPTOUT="1", DOTNET_NOLOGO="1", **(settings or {}))
    command = [str(part) for part in [sdk(), *arguments, "--artifacts-path", cache() / intermediate]]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def build(project, output, *properties, intermediate="obj"):
    """Compiles a C# project of this repository into a folder of the cache."""
    done = run_sdk("build", project, "-c", "Release", "-o", output, *properties, intermediate=intermediate)
    if done.returncode != 0:
        raise RuntimeError(f"building {project} failed:\n{done.stdout}")


def outdated(assembly, folders):
    """Whether a built file is missing or older than a source file in one of the folders."""
    newest = max(file.stat().st_mtime for folder in folders for file in folder.iterdir() if file.is_file())
    return not assembly.exists() or assembly.stat().st_mtime < newest


def restore():
    """Downloads the packs, unless all of them are there. Returns the folder of the runtime packs."""
    packs = packages() / "microsoft.netcore.app.runtime.linux-x64"
    wanted = [packs / version for version in VERSIONS.values()]
    wanted.append(packages() / "microsoft.diagnostics.runtime" / CLRMD_VERSION)
    if not all((folder / ".nupkg.metadata").exists() for folder in wanted):
        properties = [f"-p:Net{major}={version}" for major, version in VERSIONS.items()]
        done = run_sdk("restore", HERE / "packages" / "packages.csproj", f"-p:ClrMD={CLRMD_VERSION}", *properties)
        if done.returncode != 0:
            errors = [line for line in done.stdout.splitlines() if "error" in line] or ["no error message"]
            raise Missing(f"NuGet cannot restore the .NET runtimes: {errors[0].strip()}")
    return packs


def musl_packs():
    """The folder of the runtime packs for musl; downloaded at the first call."""
    packs = packages() / "microsoft.netcore.app.runtime.linux-musl-x64"
    versions = [VERSIONS[int(name.removesuffix("-musl"))] for name in MUSL]
    if not all((packs / version / ".nupkg.metadata").exists() for version in versions):
        properties = [f"-p:Net{version.split('.')[0]}={version}" for version in versions]
        done = run_sdk("restore", HERE / "packages" / "musl.csproj", *properties, intermediate="obj-musl")
        if done.returncode != 0:
            errors = [line for line in done.stdout.splitlines() if "error" in line] or ["no error message"]
            raise Missing(f"NuGet cannot restore the .NET runtimes for musl: {errors[0].strip()}")
    return packs


def reference(major):
    """The folder of a version's reference assemblies; downloaded at the first call."""
    pack = packages() / "microsoft.netcore.app.ref" / VERSIONS[major]
    if not (pack / ".nupkg.metadata").exists():
        done = run_sdk("restore", HERE / "packages" / "reference.csproj", f"-p:Version={VERSIONS[major]}", intermediate="obj-reference")
        if done.returncode != 0:
            errors = [line for line in done.stdout.splitlines() if "error" in line] or ["no error message"]
            raise Missing(f"NuGet cannot restore the reference assemblies of .NET {VERSIONS[major]}: {errors[0].strip()}")
    return pack / "ref" / f"net{major}.0"


def crossgen(major):
    """The compiler that makes ready-to-run code for a version's runtime; downloaded at the first call."""
    pack = packages() / "microsoft.netcore.app.crossgen2.linux-x64" / VERSIONS[major]
    if not (pack / ".nupkg.metadata").exists():
        with lock():
            done = run_sdk("restore", HERE / "packages" / "crossgen.csproj", f"-p:Version={VERSIONS[major]}",
                           intermediate="obj-crossgen")
            if done.returncode != 0:
                errors = [line for line in done.stdout.splitlines() if "error" in line] or ["no error message"]
                raise Missing(f"NuGet cannot restore crossgen2: {errors[0].strip()}")
    compiler = pack / "tools" / "crossgen2"
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    return compiler


def windows_packs(versions):
    """The folder of the runtime packs for Windows, by version; downloaded at the first call. For what dumps leave out."""
    packs = packages() / "microsoft.netcore.app.runtime.win-x64"
    if not all((packs / version / ".nupkg.metadata").exists() for version in versions.values()):
        with lock():
            properties = [f"-p:Net{major}={version}" for major, version in versions.items()]
            done = run_sdk("restore", HERE / "packages" / "windows.csproj", *properties, intermediate="obj-windows")
            if done.returncode != 0:
                errors = [line for line in done.stdout.splitlines() if "error" in line] or ["no error message"]
                raise Missing(f"NuGet cannot restore the .NET runtimes for Windows: {errors[0].strip()}")
    return packs


def macos_packs(version):
    """The folder of the packages, with a version's runtime packs for macOS; downloaded at the first call."""
    packs = [packages() / f"microsoft.netcore.app.runtime.osx-{cpu}" / version for cpu in ("arm64", "x64")]
    if not all((pack / ".nupkg.metadata").exists() for pack in packs):
        with lock():
            done = run_sdk("restore", HERE / "packages" / "macos.csproj", f"-p:Version={version}", intermediate="obj-macos")
            if done.returncode != 0:
                errors = [line for line in done.stdout.splitlines() if "error" in line] or ["no error message"]
                raise Missing(f"NuGet cannot restore the .NET runtimes for macOS: {errors[0].strip()}")
    return packages()


def link(source, target):
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def lay_out():
    """Makes the private installation, or completes it. Returns its root."""
    muxer = musl_root() / "bin" / "dotnet" if on_musl() else sdk()
    platform = "linux-musl-x64" if on_musl() else "linux-x64"
    with lock():
        packs = musl_packs() if on_musl() else restore()
        newest = VERSIONS[max(VERSIONS)]
        link(muxer, dotnet_root() / "dotnet")
        link(packs / newest / "runtimes" / platform / "native" / "libhostfxr.so",
             dotnet_root() / "host" / "fxr" / newest / "libhostfxr.so")
        for major, version in VERSIONS.items():
            pack = packs / version / "runtimes" / platform
            if on_musl() and f"{major}-musl" not in MUSL:
                continue
            for source in [*(pack / "native").iterdir(), *(pack / "lib" / f"net{major}.0").iterdir()]:
                link(source, runtime(major) / source.name)
            createdump = runtime(major) / "createdump"
            createdump.chmod(createdump.stat().st_mode | stat.S_IXUSR)
    return dotnet_root()


if __name__ == "__main__":
    print(lay_out())
