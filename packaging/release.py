#!/usr/bin/env python3
"""What `./dev release` ships, from programs that were built already: dist/, anew. The same bytes for the same commit and packages, wherever and
whenever it is made.

    release.py OUT TARGET…        each of linux-x64, linux-arm64, win-x64, built in build/TARGET; SOURCE_DATE_EPOCH is set
"""
import dataclasses
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

import image
import parts
import tool

PROJECT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "bindings/dotnet"))
sys.dont_write_bytecode = True
import pack  # noqa: E402

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
CREATED = datetime.datetime.fromtimestamp(EPOCH, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
MAINTAINER = os.environ.get("DNHEAP_MAINTAINER", "The dnheap authors <dnheap@localhost.localdomain>")
DEBIAN = {"linux-x64": "amd64", "linux-arm64": "arm64"}
TOOLS = {"linux-x64": "", "linux-arm64": "aarch64-linux-gnu-", "win-x64": "x86_64-w64-mingw32-"}


LIBRARIES = {"linux-x64": "libdnheap-c.so.0", "linux-arm64": "libdnheap-c.so.0", "win-x64": "dnheap-c.dll"}


@dataclasses.dataclass
class Binary:
    """The program, or the C interface's library."""
    target: str
    name: str  # dnheap, dnheap.exe, libdnheap-c.so.0, dnheap-c.dll
    stripped: bytes
    debug: bytes
    notices: bytes
    copyright: bytes  # the same, for Debian
    sbom: bytes


def version():
    text = (PROJECT / "include/dnheap/version.h").read_text()
    return ".".join(re.search(rf"define DNHEAP_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def binary_of(target, name, part):
    """Without what only debuggers read, and that by itself; the first names the second. `part`: dnheap or dnheap-c."""
    build = PROJECT / "build" / target
    with tempfile.TemporaryDirectory() as folder:
        program, debug = pathlib.Path(folder, name), pathlib.Path(folder, name + ".debug")

        def objcopy(*words):
            subprocess.run([TOOLS[target] + "objcopy", *words], check=True, cwd=folder)

        objcopy("--only-keep-debug", build / name, debug)
        objcopy("--strip-unneeded" if part == "dnheap-c" else "--strip-all", build / name, program)
        objcopy(f"--add-gnu-debuglink={debug.name}", program)
        stripped = program.read_bytes()
        of = parts.parts_of(build, target, part)
        sbom = parts.spdx(part, of, version(), target, hashlib.sha256(stripped).hexdigest(), CREATED)
        return Binary(target, name, stripped, debug.read_bytes(), parts.notices(of).encode(),
                       parts.notices(of, with_licences=False).encode(), json.dumps(sbom, indent=1).encode() + b"\n")


def tar_zst(path, files):
    """`files`: {name: (mode, bytes, or what a link leads to)}, below a folder of the archive's name."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, (mode, data) in sorted(files.items()):
            entry = tarfile.TarInfo(f"{path.name.removesuffix('.tar.zst')}/{name}")
            entry.mode, entry.mtime = mode, EPOCH
            if isinstance(data, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, data
                tar.addfile(entry)
            else:
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
    subprocess.run(["zstd", "-q", "-19", "-T1", "-f", "-o", path], input=out.getvalue(), check=True)


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (mode, data) in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{path.stem}/{name}", time.gmtime(EPOCH)[:6])
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, mode << 16
            archive.writestr(entry, data)


def shared_files():
    """What lies beside a program everywhere: {path below /usr/share: bytes}. The program for this machine writes them."""
    def written(*words):
        return subprocess.run([PROJECT / "build/linux-x64/dnheap", *words], check=True, capture_output=True).stdout

    return {"man/man1/dnheap.1.gz": gzip.compress(written("help", "--man"), mtime=0),
            "bash-completion/completions/dnheap": written("completion", "bash"),
            "zsh/vendor-completions/_dnheap": written("completion", "zsh"),
            "fish/vendor_completions.d/dnheap.fish": written("completion", "fish")}


def deb(out, program):
    """As a root folder, which cpack wraps up."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "root")

        def add(path, data, mode=0o644):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
            (root / path).chmod(mode)

        add("usr/bin/dnheap", program.stripped, 0o755)
        when = datetime.datetime.fromtimestamp(EPOCH, datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S +0000")
        changes = f"dnheap ({version()}) unstable; urgency=medium\n\n  * See CHANGELOG.md of this version.\n\n -- {MAINTAINER}  {when}\n"
        add("usr/share/doc/dnheap/changelog.gz", gzip.compress(changes.encode(), mtime=0))
        add("usr/share/doc/dnheap/copyright", (PROJECT / "LICENSE").read_bytes() + b"\n" + program.copyright)
        add("usr/share/lintian/overrides/dnheap", (PROJECT / "packaging/lintian-overrides").read_bytes())
        for path, data in shared_files().items():
            add("usr/share/" + path, data)
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (EPOCH, EPOCH))
        architecture = DEBIAN[program.target]
        environment = {**os.environ, "DNHEAP_VERSION": version(), "DNHEAP_FILE": f"dnheap_{version()}_{architecture}", "DNHEAP_OUT": str(out),
                       "DNHEAP_ROOT": str(root), "DNHEAP_MAINTAINER": MAINTAINER, "DNHEAP_ARCHITECTURE": architecture}
        subprocess.run(["cpack", "--config", PROJECT / "packaging/deb.cmake"], check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        shutil.rmtree(out / "_CPack_Packages", ignore_errors=True)


def write_library(out, library, own):
    """For C and Python: beside dnheap.h and dnheap.py."""
    name = f"dnheap-c-{version()}-{library.target}"
    (out / f"{name}.spdx.json").write_bytes(library.sbom)
    files = {**own, library.name: (0o644, library.stripped), "NOTICES.txt": (0o644, library.notices)}
    for path in ("include/dnheap.h", "bindings/python/dnheap.py"):
        files[path.split("/")[-1]] = (0o644, (PROJECT / path).read_bytes())
    if library.target in DEBIAN:
        tar_zst(out / f"{name}.tar.zst", {**files, "libdnheap-c.so": (0o777, library.name)})
    else:
        linked_by = "libdnheap-c.dll.a"
        zipped(out / f"{name}.zip", {**files, linked_by: (0o644, (PROJECT / "build" / library.target / "src" / linked_by).read_bytes())})


def write_nuget_library(out, programs, libraries):
    """DnHeap.Core, where there is the SDK. Of what `dotnet pack` made, so that its bytes are the same on each machine and day."""
    if not shutil.which("dotnet"):
        print("NOT made: DnHeap.Core, as there is no .NET SDK here")
        return
    with tempfile.TemporaryDirectory() as folder:
        for target, library in libraries.items():
            native = pathlib.Path(folder, "natives/runtimes", target, "native")
            native.mkdir(parents=True)
            (native / library.name.removesuffix(".0")).write_bytes(library.stripped)
            if target in DEBIAN:  # MemoryAssert starts it
                (native / "dnheap").write_bytes(programs[target].stripped)
            notices = pathlib.Path(folder, "natives/notices")
            notices.mkdir(exist_ok=True)
            (notices / f"{target}.txt").write_bytes(programs[target].notices)  # of whose parts the library's are some
        done = pack.pack_natives(pathlib.Path(folder, "natives"), folder)
        if done.returncode:
            raise SystemExit(f"DnHeap.Core cannot be packed:\n{done.stdout}")
        tool.repack(next(pathlib.Path(folder).glob("*.nupkg")), out, EPOCH)


def main(out, targets):
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    os.umask(0o022)
    programs = {target: binary_of(target, "dnheap.exe" if target == "win-x64" else "dnheap", "dnheap") for target in targets}
    libraries = {target: binary_of(target, LIBRARIES[target], "dnheap-c") for target in targets}
    own = {name: (0o644, (PROJECT / name).read_bytes()) for name in ("LICENSE", "CHANGELOG.md", "README.md")}
    for target, program in programs.items():
        name = f"dnheap-{version()}-{target}"
        (out / f"{name}.spdx.json").write_bytes(program.sbom)
        files = {**own, program.name: (0o755, program.stripped), "NOTICES.txt": (0o644, program.notices),
                 **{"share/" + path: (0o644, data) for path, data in shared_files().items()}}
        if target in DEBIAN:
            tar_zst(out / f"{name}.tar.zst", files)
            deb(out, program)
        else:
            zipped(out / f"{name}.zip", files)
        write_library(out, libraries[target], own)
        tar_zst(out / f"{name}-debug.tar.zst", {binary.name + ".debug": (0o644, binary.debug) for binary in (program, libraries[target])})
        # The one file to download.
        single = out / f"dnheap-{target}{pathlib.Path(program.name).suffix}"
        single.write_bytes(program.stripped)
        single.chmod(0o755)
    of_linux = {DEBIAN[target]: (program.stripped, {"LICENSE": own["LICENSE"][1], "NOTICES.txt": program.notices})
                for target, program in programs.items() if target in DEBIAN}
    if of_linux:
        image.write_image(out / "image", of_linux, version(), EPOCH, CREATED)
    tool.write_tool_packages(out, {target: program.stripped for target, program in programs.items()},
                             {"LICENSE.txt": own["LICENSE"][1], "NOTICES.txt": b"\n".join(p.notices for p in programs.values())}, version(), EPOCH)
    write_nuget_library(out, programs, libraries)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(out)}\n" for path in sorted(out.rglob("*")) if path.is_file()]
    (out / "SHA256SUMS").write_text("".join(sums))
    for path in [*out.rglob("*"), out]:
        os.utime(path, (EPOCH, EPOCH))
    for target, program in programs.items():
        print(f"{target}: {len(program.stripped) / 1e6:.2f} MB stripped, {len(program.debug) / 1e6:.1f} MB for debuggers; "
              f"the C interface's library {len(libraries[target].stripped) / 1e6:.2f} MB")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:])
