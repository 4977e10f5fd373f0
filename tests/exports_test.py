#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the library exports exactly the functions that its headers declare, in C.

    tests/exports_test.py build/release/liblemma.so include/lemma
"""
import pathlib
import re
import subprocess
import sys

DECLARED = re.compile(r"^LEMMA_API\s[^;(]*?\b(lemma_\w+)\(", re.MULTILINE)


def exported(library: str) -> set[str]:
    listing = subprocess.run(["nm", "--dynamic", "--defined-only", "--format=posix", library],
                             check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in listing.splitlines() if line.strip()}


def main(library: str, headers: str) -> int:
    declared = {name for header in pathlib.Path(headers).glob("*.h")
                for name in DECLARED.findall(header.read_text())}
    found = exported(library)
    if not declared:
        print(f"{headers}: no declaration was found")
        return 1
    for name in sorted(found - declared):
        print(f"{library} exports `{name}`, which no header declares")
    for name in sorted(declared - found):
        print(f"{library} does not export `{name}`, which a header declares")
    print(f"{len(found)} exported, {len(declared)} declared")
    return 0 if found == declared else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
