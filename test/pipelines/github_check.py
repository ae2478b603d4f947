#!/usr/bin/env python3
"""Does action.yml do in GitHub Actions what it says? Usage: github_check.py DNHEAP

Against GitHub's schema, as the npm package @action-validator/core has it; then its steps are run as a runner runs those of a composite action: the
shell it names, expressions put in, files for outputs and the summary. Skipped (exit code 77), with the reason, where there is no npm.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "support"))
import npm  # noqa: E402

SAMPLE = PROJECT / "sample" / "demo.core.zst"
# In the places of GitHub's client and of ./dev.
CLIENT = """#!/usr/bin/env bash
[[ "$1 $2" == "release download" ]] || exit 1
echo "$*" >>"$HERE/asked"
while [[ $1 != --dir ]]; do shift; done
mkdir -p "$2" && cp "$HERE"/release/* "$2"
"""
BUILD = """#!/usr/bin/env bash
echo "built: $*"
[[ -z $CI ]] && mkdir -p "$(dirname "$0")/build/release" && cp "$DNHEAP" "$(dirname "$0")/build/release/dnheap"
"""


class Runner:
    """Of one composite action, in a folder."""

    def __init__(self, action, folder, dnheap):
        self.action, self.folder, self.dnheap = action, folder, dnheap
        self.temp, self.path, self.tools, self.work = (folder / name for name in ("temp", "action", "tools", "work"))
        for path in self.temp, self.path, self.tools, self.work, folder / "release":
            path.mkdir()
        for path, text in (self.path / "dev", BUILD), (self.tools / "gh", CLIENT):
            path.write_text(text)
            path.chmod(0o755)

    def run(self, **inputs):
        """(exit code, log, outputs, summary)"""
        unknown = set(inputs) - set(self.action["inputs"])
        assert not unknown, unknown
        for path in self.folder.glob("temp/*"):
            shutil.rmtree(path)
        values = {name.replace("_", "-"): inputs.get(name, one.get("default")) for name, one in self.action["inputs"].items()}
        missing = [name for name, one in self.action["inputs"].items() if one.get("required") and values[name] is None]
        assert not missing, missing
        known = {f"inputs.{name}": value for name, value in values.items()}
        known.update({"github.action_repository": "someone/dnheap", "github.action_ref": "v0.1.0", "github.token": "a token"})

        def expand(text):
            return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda match: str(known[match[1]]), str(text))

        log, summary = "", self.folder / "summary"
        summary.write_text("")
        for step in self.action["runs"]["steps"]:
            assert step["shell"] == "bash" and "${{" not in step["run"]  # what users give is no part of a script
            script, output = self.folder / "step.sh", self.folder / "output"
            script.write_text(step["run"])
            output.write_text("")
            environment = {**os.environ, **{name: expand(value) for name, value in step.get("env", {}).items()}, "CI": "true", "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64",
                           "RUNNER_TEMP": str(self.temp), "GITHUB_ACTION_PATH": str(self.path), "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary),
                           "PATH": f"{self.tools}:{os.environ['PATH']}", "HERE": str(self.folder), "DNHEAP": str(self.dnheap)}
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=self.work, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            log += done.stdout
            for line in output.read_text().splitlines():
                name, _, value = line.partition("=")
                known[f"steps.{step['id']}.outputs.{name}"] = value
            if done.returncode:
                break
        outputs = {name: expand(one["value"]) for name, one in self.action["outputs"].items() if done.returncode == 0 or step["id"] == "check"}
        return done.returncode, log, outputs, summary.read_text()

    def release(self, program, digest=None):
        """What is there to download."""
        (self.folder / "release" / "dnheap-linux-x64").write_bytes(program)
        digest = digest or hashlib.sha256(program).hexdigest()
        (self.folder / "release" / "SHA256SUMS").write_text(f"{digest}  dnheap-linux-x64\n{digest}  dnheap_0.1.0_amd64.deb\n")


def check_limits(runner):
    program = str(runner.dnheap)
    (runner.work / "kept.json").write_text('{"totals": {"live_bytes": "1GiB"}}')
    (runner.work / "growth.json").write_text('{"totals": {"growth": {"live_bytes": "1%"}}}')
    code, log, outputs, summary = runner.run(dump=str(SAMPLE), program=program, budget="kept.json", record="first.json")
    if code or outputs != {"exit-code": "0", "record": "first.json"} or "ok: 1 limit is kept" not in summary or "::error" in log:
        yield f"limits that are kept: exit code {code}, {outputs}: {log}{summary}"
    code, log, outputs, summary = runner.run(dump=str(SAMPLE), program=program, budget="growth.json", baseline="first.json")
    if code or "live\\_bytes" not in summary:
        yield f"against its own record: exit code {code}: {log}{summary}"
    options = "--no-instances-of=Shop.Order\n--no-instances-of=Shop.Never\n"
    code, log, outputs, summary = runner.run(dump=str(SAMPLE), program=program, options=options)
    if code != 1 or outputs["exit-code"] != "1" or "2,060 live instances" not in summary or log.count("::error ") != 1 or "Shop.Order: 2,060" not in log:
        yield f"a limit that is exceeded: exit code {code}, {outputs}: {log}{summary}"
    if not (runner.work / "dnheap-record.json").exists():
        yield "no record"
    code, log, outputs, summary = runner.run(dump="$(touch found)'\"; touch found;", program=program, options="--no-instances-of=$(touch found)")
    if code != 3 or outputs["exit-code"] != "3" or log.count("::error ") != 1 or (runner.work / "found").exists():
        yield f"no dump: exit code {code}, {outputs}: {log}"
    code, log, *_ = runner.run(dump=str(SAMPLE), program=program, options="--no-such-option")
    if code != 2 or "::error " not in log:
        yield f"an option that is not there: exit code {code}: {log}"


def check_ways(runner):
    """How it comes by the program."""
    text = runner.dnheap.read_bytes()
    runner.release(text)
    code, log, outputs, _ = runner.run(dump=str(SAMPLE), options="--no-instances-of=Shop.Never")
    asked = (runner.folder / "asked").read_text().split()
    if code or "built" in log or asked[2:5] != ["v0.1.0", "--repo", "someone/dnheap"]:
        yield f"by a release: exit code {code}, {asked}: {log}"
    for release in (b"#!/bin/sh\ntouch wrong\n", "0" * 64), None:
        if release:
            runner.release(*release)
        else:
            (runner.tools / "gh").unlink()
        code, log, outputs, _ = runner.run(dump=str(SAMPLE), options="--no-instances-of=Shop.Never")
        if code or "built: build release dnheap-cli" not in log or (runner.work / "wrong").exists():
            yield f"without a release that can be trusted: exit code {code}: {log}"


def main(dnheap):
    try:
        modules = npm.packages(HERE)
    except npm.Skipped as reason:
        print(f"SKIPPED: action.yml was NOT checked: {reason}")
        return 77
    done = subprocess.run(["node", HERE / "read.js", PROJECT / "action.yml"], check=True, stdout=subprocess.PIPE,
                          env={**os.environ, "NODE_PATH": str(modules)})
    read = json.loads(done.stdout)
    failed = [f"action.yml: {problem}" for problem in read["problems"]]
    with tempfile.TemporaryDirectory(prefix="dnheap-github-") as folder:
        runner = Runner(read["action"], pathlib.Path(folder), pathlib.Path(dnheap).resolve())
        failed += [*check_limits(runner), *check_ways(runner)]
    print("\n".join(failed) or "action.yml: keeps to its schema, and its steps do what they say")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
