#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts, simplifies and joins whole models, and runs the results beside the originals on the recorded inputs.

Archives and folders hold cases of the ONNX layout. For each model:
- parts between random tensors give the numbers that `lemma run --dump` writes for the whole model;
- two halves, cut at a random place and merged again, give the outputs of the model;
- the simplified model gives the outputs of the model.
The last line has the counts."""
import argparse
import collections
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

import convert
import onnx as suite  # the script beside this one

MAX_JOINTS = 4  # tensors between two halves


class Failed(Exception):
    """What is wrong."""


def file_of(folder: pathlib.Path, tensor: str) -> pathlib.Path:
    return folder / (re.sub(r"[^A-Za-z0-9._-]", "_", tensor) + ".npy")


def problems_in(document: str) -> str:
    """The problems in a JSON document."""
    try:
        found = json.loads(document)
    except ValueError:
        return document
    return "; ".join([d["message"] for d in found["diagnostics"]] + [m["error"] for m in found["models"] if "error" in m])


class Model:
    """A case with its dumped tensors and its graph."""

    def __init__(self, lemma: str, case: pathlib.Path, work: pathlib.Path):
        self.lemma, self.case, self.work = lemma, case, work
        self.path, *self.recorded = convert.arguments_of(case)
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        shown = json.loads(self.call("show", "--json", self.path, *self.recorded))
        self.inputs = [port["name"] for port in shown["inputs"]]
        self.outputs = [port["name"] for port in shown["outputs"]]
        self.operations = [(self.tensors([op["inputs"], op.get("bodies")]), self.tensors(op["outputs"]))
                           for op in shown["operations"]]
        names = collections.Counter(file_of(work, t).name for _, made in self.operations for t in made)
        self.unclear = {name for name, count in names.items() if count > 1}
        self.output_tensors = {port["tensor"] for port in shown["outputs"] if "tensor" in port}
        self.call("run", self.path, *self.recorded, f"--dump={work / 'dump'}", "-o", work / "whole")
        self.given = dict(zip(self.inputs, (word[2:] for word in self.recorded)))

    def tensors(self, shown) -> list[str]:
        """The tensors in a part of the document that are inputs or computed."""
        if isinstance(shown, list):
            return [name for item in shown for name in self.tensors(item)]
        if not isinstance(shown, dict):
            return []
        if shown.get("role") in ("intermediate", "input") and "tensor" in shown:
            return [shown["tensor"]]
        return [name for item in shown.values() for name in self.tensors(item)]

    def call(self, *words) -> str:
        done = subprocess.run([self.lemma, *map(str, words)], capture_output=True, text=True,
                              errors="replace", timeout=convert.TIMEOUT, check=False)
        if done.returncode != 0:
            said = done.stderr.strip() or problems_in(done.stdout)
            raise Failed(f"lemma {words[0]} ended with {done.returncode}: {said[:300]}")
        return done.stdout

    def dumped(self, tensor: str) -> pathlib.Path | None:
        path = file_of(self.work / "dump", tensor)
        return path if path.exists() and path.name not in self.unclear else None

    def values(self, name: str) -> str:
        if name in self.given:
            return self.given[name]
        path = self.dumped(name)
        if path is None:
            raise Failed(f"the model writes no tensor `{name}`")
        return str(path)

    def compare(self, folder: pathlib.Path, names: list[str], want) -> None:
        for name in names:
            difference = convert.difference(want(name).read_bytes(), file_of(folder, name).read_bytes())
            if difference:
                raise Failed(f"`{name}`: {difference}")

    # ---- the three commands

    def makers(self) -> dict[str, int]:
        return {t: i for i, (_, made) in enumerate(self.operations) for t in made}

    def ancestors(self, tensor: str) -> list[str]:
        makers, seen, open_ = self.makers(), set(), [tensor]
        while open_:
            at = makers.get(open_.pop())
            for read in self.operations[at][0] if at is not None else ():
                if read not in seen:
                    seen.add(read)
                    open_.append(read)
        return sorted(t for t in seen if t in makers and self.dumped(t) is not None)

    def cut(self, source: random.Random) -> None:
        """A part from one or two tensors to a third one."""
        candidates = [t for _, made in self.operations for t in made if self.dumped(t) is not None]
        to = source.choice(candidates)
        before = self.ancestors(to)
        start = source.sample(before, min(len(before), source.randint(1, 2))) if before else []
        out = self.work / "part.onnx"
        report = json.loads(self.call("extract", self.path, out, *self.recorded, "--force", "--json", f"--to={to}",
                                      *(f"--from={t}" for t in start), "--add-inputs"))
        names = [text.rsplit(": ", 1)[0] for text in report["result"]["inputs"]]
        shutil.rmtree(self.work / "part", ignore_errors=True)
        try:
            self.call("run", out, *(f"-i{n}={self.values(n)}" for n in names), "-o", self.work / "part")
            self.compare(self.work / "part", [to], self.dumped)
        except Failed as problem:
            raise Failed(f"from {start or 'the inputs'} to {to}: {problem}") from None

    def places(self) -> list[tuple[int, list[str]]]:
        """After which operation the model falls apart, and the tensors between the halves."""
        found = []
        for k in range(1, len(self.operations)):
            first = {t for _, made in self.operations[:k] for t in made}
            later = {t for reads, _ in self.operations[k:] for t in reads}
            joints = sorted(first & later)
            clean = not (later & set(self.inputs)) and not (first & self.output_tensors)
            if clean and 0 < len(joints) <= MAX_JOINTS:
                found.append((k, joints))
        return found

    def halves(self, source: random.Random) -> bool:
        places = self.places()
        if not places:
            return False
        _, joints = source.choice(places)
        first, second, both = (self.work / f"{name}.onnx" for name in ("first", "second", "both"))
        self.call("extract", self.path, first, *self.recorded, *(f"--to={t}" for t in joints))
        self.call("extract", self.path, second, *self.recorded, *(f"--from={t}" for t in joints))
        report = json.loads(self.call("merge", first, second, both, "--json"))
        names = {text.rsplit(": ", 1)[0] for text in report["result"]["inputs"]}
        self.run_whole(both, [f"-i{n}={file}" for n, file in self.given.items() if n in names])
        return True

    def simplify(self) -> None:
        out = self.work / "simple.onnx"
        self.call("simplify", self.path, out, *self.recorded, "--verify-runs=1")
        self.run_whole(out, self.recorded)

    def run_whole(self, model: pathlib.Path, inputs: list[str]) -> None:
        folder = self.work / "again"
        shutil.rmtree(folder, ignore_errors=True)
        self.call("run", model, *inputs, "-o", folder)
        self.compare(folder, self.outputs, lambda name: file_of(self.work / "whole", name))


class Counts:
    def __init__(self):
        self.passed = self.failed = 0

    def attempt(self, what: str, action) -> None:
        try:
            if action() is False:
                return
            self.passed += 1
        except (Failed, ValueError, OSError, subprocess.TimeoutExpired) as problem:
            self.failed += 1
            print(f"  {what}: {problem}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lemma", required=True, help="the program")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where archives and parts go")
    parser.add_argument("--cuts", type=int, default=12, help="random parts, of all models together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("paths", nargs="+", type=pathlib.Path, help="archives or folders")
    args = parser.parse_args()

    work = args.work / "edit"
    folders = [path if path.is_dir() else suite.unpack(path, args.work) for path in args.paths]
    cases = [case for folder in folders for case in convert.cases_below(folder)]
    counts = Counts()
    for i, case in enumerate(cases):
        source = random.Random(f"{args.seed}/{case.name}")
        cuts = args.cuts // len(cases) + (1 if i < args.cuts % len(cases) else 0)
        begin = time.monotonic()
        try:
            model = Model(str(pathlib.Path(args.lemma).resolve()), case, work / case.name)
        except (Failed, ValueError, subprocess.TimeoutExpired) as problem:
            counts.failed += 1
            print(f"  {case.name}: {problem}")
            continue
        for n in range(cuts):
            counts.attempt(f"{case.name}, part {n}", lambda: model.cut(source))
        counts.attempt(f"{case.name}, halves", lambda: model.halves(source))
        counts.attempt(f"{case.name}, simplified", model.simplify)
        print(f"  {case.name}: {cuts} parts, {len(model.places())} places for halves, "
              f"{time.monotonic() - begin:.0f} s", flush=True)
        shutil.rmtree(work / case.name, ignore_errors=True)
    print(f"{counts.passed} passed, {counts.failed} failed")
    return 1 if counts.failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
