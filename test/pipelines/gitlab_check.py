#!/usr/bin/env python3
"""Does packaging/check.gitlab-ci.yml do in GitLab what it says? Usage: gitlab_check.py DNHEAP

As the npm package gitlab-ci-local has it, which knows GitLab's schema, resolves what is included and extended, and runs the jobs by the
shell of this machine. Skipped (exit code 77), with the reason, where there is no npm.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "support"))
import npm  # noqa: E402

SNIPPET = PROJECT / "packaging" / "check.gitlab-ci.yml"
SAMPLE = PROJECT / "sample" / "demo.core.zst"
# As its first lines tell users to.
PIPELINE = """include:
  - local: check.gitlab-ci.yml
.of-the-sample:
  extends: .dnheap-check
  variables:
    DNHEAP_DUMP: demo.core.zst
kept:
  extends: .of-the-sample
  variables:
    DNHEAP_BUDGET: budget.json
grown:
  extends: .of-the-sample
  variables:
    DNHEAP_BUDGET: growth.json
    DNHEAP_BASELINE: old.json
exceeded:
  extends: .of-the-sample
  variables:
    DNHEAP_OPTIONS: |
      --no-instances-of=Shop.Never
      --no-instances-of=Shop.Order
missing:
  extends: .dnheap-check
  variables:
    DNHEAP_DUMP: $(touch found).core
    DNHEAP_BUDGET: budget.json
"""


def check(modules, dnheap, folder):
    def run(*words):
        return subprocess.run([str(word) for word in words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)

    shutil.copy(SNIPPET, folder)
    shutil.copy(SAMPLE, folder)
    (folder / ".gitlab-ci.yml").write_text(PIPELINE)
    (folder / "budget.json").write_text('{"totals": {"live_bytes": "1GiB"}}')
    (folder / "growth.json").write_text('{"totals": {"growth": {"live_bytes": "1%"}}}')
    assert run(dnheap, "check", SAMPLE, "--record", folder / "old.json").returncode == 0
    for words in ["init", "-q"], ["remote", "add", "origin", "git@localhost:someone/shop.git"], ["add", "-A"], \
                 ["-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-qm", "test"]:
        run("git", *words)

    def job(name):
        for file in "dnheap-check.xml", "dnheap-record.json":
            (folder / file).unlink(missing_ok=True)
        done = run("node", modules / "gitlab-ci-local" / "src" / "index.js", name, "--shell-executor-no-image", "--artifacts-to-source",
                   "--json-schema-validation", "--home", folder / "home", "--variable", f"DNHEAP={dnheap}")
        report = folder / "dnheap-check.xml"
        suites = xml.etree.ElementTree.parse(report).getroot() if report.exists() else None
        return done.returncode, done.stdout, suites

    for name, wanted, tests, failures in ("kept", 0, "1", "0"), ("grown", 0, "1", "0"), ("exceeded", 1, "2", "1"), ("missing", 3, None, None):
        code, log, suites = job(name)
        if (code == 0) != (wanted == 0) or wanted and f"FAIL {wanted}" not in re.sub(r"\x1b\[\d*m|  +", " ", log):
            yield f"{name}: exit code {code}: {log}"
        if (suites is None) != (tests is None) or suites is not None and (suites.get("tests"), suites.get("failures")) != (tests, failures):
            yield f"{name}: its report has {suites is not None and suites.attrib}: {log}"
        if tests and json.loads((folder / "dnheap-record.json").read_text())["completeness"]["objects"] != 109813:
            yield f"{name}: no record"
        if name == "exceeded" and "2,060 live instances" not in log:
            yield f"{name}: nothing is said of it: {log}"
    if (folder / "found").exists():
        yield "what a variable held was run"
    # And its schema is looked at.
    (folder / "check.gitlab-ci.yml").write_text(SNIPPET.read_text().replace("when: always", "when: sometimes"))
    code, log, _ = job("kept")
    if code == 0 or "sometimes" not in log and "allowed values" not in log:
        yield f"a word that GitLab does not know: exit code {code}: {log}"


def main(dnheap):
    try:
        modules = npm.packages(HERE)
    except npm.Skipped as reason:
        print(f"SKIPPED: packaging/check.gitlab-ci.yml was NOT checked: {reason}")
        return 77
    if not shutil.which("git") or not shutil.which("rsync"):
        print("SKIPPED: packaging/check.gitlab-ci.yml was NOT checked: there is no git, or no rsync")
        return 77
    with tempfile.TemporaryDirectory(prefix="dnheap-gitlab-") as folder:
        failed = [*check(modules, pathlib.Path(dnheap).resolve(), pathlib.Path(folder))]
    print("\n".join(failed) or "GitLab: the snippet keeps to its schema, and its jobs do what they say")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
