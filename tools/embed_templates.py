#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the templates of `lemma new` as one C++ source: what driver/new/templates.h declares."""
import argparse
import pathlib


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    rows = ""
    for file in sorted(arguments.folder.glob("*/*")):
        rows += f'    {{"{file.parent.name}", "{file.name}", R"~~~({file.read_text()})~~~"}},\n'
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(
        '#include "driver/new/templates.h"\n\nnamespace lemma::driver {\n\n'
        "static constexpr TemplateFile k_files[] = {\n" + rows + "};\n\n"
        "std::span<const TemplateFile> template_files() { return k_files; }\n\n"
        "}  // namespace lemma::driver\n")


if __name__ == "__main__":
    main()
