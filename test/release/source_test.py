#!/usr/bin/env python3
"""packaging/source.sh takes the newest source package that can be had, and says when that is an older one: with an archive of two versions in a folder, and
real apt."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ("apt-get", "apt-cache", "dpkg-source", "dpkg-scansources")
MISSING = [tool for tool in TOOLS if not shutil.which(tool)]
# Sourced as packaging/libraries.sh does, but for the machine's own archive.
ASK = """
set -euo pipefail
source "$1/packaging/source.sh"
apt=(apt-get -q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$2/sources" -o "Dir::State::lists=$2/lists"
  -o "Dir::State::status=$2/status" -o "Dir::Cache=$2/cache" -o APT::Sandbox::User= -o Acquire::Retries=0)
"${apt[@]}" update >&2
unpack_source few "$2/out" >&2
echo "$older"
"""


@unittest.skipIf(MISSING, f"SKIPPED: source packages were NOT fetched: there is no {', '.join(MISSING)}")
class Sources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dnheap-source-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.archive = self.folder / "archive"
        for place in ("sources", "lists/partial", "cache/archives/partial"):
            (self.folder / place).mkdir(parents=True)
        (self.folder / "status").touch()
        (self.folder / "sources/own.list").write_text(f"deb-src [trusted=yes] copy:{self.archive}/ ./\n")
        self.add("1.0-9", self.archive)
        self.add("1.0-10", self.archive)
        self.index()

    def add(self, version, archive):
        source = self.folder / "few"
        (source / "debian").mkdir(parents=True)
        (source / "debian/control").write_text("Source: few\nMaintainer: A <a@localhost>\nStandards-Version: 4.6.2\n\nPackage: few\nArchitecture: any\n"
                                               "Description: few\n")
        (source / "debian/changelog").write_text(f"few ({version}) unstable; urgency=low\n\n  * .\n\n -- A <a@localhost>  Sun, 01 Jan 2023 00:00:00 +0000\n")
        (source / "version").write_text(version)
        archive.mkdir(exist_ok=True)
        subprocess.run(["dpkg-source", "-b", "--format=1.0", source], cwd=archive, check=True, capture_output=True)
        shutil.rmtree(source)

    def index(self):
        listed = subprocess.run(["dpkg-scansources", "."], cwd=self.archive, check=True, capture_output=True).stdout
        (self.archive / "Sources").write_bytes(listed)

    def unpack(self, **environment):
        done = subprocess.run(["bash", "-c", ASK, "bash", PROJECT, self.folder], capture_output=True, text=True, timeout=120, check=False,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", **environment})
        unpacked = list((self.folder / "out").glob("*/version"))
        return done, [file.read_text() for file in unpacked]

    def archived(self, pattern):
        found = list(self.archive.glob(pattern))
        self.assertEqual(len(found), 1, pattern)
        return found[0]

    def test_newest(self):
        done, versions = self.unpack()
        self.assertEqual((done.returncode, done.stdout, versions), (0, "\n", ["1.0-10"]), done.stderr)

    def test_older_where_the_newest_is_not_to_be_had(self):
        self.archived("few_1.0-10.tar.gz").unlink()
        done, versions = self.unpack()
        self.assertEqual((done.returncode, versions), (0, ["1.0-9"]), done.stderr)
        self.assertEqual(done.stdout, "few: 1.0-9 is taken, as 1.0-10 cannot be fetched; it lacks what was mended since\n")

    def test_older_where_the_newest_is_another_one_than_the_index_says(self):
        file = self.archived("few_1.0-10.tar.gz")
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
        done, versions = self.unpack()
        self.assertEqual((done.returncode, versions), (0, ["1.0-9"]), done.stderr)

    def test_none(self):
        for file in self.archive.glob("*.tar.gz"):
            file.unlink()
        done, versions = self.unpack()
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(versions, [])
        self.assertIn("no source of few can be fetched (versions: 1.0-10 1.0-9)", done.stderr)
        self.assertIn("DNHEAP_SOURCES", done.stderr)

    def test_own_sources_go_first(self):
        self.add("1.0-11", self.folder / "own")
        done, versions = self.unpack(DNHEAP_SOURCES=str(self.folder / "own"))
        self.assertEqual((done.returncode, done.stdout, versions), (0, "\n", ["1.0-11"]), done.stderr)

    def test_own_sources_that_are_damaged(self):
        self.add("1.0-11", self.folder / "own")
        file = self.folder / "own/few_1.0-11.tar.gz"
        file.write_bytes(file.read_bytes()[:-1])
        done, versions = self.unpack(DNHEAP_SOURCES=str(self.folder / "own"))
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(versions, [])
        self.assertIn("few_1.0-11.dsc cannot be unpacked", done.stderr)


if __name__ == "__main__":
    unittest.main()
