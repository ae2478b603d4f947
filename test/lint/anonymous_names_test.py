#!/usr/bin/env python3
import pathlib
import tempfile
import unittest

import anonymous_names

HEADER = "namespace a {\n\nclass Words {\n};\n\n} // namespace a\n"


class AnonymousNames(unittest.TestCase):
    def found(self, text, header=HEADER):
        with tempfile.TemporaryDirectory() as name:
            pathlib.Path(name, "a.h").write_text(header)
            pathlib.Path(name, "a.cc").write_text(text)
            return [line.removeprefix(name + "/").split(" is")[0] for line in anonymous_names.violations(name)]

    def in_anonymous(self, text, namespace="a"):
        return f"namespace {namespace} {{\n\nnamespace {{\n{text}\n}} // namespace\n\n}} // namespace {namespace}\n"

    def test_types_of_both(self):
        for text in ("struct Words {\n  int a;\n};", "using Words = std::vector<int>;", "enum class Words : u8 { one };",
                     "template <class T> struct Words : Base<T> {\n};"):
            with self.subTest(text=text):
                self.assertEqual(self.found(self.in_anonymous(text)), ["a.cc:4: Words"])

    def test_types_of_different_namespaces(self):
        self.assertEqual(self.found(self.in_anonymous("struct Words {\n};", "a::b")), [])
        self.assertEqual(self.found(self.in_anonymous("struct Words {\n};", "a::b"), HEADER.replace("namespace a", "namespace a::b")), ["a.cc:4: Words"])

    def test_others_are_no_matter(self):
        for text in ("struct Others {\n};", "struct Words;", "Words words_of(int a) {\n}", "struct Others {\n  struct Words {\n  };\n};"):
            with self.subTest(text=text):
                self.assertEqual(self.found(self.in_anonymous(text)), [])
        self.assertEqual(self.found("namespace a {\n\nnamespace {\n} // namespace\n\nstruct Words {\n};\n\n} // namespace a\n"), [])


if __name__ == "__main__":
    unittest.main()
