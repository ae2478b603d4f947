"""One process measured from start to exit, and the memory that it starts with."""
import ctypes
import mmap
import os
import pathlib
import re
import threading
import time

GIB = 1 << 30


class Run:
    """`own`: the process's own memory, all it has resident but pages of files: the largest RssAnon seen, if it is looked at `every` so many
    seconds. The kernel keeps this number per processor, so it may be off by a quarter of a MiB or so."""

    def __init__(self, command, every=None):
        self.own = 0
        with open(os.devnull, "w") as null:
            start = time.perf_counter()
            process = os.posix_spawnp(command[0], [str(part) for part in command], os.environ,
                                      file_actions=[(os.POSIX_SPAWN_DUP2, null.fileno(), 1)])
            ended = threading.Event()
            watcher = threading.Thread(target=self.watch, args=(process, ended, every))
            if every is not None:
                watcher.start()
            _, status, usage = os.wait4(process, 0)
            self.wall = time.perf_counter() - start
            ended.set()
            if every is not None:
                watcher.join()
        if status != 0:
            raise RuntimeError(f"{' '.join(map(str, command))} ended with status {status}")
        self.cpu = usage.ru_utime + usage.ru_stime
        self.system = usage.ru_stime
        self.resident = usage.ru_maxrss * 1024

    def watch(self, process, ended, every):
        try:
            with open(f"/proc/{process}/status") as status:
                while not ended.wait(every):
                    status.seek(0)
                    found = re.search(r"^RssAnon:\s*(\d+) kB", status.read(), re.MULTILINE)
                    self.own = max(self.own, int(found[1]) * 1024 if found else 0)
        except (FileNotFoundError, ProcessLookupError):
            pass


def touch(size):
    """Seconds that it takes to get that many bytes of fresh memory. In a process of its own, so that all of it is free again."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        start = time.perf_counter()
        memory = mmap.mmap(-1, size)
        ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(memory)), 1, size)
        os.write(writer, str(time.perf_counter() - start).encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        seconds = float(pipe.read() or "nan")
    os.waitpid(child, 0)
    return seconds


def available():
    return int(re.search(r"MemAvailable:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) << 10


def fresh_memory(size):
    """Seconds per GiB of memory that nobody had for a while, and of such that was freed just now.

    Some virtual machines give free memory back to their host: there the first takes twenty times as long.
    """
    time.sleep(10)
    return touch(size) / size * GIB, touch(size) / size * GIB


def read_whole(file):
    """Brings a file into the page cache."""
    with open(file, "rb", buffering=0) as opened:
        while opened.read(16 << 20):
            pass


def drop(file):
    """Drops a file's pages from the page cache, as far as the system does that for anybody."""
    with open(file, "rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
