#!/usr/bin/env python3
"""Is what the documents name there: files, functions, types, sections of each other? And are their tables whole?

Names are words in `backticks` that look like code: a_b, CamelCase, f(), a path with a suffix. Each must occur as a word in
the project's files, documents left out. What documents name that is not ours or not yet there is listed below.
"""
import pathlib
import re
import unittest

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCUMENTS = [PROJECT / "README.md", *sorted((PROJECT / "doc").glob("**/*.md"))]
DESIGN = [PROJECT / "doc" / "design.md", *sorted((PROJECT / "doc" / "design").glob("*.md"))]
OURS = (*(page.name for page in DESIGN), "rejected.md", "ci.md", "adding.md", "performance.md", "performance-history.md", "targets.md")  # contracts.md and glossary.md name what runtimes have
FILE = re.compile(r"[\w./*-]+\.(?:h|cc|py|sh|cs|md|cmake|txt|json|layout)")
NAME = re.compile(r"~?[A-Za-z_]\w*(?:(?:::|\.)[A-Za-z_]\w*)*(?:\(\))?")

# Recipes speak of files that are yet to be written.
TO_BE_WRITTEN = {"adding.md": re.compile(r"graphml|gc_2|Gc2|html|HTML|mono|Mono|netVERSION|NAME|handles\.json"
                                         r"|x_test\.cc|Shop\.|arrivals")}
# Words of other programs, of systems and of file formats.
FOREIGN = set("Shop.dbg g_card_table".split())
RUNTIMES = set("contract-descriptor.md data_descriptor.md datacontracts_design.md".split())  # documents of dotnet/runtime


def code(document):
    """Everything in backticks, outside of blocks, with the number of its line."""
    in_block = False
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_block = not in_block
        elif not in_block:
            for words in re.findall(r"`([^`]+)`", line):
                yield number, words


class Project:
    def __init__(self):
        self.files, self.stems, self.words = set(), set(), set()
        for folder in ("include", "src", "bindings", "test", "bench", "cmake", "fleet", "packaging", "sample", "doc", "."):
            paths = (PROJECT / folder).rglob("*") if folder != "." else PROJECT.glob("*")
            for path in paths:
                if not path.is_file() or not {"__pycache__", "bin", "obj"}.isdisjoint(path.parts):
                    continue
                self.files.add(path.relative_to(PROJECT).as_posix())
                self.stems.add(path.stem)
                if folder != "doc" and path.suffix != ".md" and path.stat().st_size < 1 << 20:
                    self.words.update(re.findall(r"\w+", path.read_text(errors="replace")))

    def has_file(self, name):
        """A path from the project's folder, or from src/ or test/, or the name of a file alone; with * a pattern."""
        name = name.removeprefix("../")
        pattern = re.compile("(?:.*/)?" + re.escape(name).replace(r"\*", "[^/]*"))
        return any(pattern.fullmatch(file) for file in self.files)

    def has_name(self, name):
        return all(word in self.words or word in self.stems for word in re.findall(r"\w+", name))


PROJECT_NAMES = Project()


def looks_like_code(words):
    return NAME.fullmatch(words) and (re.search(r"_|\(\)|::", words) or re.search(r"[a-z][A-Z]", words)) and words not in FOREIGN


class Names(unittest.TestCase):
    def check(self, document, looks, has):
        allowed = TO_BE_WRITTEN.get(document.name)
        for number, words in code(document):
            if looks(words) and not (allowed and allowed.search(words)):
                with self.subTest(place=f"{document.name}:{number}", name=words):
                    self.assertTrue(has(words), "there is no such thing")

    def test_files(self):
        for document in DOCUMENTS:
            if document.name != "README.md":
                self.check(document, lambda words: FILE.fullmatch(words) and words not in RUNTIMES, PROJECT_NAMES.has_file)

    def test_functions_and_types(self):
        for document in DOCUMENTS:
            if document.name in OURS:
                self.check(document, lambda words: not FILE.fullmatch(words) and looks_like_code(words),
                           PROJECT_NAMES.has_name)

    def test_functions_in_contracts(self):
        """Of the names in contracts.md those in snake_case are ours, but for members and variables of runtimes."""
        ours = re.compile(r"(?![mg]_)[a-z0-9]+(?:_[a-z0-9]+)+(?:\(\))?")
        self.check(PROJECT / "doc" / "contracts.md", ours.fullmatch, PROJECT_NAMES.has_name)

    def test_places(self):
        """`machines` in `src/dump/machine.cc`; `src/dump/open.cc`: one row in `openers`."""
        for document in DOCUMENTS:
            text = " ".join(document.read_text().split())
            places = re.findall(r"`(\w+_\w+|\w+s)` (?:in |\()`([\w/]+\.(?:cc|h|py))`", text)
            places += [(name, file) for file, name in re.findall(r"`([\w/]+\.(?:cc|h|py))`: (?:one row|a row|a value) (?:in|of) `(\w+)`", text)]
            for name, file in places:
                paths = [path for path in (PROJECT / file, PROJECT / "src" / file, *(PROJECT / "src").rglob(file.split("/")[-1]))
                         if path.exists()]
                with self.subTest(document=document.name, name=name, file=file):
                    self.assertTrue(paths and re.search(rf"\b{name}\b", paths[0].read_text()), "it is not in there")

    def test_a_wrong_name_is_found(self):
        self.assertFalse(PROJECT_NAMES.has_file("engine" + ".cc"))
        self.assertFalse(PROJECT_NAMES.has_name("find_core" + "_rt"))
        self.assertTrue(PROJECT_NAMES.has_file("base/bytes.h"))
        self.assertTrue(PROJECT_NAMES.has_name("Memory::ranges()"))


def headings(document):
    return [line.lstrip("#").strip() for line in document.read_text().splitlines() if line.startswith("#")]


def anchor(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


class Sections(unittest.TestCase):
    def test_sections_named_in_words(self):
        """…, see *Debug files* in contracts.md; see *The walk*."""
        for document in DOCUMENTS:
            text = " ".join(document.read_text().split())
            for title, other in re.findall(r"[Ss]ee(?: also)? \*([A-Z][^*]+)\*(?: (?:in|of) \[?`?(?:doc/)?(\w+\.md))?", text):
                there = next((page for page in DOCUMENTS if page.name == other), PROJECT / "doc" / other) if other else document
                with self.subTest(document=document.name, section=title, of=there.name):
                    bold = re.findall(r"\*\*([^*]+?)[.:]?\*\*", there.read_text())
                    self.assertIn(title, [*headings(there), *bold])

    def test_links_to_sections(self):
        for document in DOCUMENTS:
            for target, section in re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", document.read_text()):
                there = document.parent / target if target else document
                with self.subTest(document=document.name, section=section):
                    self.assertIn(section, map(anchor, headings(there)))


def tables(document):
    """Of each table its first line's number and its rows, as lists of cells."""
    table, start, in_block = [], 0, False
    for number, line in enumerate([*document.read_text().splitlines(), ""], 1):
        in_block ^= line.lstrip().startswith("```")
        if line.startswith("|") and not in_block:
            start = start if table else number
            line = re.sub(r"`[^`]*`", lambda code: code[0].replace("|", "/"), line.replace(r"\|", "/"))
            table.append([cell.strip() for cell in line.strip().strip("|").split("|")] if line.endswith("|") else None)
        elif table:
            yield start, table
            table = []


class Tables(unittest.TestCase):
    def test_rows_have_all_their_cells(self):
        for document in DOCUMENTS:
            for start, rows in tables(document):
                for number, row in enumerate(rows, start):
                    with self.subTest(place=f"{document.name}:{number}"):
                        self.assertIsNotNone(row, "the row does not end")
                        self.assertEqual(len(row), len(rows[1]))

    def test_no_row_comes_twice(self):
        for page in DESIGN:
            for start, rows in tables(page):
                names = [row[0] for row in rows if row and not row[0].startswith("…")]
                with self.subTest(page=page.name, line=start):
                    self.assertEqual([name for name in names if names.count(name) > 1], [])


SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
UNITS = {"KiB": 10, "MiB": 20, "GiB": 30}


def figures(cell):
    """The numbers of a cell: 4,096, 2²⁰, 2³² − 1, 16 MiB."""
    for power, minus, plain, unit in re.findall(r"2([⁰¹²³⁴⁵⁶⁷⁸⁹]+)( − 1)?|(\d[\d,]*)(?: (KiB|MiB|GiB))?", cell):
        if power:
            yield (1 << int(power.translate(SUPERSCRIPTS))) - bool(minus)
        else:
            yield int(plain.replace(",", "")) << UNITS.get(unit, 0)


def constants(text):
    """The numbers that stand in C++ source, with shifts worked out."""
    text = re.sub(r"(?<!~)\b(?:[iu](?:8|16|32|64)|size_t|unsigned)\{(\w+)\}", r"\1", text).replace("'", "")
    number = r"(0x[0-9a-fA-F]+|\d+)[uUlL]*"
    found = {int(one, 16 if one.startswith("0x") else 10) for one in re.findall(rf"\b{number}\b", text)}
    found |= {0xffffffff} if "~u32{0}" in text else set()
    found |= {int(a, 0) << int(b) for a, b in re.findall(rf"\b{number}\s*<<\s*(\d+)\b", text) if int(b) < 64}
    return found


class Bounds(unittest.TestCase):
    """Of every row of untrusted.md's table of bounds each figure stands in one of the files that the row names."""

    def test_bounds_are_where_the_table_says(self):
        document = PROJECT / "doc" / "design" / "untrusted.md"
        rows = next(rows for _, rows in tables(document) if rows[0] == ["what", "bound", "where"])
        self.assertGreater(len(rows), 30)
        for what, bound, where in rows[2:]:
            there, folder = set(), ""
            for name in re.findall(r"`([^`]+)`", where):
                folder = name.rpartition("/")[0] or folder
                name = f"{folder}/{name.rpartition('/')[2]}".strip("/")
                path = PROJECT / "src" / name
                paths = [*path.glob("*.cc")] if path.is_dir() else [path] if path.exists() else []
                with self.subTest(bound=what, file=name):
                    self.assertTrue(paths, "there is no such file")
                for path in paths:
                    there |= constants(path.read_text())
            there |= {number - 1 for number in there if number & (number - 1) == 0}
            for figure in figures(bound):
                with self.subTest(bound=what, figure=figure, where=where):
                    self.assertIn(figure, there)


class FuzzTargets(unittest.TestCase):
    def test_table(self):
        rows = next(rows for _, rows in tables(PROJECT / "doc" / "design" / "untrusted.md") if rows[0][0] == "fuzz target")
        listed = [row[0].strip("`") for row in rows[2:]]
        self.assertEqual(sorted(listed), sorted(path.stem for path in (PROJECT / "test" / "fuzz").glob("*_fuzz.cc")))


if __name__ == "__main__":
    unittest.main()
