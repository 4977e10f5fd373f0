#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the snippets of Markdown pages with the program itself.

Every page gets an empty folder, in which the folders of the repository appear. Its snippets run
there in order. The words behind the language of a fence say what a snippet is:

  ```sknd file=net.sknd     a file: it is written, and `lemma check` accepts it
  ```sknd                   the same without a name, if it begins with a definition or an import
  ```sknd                   part of an operator, if it begins with a block: `operator example { … }`
                            is put around it, and its types are checked
  ```sknd part=net.sknd     lines of a file of the page or the repository; `…` stands for lines left
                            out, and the indentation does not count
  ```sknd values            lines `expression  # value`; lines `name = expression` and blocks come
                            before the expressions that use them
  ```sknd fails             `lemma check` refuses it; a fence `text` behind it shows what
                            `lemma check --brief` prints, `text full` all of it; or `file=` and a
                            console show it
  ```c, ```cpp, ```python   compiled or run, as tools/snippet_programs.py says; `with=a.o,b.o` are
                            further files to link, `object` links nothing, and `run` calls
                            what was compiled
  ```json file=x.json       any other file that commands read
  ```console                commands behind `$ `, each followed by its output; `fails`: the last one
                            has an exit status other than 0; `numbers=any`: numbers and units of
                            time may differ

Code without a language must not be SkriptND. In outputs and parts a line `…` stands for any lines,
and `…` in a line for any text. Lines that begin with `$ `, and commands in indented code and in
fences `sh`, run as well; the output of the latter is not compared. A comment
`<!-- snippets: COMMAND -->` runs a command that readers do not see. Only `lemma` and a few harmless
programs run. All other commands, and those that no test can run, are listed with a reason in
tools/snippets_not_run.txt. Code in other languages is listed there by its first line."""
import argparse
import dataclasses
import difflib
import fnmatch
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from snippet_programs import Programs

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOT_RUN = pathlib.Path("tools/snippets_not_run.txt")
# Pages whose snippets other tests check: error_pages_test, operator_examples_test and golden_test.
ELSEWHERE = ("docs/errors/", "docs/operators/", "docs/onnx-operators.md")
SECONDS = 60
# Commands that change nothing outside of the page's folder. Only these run.
HARMLESS = {"lemma", "cat", "cp", "echo", "false", "grep", "head", "ls", "mkdir", "printf", "sed", "sort",
            "tail", "true", "wc"}
# The first words of commands in indented code and in fences without a language.
PROGRAMS = HARMLESS | {
    "./dev", "python3", "pip", "cmake", "ctest", "ninja", "make", "apt", "apt-get", "sudo", "dpkg",
    "curl", "docker", "kubectl", "npm", "npx", "git", "cc", "c++", "gcc", "g++", "clang", "clang++",
    "cd", "export", "frama-c", "nvim", "vim", "code", "generate",
}
SHELLS = {"sh", "bash", "shell"}
HIDDEN = re.compile(r"<!-- snippets: (.*?) -->")
FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*(.*)$")
MARK = "…"
# Code without a language that is SkriptND all the same.
SKND = re.compile(r"^\s*(@[a-z]+ \{|(public )?operator \w+ \{|graph \w+ \{)", re.MULTILINE)


@dataclasses.dataclass
class Snippet:
    """Code of a page. `first` is the index of its first line in the page."""
    language: str
    words: dict[str, str]
    lines: list[str]
    first: int
    indent: str

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


@dataclasses.dataclass
class Command:
    """A command with the lines of its output; `shown` is nothing where none is compared."""
    text: str
    line: int
    shown: list[str] | None
    first: int = 0
    indent: str = ""
    fails: bool = False
    any_number: bool = False


def words_of(info: str) -> tuple[str, dict[str, str]]:
    language, *words = info.split() or [""]
    return language, {key: value for key, _, value in (word.partition("=") for word in words)}


def snippets_of(lines: list[str]) -> list[Snippet]:
    """Fences, indented code and hidden commands, in the order of the page."""
    found: list[Snippet] = []
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        hidden = HIDDEN.search(lines[at])
        if fence:
            indent, marks, info = fence.groups()
            end = at + 1
            while end < len(lines) and lines[end].strip() != marks:
                end += 1
            body = [line.removeprefix(indent) for line in lines[at + 1:end]]
            found.append(Snippet(*words_of(info), body, at + 1, indent))
            at = end + 1
        elif hidden:
            found.append(Snippet("hidden", {}, [hidden[1]], at, ""))
            at += 1
        elif lines[at].startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            while not lines[end - 1].strip():
                end -= 1
            body = [line.removeprefix("    ") for line in lines[at:end]]
            found.append(Snippet("indented", {}, body, at, "    "))
            at = end
        else:
            at += 1
    return found


def commands_of(snippet: Snippet) -> list[Command]:
    """The commands of a snippet that is not a file."""
    lines, found, at = snippet.lines, [], 0
    prompts = any(line.startswith("$ ") for line in lines)
    if (prompts or snippet.language == "console") and not snippet.text.startswith("$ "):
        return []  # a text that mentions a prompt
    while at < len(lines):
        line, start = lines[at].removeprefix("$ ") if prompts else lines[at], at
        at += 1
        if not line.strip() or line.startswith("#"):
            continue
        head, second = (*line.split(), "")[:2]
        if not prompts and snippet.language not in (*SHELLS, "hidden") and (
                head not in PROGRAMS or second == "="):
            continue
        while line.endswith("\\") and at < len(lines):
            line = line[:-1].rstrip() + " " + lines[at].strip()
            at += 1
        first = at
        while prompts and at < len(lines) and not lines[at].startswith("$ "):
            at += 1
        shown = lines[first:at] if prompts else None
        found.append(Command(line.strip(), snippet.first + start, shown, snippet.first + first,
                             snippet.indent))
    if found:
        found[-1].fails = "fails" in snippet.words
    for command in found:
        command.any_number = snippet.words.get("numbers") == "any"
    return found


def pattern_of(lines: list[str], any_number: bool = False) -> re.Pattern[str]:
    """What a shown text stands for, with its `…`."""
    text = ""
    for line in lines:
        if line.strip() == MARK:
            text += r"(?:.*\n)*?"
        else:
            text += ".*".join(re.escape(part) for part in line.split(MARK)) + r"\n"
    if any_number:
        text = re.sub(r"[0-9][0-9,]*(\\\.[0-9]+)?( [mnµ]?s\b)?",
                      lambda found: r"[0-9][0-9,.]*" + (" [mnµ]?s" if found[2] else ""),
                      text.replace("\\ ", " "))
    return re.compile(text)


def harmless(command: str) -> bool:
    """Whether every program of a command line is one of HARMLESS."""
    try:
        words = list(shlex.shlex(command, posix=True, punctuation_chars=True))
    except ValueError:
        return False
    heads = [word for word, before in zip(words, ["|", *words]) if before in ("|", "||", "&&", ";")]
    return all(word in HARMLESS for word in heads) and "$(" not in command and "`" not in command


def trimmed(lines: list[str]) -> list[str]:
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def agree(shown: list[str], real: list[str], any_number: bool) -> bool:
    joined = "".join(line + "\n" for line in trimmed(real))
    return pattern_of(trimmed(shown), any_number).fullmatch(joined) is not None


def difference(shown: list[str], real: list[str]) -> str:
    lines = difflib.unified_diff(trimmed(shown), trimmed(real), "shown", "real", lineterm="", n=1)
    return "\n".join("    " + line for line in lines)


class NotRun:
    """tools/snippets_not_run.txt: `page: command -- reason`; `*` stands for any text."""

    def __init__(self, root: pathlib.Path):
        self.entries: list[tuple[int, str, str]] = []
        self.used: set[int] = set()
        self.faults: list[str] = []
        file = root / NOT_RUN
        for number, line in enumerate(file.read_text().split("\n") if file.exists() else [], 1):
            entry, dashes, reason = line.partition(" -- ")
            page, colon, command = entry.partition(": ")
            if not line.strip() or line.startswith("#"):
                continue
            if not dashes or not reason.strip() or not colon:
                self.faults.append(f"{NOT_RUN}:{number}: expected `page: command -- reason`")
                continue
            self.entries.append((number, page, command.strip()))

    def lists(self, page: str, command: str) -> bool:
        found = [number for number, pages, commands in self.entries
                 if fnmatch.fnmatchcase(page, pages) and fnmatch.fnmatchcase(command, commands)]
        self.used.update(found)
        return bool(found)

    def stale(self, pages: list[str]) -> list[str]:
        """Entries for the pages that list nothing any more."""
        return [f"{NOT_RUN}:{number}: no page has this command any more"
                for number, pattern, _ in self.entries
                if number not in self.used and fnmatch.filter(pages, pattern)]


class Page:
    """A page, its folder, and what is wrong with it."""

    def __init__(self, name: str, root: pathlib.Path, lemma: str, python: str,
                 folder: pathlib.Path):
        self.name, self.root, self.folder = name, root, folder
        self.programs = Programs(pathlib.Path(name).stem, root, pathlib.Path(lemma).parent, python,
                                 self.run)
        self.lines = (root / name).read_text().split("\n")
        self.edits: list[tuple[int, int, list[str]]] = []
        self.passed = 0
        self.faults: list[str] = []
        (folder / ".bin").mkdir()
        (folder / ".bin/lemma").symlink_to(lemma)
        for entry in root.iterdir():
            if entry.name == "examples":  # commands may write beside a model
                shutil.copytree(entry, folder / entry.name)
            elif not entry.name.startswith(".") and entry.name != "build":
                (folder / entry.name).symlink_to(entry)
        self.environment = {
            **os.environ, "PATH": f"{folder}/.bin:{os.environ['PATH']}", "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / ".cache"), "NO_COLOR": "1", "COLUMNS": "100",
            "LC_ALL": "C.UTF-8",
        }

    def run(self, command: str) -> tuple[int, list[str]]:
        """The exit status and what the command prints, on both streams."""
        process = subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the shell and what it started
            process.communicate()
            return 124, [f"stopped after {SECONDS} s"]
        text = output.decode(errors="replace").replace(f"{self.folder}/", "")
        return process.returncode, text.split("\n")

    def judge(self, line: int, fault: str | None) -> None:
        """Counts a snippet; `line` is the index of its first line."""
        if fault is None:
            self.passed += 1
        else:
            self.faults.append(f"{self.name}:{line + 1}: {fault}")

    def path(self, name: str) -> pathlib.Path | None:
        """A file of the page's folder; nothing if it lies outside or in the repository."""
        path = self.folder / name
        inside = path.resolve().is_relative_to(self.folder.resolve())
        return path if inside else None

    def write(self, snippet: Snippet, name: str) -> bool:
        path = self.path(name)
        if path is None:
            self.judge(snippet.first - 1, f"`{name}` is not a file of the page's own folder")
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(snippet.text)
        return True

    def accepts(self, snippet: Snippet, name: str, options: str = "") -> None:
        module = "" if re.search(r"^\s*graph\s", snippet.text, re.MULTILINE) else "--module"
        status, output = self.run(f"lemma check --brief {module} {options} {shlex.quote(name)}")
        refused = None if status == 0 else "`lemma check` refuses it\n    " + "\n    ".join(output)
        self.judge(snippet.first - 1, refused)

    def check_part(self, snippet: Snippet, name: str) -> None:
        path = self.folder / name
        if not path.is_file():
            self.judge(snippet.first - 1, f"there is no `{name}`")
            return
        whole = "".join(line.strip() + "\n" for line in path.read_text().split("\n"))
        shown = pattern_of([line.strip() for line in trimmed(snippet.lines)])
        fault = None if shown.search(whole) else f"these lines are not in `{name}`"
        self.judge(snippet.first - 1, fault)

    def check_values(self, snippet: Snippet, update: bool) -> None:
        """Puts the expressions into the message of an assert that fails."""
        blocks, helpers, message, wanted = [], [], "", []
        for at, line in enumerate(snippet.lines):
            code, value = re.fullmatch(r"(.*?)\s*(?:#(.*))?", line).groups(default="")
            if re.match(r"\s*[a-z_]\w*(\.\.)?(\(\w+\))? = |\[.*\] = [^=]", code):
                helpers.append(code.strip() + ";")
            elif code.lstrip().startswith("@"):
                blocks.append(code)
            elif code.strip():
                helpers.append(f"value_{at} = {code.strip()};")
                message += f"<{at}>{{value_{at}}}</{at}>"
                wanted.append((at, value.strip()))
        text = ("operator example {\n" + "\n".join(blocks) + "\n@output { y: real[]; }\n@using {\n"
                + "\n".join(helpers) + f'\n}}\n@assert {{ false: "{message}"; }}\n}}\n'
                "graph Example { @output { y: real[]; } @compose { y = example(); } }\n")
        (self.folder / "values.sknd").write_text(text)
        _, output = self.run("lemma check --brief values.sknd")
        real = dict(re.findall(r"<(\d+)>(.*?)</\1>", "\n".join(output)))
        for at, value in wanted:
            found = real.get(str(at))
            if found is None:
                fault = "it has no value\n    " + "\n    ".join(output)
            else:
                fault = None if value == found else f"the value is {found}, not {value}"
                if fault and update:
                    code = re.sub(r"\s*#.*", "", snippet.lines[at])
                    self.edit(snippet.first + at, 1, [f"{code:<34}  # {found}"], snippet.indent)
            self.judge(snippet.first + at, fault)

    def check_refused(self, snippet: Snippet, message: Snippet | None, update: bool) -> None:
        name = snippet.words.get("file") or "main.sknd"
        if not self.write(snippet, name):
            return
        brief = "" if message is not None and "full" in message.words else "--brief"
        module = "" if "graph" in snippet.text.split() else "--module"
        status, output = self.run(f"lemma check {brief} {module} {shlex.quote(name)}")
        if status != 1:
            self.judge(snippet.first - 1, f"`lemma check` ends with {status}, expected 1")
        elif message is not None:
            self.compare(message.lines, output, message.first, message.indent, update)
        else:
            self.judge(snippet.first - 1, None)

    def check_command(self, command: Command, update: bool) -> None:
        if not harmless(command.text):
            self.judge(command.line, f"`{command.text}` does not run in a test; list it in {NOT_RUN}")
            return
        status, output = self.run(command.text)
        if (status != 0) != command.fails:
            wanted = "another than 0" if command.fails else "0"
            self.judge(command.line, f"`{command.text}` ends with {status}, expected {wanted}\n    "
                       + "\n    ".join(trimmed(output)[-20:]))
        elif command.shown is None:
            self.judge(command.line, None)
        else:
            self.compare(command.shown, output, command.first, command.indent, update,
                         command.any_number)

    def compare(self, shown: list[str], real: list[str], first: int, indent: str,
                update: bool, any_number: bool = False) -> None:
        same = agree(shown, real, any_number)
        if not same and update:
            end = [""] if shown and not shown[-1].strip() else []
            self.edit(first, len(shown), trimmed(real) + end, indent)
        self.judge(first - 1, None if same else "the output differs\n" + difference(shown, real))

    def edit(self, first: int, count: int, lines: list[str], indent: str) -> None:
        self.edits.append((first, count, [(indent + line).rstrip() for line in lines]))

    def rewrite(self) -> None:
        for first, count, lines in sorted(self.edits, reverse=True):
            self.lines[first:first + count] = lines
        (self.root / self.name).write_text("\n".join(self.lines))

    def check_sknd(self, snippet: Snippet, follower: Snippet | None, update: bool) -> None:
        words = snippet.words
        begin = next((line for line in snippet.lines if line.strip() and line[0] != "#"), "")
        if "fails" in words:
            shows = follower is not None and follower.language == "text"
            self.check_refused(snippet, follower if shows else None, update)
        elif "part" in words:
            self.check_part(snippet, words["part"])
        elif "values" in words:
            self.check_values(snippet, update)
        elif "file" in words:
            if self.write(snippet, words["file"]):
                self.accepts(snippet, words["file"])
        elif begin.startswith(("import ", "operator ", "graph ", "public ")):
            (self.folder / "snippet.sknd").write_text(snippet.text)
            self.accepts(snippet, "snippet.sknd")
        elif begin.startswith("@"):
            wrapped = f"operator example {{\n{snippet.text}}}\n"
            (self.folder / "snippet.sknd").write_text(wrapped)
            self.accepts(snippet, "snippet.sknd", "--types-only")
        else:
            self.judge(snippet.first - 1, "say what this is: `file=`, `part=`, `values` or `fails`")

    def check(self, not_run: NotRun, update: bool) -> None:
        found = snippets_of(self.lines)
        for snippet, follower in zip(found, [*found[1:], None]):
            if snippet.language == "sknd":
                self.check_sknd(snippet, follower, update)
            elif "file" in snippet.words:
                self.write(snippet, snippet.words["file"])
            elif "part" in snippet.words:
                self.check_part(snippet, snippet.words["part"])
            elif self.programs.takes(snippet.language):
                if not not_run.lists(self.name, snippet.lines[0]):
                    self.programs.add(snippet)
            elif snippet.language in ("", "indented") and SKND.search(snippet.text):
                if not not_run.lists(self.name, snippet.lines[0]):
                    self.judge(snippet.first - 1, "this is SkriptND; mark it as `sknd`")
            elif snippet.language in (*SHELLS, "console", "hidden", "indented", ""):
                commands = commands_of(snippet)
                if snippet.language == "console" and not commands:
                    self.judge(snippet.first - 1, "a console begins with `$ ` and a command")
                for command in commands:
                    if not not_run.lists(self.name, command.text):
                        self.check_command(command, update)
        self.programs.check(self.folder, self.judge)


def pages_of(root: pathlib.Path, names: list[pathlib.Path]) -> list[str]:
    """The pages of the arguments; folders stand for their pages."""
    found = []
    for name in names or [root / "README.md", root / "docs"]:
        path = name if name.is_absolute() else (root / name)
        files = sorted(path.glob("**/*.md")) if path.is_dir() else [path]
        found += [file.relative_to(root).as_posix() for file in files]
    return [page for page in found if not page.startswith(ELSEWHERE)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lemma", type=pathlib.Path, default=ROOT / "build/release/lemma")
    system = pathlib.Path("/usr/bin/python3")  # the one that the module is built for
    parser.add_argument("--python", default=str(system) if system.exists() else sys.executable)
    parser.add_argument("--update", action="store_true", help="rewrite the shown outputs")
    parser.add_argument("--verbose", action="store_true", help="print the number of each page")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("pages", nargs="*", type=pathlib.Path,
                        help="pages and folders of pages (README.md and docs)")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    if not arguments.lemma.is_file():
        parser.error(f"there is no program `{arguments.lemma}`")
    names = pages_of(root, arguments.pages)
    not_run = NotRun(root)
    passed, faults = 0, list(not_run.faults)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            page = Page(name, root, str(arguments.lemma.resolve()), arguments.python,
                        pathlib.Path(folder).resolve())
            page.check(not_run, arguments.update)
            if page.edits:
                page.rewrite()
        passed += page.passed
        faults += page.faults
        for fault in page.faults:
            print(fault)
        if arguments.verbose:
            print(f"{name}: {page.passed} passed, {len(page.faults)} failed")
    stale = not_run.stale(names)
    for fault in (*not_run.faults, *stale):
        print(fault)
    print(f"{passed} passed, {len(faults) + len(stale)} failed")
    return 1 if faults or stale else 0


if __name__ == "__main__":
    sys.exit(main())
