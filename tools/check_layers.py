#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of the house that a compiler does not: who may include whom (house style, Part 1),
the size of files and folders, and what only main.cpp may do. Prints `file:line: …` for each violation."""
import argparse
import collections
import pathlib
import re
import sys

# folder -> the folders that it may include, besides itself.
FRONT_ENDS = "sknd nnef1 onnx sonnx"
MAY_INCLUDE = {
    "base": "",
    "diag": "base",
    "text": "base diag",
    "tensor": "base diag",
    "ir": "base diag text tensor",
    "sknd": "base diag text tensor ir",
    "nnef1": "base diag text tensor ir",
    "onnx": "base diag tensor ir",
    "sonnx": "base diag tensor ir onnx",
    "show": "base diag tensor ir",
    "ops": "base diag sknd show",
    "interpret": "base tensor ir",
    "diff": "base diag tensor ir show interpret",
    "loop": "base tensor ir",
    "certify": "base diag tensor ir interpret",
    "runtime": "base tensor",
    "device": "base runtime",
    "codegen": "base diag tensor loop runtime",
    "engine": "base tensor ir interpret loop runtime codegen",
    "emit": "base diag tensor ir interpret loop",
    "prove": "base diag tensor ir sonnx emit codegen",
    "model": f"base diag tensor ir {FRONT_ENDS}",
    "convert": f"base diag tensor ir {FRONT_ENDS} model",
    "image": "base tensor",
    "session": "base diag tensor ir interpret loop runtime device codegen engine model",
    "view": "base diag tensor ir sknd interpret loop codegen engine show ops model session",
    "compile": "base diag tensor ir interpret loop codegen engine emit model session",
    "edit": "base diag tensor ir show interpret model convert session",
    "api": "base diag tensor ir interpret loop engine show ops model convert session compile",
    "serve": "base",  # and the public headers
    "lsp": "base diag text tensor ir sknd nnef1 show model",
    "driver": f"base diag tensor ir {FRONT_ENDS} show ops view diff interpret loop certify runtime codegen engine emit prove model convert session compile edit image lsp serve",
}
# The rooms of a folder, in order; a room may include itself and the earlier ones.
# "." is the folder itself.
ROOMS = {
    "tensor": [".", "files", "archive"],
    "ir": ["symbols", "program", "text", "verify"],
    "sknd": ["syntax", "print", "modules", "eval", "names", "types", "compose", "export"],
    "nnef1": ["syntax", "check", "import", "export"],
    "interpret": [".", "intrinsics"],
    "loop": ["ir", "stage", "schedule", "passes", "plan"],
    "emit": [".", "certified", "fast"],
    "serve": [".", "core", "net"],
    "lsp": ["rpc", "text", "workspace", "language", "analysis", "features", "."],
    "view": [".", "net"],
}

MAX_FILES = 40  # files directly in one folder
MAX_LINES = 800
MAY_PRINT = {"driver/main.cpp", "base/check.cpp"}
LLVM_ROOM = "codegen/llvm/"

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
PRINT = re.compile(r"std::(cout|cerr|clog)\b|\b(?:f|v|vf)?printf\s*\(|\b(?:f?puts|putchar)\s*\("
                   r"|\bfmt::print(ln)?\s*\(")
THROW = re.compile(r"\bthrow\b")
RAW_TEXT = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'')


def room_of(file: str) -> str:
    parts = file.split("/")
    return parts[1] if len(parts) > 2 else "."


def include_fault(file: str, target: str) -> str | None:
    """Why `file` must not include `target` (both from src/), if it must not."""
    own, other = file.split("/")[0], target.split("/")[0]
    if own not in MAY_INCLUDE:
        return f"folder `{own}` is not in the include table of tools/check_layers.py"
    if own != other:
        if other in MAY_INCLUDE[own].split():
            return None
        return f"`{own}` may not include `{target}`"
    rooms = ROOMS.get(own)
    if rooms is None or file.endswith("_test.cpp"):  # a test may print or read what it checks
        return None
    here, there = room_of(file), room_of(target)
    for room in (here, there):
        if room not in rooms:
            return f"`{own}/{room}` is not in the order of rooms of tools/check_layers.py"
    if rooms.index(there) > rooms.index(here):
        return f"`{own}/{here}` may not include `{target}`: {there} comes later"
    return None


def code_of(line: str) -> str:
    """The line without string literals and // comments."""
    return LITERAL.sub('""', line).split("//")[0]


def check_cpp(src: pathlib.Path, file: str, lines: list[str], report) -> None:
    test = file.endswith("_test.cpp")
    for number, line in enumerate(lines, 1):
        if match := INCLUDE.match(line):
            quoted, target = match[1] == '"', match[2]
            if target.startswith(("llvm/", "llvm-c/")):
                if not file.startswith(LLVM_ROOM):
                    report(file, number, f"LLVM is included below src/{LLVM_ROOM} only")
            elif quoted and not (src / target).exists():
                report(file, number, f'"{target}" is not a path from src/')
            elif quoted and (fault := include_fault(file, target)):
                report(file, number, fault)
            continue
        code = code_of(line)
        if not test and file not in MAY_PRINT and PRINT.search(code):
            report(file, number, "only driver/main.cpp prints: return the text")
        if THROW.search(code):
            report(file, number, "our code throws no exceptions: return a Result")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=pathlib.Path, default=root, help="the repository")
    src = parser.parse_args().root / "src"

    faults = []

    def report(file: str, line: int, text: str) -> None:
        faults.append(f"src/{file}:{line}: {text}")

    files = sorted(p for p in src.rglob("*") if p.suffix in {".h", ".cpp", ".def", ".sknd"})
    for path in files:
        file = path.relative_to(src).as_posix()
        text = path.read_text(encoding="utf-8")
        lines = RAW_TEXT.sub(lambda raw: '""' + "\n" * raw[0].count("\n"), text).splitlines()
        if len(lines) > MAX_LINES:
            report(file, MAX_LINES + 1, f"{len(lines)} lines; split the file at {MAX_LINES}")
        if path.suffix != ".sknd":
            check_cpp(src, file, lines, report)
    for folder, count in collections.Counter(path.parent for path in files).items():
        if count > MAX_FILES:
            report(folder.relative_to(src).as_posix(), 1, f"{count} files; split the folder at {MAX_FILES}")
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
