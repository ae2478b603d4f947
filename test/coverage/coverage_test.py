#!/usr/bin/env python3
"""coverage.py on a project of one file, of which one line and one branch are never run."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = """#include <string>
std::string sign(int value) {
  if (value < 0)
    return "minus";
  return "plus";
}
int main(int count, char **) { return sign(count) == "plus" ? 0 : 1; }
"""


@unittest.skipUnless(shutil.which("g++") and shutil.which("gcov"), "needs g++ and gcov")
class Coverage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dnheap-coverage-")
        self.addCleanup(folder.cleanup)
        self.project = pathlib.Path(folder.name).resolve()
        for name in ("test/coverage", "src/base", "build/src"):
            (self.project / name).mkdir(parents=True)
        shutil.copy(HERE / "coverage.py", self.project / "test/coverage")
        (self.project / "src/base/sign.cc").write_text(SOURCE)
        (self.project / "build/CMakeCache.txt").write_text("CMAKE_CXX_COMPILER:FILEPATH=" + shutil.which("g++") + "\n")
        subprocess.run(["g++", "--coverage", "-O0", "-c", "../src/base/sign.cc", "-o", "src/sign.cc.o"],
                       cwd=self.project / "build", check=True)

    def coverage(self, *arguments):
        return subprocess.run([sys.executable, self.project / "test/coverage/coverage.py", self.project / "build", *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def test_no_test_has_run(self):
        done = self.coverage()
        self.assertEqual(done.returncode, 1)
        self.assertIn("no test has run", done.stdout)

    def test_lines_and_branches(self):
        subprocess.run(["g++", "--coverage", "src/sign.cc.o", "-o", "sign"], cwd=self.project / "build", check=True)
        for _ in range(2):
            subprocess.run(["./sign"], cwd=self.project / "build", check=True)
        done = self.coverage("--missed", "base/sign.cc")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("| `base` | 5 | 80.0 % |", done.stdout)
        self.assertIn("| all | 5 | 80.0 % |", done.stdout)
        self.assertIn('    4     return "minus";', done.stdout)
        self.assertNotIn("    5     return", done.stdout)
        self.assertNotIn("/usr/include", done.stdout)
        self.assertEqual(self.coverage("--missed", "base/none.cc").returncode, 1)


if __name__ == "__main__":
    unittest.main()
