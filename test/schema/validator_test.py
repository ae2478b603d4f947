#!/usr/bin/env python3
"""Does the validator refuse what it should?"""
import json
import pathlib
import tempfile
import unittest

import validator

SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"const": "a"},
        "at": {"$ref": "#/$defs/address"},
        "size": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]},
        "list": {"type": "array", "items": {"enum": ["x", 1, False]}},
        "more": {"$ref": "other.json#/$defs/more"},
    },
    "required": ["kind"],
    "minProperties": 1,
    "additionalProperties": False,
    "$defs": {"address": {"type": "string", "pattern": "^0x[0-9a-f]+$"}},
}
OTHER = {"$defs": {"more": {"$ref": "#/$defs/text"}, "text": {"type": "string"}}, "type": "boolean"}


class ValidatorTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("main.json", SCHEMA)
        self.write("other.json", OTHER)

    def write(self, name, schema):
        pathlib.Path(self.folder.name, name).write_text(json.dumps(schema))

    def problems(self, value, name="main.json"):
        return validator.Validator(self.folder.name).problems(value, name)

    def test_numbers(self):
        self.write("main.json", {"type": "number", "minimum": 0, "maximum": 1})
        for value, problems in ((0, 0), (0.5, 0), (1, 0), (1.5, 1), (-0.5, 1), (True, 1), ("1", 1)):
            self.assertEqual(len(self.problems(value)), problems, value)

    def test_accepts(self):
        for value in ({"kind": "a"}, {"kind": "a", "at": "0x1f", "size": None, "list": [], "more": ""},
                      {"kind": "a", "size": 0, "list": ["x", 1, False, 1]}):
            self.assertEqual(self.problems(value), [], value)
        self.assertEqual(self.problems(True, "other.json"), [])

    def test_refuses(self):
        for value, where in ((None, "$:"), ([], "$:"), ({}, "kind"), ({"kind": "b"}, "$.kind"),
                             ({"kind": "a", "new": 1}, "new"), ({"kind": "a", "at": "0xG"}, "$.at"),
                             ({"kind": "a", "at": 31}, "$.at"), ({"kind": "a", "size": -1}, "$.size"),
                             ({"kind": "a", "size": 1.5}, "$.size"), ({"kind": "a", "size": True}, "$.size"),
                             ({"kind": "a", "list": {}}, "$.list"), ({"kind": "a", "list": ["x", "y"]}, "$.list[1]"),
                             ({"kind": "a", "list": [True]}, "$.list[0]"), ({"kind": "a", "list": [0]}, "$.list[0]"),
                             ({"kind": "a", "more": 1}, "$.more")):
            found = self.problems(value)
            self.assertTrue(found and where in found[0], (value, found))

    def test_knows_what_it_does_not_know(self):
        self.write("main.json", {"multipleOf": 3})
        with self.assertRaises(ValueError):
            self.problems(1)


if __name__ == "__main__":
    unittest.main()
