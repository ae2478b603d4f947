#!/usr/bin/env python3
"""Makes the NuGet package DnHeap.Core: the assembly, and for this machine's kind of Linux the native library, what that needs besides
the C and C++ libraries that .NET needs as well, and the program. Usage: pack.py DNHEAP LIBRARY OUT [PROPERTY…]
What is shipped has natives for more systems: packaging/release.py lays them out."""
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
RID = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}[platform.machine()]
OF_THE_SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s))\.so")


def needed(library):
    """Paths of the shared libraries that go with it."""
    for line in subprocess.run(["ldd", library], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        name, _, path = line.strip().partition(" => ")
        if OF_THE_SYSTEM.match(pathlib.Path(name).name.split(" ")[0]):
            continue
        if not path.startswith("/"):
            raise SystemExit(f"pack.py: {library} needs {name}, which is not here")
        yield name, pathlib.Path(path.split(" ")[0])


def copyright_of(library):
    """Debian's notice of it, if it is Debian's."""
    if not shutil.which("dpkg-query"):
        return None
    # Packages have it below /usr/lib, where /lib leads as well.
    for path in {library, library.resolve(), pathlib.Path("/usr" + str(library))}:
        found = subprocess.run(["dpkg-query", "-S", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        if found:
            package = found.split(":")[0]
            return package, pathlib.Path("/usr/share/doc") / package / "copyright"
    return None


def version():
    text = (PROJECT / "include" / "dnheap" / "version.h").read_text()
    return ".".join(re.search(rf"define DNHEAP_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def pack(program, library, out, *properties):
    """What was built here."""
    with tempfile.TemporaryDirectory() as folder:
        native = pathlib.Path(folder, "runtimes", RID, "native")
        notices = pathlib.Path(folder, "notices")
        native.mkdir(parents=True)
        notices.mkdir()
        for source, name in ((library, "libdnheap-c.so"), (program, "dnheap")):
            subprocess.run(["strip", "--strip-unneeded", "-o", native / name, source], check=True)
            (native / name).chmod(0o755)
        for name, path in needed(library):
            shutil.copyfile(path, native / name)
            if notice := copyright_of(path):
                shutil.copyfile(notice[1], notices / f"{notice[0]}.txt")
        return pack_natives(folder, out, *properties)


def pack_natives(folder, out, *properties):
    """`folder` has runtimes/RID/native/… and notices/…. The finished process of `dotnet pack`, with its output."""
    with tempfile.TemporaryDirectory() as source:  # the project's folder stays as it is
        shutil.copytree(HERE, source, ignore=shutil.ignore_patterns("bin", "obj", "*.py"), dirs_exist_ok=True)
        return subprocess.run(["dotnet", "pack", source, "-c", "Release", "-o", out, "-v", "q", "-nologo", f"-p:Version={version()}", f"-p:DnHeapNative={folder}",
                               f"-p:PathMap={source}=/_/", *properties], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        raise SystemExit(__doc__)
    done = pack(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve(), *sys.argv[4:])
    print(done.stdout, end="")
    sys.exit(done.returncode)
