#!/usr/bin/env python3
"""./dev does nothing of what it was not asked for: a misspelt word is wrong usage, not half of the tests."""
import pathlib
import subprocess
import unittest

DEV = pathlib.Path(__file__).resolve().parent.parent.parent / "dev"


class WrongWords(unittest.TestCase):
    def test_are_wrong_usage(self):
        for words in (["test", "--al"], ["test", "all"], ["test", "--all", "--all"], ["tset"], []):
            done = subprocess.run([DEV, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(b"usage: ./dev", done.stderr)


if __name__ == "__main__":
    unittest.main()
