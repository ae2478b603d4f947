#!/usr/bin/env python3
"""Can the tasks of doc/tasks.md be done by their words? Usage: tasks_check.py DNHEAP

Each row's word of the other tool answers in `dnheap shell`, on the sample, exactly what the first command beside it answers; on the command
line it names a command with that same answer. Every other command of the row answers, too.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[2]
DOC = PROJECT / "doc" / "tasks.md"
VALUES = {"ADDR": "0x7ff3b55996a8", "TYPE": "Shop.Order", "THREAD": "15359", "QUERY": "select name, count from types order by 2 desc, 1 limit 3"}
LEAST = 10  # tasks of each manual


def rows():
    """(manual, task, the other tool's word, commands) of every row."""
    manual = None
    for line in DOC.read_text().splitlines():
        if line.startswith("## "):
            manual = line[3:]
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        if len(cells) == 4 and not cells[0].startswith("---") and cells[0].strip() != "Task":
            words, commands = (re.findall(r"`([^`]+)`", cell) for cell in cells[1:3])
            yield manual, cells[0].strip(), words, commands


def filled(text, file=""):
    for name, value in VALUES.items():
        text = re.sub(rf"\b{name}\b", value, text)
    return re.sub(r"\b(EARLIER|LATER)\b", "demo.core", re.sub(r"\bFILE\b", file, text))


def main(dnheap):
    dnheap, problems, done = str(pathlib.Path(dnheap).resolve()), [], {}
    with tempfile.TemporaryDirectory(prefix="dnheap-tasks-") as folder:
        subprocess.run(["zstd", "-qdo", f"{folder}/demo.core", PROJECT / "sample" / "demo.core.zst"], check=True)

        def run(command):
            return subprocess.run(["sh", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def of_shell(line):
            return subprocess.run([dnheap, "shell", "demo.core", "-c", line], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        for manual, task, words, commands in rows():
            done[manual] = done.get(manual, 0) + 1
            if len(words) != 1 or not commands:
                problems.append(f"{task}: one word, and a command, are needed")
                continue
            word, first = filled(words[0]), commands[0]
            for command in commands:
                if "PID" in command:
                    continue  # of a process
                is_outside = command.startswith("dnheap ")
                answer = run(filled(command, "out").replace("dnheap ", f"'{dnheap}' ", 1)) if is_outside else of_shell(filled(command))
                if answer.returncode or not answer.stdout.count("\n") > 1:
                    problems.append(f"{task}: {command}: exit code {answer.returncode}\n{answer.stderr}{answer.stdout[:300]}")
                if is_outside or command != first:
                    continue
                theirs = of_shell(word)
                if (theirs.returncode, theirs.stdout) != (0, answer.stdout):
                    problems.append(f"{task}: in the shell '{word}' is not '{command}':\n{theirs.stderr}{theirs.stdout[:300]}")
                named = re.search(r"that is here: dnheap (.*?)(?:; dnheap shell|$)", run(f"'{dnheap}' {word} demo.core").stderr, re.MULTILINE)
                if not named or run(f"'{dnheap}' {named[1]}").stdout != answer.stdout:
                    problems.append(f"{task}: on the command line '{word}' does not lead to '{command}': {named and named[1]}")
            if first.startswith("dnheap ") and filled(first, "FILE").split()[1] not in of_shell(word).stderr:
                problems.append(f"{task}: '{word}' in the shell does not name '{first}'")
    problems += [f"{manual}: {count} tasks, fewer than {LEAST}" for manual, count in done.items() if count < LEAST]
    print("\n".join(problems) or f"doc/tasks.md: {sum(done.values())} tasks of {len(done)} manuals can be done by their words")
    return bool(problems or len(done) < 3)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
