#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files given as one C++ source: what sknd/modules/embedded.h declares."""
import argparse
import pathlib
import re


def literal(text: str) -> str:
    # A compiler accepts at most 64 KiB in one literal: split at lines; it joins the parts.
    lines = text.splitlines(keepends=True)
    parts = ['R"~~~(' + "".join(lines[i:i + 200]) + ')~~~"' for i in range(0, len(lines), 200)]
    return "\n".join(parts) if parts else '""'


def module_of(path: str, paths: set[str]) -> str:
    """`onnx/conv.sknd` is the module `onnx.conv`; but all that stands beside `math/math.sknd` is `math`."""
    folder = path.partition("/")[0]
    if f"{folder}/{folder}.sknd" in paths:
        return folder
    return path.removesuffix(".sknd").replace("/", ".")


def order(path: str) -> tuple[str, ...]:
    """By name, but what a module of several files is called after comes first."""
    *folders, name = path.split("/")
    return (*folders, "" if folders and name == f"{folders[-1]}.sknd" else name)


class Definition:
    """A definition in the canonical layout: from `operator` to the brace in the first column."""

    def __init__(self, module: str, found: re.Match[str]):
        self.module = module
        self.name = found["name"]
        self.begin = len(found.string[:found.start()].encode())
        self.end = len(found.string[:found.end()].encode())
        # All words that look like names; those that are not operators are dropped later.
        self.words = set(re.findall(r"[A-Za-z_][\w.]*", found.group()))

    def uses(self, numbers: dict[str, int]) -> list[int]:
        """The numbers of the definitions that it may call."""
        names = self.words | {f"{self.module}.{word}" for word in self.words}
        return sorted(numbers[name] for name in names & numbers.keys() - {f"{self.module}.{self.name}"})


def definitions_of(module: str, text: str) -> list[Definition]:
    pattern = r"^(?:public )?operator (?P<name>\w+) \{\n.*?^\}\n"
    return [Definition(module, found) for found in re.finditer(pattern, text, re.M | re.S)]


def definition_tables(definitions: list[Definition]) -> str:
    numbers = {f"{d.module}.{d.name}": number for number, d in enumerate(definitions)}
    uses, rows = [], ""
    for d in definitions:
        used = d.uses(numbers)
        rows += f'    {{"{d.name}", {d.begin}, {d.end}, {{k_uses + {len(uses)}, {len(used)}}}}},\n'
        uses += used
    return (f"static constexpr uint16_t k_uses[] = {{{', '.join(map(str, uses + [0]))}}};\n"
            f"static constexpr EmbeddedDefinition k_definitions[{max(len(definitions), 1)}] = "
            f"{{\n{rows}}};\n"
            f"std::span<const EmbeddedDefinition> embedded_definitions() "
            f"{{ return {{k_definitions, {len(definitions)}}}; }}\n\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    args = parser.parse_args()

    files = {file.relative_to(args.root).as_posix(): file for file in args.files}
    texts = {path: files[path].read_text() for path in sorted(files, key=order)}
    modules = {path: module_of(path, set(files)) for path in texts}
    definitions = {
        path: definitions_of(modules[path], text)
        for path, text in texts.items() if path.endswith(".sknd")
    }
    every = [d for found in definitions.values() for d in found]

    rows = {"files": [], "texts": []}  # modules, and other texts
    first = 0  # first definition of the file
    for path, text in texts.items():
        count = len(definitions.get(path, []))
        kind = "files" if path in definitions else "texts"
        # With its length, so that the compiler need not count it.
        size = len(text.encode())
        rows[kind].append(f'    {{"{path}", "{modules[path]}",\n{{{literal(text)}, {size}}},\n'
                          f"{{k_definitions + {first}, {count}}}}},\n")
        first += count
    args.output.parent.mkdir(parents=True, exist_ok=True)
    source = ('#include "sknd/modules/embedded.h"\n\nnamespace lemma::sknd {\n\n' +
              definition_tables(every))
    for kind, items in rows.items():
        source += (f"static constexpr EmbeddedFile k_{kind}[{max(len(items), 1)}] = "
                   f"{{\n{''.join(items)}}};\n"
                   f"std::span<const EmbeddedFile> embedded_{kind}() "
                   f"{{ return {{k_{kind}, {len(items)}}}; }}\n\n")
    args.output.write_text(source + "}  // namespace lemma::sknd\n")


if __name__ == "__main__":
    main()
