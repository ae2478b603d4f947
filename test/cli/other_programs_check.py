#!/usr/bin/env python3
"""What is said of cores of other programs? Usage: other_programs_check.py DNHEAP

Takes a core, by gcore, of Python, Node.js and Java programs, as far as they are here: exit code 3, and one line that says what
it is. Skipped (exit code 77), with the reason, where there is no gcore, or none can be taken.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = {  # what it is → a program that says "ready" and waits
    "a Python program": [sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(600)"],
    "a Node.js program": ["node", "-e", "console.log('ready'); setTimeout(() => {}, 600000)"],
    "a Java program": ["java", "-Xmx64m", "WAITS"],
}
WAITS = 'class Waits { public static void main(String[] a) throws Exception { System.out.println("ready"); Thread.sleep(600000); } }\n'


def core_of(program, folder):
    """The core's path; or why there is none."""
    child = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    try:
        if child.stdout.readline().strip() != "ready":
            return None, f"{program[0]} did not start"
        done = subprocess.run(["gcore", "-o", f"{folder}/core", str(child.pid)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        core = pathlib.Path(folder, f"core.{child.pid}")
        return (core, "") if core.exists() else (None, f"gcore: {done.stdout[-200:].strip()}")
    finally:
        child.kill()
        child.wait()


def main(dnheap):
    if not shutil.which("gcore"):
        print("SKIPPED: there is no gcore")
        return 77
    failed, seen = [], 0
    with tempfile.TemporaryDirectory(prefix="dnheap-other-") as folder:
        pathlib.Path(folder, "Waits.java").write_text(WAITS)
        for what, program in PROGRAMS.items():
            if not shutil.which(program[0]):
                print(f"SKIPPED: there is no {program[0]}")
                continue
            core, problem = core_of([f"{folder}/Waits.java" if word == "WAITS" else word for word in program], folder)
            if not core:
                print(f"SKIPPED: {what}: {problem}")
                continue
            seen += 1
            done = subprocess.run([dnheap, str(core)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            expected = f"dnheap: {core}: this is a core of {what}, not of .NET: "
            if done.returncode != 3 or done.stdout or not done.stderr.startswith(expected) or done.stderr.count("\n") != 1:
                failed.append(f"{what}: {done.returncode}, {done.stderr!r}")
            print(done.stderr, end="")
            core.unlink()
    print("\n".join(failed) or f"{seen} cores are what they are")
    return 1 if failed else 0 if seen else 77


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
