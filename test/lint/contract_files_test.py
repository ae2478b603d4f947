#!/usr/bin/env python3
"""Files of src/runtime whose names end in a contract's version (_1, _n1, _2) read that contract, and no others do so."""
import pathlib
import re
import unittest

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
RUNTIME = PROJECT / "src" / "runtime"


def contracts():
    """The rows of contract_versions.cc: name → versions."""
    text = (RUNTIME / "contract_versions.cc").read_text()
    rows = re.findall(r'\{"(\w+)", ("[^"]*"|from_readers), ("[^"]*"|from_readers), Unknown::', text)
    readers = set(re.findall(r'\{"c(\d+)", make<Gc\d+>\}', (RUNTIME / "gc.cc").read_text()))
    gc = " ".join(f"c{number}" for number in readers)
    return {name: (core.strip('"') if core != "from_readers" else gc) + " " + (aot.strip('"') if aot != "from_readers" else gc)
            for name, core, aot in rows}


class ContractFiles(unittest.TestCase):
    def test_names_that_end_in_a_version_are_those_of_contracts(self):
        known = contracts()
        self.assertIn("GC", known)
        self.assertIn("Thread", known)
        for path in sorted(RUNTIME.rglob("*.[ch]*")):
            match = re.fullmatch(r"(\w+?)_(n?)(\d+)", path.stem)
            if not match:
                continue
            with self.subTest(path=path.name):
                words = match[1].replace("_", "")
                # The GC's reader has a file per part: gc_heaps_1.cc.
                found = [name for name in known if words == name.lower() or (path.parent.name == "gc" and name == "GC"
                                                                             and words.startswith("gc"))]
                self.assertEqual(len(found), 1, "no contract is called so")
                self.assertIn((match[2] or "c") + match[3], known[found[0]].split(), "contract_versions.cc does not list it")

    def test_every_version_of_the_gc_contract_is_one_header_and_one_row(self):
        rows = re.findall(r'\{"c(\d+)", make<Gc(\d+)>\}', (RUNTIME / "gc.cc").read_text())
        files = sorted(path.stem.removeprefix("gc_") for path in (RUNTIME / "gc").glob("gc_[0-9]*.h"))
        self.assertEqual(sorted(version for version, _ in rows), files)
        self.assertTrue(all(version == reader for version, reader in rows))


if __name__ == "__main__":
    unittest.main()
