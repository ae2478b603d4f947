#!/usr/bin/env python3
"""From each file of dist/ to a report on the sample, as who downloads it goes.

    packages.py [DIST]

Without DIST, `./dev release` makes one first. What cannot be tried here (no lintian, no .NET SDK, not root) is said, loudly.
"""
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
import elsewhere  # noqa: E402

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = PROJECT / "sample/demo.core.zst"
TRUTH = "109,813 objects"


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=600, **more)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(condition, what):
    if not condition:
        raise SystemExit(f"packages: {what}")


def skip(what, why):
    print(f"SKIPPED: {what}: {why}")


def runner_of(target):
    """The start of a command by which this machine runs what is made for `target`; none where it cannot."""
    if target == "linux-x64":
        return ["/usr/bin/env"]
    if target == "win-x64":
        return [path] if (path := next((one for one in elsewhere.WINES if one and os.path.exists(one)), None)) else []
    # With the cross compiler's C library, for what is not one file.
    return [path, "-L", "/usr/aarch64-linux-gnu"] if (path := next(filter(None, elsewhere.QEMUS), None)) else []


def in_root(root, *command):
    """In that root folder, where there is nothing else."""
    start = ["chroot", root] if os.geteuid() == 0 else ["unshare", "-r", "chroot", root]
    return run(*start, *command)


def check_sums(dist):
    listed = {}
    for line in (dist / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ", 1)
        listed[name] = digest
    there = {str(path.relative_to(dist)): hashlib.sha256(path.read_bytes()).hexdigest() for path in dist.rglob("*")
             if path.is_file() and path.name != "SHA256SUMS"}
    expect(listed == there, "SHA256SUMS does not say what is there")


def check_single_file(dist, target, folder):
    program = dist / f"dnheap-{target}"
    headers = run("readelf", "-hld", program)
    expect("INTERP" not in headers and "NEEDED" not in headers and re.search(r"Type: *DYN", headers), "the single file needs others")
    expect(".symtab" not in run("readelf", "-SW", program), "the single file is not stripped")
    text = program.read_bytes()
    expect(str(PROJECT).encode() not in text, "the program names the folder it was built in")
    if runner := runner_of(target):
        expect(TRUTH in run(*runner, program, "report", SAMPLE), "the single file does not know the sample")
    else:
        skip(f"{program.name} was NOT run", "there is no qemu-user-static (Debian's name)")
    # Its debug file fits.
    archive = next(dist.glob(f"*-{target}-debug.tar.zst"))
    run("tar", "--zstd", "-xf", archive, "-C", folder)
    debug = next(pathlib.Path(folder).rglob("dnheap.debug"))
    ids = [re.search(r"Build ID: (\w+)", run("readelf", "-n", file))[1] for file in (program, debug)]
    expect(ids[0] == ids[1] and ".debug_line" in run("readelf", "-SW", debug), "the debug file is not the program's")


def check_library(dist, target):
    """The C interface, from its archive: it needs the C library alone, exports its functions alone, and is linked with what the guide shows."""
    compiler, loader = {"linux-x64": ("gcc", "readelf"), "linux-arm64": ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-readelf"),
                        "win-x64": ("x86_64-w64-mingw32-gcc-posix", "x86_64-w64-mingw32-objdump")}[target]
    of_windows = target == "win-x64"
    with tempfile.TemporaryDirectory() as folder:
        archive = next(dist.glob(f"dnheap-c-*-{target}.{'zip' if of_windows else 'tar.zst'}"))
        run(*(["python3", "-m", "zipfile", "-e", archive, folder] if of_windows else ["tar", "--zstd", "-xf", archive, "-C", folder]))
        (there,) = pathlib.Path(folder).iterdir()
        library = there / ("dnheap-c.dll" if of_windows else "libdnheap-c.so.0")
        said = run(loader, *(["-p", library] if of_windows else ["-dW", "--dyn-syms", library]))
        needed = set(re.findall(r"DLL Name: (\S+)", said) if of_windows else re.findall(r"Shared library: \[(.*?)\]", said))
        expect(all(re.fullmatch(r"lib[cm]\.so\.6|ld-linux-.*|(?i:kernel32|msvcrt|advapi32|shell32|ole32|ws2_32|dbghelp|psapi|ntdll)\.dll", name) for name in needed),
               f"{library.name} needs {needed}")
        exported = set(re.findall(r"\b(dnheap_\w+)\s*$", said, re.MULTILINE) if of_windows else re.findall(r" (\w+)@@DNHEAP_0", said)) - {"DNHEAP_0"}
        declared = set(re.findall(r"^DNHEAP_API [^(]*?\b(dnheap_\w+)\(", (there / "dnheap.h").read_text(), re.MULTILINE))
        expect(exported == declared, f"{library.name} exports {exported ^ declared} too much, or too little")
        runner = runner_of(target)
        if not runner or not shutil.which(compiler):
            return skip(f"{library.name} for {target} was NOT used", f"there is no {compiler}, or nothing that runs it")
        source, program = there / "shown.c", there / "shown.exe"
        source.write_text(re.search(r"^```c\n(.*?)^```", (PROJECT / "doc" / "guide" / "libraries.md").read_text(), re.DOTALL | re.MULTILINE)[1])
        run(compiler, f"-I{there}", source, f"-L{there}", "-ldnheap-c", "-o", program, *([] if of_windows else ["-Wl,-rpath,$ORIGIN"]))
        environment = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(there / "prefix")}
        expect('"type":"System.Byte[]"' in run(*runner, program, SAMPLE, env=environment), f"{library.name} does not know the sample")
        if of_windows:
            subprocess.run([shutil.which("wineserver") or "/usr/lib/wine/wineserver", "-k"], env=environment, check=False)
    return None


def check_deb(dist):
    package = next(dist.glob("dnheap_*_amd64.deb"))
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "root")
        run("dpkg-deb", "-x", package, root)
        (root / "tmp").mkdir()
        shutil.copy(SAMPLE, root)
        expect(TRUTH in in_root(root, "/usr/bin/dnheap", "report", "/" + SAMPLE.name), "the .deb's program does not know the sample")
        manual = gzip.decompress((root / "usr/share/man/man1/dnheap.1.gz").read_bytes()).decode()
        expect(manual.startswith(".TH") or "\n.TH" in manual, "the .deb has no manual page")
        for path in ("bash-completion/completions/dnheap", "zsh/vendor-completions/_dnheap", "fish/vendor_completions.d/dnheap.fish"):
            expect("retained" in (root / "usr/share" / path).read_text(), f"the .deb completes nothing by {path}")
    expect("Depends" not in run("dpkg-deb", "-f", package), "the .deb depends on something")
    if os.geteuid() == 0 and shutil.which("dpkg"):
        with tempfile.TemporaryDirectory() as root:  # installed by dpkg, as apt does it, into a system of its own
            for part in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "tmp"):
                pathlib.Path(root, part).mkdir(parents=True)
            for part in ("status", "available"):
                pathlib.Path(root, "var/lib/dpkg", part).touch()
            run("dpkg", "--root", root, "--force-not-root", "-i", package)
            expect(in_root(root, "/usr/bin/dnheap", "--version").startswith("dnheap "), "what dpkg installed does not run")
    if not shutil.which("lintian"):
        return skip("the .deb's form was NOT checked", "lintian is not installed")
    words = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", package], capture_output=True, text=True, check=False)
    expect(words.returncode == 0, "lintian: " + words.stdout + words.stderr)
    return None


def check_image(dist):
    """Each blob is what its name says; the layer, unpacked, is all that runs."""
    image = dist / "image"
    expect(json.loads((image / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}, "oci-layout")

    def blob(descriptor):
        data = (image / "blobs" / descriptor["digest"].replace(":", "/")).read_bytes()
        expect(len(data) == descriptor["size"] and hashlib.sha256(data).hexdigest() == descriptor["digest"].split(":")[1], "a blob is not what it says")
        return data

    (top,) = json.loads((image / "index.json").read_text())["manifests"]
    platforms = [one for one in json.loads(blob(top))["manifests"] if one["platform"] == {"architecture": "amd64", "os": "linux"}]
    manifest = json.loads(blob(platforms[0]))
    config = json.loads(blob(manifest["config"]))
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "root")
        root.mkdir()
        (layer,) = manifest["layers"]
        archive = pathlib.Path(folder, "layer.tar.gz")
        archive.write_bytes(blob(layer))
        with tarfile.open(archive) as tar:
            tar.extractall(root)
        shutil.copy(SAMPLE, root)
        expect(TRUTH in in_root(root, *config["config"]["Entrypoint"], "report", "/" + SAMPLE.name), "the image does not know the sample")


def check_parts(dist, target):
    bill = json.loads(next(dist.glob(f"dnheap-[0-9]*-{target}.spdx.json")).read_text())
    named = {package["SPDXID"] for package in bill["packages"]} | {bill["SPDXID"]}
    expect(all(relation[end] in named for relation in bill["relationships"] for end in ("spdxElementId", "relatedSpdxElement")), "the SBOM names no part")
    names = {package["name"]: package["versionInfo"] for package in bill["packages"]}
    for part in ("glibc", "gcc-12", "sqlite3", "re2", "libzstd", "zlib", "xz-utils", "lz4", "libevent", "fmtlib", "nlohmann-json3", "xxhash"):
        expect(part in names or re.sub(r"-\d+$", "", part) in {re.sub(r"-\d+$", "", name) for name in names}, f"the SBOM lacks {part}")
    with tempfile.TemporaryDirectory() as folder:
        run("tar", "--zstd", "-xf", next(path for path in dist.glob(f"dnheap-[0-9]*-{target}.tar.zst") if "debug" not in path.name), "-C", folder)
        notices = next(pathlib.Path(folder).rglob("NOTICES.txt")).read_text()
    for name, version in names.items():
        expect(name == "dnheap" or f"{name} {version}" in notices, f"NOTICES.txt lacks {name} {version}")


def check_tool(dist):
    """By a feed that is a folder; nothing is fetched."""
    if not shutil.which("dotnet"):
        return skip("the NuGet packages were NOT installed", "there is no .NET SDK")
    major = int(run("dotnet", "--version").split(".")[0])
    if major < 10:
        return skip("the NuGet packages were NOT installed", f"this .NET SDK is {major}, and they need 10")
    with tempfile.TemporaryDirectory() as home:
        feed = pathlib.Path(home, "feed")
        feed.mkdir()
        for package in dist.glob("*.nupkg"):
            shutil.copy(package, feed)
        pathlib.Path(home, "nuget.config").write_text(
            f'<configuration><packageSources><clear/><add key="here" value="{feed}"/></packageSources></configuration>')
        environment = {**os.environ, "DOTNET_CLI_HOME": home, "NUGET_PACKAGES": str(pathlib.Path(home, "packages")), "DOTNET_NOLOGO": "1",
                       "DOTNET_CLI_TELEMETRY_OPTOUT": "1"}
        run("dotnet", "tool", "install", "-g", "dnheap", cwd=home, env=environment)
        tool = pathlib.Path(home, ".dotnet/tools/dnheap")
        expect(TRUTH in run(tool, "report", SAMPLE), "the installed tool does not know the sample")
        code = subprocess.run([tool, "report", home], capture_output=True, check=False).returncode
        expect(code == 3, f"the installed tool's exit code is {code}, not the program's")
        expect(TRUTH in run("dotnet", "tool", "exec", "-y", "dnheap", "--", "report", SAMPLE, cwd=home, env=environment), "dotnet tool exec")
        run("dotnet", "tool", "uninstall", "-g", "dnheap", cwd=home, env=environment)
    return None


def main():
    if len(sys.argv) > 1:
        dist = pathlib.Path(sys.argv[1]).resolve()
    else:
        dist = PROJECT / "dist"
        run(PROJECT / "dev", "release")
    check_sums(dist)
    for target in ("linux-x64", "linux-arm64", "win-x64"):
        if not next(dist.glob(f"dnheap-c-*-{target}.spdx.json"), None):
            continue
        check_library(dist, target)
        if target == "win-x64":
            continue
        with tempfile.TemporaryDirectory() as folder:
            check_single_file(dist, target, folder)
        check_parts(dist, target)
        print(f"packages: {target}: the program has {(dist / f'dnheap-{target}').stat().st_size / 1e6:.2f} MB")
    check_deb(dist)
    check_image(dist)
    check_tool(dist)
    print("packages: ok")


if __name__ == "__main__":
    main()
