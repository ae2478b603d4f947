"""A real Linux arm64 system in an emulator, for arm64.py: its kernel, its C library, and whatever else its packages have.

    with Guest(kept, suite, kernel, files) as guest:
        done = guest.run("uname -m")     # .returncode, .stdout, .stderr
        guest.share                      # a folder that both systems have, by the same name
        guest.root                       # the system's files; the share is mounted there, too
"""
import lzma
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

import runtimes

# gdb is there for gcore, a script of bash.
PACKAGES = ("busybox-static", "bash", "libc6", "libstdc++6", "libgcc-s1", "zlib1g", "gdb", "libpython3-stdlib")
MODULES = ("virtio_pci", "virtio_blk", "ext4", "9pnet_virtio", "9p")
MEMORY, PROCESSORS = "4G", 2
BOOT_SECONDS, RUN_SECONDS = 300, 600

# The first program: mounts the disk and the share, and gives way to the second.
FIRST = """#!/bin/busybox sh
/bin/busybox mount -t devtmpfs none /dev
for file in {modules}; do /bin/busybox insmod "/$file"; done
/bin/busybox mount -t ext4 /dev/vda /new
/bin/busybox cp /second /new/init
exec /bin/busybox switch_root /new /init
"""
# The second: runs each file todo/N that the host lays there, all of them side by side, and leaves what came of it in done/.
SECOND = """#!/bin/busybox sh
export PATH=/busybox:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
/bin/busybox --install -s /busybox
mount -t devtmpfs none /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs none /tmp
mkdir -p /dev/shm "{share}"
mount -t tmpfs none /dev/shm
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none share "{share}"
ip link set lo up
echo core > /proc/sys/kernel/core_pattern
cd "{share}"
one() {{
  sh "running/$1" </dev/null >"done/$1.stdout" 2>"done/$1.stderr"
  echo $? >"done/$1.code.new"
  mv "done/$1.code.new" "done/$1.code"
}}
: >up
while [ ! -e down ]; do
  for file in todo/*; do
    [ -e "$file" ] || continue
    name=${{file#todo/}}
    mv "$file" "running/$name"
    one "$name" &
  done
  sleep 0.05
done
sync
poweroff -f
"""


def need(program, package):
    if not shutil.which(program):
        subprocess.run([runtimes.PROJECT / "dev", "install", package], check=False)
    if not shutil.which(program):
        raise runtimes.Missing(f"no `{program}`: install {package}")


def unpack(kept, suite, kernel):
    """The suite's packages for arm64, unpacked. Nothing of them is run."""
    root = kept / f"{suite}-{kernel}"
    stamp, listed = kept / f"{suite}-{kernel}.packages", " ".join((*PACKAGES, kernel))
    if root.exists() and stamp.exists() and stamp.read_text() == listed:
        return root
    need("mmdebstrap", "mmdebstrap")
    shutil.rmtree(root, ignore_errors=True)
    new = root.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    command = ["nice", "mmdebstrap", "--variant=extract", "--architectures=arm64", "--mode=root", "--format=directory",
               "--include=" + ",".join((*PACKAGES, kernel)), suite, new, mirror(suite)]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise runtimes.Missing(f"{suite}'s packages for arm64 are not to be had: {done.stdout.strip().splitlines()[-1:]}")
    new.rename(root)
    stamp.write_text(listed)
    return root


def mirror(suite):
    """Of those that apt uses here, or that DNHEAP_MIRRORS names, the first that has the suite for arm64."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], capture_output=True, text=True).stdout.split()
    with tempfile.NamedTemporaryFile() as file:
        for one in [*os.environ.get("DNHEAP_MIRRORS", "").split(), *sorted(set(listed))]:
            one = one.rstrip("/")
            for wanted in ("Release", "main/binary-arm64/Release"):
                done = subprocess.run(["/usr/lib/apt/apt-helper", "download-file", f"{one}/dists/{suite}/{wanted}", file.name], capture_output=True)
                if done.returncode != 0:
                    break
            else:
                return one
    raise runtimes.Missing(f"no mirror that apt uses here has {suite} for arm64, and DNHEAP_MIRRORS names none")


def make_disk(kept, root, dotnet):
    """An ext4 file system with the unpacked packages and .NET, and the folder that it was made of. `dotnet`: what to put where, files of
    this machine by their name there."""
    disk, folder = kept / f"{root.name}.ext4", kept / f"{root.name}.disk"
    newest = max(file.stat().st_mtime for file in (pathlib.Path(__file__), root / "bin" / "busybox"))
    listed = "\n".join(f"{name} {source}" for name, source in sorted(dotnet.items()))
    stamp = disk.with_suffix(".files")
    if disk.exists() and disk.stat().st_mtime > newest and stamp.exists() and stamp.read_text() == listed:
        return disk, folder
    need("mkfs.ext4", "e2fsprogs")
    shutil.rmtree(folder, ignore_errors=True)
    left_out = ("/boot", "/dev", "/lib/modules", "/usr/share/doc", "/usr/share/man", "/usr/share/locale")
    shutil.copytree(root, folder, symlinks=True, ignore=lambda path, names: [
        name for name in names if str(pathlib.Path(path) / name).removeprefix(str(root)) in left_out])
    for name in ("dev", "proc", "sys", "tmp", "root", "busybox"):
        (folder / name).mkdir(exist_ok=True)
    for name, source in dotnet.items():
        runtimes.link(source, folder / name)
        if "." not in source.name:
            (folder / name).chmod(0o755)
    size = int(subprocess.run(["du", "-sm", folder], capture_output=True, text=True, check=True).stdout.split()[0])
    disk.unlink(missing_ok=True)
    subprocess.run(["mkfs.ext4", "-q", "-d", folder, disk, f"{size * 5 // 4 + 256}M"], check=True, stdout=subprocess.DEVNULL)
    stamp.write_text(listed)
    return disk, folder


def write_initrd(path, root, share):
    """The first file system: a shell and the modules that the disk needs."""
    need("depmod", "kmod")
    need("cpio", "cpio")
    release = next((root / "lib" / "modules").iterdir()).name
    subprocess.run(["depmod", "-b", root, release], check=True)
    listed = subprocess.run(["modprobe", "-d", root, "-S", release, "--show-depends", "-a", *MODULES], capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory(prefix="dnheap-initrd-") as name:
        folder = pathlib.Path(name)
        for part in ("bin", "dev", "new"):
            (folder / part).mkdir()
        shutil.copy(root / "bin" / "busybox", folder / "bin")
        names = []
        for line in dict.fromkeys(listed.splitlines()):
            if line.startswith("insmod "):
                source = pathlib.Path(line.split()[1])
                content = source.read_bytes()
                names.append(f"{len(names):02}-{source.name.removesuffix('.xz')}")
                (folder / names[-1]).write_bytes(lzma.decompress(content) if source.suffix == ".xz" else content)
        for one, text in (("init", FIRST.format(modules=" ".join(names))), ("second", SECOND.format(share=share))):
            (folder / one).write_text(text)
            (folder / one).chmod(0o755)
        with open(path, "wb") as file:
            files = "\n".join(str(one.relative_to(folder)) for one in folder.rglob("*"))
            subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=folder, input=files.encode(), stdout=file, check=True)


class Guest:
    """The system, running. It can only read its disk's file; what it writes there is gone with it. Who makes one has mounts of its own
    (unshare --mount)."""

    def __init__(self, kept, suite, kernel, dotnet):
        need("qemu-system-aarch64", "qemu-system-arm")
        kept.mkdir(parents=True, exist_ok=True)
        root = unpack(kept, suite, kernel)
        disk, self.root = make_disk(kept, root, dotnet)
        self.share = pathlib.Path(tempfile.mkdtemp(prefix="share-", dir=kept))
        for name in ("todo", "running", "done"):
            (self.share / name).mkdir()
        self.count, self.copying, self.naming = 0, threading.Lock(), threading.Lock()  # two checks run at a time
        there = pathlib.Path(f"{self.root}{self.share}")
        there.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--bind", self.share, there], check=True)
        write_initrd(self.share / "initrd", root, self.share)
        command = ["nice", "-n", "10", "qemu-system-aarch64", "-machine", "virt", "-cpu", "max,pauth-impdef=on", "-smp", str(PROCESSORS), "-m", MEMORY,
                   "-accel", "tcg,thread=multi", "-display", "none", "-nodefaults", "-serial", "stdio", "-no-reboot",
                   "-kernel", next((root / "boot").glob("vmlinu[xz]-*")), "-initrd", self.share / "initrd", "-append", "console=ttyAMA0 quiet panic=-1",
                   "-drive", f"file={disk},format=raw,if=none,id=disk,snapshot=on", "-device", "virtio-blk-pci,drive=disk,romfile=",
                   "-fsdev", f"local,id=share,path={self.share},security_model=none", "-device", "virtio-9p-pci,fsdev=share,mount_tag=share"]
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=open(self.share / "console", "w"),
                                        stderr=subprocess.STDOUT)
        self.wait_for(self.share / "up", BOOT_SECONDS, "has not started")

    def wait_for(self, path, seconds, problem):
        end = time.monotonic() + seconds
        while not path.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                console = (self.share / "console").read_text(errors="replace")
                raise RuntimeError(f"the emulated system {problem}: {console[-2000:]}")
            time.sleep(0.02)

    def next(self):
        with self.naming:
            self.count += 1
            return self.count

    def begin(self, command):
        """Has a shell there run it. Returns the number to finish() it with."""
        name = f"{self.next():04}"
        new = self.share / f"{name}.new"
        new.write_text(command + "\n")
        new.rename(self.share / "todo" / name)
        return name

    def finish(self, name, seconds=RUN_SECONDS):
        code = self.share / "done" / f"{name}.code"
        self.wait_for(code, seconds, "does not end a command")
        out, errors = ((self.share / "done" / f"{name}.{kind}").read_text(errors="replace") for kind in ("stdout", "stderr"))
        return subprocess.CompletedProcess(name, int(code.read_text()), out, errors)

    def run(self, command, seconds=RUN_SECONDS):
        return self.finish(self.begin(command), seconds)

    def close(self):
        if self.process.poll() is None:
            (self.share / "down").touch()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        there = f"{self.root}{self.share}"
        subprocess.run(["umount", there], check=False)
        if not os.path.ismount(there):
            os.rmdir(there)
        shutil.rmtree(self.share, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
