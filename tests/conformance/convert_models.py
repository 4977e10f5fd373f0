#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts whole models to each format, runs them beside the originals on the recorded inputs, and prints a table.

Archives and folders hold cases of the ONNX layout. What a format cannot say is refused, with the reason below the table.
Fails when a converted model computes something else, and when a conversion crashes."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

import convert
import onnx as suite  # the script beside this one

FORMATS = {"onnx": "ONNX", "sknd": "SkriptND", "nnef1": "NNEF 1.0"}
SAME, REFUSED, DIFFERS = "same numbers", "refused", "DIFFERS"
PROBLEMS = (ValueError, KeyError, AttributeError, subprocess.TimeoutExpired)


class Models:
    def __init__(self, lemma: str, work: pathlib.Path, options: list[str]):
        self.lemma = os.path.abspath(lemma)
        self.work = work
        self.options = options
        self.notes: list[str] = []
        self.failed = 0

    def row(self, case: pathlib.Path) -> list[str]:
        """Whether the model gives the recorded numbers, and what became of it in each format."""
        try:
            want = self.run(case, case / "model.onnx", "original")
        except PROBLEMS as error:
            self.fail(f"{case.name}: {str(error).strip()}")
            return ["does not run"] * (1 + len(FORMATS))
        return [self.recorded(case), *(self.converted(case, to, want) for to in FORMATS)]

    def run(self, case: pathlib.Path, model: pathlib.Path, what: str) -> list[bytes]:
        inputs = convert.arguments_of(case)[1:]
        return convert.outputs_of(self.lemma, model, inputs, self.options, self.work / "runs" / what / case.name)

    def recorded(self, case: pathlib.Path) -> str:
        done = subprocess.run([self.lemma, "verify", "--json", *self.options, str(case)], capture_output=True,
                              text=True, check=False)
        try:
            verified = json.loads(done.stdout)["cases"][0]
        except (ValueError, KeyError, IndexError):
            verified = {"passed": False, "failures": [done.stderr]}
        if verified["passed"]:
            return "yes"
        self.notes.append(f"{case.name}, as recorded: {verified['failures'][0].strip()}")
        return "no"

    def converted(self, case: pathlib.Path, to: str, want: list[bytes]) -> str:
        out = self.work / to / case.name
        out.mkdir(parents=True)
        model = out / ("model.onnx" if to == "onnx" else "model")
        done = subprocess.run([self.lemma, "convert", *convert.arguments_of(case), str(model), "--brief", "--force", f"--to={to}"],
                              capture_output=True, text=True, timeout=convert.TIMEOUT, check=False)
        if done.returncode in (1, 2):
            self.notes.append(f"{case.name}, to {FORMATS[to]}: {convert.reason_of(done.stderr)}")
            return REFUSED
        if done.returncode != 0:
            return self.fail(f"{case.name}, to {FORMATS[to]}: the program ended with {done.returncode}")
        try:
            got = self.run(case, model, to)
        except PROBLEMS as error:
            return self.fail(f"{case.name}, as {FORMATS[to]}: {str(error).strip()}")
        differences = [d for d in map(convert.difference, want, got) if d]
        if len(want) != len(got):
            differences.append(f"{len(got)} outputs, expected {len(want)}")
        return self.fail(f"{case.name}, as {FORMATS[to]}: {differences[0]}") if differences else SAME

    def fail(self, note: str) -> str:
        self.failed += 1
        self.notes.append(note)
        return DIFFERS


def folders_of(paths: list[pathlib.Path], work: pathlib.Path) -> list[pathlib.Path]:
    return [path if path.is_dir() else suite.unpack(path, work) for path in paths]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lemma", required=True, help="the program")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where archives and converted models go")
    parser.add_argument("--option", action="append", default=[], help="passed to lemma run and lemma verify")
    parser.add_argument("paths", nargs="+", type=pathlib.Path, help="archives or folders")
    args = parser.parse_args()

    work = args.work / "models"
    shutil.rmtree(work, ignore_errors=True)
    models = Models(args.lemma, work, args.option)
    print(f"| model | as recorded | {' | '.join('to ' + name for name in FORMATS.values())} |")
    print("|---" * (2 + len(FORMATS)) + "|", flush=True)
    rows = []
    for folder in folders_of(args.paths, args.work):
        for case in convert.cases_below(folder):
            rows.append(models.row(case))
            print(f"| `{case.name}` | {' | '.join(rows[-1])} |", flush=True)
    print()
    for note in models.notes:
        print(f"    {note[:200]}")
    for i, name in enumerate(FORMATS.values(), start=1):
        results = [row[i] for row in rows]
        print(f"  {len(rows)} models to {name}: {results.count(SAME)} the same numbers, "
              f"{results.count(REFUSED)} refused, {results.count(DIFFERS)} differ")
    passed = sum(row[1:].count(SAME) for row in rows)
    print(f"{passed} passed, {models.failed} failed")
    return 1 if models.failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
