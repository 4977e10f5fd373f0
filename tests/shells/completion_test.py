#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries the completions of lemma in the shells themselves, and the manual pages in man. Prints what is
missing; exits with 1 if something is wrong or a program is not installed."""
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

# What is typed -> words that must be offered, words that must not.
CASES = [
    ("lemma ru", ["run"], ["check"]),
    ("lemma comp", ["compile", "completion"], ["run"]),
    ("lemma help ver", ["verify"], ["version"]),
    ("lemma run --eng", ["--engine"], ["--json"]),
    ("lemma run --engine=in", ["interpret"], ["jit", "auto"]),
    ("lemma completion ", ["bash", "zsh", "fish"], ["net.onnx"]),
    ("lemma run ne", ["net.onnx", "nets"], ["needed.txt"]),
    ("lemma run net.onnx -i x=nee", ["needed.txt"], []),
    ("lemma run net.onnx --steps=ne", ["nets"], ["net.onnx"]),
    ("lemma run net.onnx -i x.png --preprocess=imagenet-", ["imagenet-bgr"], ["mnist"]),
    ("lemma fmt ne", ["net.onnx", "nets", "needed.txt"], []),
]


def make_folder(folder):
    """The files of the cases."""
    (folder / "nets").mkdir()
    for name in ("net.onnx", "needed.txt"):
        (folder / name).write_text("")


def bash_words(script, line, folder):
    # Bash itself splits the line at these characters before it calls the function.
    words = [w for w in re.split(r"\s+|(=)", line) if w]
    if line.endswith(" "):
        words.append("")
    text = (f"source {shlex.quote(str(script))}\n"
            f"COMP_WORDS=({shlex.join(words)})\nCOMP_CWORD={len(words) - 1}\n"
            "_lemma\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n")
    done = subprocess.run(["bash", "--norc", "-c", text], cwd=folder, capture_output=True, text=True, check=True)
    # Bash adds the slash of a folder.
    return [w + "/" if (folder / w).is_dir() else w for w in done.stdout.split()], done.stderr


def fish_words(script, line, folder):
    text = f"source {shlex.quote(str(script))}; complete -C {shlex.quote(line)}"
    environment = os.environ | {"HOME": str(folder / "nets")}
    done = subprocess.run(["fish", "--no-config", "-c", text], cwd=folder, capture_output=True, text=True,
                          check=True, env=environment)
    words = [row.split("\t")[0] for row in done.stdout.splitlines()]
    return [w.split("=")[-1] if "=" in w else w for w in words], done.stderr


class Zsh:
    """An interactive zsh; zsh completes only while someone types."""

    def __init__(self, script, folder):
        environment = os.environ | {"HOME": str(folder), "TERM": "dumb"}
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], environment)
        self.ask("unsetopt zle; stty -echo; PS1= PS2= RPS1=; setopt zle")
        self.ask("autoload -Uz compinit; compinit -D -u; zstyle ':completion:*' list-colors ''")
        self.ask(f"LISTMAX=1000; unsetopt automenu; source {shlex.quote(str(script))}")

    def read_until(self, mark):
        text = ""
        end = time.monotonic() + 30
        while mark not in text and time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.2)[0]:
                text += os.read(self.terminal, 65536).decode(errors="replace")
        if mark not in text:
            raise RuntimeError(f"zsh does not answer: {text!r}")
        return text

    def ask(self, line):
        os.write(self.terminal, f"{line}; print DO''NE\n".encode())
        return self.read_until("DONE")

    def words(self, line):
        os.write(self.terminal, (line + "\t\t").encode())
        time.sleep(0.3)
        os.write(self.terminal, b"\x15print DO''NE\n")
        text = self.read_until("DONE")
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x07", " ", text)
        return re.findall(r"[^\s\x08=]+", text.replace(line, " " + line.split(" ")[-1]).replace(" /", "/"))

    def close(self):
        os.write(self.terminal, b"\x15exit\n")
        os.waitpid(self.process, 0)
        os.close(self.terminal)


def check(shell, words_of, faults):
    for line, wanted, unwanted in CASES:
        words, trouble = words_of(line)
        joined = {w.rstrip("=") for w in words} | {w.rstrip("/") for w in words}
        for word in wanted:
            if word not in joined:
                faults.append(f"{shell}: `{line}` does not offer `{word}`; it offers {words} {trouble}")
        for word in unwanted:
            if word in joined:
                faults.append(f"{shell}: `{line}` offers `{word}`")


def check_manual(folder, faults):
    for page in sorted(folder.glob("man/man1/*.1")):
        done = subprocess.run(["man", "--warnings", "-l", str(page)], capture_output=True, text=True,
                              env=os.environ | {"MANWIDTH": "90", "MANPAGER": "cat"}, check=False)
        if done.returncode != 0 or done.stderr:
            faults.append(f"{page.name}: {done.stderr}")
        if "SYNOPSIS" not in done.stdout or "EXIT STATUS" not in done.stdout:
            faults.append(f"{page.name}: is not a whole page: {done.stdout[:200]}")


def main(lemma):
    faults, missing = [], []
    with tempfile.TemporaryDirectory() as name:
        share, folder = pathlib.Path(name) / "share", pathlib.Path(name) / "work"
        folder.mkdir()
        make_folder(folder)
        subprocess.run([lemma, "man", f"--share={share}"], check=True)
        bash, fish = share / "bash-completion/completions/lemma", share / "fish/vendor_completions.d/lemma.fish"
        check("bash", lambda line: bash_words(bash, line, folder), faults)
        if shutil.which("fish"):
            check("fish", lambda line: fish_words(fish, line, folder), faults)
        else:
            missing.append("fish")
        if shutil.which("zsh"):
            shell = Zsh(share / "zsh/site-functions/_lemma", folder)
            check("zsh", lambda line: (shell.words(line), ""), faults)
            shell.close()
        else:
            missing.append("zsh")
        if shutil.which("man"):
            check_manual(share, faults)
        else:
            missing.append("man")
    for fault in faults:
        print(fault)
    if missing:
        print("not installed:", ", ".join(missing))
    return 1 if faults or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
