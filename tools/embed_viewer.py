#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the page of the viewer as one C++ source: what view/page.h declares. Without a page, Lemma is
built without the viewer."""
import argparse
import base64
import hashlib
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


def script_hashes(page: bytes) -> str:
    """The sources of a Content-Security-Policy for the scripts inside the page."""
    hashes = []
    for attributes, text in re.findall(rb"<script([^>]*)>(.*?)</script>", page, re.DOTALL):
        if b"application/json" not in attributes:
            digest = base64.b64encode(hashlib.sha256(text).digest()).decode()
            hashes.append(f"'sha256-{digest}'")
    return " ".join(hashes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("page", nargs="?", type=pathlib.Path)
    arguments = parser.parse_args()
    page = arguments.page.read_bytes() if arguments.page else b""
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(
        '#include "view/page.h"\n\nnamespace lemma::view {\n\n'
        f"const std::string_view kViewerPage = {{\n{literal(page)},\n    {len(page)}}};\n"
        f"const std::string_view kViewerScripts = {{\n{literal(script_hashes(page).encode())}}};\n\n"
        "}  // namespace lemma::view\n")


if __name__ == "__main__":
    main()
