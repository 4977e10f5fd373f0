#!/usr/bin/env python3
"""Writes the files given as one C++ source: embedded_files() and embedded_texts() of lemma::sknd."""
import argparse
import pathlib


def literal(text: str) -> str:
    # A compiler takes at most 64 KiB in one literal: cut at lines, let it join the parts.
    lines = text.splitlines(keepends=True)
    parts = ['R"~~~(' + "".join(lines[i:i + 200]) + ')~~~"' for i in range(0, len(lines), 200)]
    return "\n".join(parts) if parts else '""'


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    args = parser.parse_args()

    rows = {"files": [], "texts": []}  # modules, and whatever else
    for file in sorted(args.files):
        path = file.relative_to(args.root).as_posix()
        kind = "files" if file.suffix == ".sknd" else "texts"
        rows[kind].append(f'    {{"{path}",\n{literal(file.read_text())}}},\n')
    args.output.parent.mkdir(parents=True, exist_ok=True)
    text = '#include "sknd/modules/embedded.h"\n\nnamespace lemma::sknd {\n\n'
    for kind, items in rows.items():
        text += (f"static constexpr EmbeddedFile k_{kind}[{max(len(items), 1)}] = "
                 f"{{\n{''.join(items)}}};\n"
                 f"std::span<const EmbeddedFile> embedded_{kind}() "
                 f"{{ return {{k_{kind}, {len(items)}}}; }}\n\n")
    args.output.write_text(text + "}  // namespace lemma::sknd\n")


if __name__ == "__main__":
    main()
