#!/usr/bin/env python3
"""The Python module on the sample, beside what the program says. Usage: python_check.py DNHEAP LIBRARY"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import unittest

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
SAMPLE = PROJECT / "sample" / "demo.core.zst"
sys.path.insert(0, str(PROJECT / "bindings" / "python"))
sys.dont_write_bytecode = True
import dnheap  # noqa: E402


def program(*words):
    return subprocess.run([DNHEAP, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True).stdout


class OnTheSample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dump = dnheap.open(SAMPLE, threads=2)

    @classmethod
    def tearDownClass(cls):
        cls.dump.close()

    def test_what_was_opened(self):
        self.assertEqual(self.dump.info.container, "elf-core")
        self.assertEqual(self.dump.info.path, str(SAMPLE))
        self.assertTrue(self.dump.completeness.complete)
        self.assertIn(dnheap.version(), program("--version"))

    def test_answers_are_those_of_the_program(self):
        for verb, *subject in (["stat"], ["segments"], ["path", "Shop.Cache.BasketItem"], ["inspect", "collections"]):
            with self.subTest(verb=verb):
                words = [verb, SAMPLE, *subject] if verb != "inspect" else [verb, *subject, SAMPLE]
                self.assertEqual(self.dump.ask(verb, *subject), json.loads(program(*words, "--format", "json")))
        self.assertEqual(self.dump.text("stat", top=3), program("stat", SAMPLE, "--top", "3"))

    def test_options_are_those_of_the_command_line(self):
        answer = self.dump.ask("stat", type=r"^Shop\.Cache\.", gen="gen2", top=2)
        self.assertEqual(answer.table(), json.loads(program("stat", SAMPLE, "--type", r"^Shop\.Cache\.", "--gen", "gen2", "--top", "2", "--format", "json"))["tables"]["types"])
        hubs = ["Shop.Customer", "Shop.Order"]
        self.assertEqual(self.dump.ask("retained", hub=hubs, plain=False, by=None),
                         json.loads(program("retained", SAMPLE, "--hub", hubs[0], "--hub", hubs[1], "--format", "json")))
        start = self.dump.ask("segments")["tables"]["segments"][0]["start"]
        inside = self.dump.ask("objects", range=(int(start, 16), int(start, 16) + 1))
        self.assertEqual([row["address"] for row in inside.table()], [start])
        self.assertEqual(self.dump.ask("show", int(start, 16)), self.dump.ask("show", start))

    def test_rows(self):
        types = {row.id: row for row in self.dump.types()}
        sums = {row["method_table"]: row["count"] for row in self.dump.ask("stat")["tables"]["types"]}
        self.assertEqual({f"{row.method_table:#x}": row.count for row in types.values()}, sums)
        counts = dict.fromkeys(types, 0)
        for row in self.dump.objects():
            counts[row.type] += 1
        self.assertEqual(counts, {id: row.count for id, row in types.items()})
        strings = list(self.dump.strings(most=1000))
        self.assertEqual(len(strings), next(row.count for row in types.values() if row.name == "System.String"))
        self.assertTrue(any(row.text == "Shop" or "shop" in (row.text or "") for row in strings))

        cache = next(row.object for row in self.dump.roots() if row.name == "Shop.Cache.SessionCache.Shared")
        fields = {row.field: row.target for row in self.dump.references(cache)}
        self.assertIn("byToken", fields)
        self.assertEqual([row.source for row in self.dump.referrers(fields["byToken"])], [cache])
        self.assertEqual({row.target for row in self.dump.edges() if row.source == cache}, set(fields.values()))
        retained = next(row for row in self.dump.dominators() if row.object == cache)
        owners = {row["owner"]: row["retained"] for row in self.dump.ask("retained").table("owners")}
        self.assertEqual(retained.retained_bytes, owners["static Shop.Cache.SessionCache.Shared"])
        self.assertEqual(self.dump.read(cache, 8), next(row for row in self.dump.objects() if row.address == cache).method_table.to_bytes(8, "little"))
        self.assertEqual(self.dump.read(1, 8), b"")

    def test_a_loop_that_ends_early_can_be_begun_again(self):
        rows = self.dump.objects()
        self.assertEqual(next(iter(rows)), next(iter(rows)))

    def test_frames(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(dnheap.Error, "pandas, which is not installed"):
                self.dump.types().frame()
            print("\nSKIPPED: no pandas here", flush=True)
            self.skipTest("no pandas here")
        objects, types = self.dump.objects().frame(), self.dump.types().frame()
        self.assertEqual(list(objects.itertuples(index=False, name=None))[:5000], [tuple(row) for _, row in zip(range(5000), self.dump.objects())])
        by_type = objects.groupby("type")["bytes"].sum()
        self.assertEqual(by_type.to_dict(), types.set_index("id")["bytes"].to_dict())
        self.assertEqual(self.dump.ask("stat").frame()["count"].sum(), len(objects))
        self.assertEqual(len(self.dump.strings().frame()), int(types[types.name == "System.String"]["count"].iloc[0]))

    def test_what_is_wrong(self):
        with self.assertRaisesRegex(dnheap.WrongUsage, "did you mean 'stat'"):
            self.dump.ask("stta")
        with self.assertRaisesRegex(ValueError, "unknown option '--tpe', did you mean '--type'"):
            self.dump.ask("stat", tpe="x")
        with self.assertRaises(LookupError) as caught:
            self.dump.ask("show", 16)
        self.assertEqual(caught.exception.code, 5)
        with self.assertRaisesRegex(dnheap.NotFound, "no table 'x'; there are types"):
            self.dump.ask("stat").table("x")
        with self.assertRaisesRegex(dnheap.NotFound, "no tables"):
            dnheap.Answer(tables={}).table()
        with self.assertRaisesRegex(dnheap.Error, "/no/such/core"):
            dnheap.open("/no/such/core")
        with self.assertRaises(dnheap.Error):
            dnheap.attach(os.getpid())
        with self.assertRaisesRegex(dnheap.Error, "2147483640"):
            dnheap.attach(2147483640, by_port=True)
        with self.assertRaisesRegex(dnheap.WrongUsage, "by_port and options.runs_on exclude each other"):
            dnheap.attach(2147483640, by_port=True, pause=False)
        with self.assertRaisesRegex(dnheap.WrongUsage, "by_port needs a live process"):
            dnheap.open(SAMPLE, by_port=True)
        with dnheap.open(SAMPLE) as other:
            pass
        with self.assertRaisesRegex(dnheap.WrongUsage, "closed"):
            other.ask("stat")
        other.close()

    def test_verbs_that_open_what_they_need(self):
        answer = dnheap.ask("diff", SAMPLE, SAMPLE)
        self.assertEqual(answer["command"], "diff")
        self.assertIn("collections", dnheap.text("inspect", "list"))
        with self.assertRaises(dnheap.WrongUsage):
            self.dump.ask("diff")

    def test_what_the_readme_shows(self):
        shown = re.search(r"^```python\n(.*?)^```", (PROJECT / "doc" / "guide" / "libraries.md").read_text(), re.DOTALL | re.MULTILINE)[1]
        said = subprocess.run([sys.executable, "-c", shown], cwd=PROJECT, env=dict(os.environ, PYTHONPATH="bindings/python", PYTHONDONTWRITEBYTECODE="1"),
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertRegex(said, r"(?m)^\d+ \d+ Shop\.Cache\.Session$")
        self.assertIn("static Shop.Cache.SessionCache.Shared.byToken", said)

    def test_threads_take_turns(self):
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.dump.ask("retained", top=3))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, [self.dump.ask("retained", top=3)] * 4)

    def test_what_progress_raises_ends_the_call(self):
        told = []

        def stop(now):
            told.append(now)
            raise RuntimeError("enough")
        with self.assertRaisesRegex(RuntimeError, "enough"):
            dnheap.ask("diff", *[SAMPLE] * 20, progress=stop)  # long enough to be told about
        self.assertEqual(len(told), 1)

    def test_texts_that_c_would_cut_short(self):
        for function in (lambda: self.dump.ask("stat", type="a\0b"), lambda: self.dump.ask("show", "a\0b"), lambda: dnheap.open(f"{SAMPLE}\0"),
                         lambda: dnheap.open(SAMPLE, modules="a\0b"), lambda: dnheap.open(SAMPLE, temp_dir="/\0")):
            with self.assertRaisesRegex(dnheap.WrongUsage, "zero byte"):
                function()

    def test_other_formats_are_texts(self):
        with self.assertRaisesRegex(dnheap.WrongUsage, r"text\('stat', format="):
            self.dump.ask("stat", format="csv")
        with self.assertRaisesRegex(dnheap.WrongUsage, "text"):
            dnheap.ask("diff", SAMPLE, SAMPLE, format="text")
        self.assertEqual(self.dump.ask("stat", format="json"), self.dump.ask("stat"))

    def test_what_could_not_be_made_ends_in_silence(self):
        said = []
        before, sys.unraisablehook = sys.unraisablehook, said.append
        try:
            with self.assertRaises(TypeError):
                dnheap.open(SAMPLE, no_such_option=1)
        finally:
            sys.unraisablehook = before
        self.assertEqual(said, [])

    def test_closed_after_the_look_and_before_the_call(self):
        """What another thread may do between the two: the handle is not used any more."""
        dump = dnheap.open(SAMPLE)
        call = dump._watch.call

        def closed_first(*arguments):
            dump.close()
            call(*arguments)
        dump._watch.call = closed_first
        with self.assertRaisesRegex(dnheap.WrongUsage, "closed"):
            dump.ask("stat")

    def test_closed_and_cancelled_while_others_ask(self):
        for moment in range(20):
            dump, problems = dnheap.open(SAMPLE), []

            def ask():
                try:
                    while True:
                        dump.ask("stat", top=1)
                        next(iter(dump.objects()))
                except (dnheap.WrongUsage, dnheap.Interrupted) as error:
                    if not re.search("closed|interrupted", str(error)):
                        problems.append(error)
                except Exception as error:
                    problems.append(error)
            threads = [threading.Thread(target=ask) for _ in range(3)]
            for thread in threads:
                thread.start()
            threading.Event().wait(0.003 * moment)
            if moment % 2:
                dump.cancel()
            dump.close()
            for thread in threads:
                thread.join()
            self.assertEqual(problems, [])

    def test_ctrl_c_ends_the_call(self):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started this may ignore it
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            for _ in range(100):
                with dnheap.open(SAMPLE) as dump:
                    dump.ask("report")

    def test_ctrl_c_at_any_moment(self):
        """Also while a call is begun, which nothing that it uses may end before."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for moment in range(40):
            interrupt = threading.Timer(0.002 * moment, lambda: os.kill(os.getpid(), signal.SIGINT))
            with self.assertRaises(KeyboardInterrupt):
                interrupt.start()
                while True:
                    with dnheap.open(SAMPLE) as dump:
                        dump.ask("segments")


if __name__ == "__main__":
    DNHEAP, os.environ["DNHEAP_LIBRARY"] = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
