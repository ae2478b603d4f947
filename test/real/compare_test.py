#!/usr/bin/env python3
"""Tests the comparison itself, without .NET: a right answer passes, and any one value changed in it is noticed."""
import copy
import unittest

import compare

WITNESS = {
    "types": [
        {"method_table": "0x10", "type": "Free", "count": 2, "bytes": 51, "aligned_bytes": 56, "free": True,
         "gen0": 0, "gen1": 0, "gen2": 56, "loh": 0, "poh": 0, "frozen": 0},
        {"method_table": "0x20", "type": "Zoo.Node<*>", "count": 3, "bytes": 72, "aligned_bytes": 72, "free": False,
         "gen0": 24, "gen1": 0, "gen2": 48, "loh": 0, "poh": 0, "frozen": 0},
        {"method_table": "0x30", "type": None, "count": 1, "bytes": 40, "aligned_bytes": 40, "free": False,
         "gen0": 0, "gen1": 0, "gen2": 0, "loh": 40, "poh": 0, "frozen": 0},
    ],
    "segments": [
        {"heap": 0, "generation": "gen0", "segment": "0x90", "start": "0x1000", "end": "0x1018", "committed_end": "0x2000",
         "reserved_end": "0x3000", "objects": 1, "bytes": 24, "free_objects": 0, "free_bytes": 0},
        {"heap": 0, "generation": "gen2", "segment": "0x91", "start": "0x4000", "end": "0x4068", "committed_end": "0x5000",
         "reserved_end": "0x6000", "objects": 2, "bytes": 48, "free_objects": 2, "free_bytes": 56},
        {"heap": 0, "generation": "loh", "segment": "0x92", "start": "0x7000", "end": "0x7028", "committed_end": "0x8000",
         "reserved_end": "0x9000", "objects": 1, "bytes": 40, "free_objects": 0, "free_bytes": 0},
    ],
    "totals": {"objects": 6, "bytes": 163, "aligned_bytes": 168, "heaps": 1, "invalid": 0, "can_walk": True},
}
TRUTH = {
    "types": {"Zoo.Node[*]": 3},
    "names": {"0x20": "Zoo.Node[*]", "0x30": "System.Void(System.Int32)[]"},
    "addresses": {"gen0": {"address": "0x1000", "generation": 0}, "loh": {"address": "0x7000", "generation": 2}},
    "gcinfo": {"generations": [{"size_after": 0, "fragmentation_after": 0}, {"size_after": 0, "fragmentation_after": 9},
                               {"size_after": 104, "fragmentation_after": 56}, {"size_after": 40, "fragmentation_after": 0},
                               {"size_after": 0, "fragmentation_after": 0}]},
    "server": False, "version": "10.0.14", "pid": 77,
}


def right_answer(command, **tables):
    return {
        "command": command,
        "target": {"container": "elf-core", "os": "linux", "pointer_size": 8, "runtime": "coreclr", "version": "10.0.14",
                   "pid": 77, "gc": {"server": False, "regions": True, "heaps": 1}},
        "completeness": {"objects": 6, "bytes": 168, "bad_objects": 0, "complete": True, "gaps": []},
        "tables": tables,
    }


def right_stat():
    types = copy.deepcopy(WITNESS["types"])
    for row in types:
        del row["free"]
        row["type"] = TRUTH["names"].get(row["method_table"], row["type"])
    return right_answer("stat", types=types)


def right_segments():
    segments = copy.deepcopy(WITNESS["segments"])
    tally = ("objects", "bytes", "free_objects", "free_bytes")
    sums = [{"heap": "all", "generation": row["generation"], **{name: row[name] for name in tally}} for row in segments]
    return right_answer("segments", segments=segments, generations=sums)


def leaves(value, path=()):
    """Every path to a number, text or truth value."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from leaves(child, path + (key,))
    if not isinstance(value, (dict, list)):
        yield path


def changed(value):
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else value + "0"


class Comparison(unittest.TestCase):
    def problems(self, stat, segments, account=WITNESS, truth=TRUTH):
        return compare.at_rest(stat, segments, account, truth, regions=True)

    def test_agreement(self):
        self.assertEqual(self.problems(right_stat(), right_segments()), [])

    def test_every_single_change_is_noticed(self):
        for which in (0, 1):
            answers = (right_stat(), right_segments())
            for path in leaves(answers[which]):
                if path[0] == "command" or which == 1 and path[0] == "target" or path[-1] == "heap" and path[1] == "generations":
                    continue
                if path[0] == "target" and path[-1] == "version":
                    continue  # may go on after what the program says of its runtime
                with self.subTest(command=answers[which]["command"], path=path):
                    wrong = copy.deepcopy(answers)
                    place = wrong[which]
                    for key in path[:-1]:
                        place = place[key]
                    place[path[-1]] = changed(place[path[-1]])
                    self.assertNotEqual(self.problems(*wrong), [])

    def test_missing_and_additional_rows_are_noticed(self):
        for table, make in (("types", right_stat), ("segments", right_segments)):
            for edit in (list.pop, lambda rows: rows.append(rows[0]),
                         lambda rows: rows.append(dict(rows[0], method_table="0x99", start="0x99"))):
                wrong = make()
                edit(wrong["tables"][table])
                stat, segments = (wrong, right_segments()) if table == "types" else (right_stat(), wrong)
                self.assertNotEqual(self.problems(stat, segments), [])

    def test_what_functions_take_is_known_to_the_program_alone(self):
        label = "type 0x30"
        program = "System.Void(System.Int32)[]"
        self.assertEqual(compare.type_name(program, "System.Void((null))[]", program, label), [])
        self.assertEqual(len(compare.type_name("System.Void()[]", "System.Void((null))[]", program, label)), 1)
        self.assertEqual(len(compare.type_name(program, "System.Int32((null))[]", program, label)), 1)
        self.assertEqual(len(compare.type_name(program, "System.Void((null))[]", None, label)), 1)

    def test_unknown_disagreement_of_witness_and_program_is_noticed(self):
        account = copy.deepcopy(WITNESS)
        account["types"][1]["type"] = "Zoo.Knode[*]"
        self.assertNotEqual(self.problems(right_stat(), right_segments(), account), [])

    def test_unproven_excuse_is_noticed(self):
        truth = copy.deepcopy(TRUTH)
        del truth["names"]["0x30"]
        self.assertNotEqual(self.problems(right_stat(), right_segments(), truth=truth), [])


class RootsTest(unittest.TestCase):
    HELD = [{"way": "static", "address": "0x100", "kind": "static", "name": "P.One", "thread": 0, "steps": ""},
            {"way": "thread static", "address": "0x200", "kind": "thread_static", "name": "P.Mine", "thread": 7, "steps": ""},
            {"way": "local", "address": "0x300", "kind": "stack", "name": "P.Run()", "thread": 7, "steps": ""},
            {"way": "handle", "address": "0x400", "kind": "handle:strong", "name": "", "thread": 0, "steps": ""},
            {"way": "closure", "address": "0x500", "kind": "static", "name": "P.Captured", "thread": 0, "steps": "._target.value"}]
    TRUTH = {"held": HELD, "finalizable": 1}
    HANDLES = {"tables": {"handles": [{"handle": "0x40", "kind": "strong", "table": 0},
                                      {"handle": "0x48", "kind": "weak_interior_pointer", "table": 0}]}}
    WITNESS = {"roots": [{"kind": "StrongHandle", "address": "0x40", "object": "0x400"},
                         {"kind": "StaticVar", "address": "0x48", "object": "0x400"},
                         {"kind": "FinalizerQueue", "address": "0x50", "object": "0x600"}],
               "statics": [{"name": "P.One", "address": "0x10", "object": "0x100"}], "totals": {"heaps": 1}}

    def answer(self):
        rows = [("static", "0x10", "0x100", "P.One", None), ("static", "0x18", "0x510", "P.Captured", None),
                ("thread_static", "0x20", "0x200", "P.Mine", 7), ("stack", "0x28", "0x300", "P.Run()", 7),
                ("handle:strong", "0x40", "0x400", None, None), ("finalizer", "0x50", "0x600", None, None)]
        keys = ("kind", "address", "object", "name", "thread")
        types = {"0x600": "Holding.Doomed"}
        return {"completeness": {"complete": True, "notes": []},
                "tables": {"roots": [{**dict(zip(keys, row)), "type": types.get(row[2])} for row in rows]}}

    def test_right_answer(self):
        self.assertEqual(compare.own_roots(self.answer(), self.TRUTH), [])
        self.assertEqual(compare.roots(self.answer(), self.HANDLES, self.WITNESS, 10), [])

    def test_every_value_counts(self):
        for row in range(6):
            for key, value in (("kind", "handle:pinned"), ("object", "0x8"), ("name", "P.Other"), ("thread", 8)):
                wrong = self.answer()
                wrong["tables"]["roots"][row][key] = value
                if row < 1 or 2 <= row <= 4 or (row, key) in ((1, "kind"), (1, "name"), (5, "kind")):
                    self.assertTrue(compare.own_roots(wrong, self.TRUTH), (row, key))
                if row in (0, 4, 5) and key in ("kind", "object"):
                    self.assertTrue(compare.roots(wrong, self.HANDLES, self.WITNESS, 10), (row, key))
        for row in (0, 4, 5):
            wrong = self.answer()
            del wrong["tables"]["roots"][row]
            self.assertTrue(compare.roots(wrong, self.HANDLES, self.WITNESS, 10), row)
        for kind in ("static", "handle:weak_short"):
            wrong = self.answer()
            wrong["tables"]["roots"].append({**wrong["tables"]["roots"][0], "kind": kind, "address": "0x60", "name": "P.Two"})
            self.assertTrue(compare.own_roots(wrong, self.TRUTH), kind)


class PathTest(unittest.TestCase):
    HELD = {"way": "closure", "address": "0x500", "kind": "static", "name": "P.Captured", "thread": 0, "steps": "._list[*].value"}

    def answer(self, **change):
        root = {"kind": "static", "name": "P.Captured", "thread": None, "conservative": False}
        steps = [{"field": "", "address": "0x10"}, {"field": "._list", "address": "0x20"},
                 {"field": "[17].value", "address": "0x500"}]
        return {"completeness": {"notes": []}, "tables": {"paths": [{"root": {**root, **change}, "steps": steps}]}}

    def test_right_answer(self):
        self.assertEqual(compare.own_path(self.answer(), self.HELD), [])

    def test_every_value_counts(self):
        for change in ({"kind": "handle:strong"}, {"name": None}, {"thread": 7}, {"conservative": True}):
            self.assertTrue(compare.own_path(self.answer(**change), self.HELD), change)
        for step, key, value in ((1, "field", "._other"), (2, "address", "0x508")):
            wrong = self.answer()
            wrong["tables"]["paths"][0]["steps"][step][key] = value
            self.assertTrue(compare.own_path(wrong, self.HELD), key)
        wrong = self.answer()
        wrong["tables"]["paths"] *= 2
        self.assertTrue(compare.own_path(wrong, self.HELD))


class FieldsTest(unittest.TestCase):
    """A type with an inline array and fields that overlap."""
    def mine(self):
        fields = [{"name": "_one", "token": "0x4000001", "offset": 0}]
        return {"types": [{"method_table": "0x10", "type": "A", "fields": fields, "statics": [], "slots": ["._one"],
                           "delegates": ["A.F", "libc.so+0x10"]}],
                "references": [{"method_table": "0x10", "offset": 8, "name": "._one", "count": 3},
                               {"method_table": "0x10", "offset": 16, "name": "._many._e[2].Value", "count": 1},
                               {"method_table": "0x10", "offset": 24, "name": "._a|._b", "count": 1}],
                "elements": 5, "slots": 9, "unnamed": 0, "problems": []}

    def theirs(self):
        out = self.mine()
        names = ("._one", "._many._e.Number", "._b")
        out["references"] = [{**row, "offset": row["offset"] - 8, "name": name} for row, name in zip(out["references"], names)]
        return out

    def test_agreement(self):
        self.assertEqual(compare.fields(self.mine(), self.theirs()), [])
        truth = {"references": {"A": ["._one"]}, "delegates": {"A": ["A.F", "libc.so"]}}
        self.assertEqual(compare.own_fields(self.mine(), truth), [])
        for wrong in ({"references": {"A": ["._two"]}, "delegates": {}}, {"references": {"B": []}, "delegates": {}},
                      {"references": {}, "delegates": {"A": ["A.F"]}}, {"references": {}, "delegates": {"A": ["A.G", "libc.so"]}}):
            self.assertTrue(compare.own_fields(self.mine(), wrong), wrong)

    def test_every_value_counts(self):
        for change in ({"unnamed": 1}, {"elements": 4}, {"problems": ["one"]}, {"types": []}, {"references": []}):
            self.assertTrue(compare.fields({**self.mine(), **change}, self.theirs()), change)
        for row in range(3):
            for key, value in (("name", "._x"), ("count", 9), ("offset", 32)):
                wrong = self.mine()
                wrong["references"][row][key] = value
                self.assertTrue(compare.fields(wrong, self.theirs()), (row, key))
        for key, value in (("name", "_x"), ("token", "0x4000002"), ("offset", 8)):
            wrong = self.mine()
            wrong["types"][0]["fields"][0][key] = value
            self.assertTrue(compare.fields(wrong, self.theirs()), key)


class HandlesTest(unittest.TestCase):
    WITNESS = {"handles": [{"handle": "0x10", "kind": "Strong", "object": "0x1000", "secondary": "0x0"},
                           {"handle": "0x18", "kind": "Dependent", "object": "0x1000", "secondary": "0x2000"},
                           {"handle": "0x20", "kind": "10", "object": "0x1000", "secondary": "0x0"}],
               "finalization": {"finalizable": 5, "ready": 2}, "totals": {"heaps": 1, "invalid": 0}}

    def answer(self):
        rows = [{"handle": "0x10", "kind": "strong", "object": "0x1000", "secondary": None, "table": 0, "type": "Marked"},
                {"handle": "0x18", "kind": "dependent", "object": "0x1000", "secondary": "0x2000", "table": 0, "type": "Marked"},
                {"handle": "0x20", "kind": "weak_interior_pointer", "object": "0x1000", "secondary": "0x3", "table": 0,
                 "type": None}]
        return {"command": "handles", "completeness": {"complete": True, "notes": []}, "tables": {"handles": rows}}

    def test_right_answer(self):
        self.assertEqual(compare.handles(self.answer(), self.WITNESS, 10), [])
        self.assertEqual(compare.own_handles(self.answer(), {"handles": {"strong": 1, "dependent": 1}}), [])
        self.assertEqual(compare.same_answer(self.answer(), self.answer()), [])

    def test_every_value_counts(self):
        for row in range(3):
            for key, value in (("kind", "pinned"), ("object", "0x8"), ("handle", "0x99")):
                wrong = self.answer()
                wrong["tables"]["handles"][row][key] = value
                self.assertTrue(compare.handles(wrong, self.WITNESS, 10), (row, key))
                self.assertTrue(compare.same_answer(self.answer(), wrong), (row, key))
        wrong = self.answer()
        wrong["tables"]["handles"][1]["secondary"] = "0x0"
        self.assertTrue(compare.handles(wrong, self.WITNESS, 10))
        wrong["completeness"]["complete"] = False
        self.assertEqual(len(compare.handles(wrong, self.WITNESS, 10)), 2)
        self.assertTrue(compare.own_handles(self.answer(), {"handles": {"strong": 2, "dependent": 1}}))
        self.assertTrue(compare.own_handles(self.answer(), {"handles": {"strong": 1}}))

    def test_what_the_dac_loses(self):
        more = self.answer()
        row = {"handle": "0x28", "kind": "strong", "object": "0x8", "secondary": None, "table": 1, "type": "Marked"}
        more["tables"]["handles"].append(row)
        self.assertEqual(compare.handles(more, self.WITNESS, 10), [], "of a table beyond the number of heaps")
        row["table"] = 0
        self.assertTrue(compare.handles(more, self.WITNESS, 10))
        row["kind"] = "sized_ref"
        self.assertEqual(compare.handles(more, self.WITNESS, 10), [])
        self.assertTrue(compare.handles(more, self.WITNESS, 9))

    def test_what_is_alive_by_handles_that_the_dac_does_not_see(self):
        witness = {"totals": {"heaps": 1}, "references": {"count": 2, "hash": 5}, "reachable_with_collectible": {"objects": 1, "bytes": 24}}
        verify = {"tables": {"totals": [{"references": 2, "edges": 5, "problems": 0}]}}
        live = {"tables": {"stages": [{"kind": "handle:strong", "objects": 2, "bytes": 48}], "types": [{"count": 2, "bytes": 48}]}}
        handles = {"tables": {"handles": [{"table": 0}]}}
        self.assertEqual(len(compare.references(verify, live, handles, witness)), 2)
        handles["tables"]["handles"].append({"table": 1})
        self.assertEqual(compare.references(verify, live, handles, witness), [])
        verify["tables"]["totals"][0]["edges"] = 6
        self.assertEqual(len(compare.references(verify, live, handles, witness)), 1)

    def test_gc_memory(self):
        witness = {"totals": {"heaps": 1},
                   "gc_memory": [{"kind": "GCBookkeeping", "start": "0x1000", "bytes": 64},
                                 {"kind": "HandleTable", "start": "0x2000", "bytes": 128},
                                 {"kind": "GCFreeRegion", "start": "0x3000", "bytes": 4096}]}
        rows = [{"kind": "card_table", "table": None, "start": "0x1000", "reserved_bytes": 64},
                {"kind": "handle_table", "table": 0, "start": "0x2000", "reserved_bytes": 128},
                {"kind": "handle_table", "table": 1, "start": "0x4000", "reserved_bytes": 128}]
        free = [{"regions": 1, "committed_bytes": 4056}]
        gc = {"tables": {"bookkeeping": rows, "free_regions": free}}
        self.assertEqual(compare.gc_memory(gc, witness), [])
        for row, key in ((rows[0], "reserved_bytes"), (rows[1], "reserved_bytes"), (free[0], "regions"),
                         (free[0], "committed_bytes")):
            row[key] += 1
            self.assertTrue(compare.gc_memory(gc, witness), key)
            row[key] -= 1
        witness["gc_memory"].append({"kind": "HandleTable", "start": "0x4000", "bytes": 128})
        self.assertEqual(compare.gc_memory(gc, witness), [], "of a table that a heap had before")
        witness["gc_memory"].pop()
        rows[2]["table"] = 0
        self.assertTrue(compare.gc_memory(gc, witness))

    def test_finalization(self):
        rows = [{"part": "gen2", "objects": 3}, {"part": "critical", "objects": 1}, {"part": "ready", "objects": 1}]
        gc = {"tables": {"finalization": rows}}
        self.assertEqual(compare.finalization(gc, self.WITNESS), [])
        for row in rows:
            row["objects"] += 1
            self.assertTrue(compare.finalization(gc, self.WITNESS), row)
            row["objects"] -= 1


if __name__ == "__main__":
    unittest.main()
