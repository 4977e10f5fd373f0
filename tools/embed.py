#!/usr/bin/env python3
"""Writes the files given as one C++ source: lemma::sknd::embedded_files(); or, with --nnef1, the one
file given as lemma::nnef1::standard_text()."""
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
    parser.add_argument("--nnef1", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    args.output.parent.mkdir(parents=True, exist_ok=True)

    if args.nnef1:
        args.output.write_text(
            '#include "nnef1/embedded.h"\n\n'
            "namespace lemma::nnef1 {\n\n"
            f"std::string_view standard_text() {{\n    return {literal(args.files[0].read_text())};\n}}\n\n"
            "}  // namespace lemma::nnef1\n")
        return

    rows = []
    for file in sorted(args.files):
        path = file.relative_to(args.root).as_posix()
        rows.append(f'    {{"{path}",\n{literal(file.read_text())}}},\n')
    args.output.write_text(
        '#include "sknd/modules/embedded.h"\n\n'
        "namespace lemma::sknd {\n\n"
        f"static constexpr EmbeddedFile kFiles[{max(len(rows), 1)}] = {{\n{''.join(rows)}}};\n\n"
        f"std::span<const EmbeddedFile> embedded_files() {{ return {{kFiles, {len(rows)}}}; }}\n\n"
        "}  // namespace lemma::sknd\n")


if __name__ == "__main__":
    main()
