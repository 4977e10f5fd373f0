#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `lemma verify` over a suite of ONNX cases and compares what fails with the list of known failures.

Fails when a case fails that the list does not name, and when one that it names passes: then the list is out
of date. The reasons stand in docs/onnx-coverage.md."""
import argparse
import json
import os
import pathlib
import subprocess
import sys


def unpack(archive: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    folder = work / archive.name.split(".")[0]
    stamp = folder / ".unpacked"
    if not stamp.exists() or stamp.stat().st_mtime < archive.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
        stamp.touch()
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lemma", required=True, help="the program")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where to unpack")
    parser.add_argument("--known", type=pathlib.Path, required=True, help="names of known failures")
    parser.add_argument("--option", action="append", default=[], help="passed to lemma verify")
    parser.add_argument("archives", nargs="+", type=pathlib.Path)
    args = parser.parse_args()

    known = {line for line in args.known.read_text().split("\n") if line and line[0] != "#"}
    passed = surprises = 0
    for archive in args.archives:
        folder = unpack(archive, args.work)
        done = subprocess.run([os.path.abspath(args.lemma), "verify", "--json", *args.option, folder],
                              capture_output=True, text=True, check=False)
        try:
            cases = json.loads(done.stdout)["cases"]
        except (ValueError, KeyError):
            print(f"    {archive.name}: no result: {done.stderr[:500]}")
            surprises += 1
            continue
        good = 0
        for case in cases:
            name = pathlib.Path(case["case"]).name
            good += case["passed"]
            if case["passed"] == (name in known):
                surprises += 1
                print(f"    {'PASSES, but is listed' if case['passed'] else 'FAILS'}: {name}")
                for failure in case["failures"][:2]:
                    print(f"        {failure[:300]}")
        if not cases:
            surprises += 1
            print(f"    {archive.name}: no cases")
        passed += good
        print(f"  {archive.name:<28} {good:4} of {len(cases):4} pass")
    print(f"{passed} passed, {surprises} failed")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
