"""ClrMD's answers about a dump, in files beside it, compared with dnheap's. For the scripts beside this one."""
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "real"))
import matrix

DYNAMIC = "DynamicClass."  # methods made at run time, which ClrMD does not see


def read_types(path):
    """Count, bytes, aligned bytes by MethodTable."""
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return {int(row[0], 16): tuple(int(row[i]) for i in (1, 2, 4)) for row in rows if len(row) == 5 and row[0] not in ("MT", "TOTAL", "Stage") and not row[0].startswith(("handles", "+"))}


def read_frames(path):
    """(IP, SP) of managed frames by thread."""
    out = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        thread, _, ip, sp = line.split("\t")
        out[int(thread)].append((int(ip, 16), int(sp, 16)))
    return out


def types(dnheap, dump, path):
    expected = read_types(path)
    rows = matrix.answer(dnheap, "stat", dump)["tables"]["types"]
    found = {int(row["method_table"], 16): (row["count"], row["bytes"], row["aligned_bytes"]) for row in rows}
    return [f"type {mt:#x}: {found.get(mt)}, not {expected.get(mt)}" for mt in {*found, *expected} if found.get(mt) != expected.get(mt)]


def alive(dnheap, dump, path, follows_thread_statics):
    """The live objects. Since .NET 9 ClrMD sees nothing of what threads' own arrays of statics hold: those, and what hangs there, come on top."""
    expected = read_types(path)
    rows = matrix.answer(dnheap, "stat", dump, "--live")["tables"]["types"]
    found = {int(row["method_table"], 16): (row["count"], row["bytes"], row["aligned_bytes"]) for row in rows}
    on_top = {mt: count for mt, count in found.items() if count[0] > expected.get(mt, (0,))[0]}
    problems = [f"alive {mt:#x}: {found.get(mt)}, not {expected.get(mt)}" for mt in {*found, *expected}
                if found.get(mt) != expected.get(mt) and (follows_thread_statics or mt not in on_top)]
    print(f"{sum(count[0] for count in found.values())} objects are alive, {len(on_top)} types have more than ClrMD's")
    return problems + ([f"{len(on_top)} types have more objects alive"] if len(on_top) > 3 else [])


def frames(dnheap, dump, path):
    expected = read_frames(path)
    answer = matrix.answer(dnheap, "stack", dump, "--all")["tables"]
    found = collections.defaultdict(list)
    for row in answer["frames"]:
        if row["kind"] == "managed" and not row["method"].startswith(DYNAMIC):
            found[row["os_id"]].append((int(row["ip"], 16), int(row["sp"], 16)))
    print(f"{sum(map(len, expected.values()))} frames of {len(expected)} threads")
    problems = [f"the stacks of threads {row['os_ids']} could not be followed: {row['problem']}" for row in answer["problems"]]
    return problems + [f"thread {thread}: {found[thread]}, not {expected[thread]}" for thread in {*found, *expected} if found[thread] != expected[thread]]


def native_ends(dnheap, dump, outermost):
    """Threads whose native frames do not lead to where the thread began, which is in one of these modules."""
    answer, last = matrix.answer(dnheap, "stack", dump, "--all"), {}
    for row in answer["tables"]["frames"]:
        if row["kind"] == "native":
            last[row["os_id"]] = row["module"]
    print(f"{len(last)} threads, native frames to their end")
    early = {thread: module for thread, module in last.items() if module not in outermost}
    return [f"native frames end early: {early}"] * bool(early) + [note for note in answer["completeness"]["notes"] if "native frames" in note]


def handles(dnheap, dump, path):
    """ClrMD's names of kinds have capitals where dnheap's have underscores; handles that lead to nothing it does not list."""
    expected = {(int(row[1], 16), row[2].lower(), int(row[3], 16)) for row in (line.split("\t") for line in path.read_text().splitlines())
                if row[0] == "HANDLE" and row[1] != "Address"}
    rows = matrix.answer(dnheap, "handles", dump)["tables"]["handles"]
    found = {(int(row["handle"], 16), row["kind"].replace("_", ""), int(row["object"], 16)) for row in rows if int(row["object"], 16)}
    return [f"handle {one}" for one in sorted(found ^ expected)]


def compare(dnheap, dump, folder, name, follows_thread_statics):
    """With all files that the folder has of that dump."""
    ways = {"stat": types, "frames": frames, "handles": handles, "reach": lambda *of: alive(*of, follows_thread_statics)}
    files = {what: folder / f"{name}.{what}.txt" for what in ways}
    return [problem for what, path in files.items() if path.exists() for problem in ways[what](dnheap, dump, path)]
