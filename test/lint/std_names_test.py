#!/usr/bin/env python3
import pathlib
import tempfile
import unittest

import std_names


class StdNames(unittest.TestCase):
    def found(self, text, **more):
        with tempfile.TemporaryDirectory() as name:
            for file, content in {"a": text, **more}.items():
                pathlib.Path(name, f"{file}.cc").write_text(content)
            return [line.removeprefix(name + "/").split("()")[0] for line in std_names.violations([name])]

    def test_functions_that_take_what_is_stds(self):
        self.assertEqual(self.found("namespace a {\n\nstd::string quoted(std::string_view text) {\n"), ["a.cc:3: quoted"])
        self.assertEqual(self.found("void merge(std::vector<int> &all);\n"), ["a.cc:1: merge"])
        self.assertEqual(self.found("const Section *find(const Sections &sections,\n                    std::string_view name) {\n"), ["a.cc:1: find"])
        self.assertEqual(self.found("template <class T> T reduce(std::span<const T> all) { return all[0]; }\n"), ["a.cc:1: reduce"])
        self.assertEqual(self.found("inline bool exists(const std::filesystem::path &path) noexcept;\n"), ["a.cc:1: exists"])
        self.assertEqual(self.found("void for_each(u64 count, const std::function<void(u64 i)> &each) {\n"), ["a.cc:1: for_each"])

    def test_and_by_names_of_ours_for_it(self):
        self.assertEqual(self.found("void apply(Bytes bytes, Target &target);\n", b="using Bytes = std::span<const std::byte>;\n"), ["a.cc:1: apply"])

    def test_others_are_no_matter(self):
        for text in ("std::string hex(std::uint64_t value);\n",                    # no type of std's: its namespace is not looked into
                     "u64 size(const Object &object);\n",
                     "std::string text_of(std::string_view text);\n",             # no name of std's
                     "Section Image::find(std::string_view name) const {\n",      # of a class: it hides the others
                     "struct A {\n  void merge(std::vector<int> &all);\n};\n",
                     "void f() {\n  return merge(std::vector<int>());\n}\n",
                     "const auto end = begin(std::vector<int>());\n"):
            with self.subTest(text=text):
                self.assertEqual(self.found(text, b="using u64 = std::uint64_t;\n"), [])


if __name__ == "__main__":
    unittest.main()
