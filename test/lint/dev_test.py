#!/usr/bin/env python3
"""./dev says what is wrong at once: wrong usage, tools that are not there or too old. And asks no more of CMake than Ubuntu 22.04 has."""
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOLS = ("bash dirname readlink grep sed sort tail head cat cmp find xargs uname env python3").split()
OLDEST_CMAKE = (3, 22)  # Ubuntu 22.04's


def dev(*arguments, path=None, project=PROJECT):
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "CXX")}
    if path:
        environment["PATH"] = path
    return subprocess.run([project / "dev", *arguments], env=environment, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)


class Usage(unittest.TestCase):
    def test_wrong_usage(self):
        for arguments in ([], ["tset"], ["test", "--al"], ["test", "--all", "more"], ["demo", "core"], ["lint", "src"],
                          ["static", "x"], ["format", "x"], ["hosts", "hardy"], ["hosts", "--al"]):
            with self.subTest(arguments=arguments):
                done = dev(*arguments)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn("usage: ./dev", done.stdout)

    def test_help(self):
        done = dev("--help")
        self.assertEqual(done.returncode, 0)
        for word in re.findall(r"^(\w+)\)", (PROJECT / "dev").read_text(), re.MULTILINE):
            self.assertIn(f"./dev {word}", done.stdout)


class Tools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dnheap-dev-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        for tool in TOOLS:  # and none of a package manager: nothing is installed
            os.symlink(shutil.which(tool), self.path / tool)

    def tool(self, name, *lines):
        file = self.path / name
        file.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        file.chmod(file.stat().st_mode | stat.S_IXUSR)

    def lint(self):
        """In a project of three files."""
        project = self.path / "project"
        if not project.exists():
            for file in ("dev", "test/lint/include_order.py", "test/lint/std_names.py", "test/lint/anonymous_names.py", "test/lint/headers_check.py", "src/base/error.h", "src/base/text.h", "src/base/text.cc"):
                (project / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(PROJECT / file, project / file)
            (project / "bench").mkdir()
            (project / "doc" / "design").mkdir(parents=True)
            subprocess.run([sys.executable, project / "test/lint/headers_check.py", "--update"], check=True)
        return dev("lint", path=str(self.path), project=project)

    def build(self):
        return dev("build", "release", path=str(self.path))

    def test_cmake_is_missing_or_too_old(self):
        done = self.build()
        self.assertEqual(done.returncode, 1)
        self.assertIn("CMake 3.22 or newer is needed, and there is none here", done.stdout)
        self.tool("cmake", "echo cmake version 3.18.4")
        done = self.build()
        self.assertEqual(done.returncode, 1)
        self.assertIn("CMake 3.22 or newer is needed; here is 3.18.4", done.stdout)

    def test_compiler_is_missing_or_too_old(self):
        self.tool("cmake", "echo cmake version 3.22.1")
        self.assertIn("g++ 12 or newer is needed, and there is none here", self.build().stdout)
        self.tool("g++", "echo 11.4.0")
        done = self.build()
        self.assertEqual(done.returncode, 1)
        self.assertIn("g++ 12 or newer is needed; here is 11.4.0", done.stdout)

    def test_newer_compiler_beside_the_old_one(self):
        self.tool("cmake", '[ "$1" = --version ] && echo cmake version 3.22.1 || echo "with $CXX" >&2')
        self.tool("g++", "echo 11.4.0")
        self.tool("g++-12", "echo 12.3.0")
        done = self.build()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("with g++-12", done.stdout)

    def test_newest_clang(self):
        self.tool("cmake", '[ "$1" = --version ] && echo cmake version 3.22.1 || echo "$@" >&2')
        for name, version in (("g++", 12), ("clang++", 14), ("clang++-9", 9), ("clang++-2000-not", 2000)):
            self.tool(name, f"echo {version}.2.0")
        done = dev("build", "fuzz", path=str(self.path))
        self.assertEqual(done.returncode, 1)
        self.assertIn("the preset fuzz needs clang 15 or newer", done.stdout)
        self.tool("clang++-19", "echo 19.1.0")
        done = dev("build", "fuzz", path=str(self.path))
        self.assertIn("CMAKE_CXX_COMPILER=clang++-19 ", done.stdout)

    def test_lint_without_clang_format_fails_once(self):
        done = self.lint()
        self.assertEqual(done.returncode, 1)
        said = [line for line in done.stdout.splitlines() if not line.startswith("dev: this is no Debian")]
        self.assertEqual(said, ["include order: ok", "headers: ok", "names of std: ok", "names in anonymous namespaces: ok", "layout: not checked, there is no clang-format here"])

    def test_lint_takes_any_clang_format(self):
        script = 'if [ "$1" = --version ]; then echo "Debian clang-format version %s.1.7"; else %s "$1"; fi'
        self.tool("clang-format-99", script % (99, "cat"))
        done = self.lint()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("layout: ok", done.stdout)
        # Another version lays out otherwise: said once, and no fault of the sources.
        self.tool("clang-format-99", script % (99, "echo"))
        done = self.lint()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"layout: clang-format 99 would change 3 files, but they are laid out with 14\n")
        self.assertEqual(done.stdout.count("layout: clang-format"), 1)
        # The version that they are laid out with: each file that differs.
        self.tool("clang-format", script % (14, "echo"))
        (self.path / "clang-format-99").unlink()
        done = self.lint()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.count("layout: ./dev format would change src/base/"), 3)


class CMakeAge(unittest.TestCase):
    def test_presets(self):
        presets = json.loads((PROJECT / "CMakePresets.json").read_text())
        self.assertLessEqual(presets["version"], 3)  # 4 needs CMake 3.23

    def test_projects(self):
        files = [file for file in PROJECT.rglob("CMakeLists.txt") if "build" not in file.relative_to(PROJECT).parts]
        asked = [re.search(r"cmake_minimum_required\(VERSION (\d+)\.(\d+)", file.read_text()) for file in files]
        asked = [tuple(map(int, match.groups())) for match in asked if match]
        self.assertTrue(asked)
        for version in asked:
            self.assertLessEqual(version, OLDEST_CMAKE)


if __name__ == "__main__":
    unittest.main()
