#!/usr/bin/env python3
"""A program whose threads run and wait in known places (../programs/sampled), sampled while it runs: each sample must have the frames of
its loop, `sample` must know who runs, and who has the lock that the others wait for, and the process must go on.

    sample.py --list --sample        the kinds that a short run makes, written sample:MAJOR; --all: all of them
    sample.py DNHEAP --one sample:10 starts the program, samples it, compares

Exit codes are those of matrix.py.
"""
import json
import os
import subprocess
import sys
import time

import matrix
import runtimes
import targets

sys.path.insert(0, str(runtimes.PROJECT / "test" / "schema"))
import validator

KINDS = [f"sample:{major}" for major in (*runtimes.MAJORS, *runtimes.MUSL)]
SAMPLE = ["sample:11"]

WAITERS = "Monitor of Gate"


def run(dnheap, _, major):
    """All problems of one kind, in words."""
    with targets.Target("sampled", major) as target:
        before, begin = used(target.pid), time.monotonic()
        answer = json.loads(written(dnheap, target, "json"))
        given = (used(target.pid) - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - begin)
        folded = written(dnheap, target, "folded")
        profile = json.loads(written(dnheap, target, "speedscope"))
        time.sleep(0.3)
        goes_on = used(target.pid) > before
        said = target.truth["said"]
    problems = [] if goes_on else ["the process stands still"]
    problems += validator.Validator(runtimes.PROJECT / "doc" / "schema").problems(answer, "sample.json")
    return problems + threads(answer, said, given) + locks(answer, said) + files(folded, profile)


def written(dnheap, target, form):
    return subprocess.run([dnheap, "sample", "-p", str(target.pid), "2s", "--format", form], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          check=True, text=True).stdout


def used(pid):
    """Processor time of a process so far."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rpartition(")")[2].split()[11])


def threads(answer, said, given):
    """`given`: the share of a processor that the system gave the process meanwhile; on a busy machine less than the thread wants."""
    samples = answer["target"]["sampling"]["samples"]
    print(f"{samples} samples, stopped for {answer['target']['sampling']['longest_pause_ms']:.1f} ms at most")
    hot = next(row for row in answer["tables"]["threads"] if row["os_id"] == said["hot"])
    loops = sum(row["samples"] for row in answer["tables"]["stacks"] if "Hot.Loop" in row["methods"])
    problems = [] if loops == samples == hot["samples"] else [f"{loops} stacks of {samples} samples have Hot.Loop; {hot}"]
    if hot["name"] != "hot" or not hot["managed"] or hot["processor"] < min(0.5, given / 2) or hot["running"] < samples * 0.8 or hot["place"] not in ("Hot.Loop", "Hot.Step"):
        problems.append(f"the thread that computes: {hot}")
    native = [row for row in answer["tables"]["threads"] if not row["managed"]]
    if not native or any(row["place"] != f"(native thread {row['name']})" for row in native):
        problems.append(f"native threads: {native}")
    if not any("Hot." in sentence for sentence in answer["target"]["sampling"]["findings"]):
        problems.append(f"the lead does not say what runs: {answer['target']['sampling']['findings']}")
    return problems


def locks(answer, said):
    samples = answer["target"]["sampling"]["samples"]
    found = [row for row in answer["tables"]["locks"] if row["lock"] == WAITERS]
    if len(found) != 1 or found[0]["samples"] < samples - 1 or found[0]["waiters"] != said["waiters"] \
            or found[0]["holder"] != f"thread {said['holder']} (holder) in Holder.Work":
        return [f"locks: {answer['tables']['locks']}"]
    return [] if any("Holder.Work" in sentence for sentence in answer["target"]["sampling"]["findings"]) else [f"the lead does not name the holder: {answer['target']['sampling']['findings']}"]


def files(folded, profile):
    lines = [line.rpartition(" ") for line in folded.splitlines()]
    problems = [] if any(stack.startswith("running;") and "Hot.Loop" in stack and int(count) > 5 for stack, _, count in lines) \
        else [f"folded: {folded[:500]}"]
    frames, of = profile["shared"]["frames"], profile["profiles"][0]
    if len(of["samples"]) != len(of["weights"]) or of["endValue"] != sum(of["weights"]) \
            or any(not 0 <= frame < len(frames) for sample in of["samples"] for frame in sample):
        problems.append(f"speedscope: {json.dumps(profile)[:500]}")
    return problems


if __name__ == "__main__":
    sys.exit(matrix.main_of_kinds(__doc__, KINDS, SAMPLE, run))
