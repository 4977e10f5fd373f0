#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of docs/errors as one C++ source: what driver/explain/pages.h declares."""
import argparse
import pathlib


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = ""
    for page in sorted(arguments.pages):
        if page.name != "README.md":
            rows += f'    {{"{page.stem}", R"~~~({page.read_text()})~~~"}},\n'
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(
        '#include "driver/explain/pages.h"\n\nnamespace lemma::driver {\n\n'
        "static constexpr ErrorPage k_pages[] = {\n" + rows + "};\n\n"
        "std::span<const ErrorPage> error_pages() { return k_pages; }\n\n"
        "}  // namespace lemma::driver\n")


if __name__ == "__main__":
    main()
