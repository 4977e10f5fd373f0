#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every file of the repository has a licence: an SPDX line among its first lines, or an
entry in REUSE.toml. Prints `file: …` for each that has none. With --fix it writes the line where it
knows how comments look; the rest it prints."""
import argparse
import pathlib
import re
import subprocess
import sys
import tomllib

LICENCE = "Apache-2.0"
TAG = "SPDX-License-Identifier:"
FIRST_LINES = 5
# How a comment begins and ends, by the end of the file's name.
SLASHES, HASH, STARS = ("// ", ""), ("# ", ""), ("/* ", " */")
COMMENTS = {
    ".h": SLASHES, ".hpp": SLASHES, ".cpp": SLASHES, ".c": SLASHES, ".def": SLASHES, ".js": SLASHES,
    ".ts": SLASHES, ".proto": SLASHES, ".h.in": SLASHES, ".map": STARS, ".ld": STARS, ".css": STARS,
    ".py": HASH, ".pyi": HASH, ".cmake": HASH, ".cmake.in": HASH, ".pc.in": HASH, ".sh": HASH,
    ".bash": HASH, ".fish": HASH, ".yaml": HASH, ".yml": HASH, ".toml": HASH, ".cfg": HASH,
    "CMakeLists.txt": HASH, ".clang-format": HASH, ".service": HASH, "Makefile": HASH,
}


def comment_of(path: pathlib.Path, text: str) -> tuple[str, str] | None:
    """How a comment looks in the file, or nothing. A script without an ending has a `#!` line."""
    for end in sorted(COMMENTS, key=len, reverse=True):
        if path.name.endswith(end):
            return COMMENTS[end]
    return HASH if text.startswith("#!") else None


def pattern_of(path: str) -> re.Pattern[str]:
    """A path of REUSE.toml: `*` stands for all but slashes, `**` for slashes, too."""
    parts = re.split(r"(\*+)", path)
    stars = {"*": "[^/]*", "**": ".*"}
    return re.compile("".join(stars.get(part, re.escape(part)) for part in parts))


class Annotations:
    """The entries of REUSE.toml."""

    def __init__(self, root: pathlib.Path):
        self.patterns: list[tuple[re.Pattern[str], str]] = []
        file = root / "REUSE.toml"
        entries = tomllib.loads(file.read_text()).get("annotations", []) if file.exists() else []
        for entry in entries:
            paths = entry["path"] if isinstance(entry["path"], list) else [entry["path"]]
            self.patterns += [(pattern_of(path), entry.get("SPDX-License-Identifier", ""))
                              for path in paths]

    def licence(self, path: str) -> str | None:
        """The last entry counts, as in the specification."""
        found = [licence for pattern, licence in self.patterns if pattern.fullmatch(path)]
        return found[-1] if found else None


def files(root: pathlib.Path) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=root, check=True, capture_output=True, text=True).stdout
    return sorted(name for name in listed.split("\0") if name and (root / name).is_file())


def with_line(text: str, comment: tuple[str, str]) -> str:
    """The text with the line on top, below a `#!` line."""
    line = f"{comment[0]}{TAG} {LICENCE}{comment[1]}\n"
    if not text.startswith("#!"):
        return line + text
    shebang, _, rest = text.partition("\n")
    return f"{shebang}\n{line}{rest}"


def fault_of(root: pathlib.Path, name: str, annotations: Annotations, fix: bool) -> str | None:
    covered = annotations.licence(name)
    if covered is not None:
        return None if covered == LICENCE else f"REUSE.toml says `{covered}`, not {LICENCE}"
    path = root / name
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        return "a binary file; name it in REUSE.toml"
    for line in text.split("\n")[:FIRST_LINES]:
        if TAG in line:
            said = line.partition(TAG)[2].replace("*/", "").strip()
            return None if said == LICENCE else f"has the licence `{said}`, not {LICENCE}"
    comment = comment_of(path, text)
    if comment is None:
        return "has no licence; name it in REUSE.toml"
    if not fix:
        return f"has no line `{comment[0]}{TAG} {LICENCE}{comment[1]}`; --fix writes it"
    path.write_bytes(with_line(text, comment).encode())
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fix", action="store_true", help="write the missing lines")
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    annotations = Annotations(arguments.root)
    wrong = 0
    for name in files(arguments.root):
        fault = fault_of(arguments.root, name, annotations, arguments.fix)
        if fault:
            print(f"{name}: {fault}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
