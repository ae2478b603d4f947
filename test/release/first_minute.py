#!/usr/bin/env python3
"""From nothing to a report on the sample, each way that the README names, within a minute: what is to be had is there (dist/, a bare
system to install into), and nothing else of dnheap is.

    first_minute.py [DIST]

Without DIST, `./dev release linux-x64 win-x64` makes one first. What cannot be tried here is said, loudly; 77 where that is all.
"""
import functools
import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import packages  # noqa: E402
from packages import PROJECT, SAMPLE, TRUTH, expect, run  # noqa: E402
import elsewhere  # noqa: E402

MOST = 60  # seconds
CACHE = pathlib.Path(os.environ.get("DNHEAP_CACHE", PROJECT / "build/real-cache")) / "roots"
PROGRAM = """
using DnHeap;
using var heap = Snapshot.Open(args[0]);
Console.WriteLine(heap.AskText("report"));
"""


class Missing(Exception):
    pass


def need(*programs, package):
    for program in programs:
        if shutil.which(program):
            return program
    raise Missing(f"there is no {programs[0]} (Debian: {package})")


def need_root():
    if os.geteuid():
        raise Missing("this needs root, for chroot")


def bare_debian():
    """Once for all runs: what dpkg and apt need, from the sources that apt uses here. As a tar file."""
    need("mmdebstrap", package="mmdebstrap")
    suite = next(line.split("=")[1].strip('"') for line in pathlib.Path("/etc/os-release").read_text().splitlines() if line.startswith("VERSION_CODENAME="))
    archive = CACHE / f"{suite}.tar"
    if not archive.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        sources = [path for path in [pathlib.Path("/etc/apt/sources.list"), *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*"))] if path.exists()]
        done = subprocess.run(["mmdebstrap", "--variant=apt", suite, archive, *sources], capture_output=True, text=True)
        if done.returncode:
            archive.unlink(missing_ok=True)
            raise Missing(f"no bare Debian can be made: {done.stderr.strip().splitlines()[-1]}")
    return archive


def by_apt(dist, folder):
    need_root()
    root = folder / "root"
    root.mkdir()
    run("tar", "-xf", bare_debian(), "-C", root, "--exclude=./dev")
    shutil.copy(next(dist.glob("dnheap_*_amd64.deb")), root / "dnheap.deb")
    shutil.copy(SAMPLE, root)
    clean = ["chroot", root, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive"]
    begin = time.monotonic()
    (root / "dev").mkdir(exist_ok=True)
    (root / "dev/null").touch()
    run(*clean, "apt-get", "install", "-y", "/dnheap.deb")
    return begin, run(*clean, "dnheap", "report", "/" + SAMPLE.name)


def by_one_file(dist, folder):
    """Alpine's own root, where $DNHEAP_ALPINE names its archive ("minirootfs"); else what such a system has: busybox, and no C library."""
    need_root()
    root = folder / "root"
    (root / "bin").mkdir(parents=True)
    if "DNHEAP_ALPINE" in os.environ:
        run("tar", "-xf", os.environ["DNHEAP_ALPINE"], "-C", root)
    else:
        busybox = shutil.which("busybox")
        if not busybox or "INTERP" in run("readelf", "-l", busybox):
            raise Missing("there is no busybox without libraries (Debian: busybox-static), and DNHEAP_ALPINE names no Alpine")
        shutil.copy(busybox, root / "bin/busybox")
        run("chroot", root, "/bin/busybox", "--install", "-s", "/bin")
        print("  (no Alpine here, as DNHEAP_ALPINE names none: an empty root with busybox-static)")
    (root / "tmp").mkdir(exist_ok=True)
    shutil.copy(SAMPLE, root)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=dist)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        begin = time.monotonic()
        said = run("chroot", root, "/bin/sh", "-c", f"cd /tmp && wget -q -O dnheap http://127.0.0.1:{server.server_port}/dnheap-linux-x64 && "
                   f"chmod +x dnheap && ./dnheap report /{SAMPLE.name}")
        server.shutdown()
    return begin, said


def by_image(dist, _):
    need_root()
    begin = time.monotonic()
    packages.check_image(dist)
    return begin, TRUTH


def by_dotnet_tool(dist, _):
    need("dotnet", package=".NET SDK 10")
    major = int(run("dotnet", "--version").split(".")[0])
    if major < 10:
        raise Missing(f"this .NET SDK is {major}, and dotnet tool needs 10 here")
    begin = time.monotonic()
    packages.check_tool(dist)
    return begin, TRUTH


def by_python(dist, folder):
    begin = time.monotonic()
    run("tar", "--zstd", "--strip-components=1", "-xf", next(dist.glob("dnheap-c-*-linux-x64.tar.zst")), "-C", folder)
    words = f"import dnheap; print(dnheap.text('report', {str(SAMPLE)!r}))"
    environment = {name: value for name, value in os.environ.items() if name not in ("DNHEAP_LIBRARY", "PYTHONPATH")}
    return begin, run(sys.executable, "-c", words, cwd=folder, env=environment)


def by_dotnet_package(dist, folder):
    need("dotnet", package=".NET SDK")
    environment = {**os.environ, "DOTNET_NOLOGO": "1", "DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_CLI_HOME": str(folder), "NUGET_PACKAGES": str(folder / "packages")}
    app = folder / "app"
    (folder / "nuget.config").write_text(f'<configuration><packageSources><clear/><add key="here" value="{dist}"/></packageSources></configuration>')
    begin = time.monotonic()
    run("dotnet", "new", "console", "-o", app, cwd=folder, env=environment)
    run("dotnet", "add", app, "package", "DnHeap.Core", cwd=folder, env=environment)
    (app / "Program.cs").write_text(PROGRAM)
    return begin, run("dotnet", "run", "--project", app, "--", SAMPLE, cwd=folder, env=environment)


def by_wine(dist, folder):
    if not next(dist.glob("dnheap-win-x64.exe"), None):
        raise Missing("there is no dnheap-win-x64.exe in what was released")
    wine = next((place for place in elsewhere.WINES if place and os.path.exists(place)), None)
    if not wine:
        raise Missing("there is no Wine (Debian: wine64)")
    environment = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(folder / "prefix")}
    begin = time.monotonic()
    try:
        return begin, run(wine, dist / "dnheap-win-x64.exe", "report", SAMPLE, env=environment)
    finally:
        subprocess.run([shutil.which("wineserver") or "/usr/lib/wine/wineserver", "-k"], env=environment, check=False)


def main():
    dist = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PROJECT / "dist"
    if len(sys.argv) <= 1:
        run(PROJECT / "dev", "release", "linux-x64", "win-x64")
    tried = 0
    for way, ask in {
        "apt install ./dnheap.deb": functools.partial(by_apt, dist),
        "dotnet tool install -g dnheap": functools.partial(by_dotnet_tool, dist),
        "one file, fetched": functools.partial(by_one_file, dist),
        "an image FROM scratch": functools.partial(by_image, dist),
        "dnheap.py": functools.partial(by_python, dist),
        "dotnet add package DnHeap.Core": functools.partial(by_dotnet_package, dist),
        "dnheap.exe": functools.partial(by_wine, dist),
    }.items():
        with tempfile.TemporaryDirectory(prefix="dnheap-first-") as folder:
            try:
                begin, said = ask(pathlib.Path(folder))
            except Missing as reason:
                packages.skip(f"{way} was NOT tried", reason)
                continue
            took = time.monotonic() - begin
            expect(TRUTH in said, f"{way}: no report, but {said[:500]!r}")
            expect(took < MOST, f"{way}: a report after {took:.0f} s")
            print(f"{way}: a report after {took:.1f} s", flush=True)
            tried += 1
    sys.exit(0 if tried else 77)


if __name__ == "__main__":
    main()
