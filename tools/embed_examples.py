#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the examples of the operators as one C++ source: what ops/examples.h declares."""
import argparse
import pathlib


def literal(file: pathlib.Path) -> str:
    return f'R"~~~({file.read_text()})~~~"'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    rows = ""
    for test in sorted(arguments.folder.glob("*/*.test"), key=lambda f: (f.parent.name, f.stem)):
        rows += (f'    {{"{test.parent.name}", "{test.stem}",\n     {literal(test.with_suffix(".sknd"))},\n'
                 f"     {literal(test)}}},\n")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(
        '#include "ops/examples.h"\n\nnamespace lemma::ops {\n\n'
        "static constexpr OperatorExample k_examples[] = {\n" + rows + "};\n\n"
        "std::span<const OperatorExample> operator_examples() { return k_examples; }\n\n"
        "}  // namespace lemma::ops\n")


if __name__ == "__main__":
    main()
