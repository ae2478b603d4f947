"""Compares what dnheap says of a dump with the witness (ClrMD + DAC) and with what the program knew. Exactly.

Every function takes parsed JSON and returns a list of problems in words; empty means agreement. Three of them judge a
whole dump, each for another state of the target: at_rest, collecting, allocating.

    stat, segments   the answers of `dnheap stat` and `dnheap segments`
    witness          the account of test/witness
    truth            what the target program printed of itself (test/programs/common/Truth.cs)
"""
import re

GENERATIONS = ("gen0", "gen1", "gen2", "loh", "poh", "frozen")
SEGMENT_BOUNDS = ("heap", "generation", "segment", "end", "committed_end", "reserved_end")
TALLY = ("objects", "bytes", "free_objects", "free_bytes")


def at_rest(stat, segments, witness, truth, regions):
    """The program slept, and had not allocated outside gen0 since its last collection."""
    return (collecting(stat, segments, witness, truth, regions) + addresses(segments, truth) +
            gc_info(segments, witness, truth, regions))


def collecting(stat, segments, witness, truth, regions):
    """A background collection ran, so objects that the program does not count came and went."""
    return (same_heap(stat, segments, witness, truth, regions) + truth_counts(stat, truth))


def allocating(stat, segments, witness, truth, regions):
    """Threads were allocating. A dump may catch an object half made, or a collection that moves objects.

    Then ClrMD loses the rest of the segment, or says that it cannot walk the heap. dnheap may do better, but must not call
    an answer complete that lacks objects, and must say why one is incomplete.
    """
    totals = witness["totals"]
    if totals["can_walk"] and totals["invalid"] == 0:
        return same_heap(stat, segments, witness, truth, regions) + truth_counts(stat, truth)
    problems = target(stat, witness, truth, regions)
    found = stat["completeness"]
    if not found["complete"] and not found["gaps"] and not found["notes"]:
        problems.append("the answer is said to be incomplete, but not why")
    if found["complete"] or totals["can_walk"]:
        problems += truth_counts(stat, truth)
    if totals["can_walk"]:
        whole = [row for row in witness["segments"] if row["invalid"] == 0]
        mine = index(segments["tables"]["segments"], "start", "generation")
        for row in whole:
            found = mine.get((row["start"], row["generation"]), {})
            problems += different({name: row[name] for name in TALLY}, found, f"segment {row['start']} {row['generation']}")
    return problems


def same_heap(stat, segments, witness, truth, regions):
    problems = target(stat, witness, truth, regions)
    if not witness["totals"]["can_walk"] or witness["totals"]["invalid"]:
        problems.append("ClrMD itself could not walk this heap")
    problems += completeness(stat, witness) + completeness(segments, witness)
    return problems + types(stat, witness, truth) + all_segments(segments, witness)


def completeness(answer, witness):
    """The walk was whole, and is said to have been."""
    found = answer["completeness"]
    expected = {"objects": witness["totals"]["objects"], "bytes": witness["totals"]["aligned_bytes"],
                "bad_objects": 0, "complete": True, "gaps": []}
    return different(expected, found, f"{answer['command']}: completeness")


def target(answer, witness, truth, regions):
    found = answer["target"]
    problems = different({"container": "elf-core", "os": "linux", "pointer_size": 8, "runtime": "coreclr",
                          "pid": truth["pid"]}, found, "target")
    if not str(found["version"]).startswith(truth["version"]):
        problems.append(f"target: version is {found['version']}, not {truth['version']}")
    gc = {"server": truth["server"], "regions": regions, "heaps": witness["totals"]["heaps"]}
    return problems + different(gc, found["gc"], "target: gc")


def types(stat, witness, truth):
    """Every type's count and bytes, in each generation, and its name."""
    mine = index(stat["tables"]["types"], "method_table")
    theirs = index(witness["types"], "method_table")
    problems = missing(mine, theirs, lambda row: f"type {row['method_table']} {row['type']} ({row['count']} objects)")
    problems += twice(stat["tables"]["types"], mine, "types")
    for key in sorted(mine.keys() & theirs.keys()):
        ours, other = mine[key], theirs[key]
        label = f"type {key[0]} {ours['type']}"
        problems += different({name: other[name] for name in ("count", "bytes", "aligned_bytes", *GENERATIONS)}, ours, label)
        problems += type_name(ours["type"], other["type"], truth["names"].get(key[0]), label)
    return problems


def type_name(mine, clrmd, program, label):
    """ClrMD's name, unless the program itself says otherwise and ClrMD is known to be wrong there."""
    if program is None:
        if clrmd is None or KNOWN_WRONG.search(clrmd):
            return [f"{label}: ClrMD's name {clrmd} is of a kind known to be wrong, and the program reports no right one"]
        return [] if mine == clrmd else [f"{label}: ClrMD's name is {clrmd}"]
    if clrmd != program and not clrmd_is_wrong(clrmd, program):
        return [f"{label}: the program's name is {program}, ClrMD's is {clrmd}; this is no known fault of ClrMD's"]
    return [] if mine == program else [f"{label}: the program's name is {program}"]


# ClrMD 4.2 writes these names wrong. The program that made the types proves it: it prints each method table with its name.
#   * none at all for arrays of function pointers and for arrays of types made by Reflection.Emit; of .NET 11 "(null)" for what the
#     functions take
#   * Outer<T1> for generic types with an argument made by Reflection.Emit, or made by it themselves
#   * Node<*> for arrays of rank 1 that are no vectors: C# and reflection say Node[*]
KNOWN_WRONG = re.compile(r"<T\d+(, T\d+)*>|<\*>|\(null\)")


def clrmd_is_wrong(clrmd, program):
    if clrmd is None:
        return program.endswith("]") and ("(" in program or program.startswith("Emitted."))
    if "<*>" in clrmd:
        return clrmd.replace("<*>", "[*]") == program
    if "(null)" in clrmd:
        before, after = clrmd.split("(null)", 1)
        return program.startswith(before) and program.endswith(after)
    found = KNOWN_WRONG.search(clrmd)
    return bool(found) and "Emitted." in program and program.startswith(clrmd[:found.start()] + "<")


def take_names(witness, stat, names):
    """Puts `names` into the witness's account. Types that came later (FailFast makes some) are taken as dnheap says."""
    mine = {row["method_table"]: row["type"] for row in stat["tables"]["types"]}
    later = [row for row in witness["types"] if row["method_table"] not in names]
    for row in witness["types"]:
        row["type"] = names.get(row["method_table"], mine.get(row["method_table"]))
    if len(later) > 10 or any("!0x" in str(row["type"]) or "<" in str(row["type"])[:1] for row in later):
        return [f"{len(later)} types occur only in this dump, not in one taken just before: {[row['type'] for row in later]}"]
    return []


def truth_counts(stat, truth):
    """The program's own counts. A name may stand for several types: a plugin that was loaded several times."""
    counts = {}
    for row in stat["tables"]["types"]:
        counts[row["type"]] = counts.get(row["type"], 0) + row["count"]
    return [f"{name}: the program made {count}, dnheap found {counts.get(name, 0)}"
            for name, count in truth["types"].items() if counts.get(name, 0) != count]


def all_segments(segments, witness):
    """Every segment's bounds, generation and contents."""
    mine = index(segments["tables"]["segments"], "start", "generation")
    theirs = index(witness["segments"], "start", "generation")
    problems = missing(mine, theirs, lambda row: f"segment {row['start']} to {row['end']} of {row['generation']}")
    problems += twice(segments["tables"]["segments"], mine, "segments")
    for key in sorted(mine.keys() & theirs.keys()):
        expected = {name: theirs[key][name] for name in SEGMENT_BOUNDS + TALLY}
        problems += different(expected, mine[key], f"segment {' '.join(key)}")
    for row in segments["tables"]["generations"]:
        if row["heap"] == "all":
            own = [other for other in witness["segments"] if other["generation"] == row["generation"]]
            expected = {name: sum(other[name] for other in own) for name in TALLY}
            problems += different(expected, row, f"all of {row['generation']}")
    return problems


def addresses(segments, truth):
    """The objects whose address the program reported lie in segments of the right generation."""
    problems = []
    for label, place in truth["addresses"].items():
        at = int(place["address"], 16)
        found = [row["generation"] for row in segments["tables"]["segments"]
                 if int(row["start"], 16) <= at < int(row["end"], 16)]
        # To the GC's interface the large and the pinned objects are gen2.
        young = f"gen{place['generation']}"
        expected = label.split()[0] if label.split()[0] in ("loh", "poh", "frozen") else young
        if found != [expected]:
            problems.append(f"the object {label!r} at {place['address']} lies in {found or 'no segment'}, not in {expected}")
    return problems


RUNTIMES_ARRAY = 24 + 2040 * 8  # bytes of the object[] for literals and statics


def gc_info(segments, witness, truth, regions):
    """GC.GetGCMemoryInfo of the last collection, for the generations in which nothing was allocated since.

    Without regions each generation of each heap begins with a free object that the GC does not count as fragmentation.
    The fragmentation of gen1 is an estimate, so only its size is compared. The runtime keeps literals and statics in pinned
    arrays; 8.0.0 makes another one behind the last collection.
    """
    starts = 0 if regions else 24 * witness["totals"]["heaps"]
    problems = []
    for generation, info in list(zip(GENERATIONS, truth["gcinfo"]["generations"]))[1:]:
        rows = [row for row in segments["tables"]["segments"] if row["generation"] == generation]
        expected = {"size": info["size_after"], "fragmentation": info["fragmentation_after"] + starts}
        if generation == "gen1":
            del expected["fragmentation"]
        free = sum(row["free_bytes"] for row in rows)
        found = {"size": sum(row["bytes"] for row in rows) + free, "fragmentation": free}
        if generation == "poh" and found["size"] == expected["size"] + RUNTIMES_ARRAY:
            found["size"] -= RUNTIMES_ARRAY
        problems += different(expected, found, f"{generation} according to the GC")
    return problems


# ClrMD's names of kinds; it has none for weak_interior_pointer.
KINDS = {"WeakShort": "weak_short", "WeakLong": "weak_long", "Strong": "strong", "Pinned": "pinned",
         "RefCounted": "ref_counted", "Dependent": "dependent", "AsyncPinned": "async_pinned", "SizedRef": "sized_ref",
         "10": "weak_interior_pointer"}


def handles(answer, witness, major):
    """Every handle of ClrMD's, with kind, object and secondary; and no other, but those that its DAC is known to lose.

    The DAC of 8 to 10 looks at as many tables as there are heaps, though there are as many as processors; and does not ask
    for some kinds.
    """
    lost = {"weak_native_com", *(["async_pinned"] if major >= 9 else []), *(["sized_ref"] if major >= 10 else [])}
    mine = {row["handle"]: row for row in answer["tables"]["handles"]}
    theirs = {row["handle"]: row for row in witness["handles"]}
    problems = [f"dnheap lacks the handle {key} of kind {theirs[key]['kind']}" for key in sorted(theirs.keys() - mine.keys())]
    for key in sorted(mine.keys() - theirs.keys()):
        if mine[key]["kind"] not in lost and mine[key]["table"] < witness["totals"]["heaps"]:
            problems.append(f"only dnheap has the handle {key} of kind {mine[key]['kind']}")
    for key in sorted(mine.keys() & theirs.keys()):
        expected = {"kind": KINDS.get(theirs[key]["kind"]), "object": theirs[key]["object"]}
        if expected["kind"] == "dependent":
            expected["secondary"] = theirs[key]["secondary"]
        problems += different(expected, mine[key], f"handle {key}")
    found = answer["completeness"]
    if not found["complete"] and witness["totals"]["invalid"] == 0:
        problems.append(f"handles: the answer is incomplete: {found['notes']}")
    return problems


def own_handles(answer, truth):
    """The program's own counts (test/programs/handles): of its objects of type Marked, and all that count references."""
    rows = answer["tables"]["handles"]
    problems = []
    for kind, count in truth["handles"].items():
        found = sum(row["kind"] == kind and (row["type"] == "Marked" or kind == "ref_counted") for row in rows)
        if found != count:
            problems.append(f"the program made {count} {kind} handles, dnheap found {found}")
    unexpected = {row["kind"] for row in rows if row["type"] == "Marked"} - truth["handles"].keys()
    return problems + [f"handles of kind {kind} that the program did not make" for kind in sorted(unexpected)]


# The stages of `stat --live` that ClrMD's roots stand for too: handles, those of the arrays that hold statics among them, and
# due finalizers.
WITNESSED = re.compile(r"static|handle:.*|finalizer")
ADDED = ("thread_static", "stack", "stack_conservative")


def unseen_handles(answer, witness):
    """How many handles lie in tables beyond the number of heaps, which the DAC of 8 to 10 does not look at: a server GC that adapts
    begins with one heap, whatever the processors on which handles are made."""
    return sum(row["table"] >= witness["totals"]["heaps"] for row in answer["tables"]["handles"])


def references(verify, live, handles, witness):
    """All references, by number and hash of (source, target), and what handles and due finalizers keep alive, as ClrMD has them.

    ClrMD 4.2 does not say that objects of collectible types keep their LoaderAllocator alive; the witness adds it. Statics
    are in arrays and boxes that handles hold: dnheap counts what they reach apart, together it is the same. What thread statics and stacks hold beyond, the
    witness does not look for: added(live) tells how much it is. With unseen_handles(handles), what is alive is not compared.
    """
    totals = verify["tables"]["totals"][0]
    found = {"count": totals["references"], "hash": totals["edges"], "problems": totals["problems"]}
    problems = different({**witness["references"], "problems": 0}, found, "references")
    stages = live["tables"]["stages"]
    witnessed = [row for row in stages if WITNESSED.fullmatch(row["kind"])]
    found = {name: sum(row[name] for row in witnessed) for name in ("objects", "bytes")}
    if not unseen_handles(handles, witness):
        problems += different(witness["reachable_with_collectible"], found, "live objects")
    problems += [f"{row['kind']} roots reach {row['objects']} objects that no kind of root the witness knows reaches" for row in stages
                 if row not in witnessed and row["kind"] not in ADDED and row["objects"]]
    rows = live["tables"]["types"]
    problems += [f"{name} of all stages together are {sum(row[name] for row in stages)}, of all types {sum(row[column] for row in rows)}"
                 for name, column in (("objects", "count"), ("bytes", "bytes"))
                 if sum(row[name] for row in stages) != sum(row[column] for row in rows)]
    return problems


# A method may hold an object in several places; words that are arguments, or registers, may hold it as well.
ON_STACKS = ("stack", "stack_conservative")


def added(live):
    """How much thread statics and stacks keep alive beyond what the witness finds, in words."""
    return ", ".join(f"{row['objects']} objects ({row['bytes']} bytes) by {row['kind']} only"
                     for row in live["tables"]["stages"] if row["kind"] in ADDED)


def own_roots(answer, truth):
    """Each object that a root of the program's holds (test/programs/holders) is listed with that root's kind, name and thread."""
    rows = answer["tables"]["roots"]
    problems = []
    for held in truth["held"]:
        if held["steps"]:
            # What lies between is own_path()'s; but the root must be there.
            if held["name"] and not any(row["kind"] == held["kind"] and (row["name"] or "").startswith(held["name"]) for row in rows):
                problems.append(f"{held['way']}: no root {held['kind']} {held['name']}")
            continue
        mine = [row for row in rows if row["object"] == held["address"] and row["kind"] == held["kind"]
                and (row["name"] or "") == held["name"] and (row["thread"] or 0) == held["thread"]]
        others = [row for row in rows if row["object"] == held["address"] and row["kind"] not in ON_STACKS and row not in mine]
        if len(mine) != 1 and held["kind"] not in ON_STACKS or not mine:
            problems.append(f"{held['way']}: {len(mine)} roots {held['kind']} {held['name']} of thread {held['thread']} hold "
                            f"{held['address']}")
        if others:
            problems.append(f"{held['way']}: other roots hold {held['address']} too: {others}")
    doomed = sum(row["kind"] == "finalizer" and row["type"] == "Holding.Doomed" for row in rows)
    if doomed != truth["finalizable"]:
        problems.append(f"{doomed} objects of type Doomed wait for their finalizer, not {truth['finalizable']}")
    weak = {row["kind"] for row in rows} & {"handle:weak_short", "handle:weak_long", "handle:dependent", "handle:weak_interior_pointer"}
    problems += [f"roots of kind {kind}" for kind in sorted(weak)]
    found = answer["completeness"]
    return problems + ([] if found["complete"] else [f"roots: the answer is incomplete: {found['notes']}"])


def own_path(answer, held):
    """`path` leads from the root that the program says to the object, over the fields that it says."""
    paths = answer["tables"]["paths"]
    if len(paths) != 1:
        return [f"{held['way']}: {len(paths)} paths: {answer['completeness']['notes']}"]
    root, steps = paths[0]["root"], paths[0]["steps"]
    fields = re.sub(r"\[\d+\]", "[*]", re.sub(r" of thread \d+\]", "]", "".join(step["field"] for step in steps)))
    expected = {"kind": held["kind"], "name": held["name"], "thread": held["thread"], "steps": held["steps"],
                "object": held["address"], "conservative": held["kind"] == "stack_conservative"}
    found = {"kind": root["kind"], "name": root.get("name") or "", "thread": root.get("thread") or 0, "steps": fields,
             "object": steps[-1]["address"], "conservative": root["conservative"]}
    return different(expected, found, f"the path to what is held by {held['way']}")


def own_retained(answer, truth, owners):
    """Each owner that `path` told has a row in `retained`, with the bytes of what it holds at least; exactly where the program
    knows them. `owners`: for each of the program's objects the owner's name and the object's size."""
    rows = {row["owner"]: row["retained"] for row in answer["tables"]["owners"]}
    problems = [f"{held['way']}: {owner} would free {rows.get(owner)} bytes, but it holds an object of {size}"
                for held, (owner, size) in zip(truth["held"], owners)
                if held["kind"] != "hub" and rows.get(owner, 0) < size]  # --plain knows no hubs
    return problems + [f"static {name} would free {rows.get('static ' + name)} bytes, not {size}"
                       for name, size in truth["retained"].items() if rows.get("static " + name) != size]


# What ClrMD calls the kinds of roots that it lists.
ROOT_KINDS = {"StrongHandle": "handle:strong", "PinnedHandle": "handle:pinned", "AsyncPinnedHandle": "handle:async_pinned",
              "RefCountedHandle": "handle:ref_counted", "SizedRefHandle": "handle:sized_ref", "FinalizerQueue": "finalizer"}


def roots(answer, handles, witness, major):
    """Handles and the finalizer queue as ClrMD has them, and every static that it has an address for, by name and address.

    ClrMD lacks handles of tables beyond the number of heaps and some kinds of them (see handles()); for statics of generic and
    collectible types of .NET 8, and of types whose initializer has not run, it has no address; nothing but dnheap has thread
    statics of .NET 8.
    """
    rows = answer["tables"]["roots"]
    lost = {"handle:weak_native_com", *(["handle:async_pinned"] if major >= 9 else []),
            *(["handle:sized_ref"] if major >= 10 else [])}
    beyond = {row["handle"] for row in handles["tables"]["handles"] if row["table"] >= witness["totals"]["heaps"]}
    # ClrMD takes kinds that it does not know for strong ones.
    weak = {row["handle"] for row in handles["tables"]["handles"] if row["kind"] == "weak_interior_pointer"}
    mine = {(row["kind"], row["address"], row["object"]) for row in rows
            if row["kind"].startswith("handle:") and row["kind"] not in lost and row["address"] not in beyond
            or row["kind"] == "finalizer"}
    theirs = {(ROOT_KINDS.get(row["kind"], row["kind"]), row["address"], row["object"]) for row in witness["roots"]
              if row["address"] not in weak}
    problems = [f"dnheap lacks the root {root}" for root in sorted(theirs - mine)]
    # ClrMD does not know the counts of ComWrappers either, and takes such handles for weak ones.
    problems += [f"only dnheap has the root {root}" for root in sorted(mine - theirs) if root[0] != "handle:ref_counted"]
    named = {row["address"]: row for row in rows if row["kind"] in ("static", "thread_static")}
    for row in witness.get("statics", []):
        expected = {"name": row["name"], "object": row["object"]}
        found = named.get(row["address"])
        if not found:
            problems.append(f"dnheap lacks the static {row['name']} at {row['address']}")
        else:
            problems += different(expected, found, f"the static at {row['address']}")
    return problems


OBJECT_HEADER = 8  # ClrMD counts fields from behind the MethodTable


def fields(found, witness):
    """Every type's fields, and the name of every reference that lies in a field; none of ours is without a name.

    ClrMD has no number for elements of inline arrays and looks for what lies in them in the first one's neighbours; of
    fields that overlap it takes the first.
    """
    problems = [f"{found['unnamed']} of {found['slots']} slots have no name"] if found["unnamed"] else []
    problems += [f"fields: {problem}" for problem in found["problems"]]
    mine, theirs = ({row["method_table"]: row for row in account["types"]} for account in (found, witness))
    problems += [f"type {key} is only on one side" for key in sorted(mine.keys() ^ theirs.keys())]
    for key in sorted(mine.keys() & theirs.keys()):
        for kind in ("fields", "statics"):
            ours, other = ({(field["name"], field["token"], field.get("offset")) for field in account[key][kind]}
                           for account in (mine, theirs))
            if ours != other:
                problems.append(f"{mine[key]['type']}: {kind} differ: {sorted(ours ^ other, key=str)}")
    names = {key: row["type"] for key, row in mine.items()}
    mine = {(row["method_table"], row["offset"]): row for row in found["references"]}
    theirs = {(row["method_table"], row["offset"] + OBJECT_HEADER): row for row in witness["references"]}
    problems += [f"the reference {key} is only on one side" for key in sorted(mine.keys() ^ theirs.keys())]
    for key in sorted(mine.keys() & theirs.keys()):
        ours, other = mine[key], theirs[key]
        inline = "[" in ours["name"] and other["name"].startswith(ours["name"].partition("[")[0])
        if ours["count"] != other["count"] or not (inline or other["name"] in ours["name"].split("|")):
            problems.append(f"{names[key[0]]} at {key[1]}: {ours['count']} times {ours['name']}, "
                            f"{other['count']} times {other['name']} according to ClrMD")
    if found["elements"] != witness["elements"]:
        problems.append(f"{found['elements']} references in elements of arrays, not {witness['elements']}")
    return problems


def own_fields(found, truth):
    """What the program says of its own types (test/programs/fields)."""
    types = {row["type"]: row for row in found["types"]}
    problems = []
    for name, expected in truth["references"].items():
        slots = types.get(name, {"slots": None})["slots"]
        if slots is None or sorted(slots) != sorted(expected):
            problems.append(f"the references of {name} are called {slots}, not {expected}")
    for name, expected in truth["delegates"].items():
        targets = types.get(name, {"delegates": []})["delegates"]
        if len(targets) != len(expected) or not all(target == method or target.startswith(method + "+0x")
                                                    for target, method in zip(targets, expected)):
            problems.append(f"the delegate {name} calls {targets}, not {expected}")
    return problems


def own_values(shown, expected):
    """What the program says of one object of its own (test/programs/values)."""
    if not shown:
        return [f"there is no {expected['type']}"]
    tables = shown["tables"]
    rows = {row["field"]: [row["type"], row["value"]] for row in tables.get("fields", []) + tables.get("elements", [])}
    problems = [f"{expected['type']}: {name} is {tables['object'][0].get(name)!r}, not {value!r}"
                for name, value in expected["object"].items() if tables["object"][0].get(name) != value]
    problems += [f"{expected['type']}: {name} is {rows.get(name)}, not {value}" for name, value in expected["rows"].items()
                 if rows.get(name) != value]
    return problems + [f"{expected['type']}: {name} is of type {row[0]}" for name, row in rows.items() if "__Canon" in str(row)]


def finalization(answer, witness):
    """As many objects in the finalization queues, and as many of them ready, as ClrMD says."""
    rows = answer["tables"]["finalization"]
    ready = sum(row["objects"] for row in rows if row["part"] in ("critical", "ready"))
    found = {"finalizable": sum(row["objects"] for row in rows), "ready": ready}
    return different(witness["finalization"], found, "finalization")


REGION_HEADER = 40  # bytes between a region's begin and its first object, on x64; ClrMD counts them as free


def own_settings(gc, settings):
    """What the process was told of its GC is what it was started with."""
    told = {row["setting"]: row["value"] for row in gc["tables"]["settings"]}
    wanted = {**settings, "System.GC.RetainVM": "false"}  # ../programs/common/target.runtimeconfig.json
    return [] if told == wanted else [f"settings {told}, not {wanted}"]


def gc_memory(answer, witness):
    """Card tables, handle tables and free regions as ClrMD has them; but it may lack handle tables beyond the number of heaps, which
    a server GC that adapts had more of before."""
    def places(kind):
        return {(row["start"], row["bytes"]) for row in witness["gc_memory"] if row["kind"] == kind}

    def found(kind, passes=lambda row: True):
        return {(row["start"], row["reserved_bytes"]) for row in answer["tables"]["bookkeeping"] if row["kind"] == kind and passes(row)}

    cards, tables = found("card_table"), found("handle_table")
    sure = found("handle_table", lambda row: row["table"] < witness["totals"]["heaps"])
    problems = [f"GCBookkeeping: {sorted(cards)}, not {sorted(places('GCBookkeeping'))}"] if cards != places("GCBookkeeping") else []
    if not sure <= places("HandleTable") <= tables:
        problems.append(f"HandleTable: {sorted(tables)}, {sorted(sure)} of them surely, not {sorted(places('HandleTable'))}")
    free = [row for row in witness["gc_memory"] if row["kind"].startswith("GCFree")]
    regions = sum(row["regions"] for row in answer["tables"]["free_regions"])
    committed = sum(row["committed_bytes"] for row in answer["tables"]["free_regions"])
    expected = {"free_regions": len(free), "free_bytes": sum(row["bytes"] for row in free)}
    return problems + different(expected, {"free_regions": regions, "free_bytes": committed + REGION_HEADER * regions}, "gc")


def same_answer(derived, published):
    """An answer about a dump, and about the same dump with the descriptors of .NET 11: every table must be equal. .NET 10 has no
    GCGlobalMechanisms, which .NET 11 publishes beside others that .NET 10 does have: that it is missed is right."""
    missed = "not found: GCGlobalMechanisms ("
    told = {name: [row for row in rows if missed not in str(row)] for name, rows in published["tables"].items()}
    return [f"{derived['command']}: the table {name} differs when the target publishes the GC contract"
            for name in derived["tables"] if derived["tables"][name] != told.get(name)]


def index(rows, *keys):
    return {tuple(row[key] for key in keys): row for row in rows}


def missing(mine, theirs, describe):
    return ([f"dnheap lacks the {describe(theirs[key])}" for key in sorted(theirs.keys() - mine.keys())] +
            [f"only dnheap has the {describe(mine[key])}" for key in sorted(mine.keys() - theirs.keys())])


def twice(rows, by_key, table):
    return [f"{len(rows) - len(by_key)} rows of {table} occur twice"] if len(rows) != len(by_key) else []


def different(expected, found, label):
    return [f"{label}: {name} is {found.get(name)}, not {value}" for name, value in expected.items()
            if found.get(name) != value]
