#!/usr/bin/env python3
"""Does `extract --no-values` leave anything of the bundled sample's data? Usage: no_values_check.py DNHEAP

The demo makes up customers, addresses and letters: none of that text may be in the core that is written, whatever the questions
were that `extract` asked to learn what belongs into it.
"""
import pathlib
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
SECRETS = ("@example.com", "Gardener", "Market Street", "thank you for your order", "Mozilla/5.0")


def counts(path):
    content = path.read_bytes()
    return [content.count(secret.encode("utf-16-le")) for secret in SECRETS]


def main(dnheap):
    with tempfile.TemporaryDirectory(prefix="dnheap-no-values-") as folder:
        whole, blanked = pathlib.Path(folder, "whole.core"), pathlib.Path(folder, "blanked.core")
        sample = PROJECT / "sample" / "demo.core.zst"
        for output, options in ((whole, []), (blanked, ["--no-values"])):
            subprocess.run([dnheap, "extract", sample, "-o", output, *options], check=True, stdout=subprocess.DEVNULL)
        before, after = counts(whole), counts(blanked)
        for core, says_so in ((whole, False), (blanked, True)):  # how many elements collections have are values, too
            answer = subprocess.run([dnheap, "inspect", "collections", core], check=True, stdout=subprocess.PIPE).stdout.decode()
            if ("INCOMPLETE" in answer and "--no-values" in answer) != says_so:
                after.append(1)
                print(f"inspect of {core.name} does not say whether counts are blanked:", answer.splitlines()[0])
    for secret, there, left in zip(SECRETS, before, after):
        if not there:
            print(f"the sample itself has no {secret!r}: this test looks for nothing")
        if left:
            print(f"{secret!r} is left {left} times of {there}")
    return 1 if 0 in before or any(after) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
