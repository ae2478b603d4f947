#!/usr/bin/env python3
"""What does the Tab key complete, and is the manual page sound? Usage: completion_check.py DNHEAP bash|zsh|fish|manual

The script that `dnheap completion SHELL` prints is loaded by that shell, and asked what it completes; the page that
`dnheap help --man` prints is laid out by groff, and by mandoc -Tlint. Skipped (exit code 77), with the reason, where the
shell is not here.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

# A line that ends where the cursor is → what must be among what is completed, and what must not.
FILES = ["core.1", "two words.dmp"]
LINES = [
    ("dnheap st", {"stat", "stack", "strings"}, {"show", "core.1"}),
    ("dnheap co", {"contract", "completion", "core.1"}, {"stat"}),
    ("dnheap help st", {"stat", "stack", "strings"}, {"core.1"}),
    ("dnheap stat co", {"core.1"}, {"contract"}),
    ("dnheap stat core.1 --l", {"--live"}, {"--limit"}),
    ("dnheap stat core.1 --sort ", {"bytes", "count", "aligned_bytes", "type"}, {"core.1", "address"}),
    ("dnheap objects core.1 --sort ", {"address", "bytes", "type"}, {"count"}),
    ("dnheap objects core.1 --gen ", {"gen0", "gen1", "gen2", "loh", "poh", "frozen"}, {"core.1"}),
    ("dnheap stat core.1 --format ", {"text", "json", "csv", "markdown"}, {"junit"}),
    ("dnheap check core.1 --format ", {"text", "json", "junit", "github"}, set()),
    ("dnheap check core.1 --budget co", {"core.1"}, set()),
    ("dnheap stat core.1 --modules fo", {"folder"}, {"core.1"}),
    ("dnheap stat --top 5 co", {"core.1"}, {"contract"}),
    ("dnheap --no-progress st", {"stat"}, {"core.1"}),
    ("dnheap inspect ti", {"timers"}, {"core.1"}),
    ("dnheap inspect timers co", {"core.1"}, set()),
    ("dnheap diff core.1 co", {"core.1"}, set()),
    ("dnheap completion ", {"bash", "zsh", "fish"}, {"core.1"}),
    # Types and addresses are not guessed, nor is what follows the last word.
    ("dnheap show core.1 ", set(), {"core.1", "stat"}),
    ("dnheap stat core.1 --type ", set(), {"core.1", "stat"}),
    ("dnheap core.1 --v", {"--verbose"}, {"--values"}),
]


class Skipped(Exception):
    pass


def needs(program):
    if not shutil.which(program):
        raise Skipped(f"there is no {program}")


def in_bash(script, lines, folder):
    """What COMPREPLY holds, as readline would ask: words are separated at COMP_WORDBREAKS too."""
    def completed(line):
        words = re.findall(r"[^\s=]+|=", line) + ([""] if line.endswith((" ", "=")) else [])
        quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
        call = (f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
                f"_dnheap dnheap '{words[-1]}' x; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        done = subprocess.run(["bash", "--norc", "-u", "-c", call], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.stderr:
            raise AssertionError(f"bash: {line!r}: {done.stderr}")
        return set(filter(None, done.stdout.splitlines()))
    out = {line: completed(line) for line in lines}
    shown = subprocess.run(["bash", "--norc", "-c", f"source {script}; complete -p dnheap"], stdout=subprocess.PIPE, text=True).stdout
    assert shown == "complete -F _dnheap dnheap\n", shown
    if missing := {"json"} ^ completed("dnheap stat core.1 --format=js"):
        raise AssertionError(f"--format=js: {missing}")
    return out


def typed(command, prompt, keys, folder, wanted):
    """Types keys at the shell's prompt on a terminal; what was written until `wanted` was, or ten seconds passed."""
    child, terminal = pty.fork()
    if not child:
        os.chdir(folder)
        os.execvpe(command[0], command, dict(os.environ, TERM="dumb", PS1=prompt, HISTFILE=""))
    text, end = "", time.monotonic() + 120
    def read_until(sign):
        nonlocal text
        while sign not in text and time.monotonic() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                try:
                    text += os.read(terminal, 65536).decode(errors="replace")
                except OSError:
                    return
    read_until(prompt)
    for key in keys:
        os.write(terminal, key.encode())
    read_until(wanted)
    os.close(terminal)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return text


def bash_typed(script, folder):
    """One line on a terminal, with readline: is it completed, and a name with a space quoted?"""
    for keys, wanted in (["source " + str(script) + "\n", "dnheap contr\t"], "dnheap contract "), (
            ["source " + str(script) + "\n", "dnheap stat tw\t"], "dnheap stat two\\ words.dmp "):
        text = typed(["bash", "--norc", "--noprofile"], "READY>", keys, folder, wanted)
        assert wanted in text, f"bash on a terminal: {text!r} without {wanted!r}"


def in_zsh(script, lines, folder):
    """What zsh would insert or list, on a terminal: caught where it is added (compadd)."""
    (folder / "zdot").mkdir(exist_ok=True)
    (folder / "zdot" / ".zshrc").write_text(f"""
autoload -Uz compinit; compinit -u -D; source {script}
PS1='READY>'; unsetopt prompt_cr prompt_sp zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste
zstyle ':completion:*' insert-tab false
compadd() {{
  if [[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return $?; fi
  typeset -a __hits; builtin compadd -A __hits "$@"
  (( $#__hits )) && print -rl -- $__hits >> $CAUGHT
  builtin compadd "$@"
}}
ask() {{ BUFFER=$(<$ASKED); CURSOR=$#BUFFER; zle complete-word; BUFFER=''; print -r -- done > $CAUGHT.done; zle accept-line }}
zle -N ask; bindkey '^T' ask
""")
    caught, asked, done = folder / "caught", folder / "asked", folder / "caught.done"
    child, terminal = pty.fork()
    if not child:
        os.chdir(folder)
        os.execvpe("zsh", ["zsh", "-i"], dict(os.environ, TERM="dumb", ZDOTDIR=str(folder / "zdot"), CAUGHT=str(caught), ASKED=str(asked)))
    text, out = "", {}

    def read_until(is_there):
        nonlocal text
        end = time.monotonic() + 120
        while not is_there():
            if time.monotonic() > end:
                raise AssertionError(f"zsh: {text!r}")
            if select.select([terminal], [], [], 0.05)[0]:
                text += os.read(terminal, 65536).decode(errors="replace")

    try:
        for line in lines:
            read_until(lambda: "READY>" in text)
            text = ""
            asked.write_text(line)
            os.write(terminal, b"\x14")
            read_until(done.exists)
            out[line] = {word.rstrip("/") for word in caught.read_text().splitlines()} if caught.exists() else set()
            done.unlink()
            caught.unlink(missing_ok=True)
    finally:
        os.close(terminal)
        os.kill(child, 9)
        os.waitpid(child, 0)
    return out


def in_fish(script, lines, folder):
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"), "XDG_DATA_HOME": str(folder / "data")}
    def completed(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"], cwd=folder, env={**os.environ, **home},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.stderr:
            raise AssertionError(f"fish: {line!r}: {done.stderr}")
        return {row.split("\t")[0].rstrip("/") for row in done.stdout.splitlines()}
    return {line: completed(line) for line in lines}


def check_shell(dnheap, shell, folder):
    needs(shell)
    script = folder / f"dnheap.{shell}"
    script.write_bytes(subprocess.run([dnheap, "completion", shell], stdout=subprocess.PIPE, check=True).stdout)
    subprocess.run([shell, "-n", str(script)], check=True)
    for name in FILES:
        (folder / name).write_text("")
    (folder / "folder").mkdir()
    completed = {"bash": in_bash, "zsh": in_zsh, "fish": in_fish}[shell](script, [line for line, _, _ in LINES], folder)
    if shell == "bash":
        bash_typed(script, folder)
    for line, wanted, unwanted in LINES:
        if not wanted <= completed[line] or unwanted & completed[line]:
            yield f"{shell}: {line!r} is completed by {sorted(completed[line])}; missing {sorted(wanted - completed[line])}, too much {sorted(unwanted & completed[line])}"


def check_manual(dnheap, folder):
    page = folder / "dnheap.1"
    page.write_bytes(subprocess.run([dnheap, "help", "--man"], stdout=subprocess.PIPE, check=True).stdout)
    text = page.read_bytes()
    if not text.isascii():
        yield "the manual page is not ASCII"
    ran = 0
    if shutil.which("groff"):
        ran += 1
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-c", str(page)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.stderr or done.returncode:
            yield f"groff: {done.stderr}"
        flat = re.sub(r"-\n\s*", "-", re.sub(r".\x08", "", done.stdout))
        listed = subprocess.run([dnheap, "--help"], stdout=subprocess.PIPE, check=True, text=True).stdout
        options = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", listed, re.MULTILINE))
        verbs = set(re.findall(r"^  ([a-z]+)  ", listed.partition("\nto begin with:\n")[2].partition("\noptions of some")[0], re.MULTILINE))
        for word in sorted(options) + [f"dnheap {verb}" for verb in sorted(verbs)]:
            if word not in flat:
                yield f"the manual page does not tell of {word}"
        for code in 0, 1, 2, 3, 4, 5, 130:
            if not re.search(rf"^ +{code} ", flat.partition("EXIT STATUS")[2], re.MULTILINE):
                yield f"the manual page does not tell of exit code {code}"
    if shutil.which("mandoc"):
        ran += 1
        done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", str(page)], stdout=subprocess.PIPE, text=True)
        # No date is meant: the page is the same whenever it is made.
        wrong = [line for line in done.stdout.splitlines() if "missing date" not in line and "TH with empty" not in line]
        if wrong:
            yield "\n".join(wrong)
    if not ran:
        raise Skipped("there is neither groff nor mandoc")


def main(dnheap, what):
    dnheap = pathlib.Path(dnheap).resolve()
    with tempfile.TemporaryDirectory(prefix="dnheap-completion-") as folder:
        folder = pathlib.Path(folder)
        try:
            failed = list(check_manual(dnheap, folder) if what == "manual" else check_shell(dnheap, what, folder))
        except Skipped as reason:
            print(f"SKIPPED: {what} was not tested: {reason}")
            return 77
    print("\n".join(failed) or f"{what}: ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
