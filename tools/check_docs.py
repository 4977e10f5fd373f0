#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documents: links lead to files and headings, named files exist, lines of prose have at
most 100 columns, paragraphs at most five sentences. Prints `file:line: …` for each violation."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_COLUMNS = 100
MAX_SENTENCES = 5
# Written by `lemma ops` and by stdlib_test, and compared by tests.
GENERATED = ("docs/operators/", "docs/onnx-operators.md")

LINK = re.compile(r"\]\(([^)\s#]*)(#[^)\s]*)?\)")
CODE = re.compile(r"`[^`]*`")
# A file or folder of the repository in backticks; not one with a placeholder in it.
NAMED = re.compile(r"`((?:src|docs|tests|stdlib|tools|bench|fuzz|examples|cmake|include)/[\w./-]+)`")
SENTENCE_END = re.compile(r"[.!?]\s+(?=[A-Z`*\[])")


def anchors(text: str) -> set[str]:
    """The anchors that headings have, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def prose(text: str) -> list[tuple[int, str]]:
    """Lines outside of code, with their numbers; code and tables are empty lines."""
    lines, fenced, code = [], False, False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        blank_before = not lines or not lines[-1][1]
        code = line.startswith("    ") and (code or blank_before)
        hidden = fenced or code or line.lstrip().startswith(("|", "#"))
        lines.append((number, "" if hidden else line))
    return lines


def paragraphs(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Paragraphs and items of lists, with the number of their first line."""
    found: list[tuple[int, str]] = []
    open_paragraph = False
    for number, line in lines:
        begins = re.match(r"\s*([-*]|\d+\.) ", line) is not None
        if line.strip() and open_paragraph and not begins:
            found[-1] = (found[-1][0], found[-1][1] + " " + line.strip())
        elif line.strip():
            found.append((number, line.strip()))
        open_paragraph = bool(line.strip())
    return found


def faults_of(document: pathlib.Path) -> list[tuple[int, str]]:
    text = document.read_text()
    lines = prose(text)
    faults = []
    for number, line in enumerate(text.split("\n"), 1):
        for target, anchor in LINK.findall(CODE.sub("", line)):
            if "://" in target:
                continue
            path = document.parent / target if target else document
            if not path.exists():
                faults.append((number, f"the link leads to `{target}`, which is not there"))
            elif anchor and anchor[1:] not in anchors(path.read_text()):
                faults.append((number, f"`{path.name}` has no heading `{anchor}`"))
        for named in NAMED.findall(line):
            if not (ROOT / named.rstrip(".")).exists():
                faults.append((number, f"there is no `{named}`"))
    faults += [(number, f"{len(line)} columns, at most {MAX_COLUMNS}")
               for number, line in lines if len(line) > MAX_COLUMNS]
    for number, paragraph in paragraphs(lines):
        count = len(SENTENCE_END.findall(CODE.sub("`", paragraph))) + 1
        if count > MAX_SENTENCES:
            faults.append((number, f"a paragraph of {count} sentences, at most {MAX_SENTENCES}"))
    return faults


def main() -> int:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    faulty = False
    for document in sorted(documents):
        name = document.relative_to(ROOT).as_posix()
        if name.startswith(GENERATED):
            continue
        for number, fault in sorted(faults_of(document)):
            print(f"{name}:{number}: {fault}")
            faulty = True
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
