#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs recorded cases on a device, in several processes, and compares what fails with the list of known
failures.

    device.py --lemma PROGRAM [--device cuda] [--jobs N] --known FILE FOLDER…

A case is a folder inside of the given ones, at any depth, as `lemma verify` finds them."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

CHUNK = 12


def cases_of(folder: pathlib.Path) -> list[pathlib.Path]:
    """The folders with a recorded case or a model."""
    found = []
    for path, folders, files in os.walk(folder):
        if "case.json" in files or any(f.endswith(".onnx") for f in files):
            found.append(pathlib.Path(path))
            folders.clear()
    return sorted(found)


def verify(arguments, chunk: list[pathlib.Path]) -> list[dict]:
    done = subprocess.run([arguments.lemma, "verify", "--json", f"--device={arguments.device}", *map(str, chunk)],
                          capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)["cases"]
    except (ValueError, KeyError):
        if len(chunk) > 1:  # one of them ended the program
            return [case for one in chunk for case in verify(arguments, [one])]
        return [{"case": str(chunk[0]), "passed": False, "failures": [f"status {done.returncode}: {done.stderr[:300]}"]}]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lemma", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--known", type=pathlib.Path, required=True, help="names of known failures")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    known = {line for line in arguments.known.read_text().split("\n") if line and line[0] != "#"}
    total = surprises = 0
    for folder in arguments.folders:
        cases = cases_of(folder)
        chunks = [cases[i:i + CHUNK] for i in range(0, len(cases), CHUNK)]
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            results = [case for part in pool.map(lambda chunk: verify(arguments, chunk), chunks) for case in part]
        for case in results:
            name = pathlib.Path(case["case"]).name
            if case["passed"] == (name in known):
                surprises += 1
                print(f"    {'PASSES, but is listed' if case['passed'] else 'FAILS'}: {name}")
                for failure in case["failures"][:2]:
                    print(f"        {failure[:300]}")
        passed = sum(case["passed"] for case in results)
        total += passed
        print(f"  {folder.name:<28} {passed:4} of {len(results):4} pass", flush=True)
    print(f"{total} passed, {surprises} failed")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
