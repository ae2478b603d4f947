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
import os
import pathlib
import shutil
import stat
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent

# The runtime that each major version's tests use.
VERSIONS = {8: "8.0.33", 9: "9.0.22", 10: "10.0.14"}
CLRMD_VERSION = "4.2.750101"


class Missing(Exception):
    """Something from outside (the SDK, a package) is not to be had: the tests are skipped, loudly."""


def cache():
    """The folder that holds everything downloaded or built; safe to delete, slow to refill."""
    return pathlib.Path(os.environ.get("DNHEAP_CACHE") or PROJECT / "build" / "real-cache")


def packages():
    return cache() / "packages"


def dotnet_root():
    return cache() / "dotnet"


def runtime(major):
    """The folder of a runtime: libcoreclr.so, createdump, libmscordaccore.so, the framework's assemblies."""
    return dotnet_root() / "shared" / "Microsoft.NETCore.App" / VERSIONS[major]


def sdk():
    """The installed SDK's muxer."""
    found = shutil.which("dotnet")
    if not found:
        raise Missing("no `dotnet` on PATH: the real-dump tests need a .NET SDK (10.0 or newer)")
    return pathlib.Path(found).resolve()


def run_sdk(*arguments):
    """Runs a dotnet command of the SDK with packages and intermediate files kept in the cache."""
    environment = dict(os.environ, NUGET_PACKAGES=str(packages()), DOTNET_CLI_TELEMETRY_OPTOUT="1", DOTNET_NOLOGO="1")
    command = [str(sdk()), *map(str, arguments)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Missing(f"`{' '.join(command)}` failed:\n{done.stdout}")


def restore():
    """Downloads the packs, unless all of them are there."""
    packs = packages() / "microsoft.netcore.app.runtime.linux-x64"
    wanted = [packs / version for version in VERSIONS.values()]
    wanted.append(packages() / "microsoft.diagnostics.runtime" / CLRMD_VERSION)
    if not all((folder / ".nupkg.metadata").exists() for folder in wanted):
        run_sdk("restore", HERE / "packages" / "packages.csproj", "--artifacts-path", cache() / "obj")
    return packs


def link(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def lay_out():
    """Makes the private installation, or completes it. Returns its root."""
    packs = restore()
    link(sdk(), dotnet_root() / "dotnet")
    newest = VERSIONS[max(VERSIONS)]
    link(packs / newest / "runtimes/linux-x64/native/libhostfxr.so",
         dotnet_root() / "host" / "fxr" / newest / "libhostfxr.so")
    for major, version in VERSIONS.items():
        pack = packs / version / "runtimes" / "linux-x64"
        for source in [*(pack / "native").iterdir(), *(pack / "lib" / f"net{major}.0").iterdir()]:
            target = runtime(major) / source.name
            if not target.exists():
                link(source, target)
        createdump = runtime(major) / "createdump"
        createdump.chmod(createdump.stat().st_mode | stat.S_IXUSR)
    return dotnet_root()


if __name__ == "__main__":
    print(lay_out())
