"""A program for another system or processor, which something runs here (Wine, qemu), beside the program for this one: on the bundled sample,
and on the dumps of $DNHEAP_CORPUS where there are such, each verb gives the same bytes, exit code and errors; `mcp` passes the test of its
protocol, and `explore` serves the same."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "test/explore"))
sys.dont_write_bytecode = True
import served  # noqa: E402

SAMPLE = "sample/demo.core.zst"

# TARGET is the dump. Of each format at least one; texts as wide as they are, and for a terminal.
QUESTIONS = """
stat TARGET --top 0
stat TARGET --format json --exact
stat TARGET --format csv
stat TARGET --type List<.*> --format markdown
report TARGET
account TARGET
segments TARGET
objects TARGET --min 10k
objects TARGET --format csv --top 0
path TARGET System.String --top 3
retained TARGET
retained TARGET --tree
handles TARGET
roots TARGET --top 50
threads TARGET
stack TARGET --all
stack TARGET --all --merge
gc TARGET
info TARGET
exceptions TARGET
locks TARGET
async TARGET
inspect TARGET collections
waste TARGET
strings TARGET --values
frag TARGET
verify TARGET --all
contract TARGET
query TARGET SELECT-COUNTS
export TARGET --as ndjson -o FILE
export TARGET --as heapsnapshot -o FILE
export TARGET --as gcdump -o FILE
export TARGET --as sqlite -o FILE
extract TARGET -o FILE
extract TARGET --no-values -o FILE
diff TARGET TARGET
shell TARGET -c stat -c threads
report TARGET --html FILE
stat TARGET --threads 1
stat TARGET --strict
stat TARGET --sort nothing
stat nothing.core
show TARGET 0x10
show TARGET 0x10 --format json
account TARGET --format json --top 0
retained TARGET --format json --top 0
path TARGET System.String --format json
threads TARGET --format json
stack TARGET --all --format json
locks TARGET --format json
waste TARGET --format json
async TARGET --format json
exceptions TARGET --format json
roots TARGET --format json --top 0
handles TARGET --format json
inspect TARGET timers
inspect TARGET events --format json
lookup TARGET System.String
memory TARGET 0x10
summary TARGET
query TARGET SELECT-COUNTS --format json
check TARGET --no-instances-of Shop.Order --record FILE
check TARGET --no-findings-of any --format junit
stat TARGET --nonsense
stat TARGET --top many
report TARGET --format html
export TARGET --as nonsense -o FILE
path TARGET
stat
nonsense
completion fish
help retained
--help
""".strip().splitlines()
SQL = "select t.name, count(*) n, sum(o.bytes) b from objects o join types t on t.id = o.type group by 1 order by b desc"
SERVED = ("", "app.js", "app.css", "api/map?levels=5", "api/ask/stat?top=200", "api/ask/report", "api/ask/retained?top=0", "api/ask/threads", "api/find?text=shop.order",
          "api/ask/nonsense", "../etc/passwd")
OF_LARGE_DUMPS = ("stat TARGET --top 0", "info TARGET", "report TARGET", "verify TARGET --all", "stack TARGET --all", "path TARGET System.String --top 3")


class Beside:
    """Asks both, and counts. `there` is the start of a command."""

    def __init__(self, here, there, **environment):
        self.here, self.there = [str(here)], [str(word) for word in there]
        self.environment = {**os.environ, **environment, "LC_ALL": "C.UTF-8", "COLUMNS": "120"}
        self.same, self.different = 0, 0

    def ask_all(self, folder):
        for question in QUESTIONS:
            self.ask(question, SAMPLE)
        # Names that are not ASCII, and spaces.
        odd = pathlib.Path(folder, "Größe 大.core.zst")
        shutil.copy(SAMPLE, odd)
        self.ask("stat TARGET", odd)
        check_servers(self, folder)
        for dump, is_large in corpus():
            for question in OF_LARGE_DUMPS if is_large else [q for q in QUESTIONS if "TARGET" in q]:
                self.ask(question, dump)
        print(f"{self.same + self.different} questions asked on both, {self.different} answered differently")
        return 1 if self.different else 0

    def ask(self, question, target):
        words = [{"TARGET": str(target), "SELECT-COUNTS": SQL}.get(word, word.replace("TARGET", str(target)))
                 for word in question.split(" ")]
        results = []
        for program in (self.here, self.there):
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "answer")
                command = [*program, *(str(file) if word == "FILE" else word for word in words)]
                done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, env=self.environment, timeout=900)
                texts = [re.sub(rb"/tmp/[^ /]*/answer", b"FILE", text) for text in (done.stdout, done.stderr)]
                results.append((done.returncode, *texts, file.read_bytes() if file.exists() else b""))
        here, there = results
        if here != there:
            part = next(i for i in (2, 0, 1, 3) if here[i] != there[i])  # what it says of itself first
            self.fail(words, first_difference(here[part], there[part]), ("exit code", "output", "errors", "file")[part])
        else:
            self.same += 1

    def fail(self, words, what, where):
        self.different += 1
        print(f"DIFFERENT: dnheap {' '.join(words)}: {where}: {what}", flush=True)


def first_difference(a, b):
    if isinstance(a, int):
        return f"{a} here, {b} there"
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"byte {at} of {len(a)} and {len(b)}: {a[max(at - 60, 0):at + 60]!r} here, {b[max(at - 60, 0):at + 60]!r} there"


def check_servers(beside, folder):
    """What answers as long as somebody asks. Tests want a program, so the command is one."""
    there = pathlib.Path(folder, "dnheap")
    there.write_text("#!/bin/sh\nexec " + " ".join(shlex.quote(str(word)) for word in beside.there) + ' "$@"\n')
    there.chmod(0o755)
    done = subprocess.run([sys.executable, "test/mcp/mcp_check.py", there], capture_output=True, text=True, env=beside.environment, timeout=900)
    if done.returncode:
        beside.fail(["mcp"], done.stderr[-2000:], "the test of its protocol")
    with served.Served(beside.here[0], SAMPLE) as here, served.Served(str(there), SAMPLE, environment=beside.environment) as other:
        for path in SERVED:
            expected, found = ((status, body) for status, _, body in (page.get(path) for page in (here, other)))
            if expected != found:
                part = 0 if expected[0] != found[0] else 1
                beside.fail(["explore", path], first_difference(expected[part], found[part]), ("status", "body")[part])
            else:
                beside.same += 1


def corpus():
    """Dumps of other programs and systems: (path, is large)."""
    if "DNHEAP_CORPUS" not in os.environ:
        return []
    folder = pathlib.Path(os.environ["DNHEAP_CORPUS"])
    return [(path, path.stat().st_size > 1_000_000) for kind in ("nativeaot/*.core.zst", "windows/*.dmp.zst", "windows-x86/*.dmp.zst")
            for path in sorted(folder.glob(kind))]
