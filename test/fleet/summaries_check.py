#!/usr/bin/env python3
"""Does fleet/summaries.sh make a record of every dump, whatever becomes of it? Usage: summaries_check.py here|slurm DNHEAP

here: by itself, and in shares as an Indexed Job of Kubernetes starts them. slurm: as a job array of Slurm, Debian's slurm-wlm, which is
started with one node and configuration, keys, ports and state of its own. Skipped (exit code 77), with the reason, where that is not
installed, or does not start.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "schema"))
import validator  # noqa: E402

SAMPLE = PROJECT / "sample" / "demo.core.zst"
SCRIPT = PROJECT / "fleet" / "summaries.sh"
SHARES = 4
# What ends without a word, as when the kernel has no memory left.
PROGRAM = """#!/usr/bin/env bash
[[ $* != *killed* ]] || kill -9 $$
exec {dnheap} "$@"
"""
WRONG = {"killed.core": "ended with exit code 137", "empty.core": "not a dump", "notes.txt": "not a dump", "half \"of\" it.core.zst": "half"}


class Skipped(Exception):
    pass


def run(*command, **more):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, **more)


def make_dumps(folder, dnheap):
    extract = folder / "extract.core.zst"
    done = run(dnheap, "extract", SAMPLE, "-o", extract, "--no-values")
    assert done.returncode == 0, done.stderr
    for number in range(6):
        pod = folder / "dumps" / "shop" / "1.0" / f"shop-{number % 3}"
        pod.mkdir(parents=True, exist_ok=True)
        shutil.copy(extract, pod / f"core.{number}.zst")
    (pod / "killed.core").write_bytes(extract.read_bytes())
    (pod / "empty.core").touch()
    (pod / "notes.txt").write_text("no dump")
    (pod / "half \"of\" it.core.zst").write_bytes(extract.read_bytes()[:1000])
    (pod / "old.ndjson").write_text("{}\n")  # no dump, and not taken for one
    program = folder / "dnheap"
    program.write_text(PROGRAM.format(dnheap=dnheap))
    program.chmod(0o755)
    return pod


def records(folder):
    """{file: (record, when it was written)}; each has one line."""
    out = {}
    for path in (folder / "records").rglob("*.ndjson"):
        (line,) = path.read_text().splitlines()
        out[str(path.relative_to(folder / "records")).removesuffix(".ndjson")] = json.loads(line), path.stat().st_mtime_ns
    return out


def check(folder, dnheap, start):
    """`start(what)` runs all shares: (exit code, what they said)."""
    pod = make_dumps(folder, dnheap)
    dumps = {str(path.relative_to(folder / "dumps")) for path in (folder / "dumps").rglob("*") if path.is_file() and path.suffix != ".ndjson"}
    code, said = start()
    first = records(folder)
    if set(first) != dumps:
        yield f"no record of {dumps - set(first)}; records of no dump: {set(first) - dumps}"
    schemas = validator.Validator(PROJECT / "doc" / "schema")
    for name, (record, _) in first.items():
        yield from (f"{name}: {problem}" for problem in schemas.problems(record, "summary_record.json"))
        if record["target"]["path"] != f"dumps/{name}":
            yield f"{name}: its record is of {record['target']['path']}"
        wanted = WRONG.get(pathlib.Path(name).name)
        if wanted == "half":  # whether it is an error or incomplete is dnheap's to say
            if record.get("completeness", {}).get("complete"):
                yield f"{name}: said to be whole"
        elif (wanted is None) != ("error" not in record) or wanted and wanted not in record["error"]:
            yield f"{name}: {record.get('error')}"
        if "error" in record and f"dumps/{name}: " not in said:
            yield f"{name}: nothing is said of its error"
    if code != 3:
        yield f"with dumps that cannot be read: exit code {code}"

    # Once more: what has a record is left; errors are tried again, and what is newer than its record.
    (pod / "empty.core").write_bytes(SAMPLE.read_bytes())
    newer = pod / "core.5.zst"
    os.utime(newer)
    code, said = start()
    again = records(folder)
    for name, (record, when) in again.items():
        redone = when != first[name][1]
        if redone != ("error" in first[name][0] or name.endswith(newer.name)):
            yield f"{name}: its record was {'made again' if redone else 'left'}"
    if "error" in again[f"{pod.relative_to(folder / 'dumps')}/empty.core"][0]:
        yield "a dump that is whole now still has an error"
    left = list((folder / "records").rglob(".*"))
    if left:
        yield f"left behind: {left}"
    for name in WRONG:
        (pod / name).unlink()
    code, said = start()
    if code or " 0 could not be read" not in said:
        yield f"without what cannot be read: exit code {code}: {said}"


def check_here(folder, dnheap):
    def start():
        code, said = 0, ""
        for share in range(SHARES):
            done = run("bash", SCRIPT, "dumps", "records", cwd=folder,
                       env={**os.environ, "DNHEAP": str(folder / "dnheap"), "SHARES": str(SHARES), "JOB_COMPLETION_INDEX": str(share)})
            code, said = max(code, done.returncode), said + done.stderr
        return code, said

    yield from check(folder, dnheap, start)
    for words, environment in ((["dumps"], {}), (["missing", "records"], {}), (["dumps", "records"], {"DNHEAP": "no-such-program"}),
                               (["dumps", "records"], {"SHARES": "4", "JOB_COMPLETION_INDEX": "4"}),
                               (["dumps", "records"], {"SHARES": "4", "JOB_COMPLETION_INDEX": "x[$(touch x)]"}),
                               (["dumps", "records"], {"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "9",
                                                       "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_STEP": "1"})):
        done = run("bash", SCRIPT, *words, cwd=folder, env={**os.environ, "DNHEAP": str(folder / "dnheap"), **environment})
        if done.returncode != 2 or done.stderr.count("\n") != 1:
            yield f"{words} {environment}: exit code {done.returncode}: {done.stderr}"
    # What needs too much memory is an error, and the others are made.
    done = run("bash", SCRIPT, "dumps", "small", cwd=folder, env={**os.environ, "DNHEAP": str(folder / "dnheap"), "DNHEAP_MAX_MEMORY": "5M"})
    made = [json.loads(path.read_text()) for path in (folder / "small").rglob("*.ndjson")]
    if done.returncode != 3 or not made or not all("out of memory" in record.get("error", "") for record in made):
        yield f"with little memory: exit code {done.returncode}, {made}"
    # Killed amid a dump, it goes on there the next time.
    (folder / "dumps" / "hang.core.zst").write_bytes((folder / "extract.core.zst").read_bytes())
    (folder / "hanging").write_text("#!/bin/sh\nexec sleep 60\n")
    (folder / "hanging").chmod(0o755)
    with subprocess.Popen(["bash", SCRIPT, "dumps", "records"], cwd=folder, env={**os.environ, "DNHEAP": str(folder / "hanging")}, start_new_session=True,
                          stderr=subprocess.DEVNULL) as killed:
        deadline = time.monotonic() + 30
        while not list((folder / "records").glob(".hang*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(killed.pid, signal.SIGKILL)
    before = records(folder)
    done = run("bash", SCRIPT, "dumps", "records", cwd=folder, env={**os.environ, "DNHEAP": str(folder / "dnheap")})
    after = records(folder)
    if done.returncode or "hang.core.zst" in before or after != {**before, "hang.core.zst": after.get("hang.core.zst")} or list((folder / "records").rglob(".*")):
        yield f"after it was killed: exit code {done.returncode}: {done.stderr}"
    # What takes too long is ended, and has a record.
    (folder / "slow").mkdir()
    (folder / "slow" / "core").touch()
    (folder / "dnheap").write_text("#!/bin/sh\n[ $1 = --version ] && exec echo dnheap 1.2.3\nexec sleep 60\n")
    done = run("bash", SCRIPT, "slow", "late", cwd=folder, env={**os.environ, "DNHEAP": str(folder / "dnheap"), "DNHEAP_TIMEOUT": "0.2s"})
    told = json.loads((folder / "late" / "core.ndjson").read_text())
    if done.returncode != 3 or told["dnheap_version"] != "1.2.3" or "longer than 0.2s" not in told["error"]:
        yield f"of a dump that takes too long: exit code {done.returncode}, {told}"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Slurm:
    """One node, this machine. Whoever started it is its user; what it writes lies in one folder."""

    CONFIGURATION = """ClusterName=dnheap
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=localhost NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000
PartitionName=all Nodes=ALL Default=YES State=UP
"""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
        self.processes = []

    def __enter__(self):
        missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch", "sinfo") if not shutil.which(name, path=self.environment["PATH"])]
        if missing:
            raise Skipped(f"{', '.join(missing)} not installed (Debian: slurm-wlm)")
        for name in "state", "spool":
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        user = run("id", "-un").stdout.strip()
        (self.folder / "slurm.conf").write_text(self.CONFIGURATION.format(
            folder=self.folder, user=user, controller=free_port(), node=free_port(), cpus=len(os.sched_getaffinity(0))))
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid",
                   f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed")
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D", "-N", "localhost")
        deadline = time.monotonic() + 60
        while "idle" not in run("sinfo", "-h", "-o", "%t", env=self.environment).stdout:
            if time.monotonic() > deadline or any(process.poll() is not None for process in self.processes):
                said = "".join(path.read_text()[-1000:] for path in self.folder.glob("*.said"))
                self.__exit__()
                raise Skipped(f"it does not start: {said}")
            time.sleep(0.2)
        return self

    def start(self, *command):
        with open(self.folder / f"{command[0]}.said", "w", encoding="utf-8") as said:
            self.processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=self.environment))

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            if process.poll() is None:
                process.kill()


def check_slurm(folder, dnheap):
    (folder / "slurm").mkdir()
    with Slurm(folder / "slurm") as slurm:
        environment = {**slurm.environment, "DNHEAP": str(folder / "dnheap")}

        def submit(*options):
            return run("sbatch", "--parsable", "--cpus-per-task=1", "--mem=100M", *options, SCRIPT, "dumps", "records", cwd=folder, env=environment)

        def start():
            done = submit("--wait", f"--array=0-{SHARES - 1}")
            job = done.stdout.strip()
            logs = sorted(folder.glob(f"dnheap-{job}_*.log"))
            if not job or len(logs) != SHARES:
                return done.returncode, f"{done.stderr}; {len(logs)} logs"
            return done.returncode, "".join(path.read_text() for path in logs)

        yield from check(folder, dnheap, start)
        done = submit("--wait", "--array=1,2,5")
        if done.returncode != 2:
            yield f"an array with gaps: exit code {done.returncode}"


def main(how, dnheap):
    with tempfile.TemporaryDirectory(prefix="dnheap-summaries-") as folder:
        try:
            failed = [*{"here": check_here, "slurm": check_slurm}[how](pathlib.Path(folder), pathlib.Path(dnheap).resolve())]
        except Skipped as reason:
            print(f"SKIPPED: fleet/summaries.sh was NOT run by Slurm: {reason}")
            return 77
    print("\n".join(failed) or f"summaries, {how}: ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
