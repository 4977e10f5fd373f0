#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the page of the viewer as one C++ source: what view/page.h declares. Without a page, Lemma is
built without the viewer."""
import argparse
import pathlib
import re


def literal(data: bytes) -> str:
    """As string literals of moderate length."""
    lines = []
    for begin in range(0, len(data), 4096):
        text = ""
        for byte in data[begin:begin + 4096]:
            char = chr(byte)
            plain = 32 <= byte < 127 and char not in '"\\?'
            text += char if plain else f"\\{byte:03o}"
        lines.append(f'    "{text}"')
    return "\n".join(lines) or '    ""'


def policy_of(page: bytes) -> bytes:
    """The Content-Security-Policy that the page states for itself."""
    found = re.search(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    return found[1] if found else b"default-src 'none'"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("page", nargs="?", type=pathlib.Path)
    arguments = parser.parse_args()
    page = arguments.page.read_bytes() if arguments.page else b""
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(
        '#include "view/page.h"\n\nnamespace lemma::view {\n\n'
        f"const std::string_view kViewerPage = {{\n{literal(page)}, {len(page)}}};\n"
        f"const std::string_view kViewerPolicy = {{\n{literal(policy_of(page))}}};\n\n"
        "}  // namespace lemma::view\n")


if __name__ == "__main__":
    main()
