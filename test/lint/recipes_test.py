#!/usr/bin/env python3
"""Are the lists that the recipes of doc/adding.md speak of complete? What was added by a recipe stands in all of its places."""
import json
import pathlib
import re
import unittest

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
SRC, TEST = PROJECT / "src", PROJECT / "test"
OF_TEXT_ONLY = {"where"}  # tables that data do not have


def text(*parts):
    return PROJECT.joinpath(*parts).read_text()


def code(path):
    """Without comments."""
    return re.sub(r"//[^\n]*", "", path.read_text())


def enum_in_schema(key):
    """All values that envelope.json allows for the key, wherever it stands."""
    out = set()

    def visit(node):
        if isinstance(node, dict):
            for name, value in node.items():
                if name == key and isinstance(value, dict):
                    out.update(value.get("enum", []))
                visit(value)
        elif isinstance(node, list):
            for value in node:
                visit(value)
    visit(json.loads(text("doc", "schema", "envelope.json")))
    return out


def tables_of(source):
    """The tables that are made of ColumnsOf or one_row: name, keys of the columns that data have, those that are always there."""
    parts = re.compile(r'(?P<begin>ColumnsOf<\w+>)|(?P<name>(?:\.table|one_row)\(\s*"(\w+)")|(?P<others>\.columns = \{)|'
                       r'(?P<add>\.add\()?\{\{"(?P<key>\w+)",\s*"[^"]*",\s*Kind::\w+(?P<shown>[^{}]*)\}')
    for function in source.split("\n}\n"):
        tables, keys, always = [], [], []
        for match in parts.finditer(function):
            if match["begin"] or match["others"]:
                keys, always = [], []
            elif match["name"]:
                tables.append((match[3], keys, always))
            elif "Shown::in_text" not in match["shown"]:
                keys.append(match["key"])
                always += [] if match["add"] else [match["key"]]
        yield from tables


class Recipes(unittest.TestCase):
    def test_a_column(self):
        """Keys of columns in the sources of verbs and inspectors are properties in the schema of the answer."""
        shared = json.loads(text("doc", "schema", "envelope.json"))["$defs"]
        schemas = {path.stem: json.loads(path.read_text()).get("properties", {}).get("tables", {}).get("properties", {})
                   for path in (PROJECT / "doc" / "schema").glob("*.json")}
        always_there = {}  # by schema and table, which may have several forms
        for path in [*(SRC / "analysis" / "verbs").glob("*.cc"), *(SRC / "analysis" / "inspectors").glob("*.cc")]:
            verb = "inspect" if path.parent.name == "inspectors" else path.stem.split("_")[0]
            for name, keys, always in tables_of(code(path)):
                for of in [verb] if verb in schemas else [one for one in schemas if name in schemas[one]]:
                    if name in OF_TEXT_ONLY:
                        continue
                    with self.subTest(file=path.name, table=name):
                        table = schemas[of][name]
                        row = shared[table["$ref"].rpartition("/")[2]]["items"] if "$ref" in table else table["items"]
                        self.assertLessEqual(set(keys), set(row["properties"]))
                        required, known = always_there.get((of, name), (row["required"], set(always)))
                        always_there[of, name] = required, known & set(always)
        for (of, name), (required, always) in always_there.items():
            with self.subTest(schema=of, table=name):
                self.assertLessEqual(always, set(required))
        self.assertGreaterEqual(len(always_there), 50)

    def test_a_figure_for_watch(self):
        names = re.findall(r'"(\w+)"', re.search(r"names\[\] = \{(.*?)\};", text("src", "lookout", "figures.cc"), re.S)[1])
        self.assertIn("gen2", names)
        schema = json.loads(text("doc", "schema", "watch.json"))["$defs"]["figures"]["properties"]
        self.assertEqual(list(schema), [*names, "container_limit"])
        for place in (("doc", "containers.md"), ("src", "cli", "commands.cc")):
            for name in names:
                self.assertRegex(text(*place), rf"\b{name}\b", "/".join(place))

    def test_a_dump_format(self):
        openers = re.search(r"openers\[?\]?[^=]*= ?\{(.*?)\};", text("src", "dump", "open.cc"), re.S)[1]
        declared = {match[1]: path.stem for path in (SRC / "dump").glob("*.h")
                    for match in re.finditer(r"std::unique_ptr<Target> (open_\w+)\(Bytes ", path.read_text())}
        self.assertGreaterEqual(len(declared), 2)
        for function, stem in declared.items():
            with self.subTest(format=stem):
                self.assertRegex(openers, rf"\b{function}\b")
                self.assertTrue((TEST / "dump" / f"{stem}_test.cc").is_file())

    def test_a_dump_formats_container(self):
        containers = {match for path in (SRC / "dump").rglob("*.cc")
                      for match in re.findall(r'container = "([^"]+)"', path.read_text())}
        self.assertGreaterEqual(len(containers), 3)
        self.assertLessEqual(containers, enum_in_schema("container"))

    def test_a_format_of_modules(self):
        image = code(SRC / "image" / "module_image.h")
        members = re.search(r"std::variant<([^>]*)> image_;", image)[1].split(", ")
        files = {"".join(word.capitalize() for word in path.stem.split("_")) for path in (SRC / "image").glob("*_image.h")}
        self.assertEqual(set(members), files - {"ModuleImage"})

    def test_what_runtime_libraries_are_called_is_known_in_one_place(self):
        name = re.compile(r'"[^"\n]*(?:coreclr\.|libcoreclr|clrgc|hostfxr|hostpolicy)[^"\n]*"')
        here = {path.name for path in SRC.rglob("*.[ch]*") if name.search(code(path))}
        self.assertEqual({name for name in here if not name.startswith("core_clr.")}, {"library_names.h", "library_names.cc"})

    def test_a_kind_of_runtime(self):
        kinds = {match for path in (SRC / "runtime").rglob("*.h")
                 for match in re.findall(r'kind\(\) const override \{ return "(\w+)"; \}', path.read_text())}
        self.assertGreaterEqual(kinds, {"coreclr", "nativeaot", "corert"})
        self.assertLessEqual(kinds, enum_in_schema("runtime") | enum_in_schema("kind"))

    def test_a_value_to_derive(self):
        """What a file of layout/ finds is asked for by describe/."""
        sources = {path: path.read_text() for path in (SRC / "runtime").rglob("*.cc")}
        found = 0
        for header in sorted((SRC / "runtime" / "layout").rglob("*.h")):
            others = "".join(source for path, source in sources.items() if path != header.with_suffix(".cc"))
            for function in re.findall(r"^(?:void|bool|Address|Verdict) (derive_\w+)\(", header.read_text(), re.M):
                found += 1
                with self.subTest(function=function):
                    self.assertRegex(others, rf"\b{function}\(")
        self.assertGreaterEqual(found, 15)


if __name__ == "__main__":
    unittest.main()
