"""Reads the managed heap of a .NET process out of its dump, or while it runs. One file over libdnheap-c.so; needs
nothing but Python 3.9, and pandas for frames alone.

    import dnheap

    with dnheap.open("shop.core") as dump:
        for type in dump.types():
            print(type.count, type.bytes, type.name)
        answer = dump.ask("path", "Shop.Cache.Session", top=3)     # what `dnheap path shop.core …` says, as a dict
        dump.ask("stat", type="Shop").frame()                      # a pandas DataFrame
        dump.objects().frame().groupby("type")["bytes"].sum()
    dnheap.ask("diff", "before.core", "after.core")

The library is looked for at $DNHEAP_LIBRARY, beside this file, then where the system looks. Any thread may use a dump;
calls on one wait for each other. Ctrl-C ends a long call; the dump then has to be opened again. Sizes are bytes,
addresses numbers; contents of strings may be anybody's secret.
"""
import collections
import ctypes
import ctypes.util
import json
import os
import pathlib
import struct
import threading

__all__ = ["open", "attach", "ask", "text", "version", "Dump", "Rows", "Answer", "Error", "WrongUsage", "NotFound", "OutOfMemory", "Interrupted"]


class Error(Exception):
    """What is wrong, in one sentence. `code` is that of dnheap.h."""

    code = 3


class WrongUsage(Error, ValueError):
    """The question is wrong, not the dump."""

    code = 2


class NotFound(Error, LookupError):
    """The question is right, but there is no such address or type."""

    code = 5


class OutOfMemory(Error, MemoryError):
    code = 6


class Interrupted(Error):
    code = 130


_ERRORS = {of.code: of for of in (Error, WrongUsage, NotFound, OutOfMemory, Interrupted)}


# ---- The library ------------------------------------------------------------------------------------------------------

class _Progress(ctypes.Structure):
    _fields_ = [("step", ctypes.c_char_p), ("done", ctypes.c_uint64), ("total", ctypes.c_uint64), ("objects", ctypes.c_uint64)]


_OnProgress = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Progress))


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("module_folders", ctypes.POINTER(ctypes.c_char_p)), ("module_folder_count", ctypes.c_size_t),
                ("temp_dir", ctypes.c_char_p), ("max_memory", ctypes.c_uint64), ("threads", ctypes.c_uint32), ("runtime", ctypes.c_uint32),
                ("runs_on", ctypes.c_uint32), ("by_port", ctypes.c_uint32), ("on_progress", _OnProgress), ("context", ctypes.c_void_p)]


class _Info(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), *((name, ctypes.c_char_p) for name in ("path", "container", "system", "architecture", "runtime", "runtime_version")),
                ("pid", ctypes.c_uint64), *((name, ctypes.c_uint32) for name in ("pointer_size", "gc_heaps", "server_gc", "regions"))]


class _Completeness(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), *((name, ctypes.c_uint64) for name in ("objects", "bytes", "bad_objects", "gaps", "gap_bytes")),
                ("complete", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


Info = collections.namedtuple("Info", [name for name, _ in _Info._fields_[1:]])
Completeness = collections.namedtuple("Completeness", [name for name, _ in _Completeness._fields_[1:-1]])
Progress = collections.namedtuple("Progress", "step done total objects")

_loaded = None


def _library():
    global _loaded
    if _loaded is None:
        beside = pathlib.Path(__file__).resolve().parent
        places = [os.environ.get("DNHEAP_LIBRARY"), *(str(beside / name) for name in ("libdnheap-c.so.0", "libdnheap-c.so", "dnheap-c.dll")),
                  "libdnheap-c.so.0", ctypes.util.find_library("dnheap-c")]
        for place in filter(None, places):
            if "/" in place and not os.path.exists(place) and place != places[0]:
                continue
            try:
                library = ctypes.CDLL(place)
                break
            except OSError as error:
                if "/" in place:
                    raise Error(f"libdnheap-c.so cannot be loaded: {error}") from None
        else:
            raise Error("libdnheap-c.so was not found: put it beside dnheap.py, or let $DNHEAP_LIBRARY name it")
        for name in ("dnheap_version", "dnheap_error"):
            getattr(library, name).restype = ctypes.c_char_p
        for name in ("dnheap_close", "dnheap_close_rows", "dnheap_cancel", "dnheap_free"):
            getattr(library, name).restype = None
            getattr(library, name).argtypes = [ctypes.c_void_p]
        _loaded = library
    return _loaded


class _Watch:
    """Reports to the caller's function how far a call is. An exception out of that, and Ctrl-C, ends the call."""

    def __init__(self, progress):
        self.progress, self.now, self.stops = progress, None, False
        self.lock, self.calls, self.last, self.ended = threading.RLock(), 0, None, False

        def report(_, now):
            of = now.contents
            self.now = Progress(of.step.decode() if of.step else None, of.done, of.total, of.objects)
            return self.stops
        self.function = _OnProgress(report)

    def call(self, function, *arguments):
        """On a thread of its own: Python takes no Ctrl-C while it waits for C."""
        outcome = []

        def run():
            try:
                outcome.append(_error(function(*arguments)))
            finally:
                with self.lock:
                    self.calls -= 1
                    last = None if self.calls else self.last
                if last:
                    last()
        with self.lock:
            if self.ended:  # by another thread, since the caller looked: the handle among the arguments is no longer good
                raise WrongUsage("this dump is closed")
            self.calls += 1
        thread = threading.Thread(target=run, daemon=True)
        try:
            thread.start()
            while thread.is_alive():
                thread.join(0.1)
                if self.progress and self.now:
                    self.progress(self.now)
        except BaseException:
            self.stops = True
            try:
                thread.join()
            except RuntimeError:
                pass  # Ctrl-C came while it started: whether it has is not known, so nothing that it uses may end before it
            raise
        if outcome[0]:
            raise outcome[0]

    def when_done(self, last):
        """Now, or when the call that is still under way returns."""
        with self.lock:
            self.ended = True
            if self.calls:
                self.last = last
                return
        last()


def _error(code):
    """As an exception; None: there is none."""
    if not code:
        return None
    error = _ERRORS.get(code, Error)(_library().dnheap_error().decode())
    error.code = code
    return error


def _check(code):
    if code:
        raise _error(code)


def version():
    """Of the library: "0.1.0"."""
    return _library().dnheap_version().decode()


def _words(verb, subjects, options):
    """As the command line has them: top=3 → --top=3, full_names=True → --full-names, hub=["A", "B"] → both."""
    words = [verb, *(f"{one:#x}" if isinstance(one, int) else os.fspath(one) for one in subjects)]
    for key, value in options.items():
        name = "--" + key.replace("_", "-")
        if key == "range" and not isinstance(value, str):
            value = f"{value[0]:#x}-{value[1]:#x}"
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(name)
            elif one is not False and one is not None:
                words.append(f"{name}={one:#x}" if key == "around" and isinstance(one, int) else f"{name}={os.fspath(one) if isinstance(one, os.PathLike) else one}")
    return (ctypes.c_char_p * len(words))(*map(_c_text, words)), len(words)


def _c_text(text):
    """As C has it, where a zero byte would be the end."""
    out = os.fsencode(text)
    if b"\0" in out:
        raise WrongUsage(f"{text!r} has a zero byte in it")
    return out


def _no_format(options, verb):
    if options.get("format", "json") != "json":
        raise WrongUsage(f"ask() gives what JSON has; text({verb!r}, format=…) is for other formats")


def _given(answer, size):
    try:
        return ctypes.string_at(answer, size.value)
    finally:
        _library().dnheap_free(answer)


def _command(verb, targets, progress, options):
    watch, answer, size = _Watch(progress), ctypes.c_void_p(), ctypes.c_size_t()
    words, count = _words(verb, targets, options)
    watch.call(_library().dnheap_command, words, ctypes.c_size_t(count), watch.function, None, ctypes.byref(answer), ctypes.byref(size))
    return _given(answer, size)


def ask(verb, *targets, progress=None, **options):
    """Of verbs that open what they need themselves: ask("diff", "a.core", "b.core"), ask("extract", "a.core", output="b.core")."""
    _no_format(options, verb)
    return Answer(json.loads(_command(verb, targets, progress, options)))


def text(verb, *targets, progress=None, **options):
    """The same for people, or as format="csv", "markdown", …"""
    return _command(verb, targets, progress, {"format": "text", **options}).decode()


def open(path, *, progress=None, **options):
    """A dump, or a folder with one. Options: modules (folders), temp_dir, threads, runtime. `progress` is called with a Progress ten times a second."""
    return Dump(_library().dnheap_open, _c_text(path), progress, **options)


def attach(pid, *, progress=None, pause=True, by_port=False, max_memory=0, **options):
    """A process that runs here. It stands still until release(), until its memory was copied, or until the end. `by_port`: its GC lists
    its objects over the diagnostics port, which takes no right to trace and makes a full collection; it goes on before this returns.
    Contents of objects and threads are unknown then."""
    return Dump(_library().dnheap_attach, ctypes.c_uint64(pid), progress, runs_on=not pause, by_port=by_port, max_memory=max_memory, **options)


class Answer(dict):
    """What a verb says, as doc/schema has it: target, completeness, tables, …"""

    def table(self, name=None):
        """A table's rows, as dicts; the first one's where none is named."""
        tables = self["tables"]
        if not tables:
            raise NotFound("the answer has no tables")
        try:
            return tables[name] if name else next(iter(tables.values()))
        except KeyError:
            raise NotFound(f"there is no table '{name}'; there are {', '.join(tables)}") from None

    def frame(self, name=None):
        """A table as a pandas DataFrame."""
        return _pandas().DataFrame(self.table(name))


def _pandas():
    try:
        import pandas
    except ImportError:
        raise Error("frames need pandas, which is not installed here") from None
    return pandas


# ---- Rows -------------------------------------------------------------------------------------------------------------

# Letters are those of `struct`; P is a text.
_KINDS = {
    "types": ("Type", "QQQQPPII", "method_table count bytes aligned_bytes name assembly id flags"),
    "objects": ("Object", "QQQIBBxx", "address method_table bytes type generation is_free"),
    "references": ("Reference", "QQP", "target offset field"),
    "referrers": ("Edge", "QQ", "source target"),
    "edges": ("Edge", "QQ", "source target"),
    "strings": ("String", "QQPQ", "address length text text_size"),
    "roots": ("Root", "QQPPPII", "slot object kind_text name thread kind flags"),
    "dominators": ("Dominated", "QQQQ", "object dominator retained_objects retained_bytes"),
}
Type, Object, Reference, Edge, String, Root, Dominated = (
    collections.namedtuple(name, names) for name, names in dict((row[0], row[2]) for row in _KINDS.values()).items())
GENERATIONS = ("gen0", "gen1", "gen2", "loh", "poh", "frozen")
NO_TYPE, NO_OFFSET = 2**32 - 1, 2**64 - 1
_CHUNK = 4096


class Rows:
    """What is read piece by piece. Each loop over it reads it anew; frame() is all of it as a pandas DataFrame."""

    def __init__(self, dump, kind, *arguments):
        self._dump, self._kind, self._arguments = dump, kind, arguments
        name, letters, _ = _KINDS[kind]
        self._row, self._struct = globals()[name], struct.Struct("=" + letters.replace("P", "Q"))
        letters = letters.replace("x", "")
        self._texts = [i for i, letter in enumerate(letters) if letter == "P"]
        if kind == "strings":
            self._texts = []

    def _chunks(self):
        """Bytes of rows; what they point to is good until the next."""
        rows, count = ctypes.c_void_p(), ctypes.c_size_t()
        buffer = ctypes.create_string_buffer(self._struct.size * _CHUNK)
        self._dump._call(getattr(_library(), f"dnheap_{self._kind}"), *self._arguments, ctypes.byref(rows))
        try:
            while True:
                _check(_library().dnheap_next(rows, buffer, ctypes.c_size_t(self._struct.size), ctypes.c_size_t(_CHUNK), ctypes.byref(count)))
                if not count.value:
                    return
                yield memoryview(buffer)[:count.value * self._struct.size]
        finally:
            _library().dnheap_close_rows(rows)

    def __iter__(self):
        make, texts, strings = self._row._make, self._texts, self._kind == "strings"
        for chunk in self._chunks():
            for row in self._struct.iter_unpack(chunk):
                if texts:
                    row = [ctypes.string_at(cell).decode() if i in texts else cell for i, cell in enumerate(row)]
                elif strings:
                    address, length, at, size = row
                    row = (address, length, ctypes.string_at(at, size).decode() if at else None, size)
                yield make(row)

    def frame(self):
        pandas = _pandas()
        if self._texts or self._kind == "strings":
            return pandas.DataFrame(list(self), columns=self._row._fields)
        import numpy
        letters = _KINDS[self._kind][1].replace("x", "")
        kinds = {"names": list(self._row._fields), "formats": [{"Q": "u8", "I": "u4", "B": "u1"}[letter] for letter in letters]}
        kinds["itemsize"] = self._struct.size
        kinds["offsets"] = [struct.calcsize("=" + letters[:i]) for i in range(len(letters))]
        rows = numpy.frombuffer(b"".join(bytes(chunk) for chunk in self._chunks()), dtype=numpy.dtype(kinds))
        return pandas.DataFrame({name: rows[name] for name in self._row._fields})


class Dump:
    """What was opened. Close it, or use it in a `with`."""
    _handle = _watch = None

    def __init__(self, function, target, progress, modules=(), temp_dir=None, threads=0, runtime=0, runs_on=False, by_port=False,
                 max_memory=0):
        self._watch = _Watch(progress)
        folders = [modules] if isinstance(modules, (str, os.PathLike)) else list(modules)
        folders = (ctypes.c_char_p * len(folders))(*map(_c_text, folders))
        options = _Options(ctypes.sizeof(_Options), folders, len(folders), _c_text(temp_dir) if temp_dir else None, max_memory, threads, runtime,
                           runs_on, by_port, self._watch.function, None)
        handle = ctypes.c_void_p()
        try:
            self._watch.call(function, target, ctypes.byref(options), ctypes.byref(handle))
        except BaseException:
            self._watch.when_done(lambda: handle and _library().dnheap_close(handle))
            raise
        self._handle = handle

    def _call(self, function, *arguments):
        if not self._handle:
            raise WrongUsage("this dump is closed")
        self._watch.call(function, self._handle, *arguments)

    def close(self):
        """What other threads ask goes on to its end; rows that are still read keep what they need."""
        if not self._watch:
            return  # __init__ failed at once
        with self._watch.lock:
            handle, self._handle = self._handle, None
        if handle:
            self._watch.when_done(lambda: _library().dnheap_close(handle))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def cancel(self):
        """Ends what is asked now by another thread, and all that is asked later."""
        with self._watch.lock:
            if self._handle:
                _library().dnheap_cancel(self._handle)

    def release(self):
        """Lets a live process go on."""
        self._call(_library().dnheap_release_process)

    @property
    def info(self):
        of = _Info(ctypes.sizeof(_Info))
        self._call(_library().dnheap_get_info, ctypes.byref(of))
        values = (getattr(of, name) for name in Info._fields)
        return Info(*(value.decode(errors="replace") if isinstance(value, bytes) else value for value in values))

    @property
    def completeness(self):
        """How much of the heap all answers rest on."""
        of = _Completeness(ctypes.sizeof(_Completeness))
        self._call(_library().dnheap_get_completeness, ctypes.byref(of))
        return Completeness(*(getattr(of, name) for name in Completeness._fields))._replace(complete=bool(of.complete))

    def _ask(self, verb, subject, options):
        words, count = _words(verb, subject, options)
        answer, size = ctypes.c_void_p(), ctypes.c_size_t()
        self._call(_library().dnheap_ask, words, ctypes.c_size_t(count), ctypes.byref(answer), ctypes.byref(size))
        return _given(answer, size)

    def ask(self, verb, *subject, **options):
        """What `dnheap VERB DUMP SUBJECT --options` says: ask("stat", type="Shop", top=10), ask("show", 0x7f00c0de)."""
        _no_format(options, verb)
        return Answer(json.loads(self._ask(verb, subject, options)))

    def text(self, verb, *subject, **options):
        """The same for people, or as format="csv", "markdown", …"""
        return self._ask(verb, subject, {"format": "text", **options}).decode()

    def read(self, address, size):
        """The process's memory: what of it is there, from that address on."""
        buffer, copied = ctypes.create_string_buffer(size), ctypes.c_size_t()
        self._call(_library().dnheap_read, ctypes.c_uint64(address), buffer, ctypes.c_size_t(size), ctypes.byref(copied))
        return buffer.raw[:copied.value]

    def types(self):
        """All that have objects. Flags: 1 = holes look like objects of this one, 2 = an array."""
        return Rows(self, "types")

    def objects(self):
        """All, by address, holes too; `type` is Type.id, `generation` a place in GENERATIONS."""
        return Rows(self, "objects")

    def references(self, address):
        """What one object refers to, by its fields."""
        return Rows(self, "references", ctypes.c_uint64(address))

    def referrers(self, address):
        """Who refers to one object. Looks at every reference of the heap."""
        return Rows(self, "referrers", ctypes.c_uint64(address))

    def edges(self):
        """All references of the heap."""
        return Rows(self, "edges")

    def strings(self, most=1 << 20):
        """All strings, of each at most so many UTF-16 code units; text None: not in the dump."""
        return Rows(self, "strings", ctypes.c_uint64(most))

    def roots(self):
        """What keeps objects alive by itself. Flags: 1 = conservative, 2 = interior, 4 = pinned."""
        return Rows(self, "roots")

    def dominators(self):
        """Of all objects that a root reaches: through whom (0: through no single one), and what would be freed with it."""
        return Rows(self, "dominators")
