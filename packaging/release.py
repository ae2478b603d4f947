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
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
CREATED = datetime.datetime.fromtimestamp(EPOCH, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
MAINTAINER = os.environ.get("DNHEAP_MAINTAINER", "The dnheap authors <dnheap@localhost.localdomain>")
DEBIAN = {"linux-x64": "amd64", "linux-arm64": "arm64"}
TOOLS = {"linux-x64": "", "linux-arm64": "aarch64-linux-gnu-", "win-x64": "x86_64-w64-mingw32-"}


@dataclasses.dataclass
class Program:
    target: str
    name: str  # dnheap or dnheap.exe
    stripped: bytes
    debug: bytes
    notices: bytes
    copyright: bytes  # the same, for Debian
    sbom: bytes


def version():
    text = (PROJECT / "include/dnheap/version.h").read_text()
    return ".".join(re.search(rf"define DNHEAP_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def program_of(target):
    """Without what only debuggers read, and that by itself; the first names the second."""
    build = PROJECT / "build" / target
    name = "dnheap.exe" if target == "win-x64" else "dnheap"
    with tempfile.TemporaryDirectory() as folder:
        program, debug = pathlib.Path(folder, name), pathlib.Path(folder, name + ".debug")

        def objcopy(*words):
            subprocess.run([TOOLS[target] + "objcopy", *words], check=True, cwd=folder)

        objcopy("--only-keep-debug", build / name, debug)
        objcopy("--strip-all", build / name, program)
        objcopy(f"--add-gnu-debuglink={debug.name}", program)
        stripped = program.read_bytes()
        of = parts.parts_of(build, target)
        sbom = parts.spdx(of, version(), target, hashlib.sha256(stripped).hexdigest(), CREATED)
        return Program(target, name, stripped, debug.read_bytes(), parts.notices(of).encode(),
                       parts.notices(of, with_licences=False).encode(), json.dumps(sbom, indent=1).encode() + b"\n")


def tar_zst(path, files):
    """`files`: {name: (mode, bytes)}, below a folder of the archive's name."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, (mode, data) in sorted(files.items()):
            entry = tarfile.TarInfo(f"{path.name.removesuffix('.tar.zst')}/{name}")
            entry.mode, entry.mtime, entry.size = mode, EPOCH, len(data)
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


def main(out, targets):
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    os.umask(0o022)
    programs = {target: program_of(target) for target in targets}
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
        tar_zst(out / f"{name}-debug.tar.zst", {program.name + ".debug": (0o644, program.debug)})
        # The one file to download.
        single = out / f"dnheap-{target}{pathlib.Path(program.name).suffix}"
        single.write_bytes(program.stripped)
        single.chmod(0o755)
    of_linux = {DEBIAN[target]: program.stripped for target, program in programs.items() if target in DEBIAN}
    if of_linux:
        notices = next(program.notices for target, program in programs.items() if target in DEBIAN)
        image.write_image(out / "image", of_linux, {"LICENSE": own["LICENSE"][1], "NOTICES.txt": notices}, version(), EPOCH, CREATED)
    tool.write_tool_packages(out, {target: program.stripped for target, program in programs.items()},
                             {"LICENSE.txt": own["LICENSE"][1], "NOTICES.txt": b"\n".join(p.notices for p in programs.values())}, version(), EPOCH)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(out)}\n" for path in sorted(out.rglob("*")) if path.is_file()]
    (out / "SHA256SUMS").write_text("".join(sums))
    for path in [*out.rglob("*"), out]:
        os.utime(path, (EPOCH, EPOCH))
    for target, program in programs.items():
        print(f"{target}: {len(program.stripped) / 1e6:.2f} MB stripped, {len(program.debug) / 1e6:.1f} MB for debuggers")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:])
