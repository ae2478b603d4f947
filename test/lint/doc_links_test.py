#!/usr/bin/env python3
"""Does everything exist that README.md and doc/ point at: linked files, and paths of this repository?"""
import pathlib
import re
import unittest

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCUMENTS = [PROJECT / "README.md", *sorted((PROJECT / "doc").glob("**/*.md"))]
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`((?:src|test|doc|bench|sample)/[\w./*-]+)`")
RECIPES = "adding.md"  # speaks of files that are yet to be written


class DocLinksTest(unittest.TestCase):
    def test_links(self):
        for document in DOCUMENTS:
            for target in LINK.findall(document.read_text()):
                with self.subTest(document=document.name, target=target):
                    self.assertTrue((document.parent / target).exists())

    def test_paths(self):
        for document in DOCUMENTS:
            for path in PATH.findall(document.read_text()) if document.name != RECIPES else ():
                with self.subTest(document=document.name, path=path):
                    self.assertTrue(list(PROJECT.glob(path.rstrip("/"))))


if __name__ == "__main__":
    unittest.main()
