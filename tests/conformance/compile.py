#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the models of recorded cases to C, builds the C, runs it on the recorded inputs and compares
the outputs with the tolerances of `lemma verify`.

Paths are folders of cases or archives of them, in the layouts that `lemma verify` reads. A model that
Lemma refuses to compile is counted by the reason. Fails when C does not build or computes something
else, when a case is refused that the list of refused ones does not name, and when one that it names
passes: then the list is out of date."""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import sys

import c_build
import onnx as suite  # the script beside this one
import tensors

# The tolerances of cases in the ONNX layout, as in src/driver/verify/onnx_case.cpp.
ONNX_TOLERANCE = {"f16": (4e-3, 2e-3), "bf16": (2e-2, 1e-2)}
PLAIN_TOLERANCE = (1e-3, 1e-7)
CASE_TOLERANCE = (1e-5, 1e-6)


class OnnxSet:
    """One data set of a case in the ONNX layout. Values of inputs may decide shapes, so the model is
    compiled for them."""

    def __init__(self, case: pathlib.Path, folder: pathlib.Path):
        self.model = case / "model.onnx"
        self.files = self.numbered(folder, "input")
        self.expected = self.numbered(folder, "output")
        self.options = [word for file in self.files for word in ("-i", str(file))]

    @staticmethod
    def numbered(folder: pathlib.Path, stem: str) -> list[pathlib.Path]:
        return sorted(folder.glob(f"{stem}_*.pb"), key=lambda p: int(p.stem[len(stem) + 1:]))

    @staticmethod
    def by_port(ports: list, files: list[pathlib.Path]) -> dict:
        """A tensor whose name is that of a port belongs to it; the others follow the order."""
        names = [port.name for port in ports]
        found = {}
        for i, file in enumerate(files):
            tensor = tensors.read_pb(file)
            if tensor.name not in names and i >= len(names):
                raise c_build.Failed(f"`{file.name}` is one too many")
            found[tensor.name if tensor.name in names else names[i]] = tensor
        return found

    def steps(self, model: c_build.CModel) -> list[tuple[dict, dict]]:
        if not self.expected:
            raise c_build.Failed("no expected outputs are recorded")
        return [(self.by_port(model.inputs, self.files), self.by_port(model.outputs, self.expected))]

    @staticmethod
    def tolerance(dtype: str) -> tuple[float, float]:
        return ONNX_TOLERANCE.get(dtype, PLAIN_TOLERANCE)

    same_types = True


class DescribedCase:
    """A case with case.json: SkriptND and NNEF 1.0."""

    def __init__(self, case: pathlib.Path):
        self.case, self.model = case, case / "model"
        self.described = json.loads((case / "case.json").read_text())
        self.options = [word for name, value in self.described.get("attribs", {}).items()
                        for word in ("-a", f"{name}={json.dumps(value)}")]
        if "graph" in self.described:
            self.options.append(f"--graph={self.described['graph']}")
        if self.described.get("quant", False):
            self.options.append("--quantize")

    def folders(self, step: int) -> tuple[pathlib.Path, pathlib.Path]:
        if "steps" not in self.described:
            return self.case / "inputs", self.case / "outputs"
        if (inside := self.case / "steps" / str(step)).is_dir():
            return inside / "inputs", inside / "outputs"
        return self.case / "inputs" / str(step), self.case / "outputs" / str(step)

    @staticmethod
    def by_port(ports: list, folder: pathlib.Path) -> dict:
        files = {port.name: folder / tensors.file_name(port.name) for port in ports}
        return {name: tensors.read_npy(file) for name, file in files.items() if file.exists()}

    def steps(self, model: c_build.CModel) -> list[tuple[dict, dict]]:
        found = []
        for step in range(max(self.described.get("steps", 1), 1)):
            inputs, outputs = self.folders(step)
            found.append((self.by_port(model.inputs, inputs), self.by_port(model.outputs, outputs)))
            if len(found[-1][1]) != len(model.outputs):
                raise c_build.Failed("not every output has an expected value")
        return found

    def tolerance(self, _dtype: str) -> tuple[float, float]:
        return (self.described.get("rtol", CASE_TOLERANCE[0]),
                self.described.get("atol", CASE_TOLERANCE[1]))

    same_types = False


def runs_of(case: pathlib.Path) -> list:
    if (case / "case.json").exists():
        return [DescribedCase(case)]
    sets = sorted(p for p in case.iterdir() if p.name.startswith("test_data_set_"))
    return [OnnxSet(case, folder) for folder in sets]


def write_inputs(model: c_build.CModel, steps: list, folder: pathlib.Path) -> dict[str, int]:
    """Each input as one file, step after step; gives the runtime extents."""
    folder.mkdir(parents=True)
    shapes = {}
    for port in model.inputs:
        if any(port.name not in inputs for inputs, _ in steps):
            raise c_build.Failed(f"no value is recorded for the input `{port.name}`")
        given = [inputs[port.name] for inputs, _ in steps]
        shapes[port.name] = given[0].shape
        wanted = given[0].shape if port.axes else port.shape
        if any(tensor.shape != wanted for tensor in given):
            raise c_build.Failed(f"the input `{port.name}` has the shape {given[0].shape}, "
                                 f"the C has {port.shape}")
        data = b"".join(tensor.as_type(port.dtype) for tensor in given)
        (folder / f"{port.c_name}.bin").write_bytes(data)
    return model.extents_for(shapes)


def check_outputs(model: c_build.CModel, steps: list, folder: pathlib.Path, recorded) -> None:
    for port in model.outputs:
        data = (folder / f"{port.c_name}.bin").read_bytes()
        if len(data) % len(steps):
            raise c_build.Failed(f"the output `{port.name}` has {len(data)} bytes")
        size = len(data) // len(steps)
        for i, (_, expected) in enumerate(steps):
            if port.name not in expected:
                continue
            want = expected[port.name]
            shape = want.shape if port.axes else port.shape
            part = data[i * size:(i + 1) * size]
            if port.axes and len(part) != tensors.byte_count(port.dtype, shape):
                raise c_build.Failed(f"the output `{port.name}` has {len(part)} bytes, "
                                     f"expected those of {shape}")
            got = tensors.Tensor(port.name, port.dtype, shape, part)
            if recorded.same_types and got.dtype != want.dtype:
                raise c_build.Failed(f"{got.name} has elements of {got.dtype}, expected {want.dtype}")
            if told := tensors.difference(got, want, *recorded.tolerance(want.dtype)):
                raise c_build.Failed(told if len(steps) == 1 else f"step {i}: {told}")


class Suite:
    def __init__(self, args: argparse.Namespace):
        self.args = args
        self.lemma = os.path.abspath(args.lemma)

    def judge(self, case: pathlib.Path) -> tuple[str, str]:
        """`passed`, `refused` or `failed`, and why."""
        folder = self.args.work / "compiled" / f"{case.parent.name}-{case.name}"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            runs = runs_of(case)
            if not runs:
                raise c_build.Failed("no data set is recorded")
            for i, recorded in enumerate(runs):
                self.check(recorded, folder / str(i))
            verdict = "passed", ""
        except c_build.Refused as reason:
            verdict = "refused", str(reason)
        except (c_build.Failed, OSError, ValueError, KeyError) as reason:
            verdict = "failed", f"{type(reason).__name__}: {reason}" if isinstance(
                reason, KeyError) else str(reason)
        if not self.args.keep:
            shutil.rmtree(folder, ignore_errors=True)
        return verdict

    def check(self, recorded, folder: pathlib.Path) -> None:
        folder.mkdir(parents=True)
        model = c_build.compile_model(self.lemma, recorded.model, folder / "c", self.args.form,
                                      [*recorded.options, *self.args.option])
        model.build(self.args.compiler, self.args.flags.split() if self.args.flags else None)
        steps = recorded.steps(model)
        extents = write_inputs(model, steps, folder / "in")
        model.run(folder / "in", folder / "out", runner=self.args.runner.split(), extents=extents)
        check_outputs(model, steps, folder / "out", recorded)

    def all(self, cases: list[pathlib.Path]) -> list[tuple[pathlib.Path, tuple[str, str]]]:
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            return list(zip(cases, pool.map(self.judge, cases)))


def cases_below(path: pathlib.Path, work: pathlib.Path) -> list[pathlib.Path]:
    folder = path if path.is_dir() else suite.unpack(path, work)
    found = {p.parent for name in ("model.onnx", "case.json") for p in folder.glob(f"**/{name}")}
    return sorted(p for p in found if p.name != "model")


def listed(path: pathlib.Path | None) -> set[str]:
    if path is None:
        return set()
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return {line for line in lines if line}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lemma", required=True, help="the program")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where everything is written")
    parser.add_argument("--form", choices=sorted(c_build.FLAGS), default="certified")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--flags", help="flags of the compiler, instead of those of the form")
    parser.add_argument("--runner", default="", help="runs programs: qemu-aarch64 -L /usr/aarch64-linux-gnu")
    parser.add_argument("--option", action="append", default=[], help="passed to lemma compile")
    parser.add_argument("--known", type=pathlib.Path, help="names of cases that lemma verify fails, left out")
    parser.add_argument("--refused", type=pathlib.Path, help="names of cases that may be refused")
    parser.add_argument("--every", type=int, default=1, help="take every n-th case")
    parser.add_argument("--only", default="", help="take cases whose name contains this")
    parser.add_argument("--table", action="store_true", help="print a line for each refused case")
    parser.add_argument("--keep", action="store_true", help="keep the C of each case")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    return parser.parse_args()


def report(title: str, results: list, may_refuse: set[str], table: bool) -> tuple[int, int]:
    """Prints what became of the cases; how many passed, and how many surprises there are."""
    by_verdict = collections.Counter(verdict for _, (verdict, _) in results)
    surprises = 0
    reasons: collections.Counter[str] = collections.Counter()
    for case, (verdict, reason) in results:
        expected = case.name in may_refuse
        if verdict == "failed":
            print(f"    FAILS {case.name}: {reason[:300]}")
        elif verdict == "refused":
            reasons[reason] += 1
            if table or not expected:
                print(f"    {'refused' if expected else 'REFUSED'} {case.name}: {reason[:300]}")
        elif expected:
            print(f"    PASSES, but is listed as refused: {case.name}")
        surprises += verdict == "failed" or expected != (verdict == "refused")
    for reason, count in reasons.most_common():
        print(f"    refused {count:4}: {reason[:200]}")
    print(f"  {title:<28} {by_verdict['passed']} passed, {by_verdict['failed']} failed, "
          f"{by_verdict['refused']} refused", flush=True)
    return by_verdict["passed"], surprises


def main() -> int:
    args = arguments()
    known, may_refuse = listed(args.known), listed(args.refused)
    judge = Suite(args)
    passed = surprises = 0
    for path in args.paths:
        found = [c for c in cases_below(path, args.work) if args.only in c.name]
        cases = [c for c in found if c.name not in known]
        if len(cases) < len(found):
            print(f"    {len(found) - len(cases)} cases are known to fail in `lemma verify`: left out")
        cases = cases[::args.every]
        good, bad = report(path.name, judge.all(cases), may_refuse, args.table)
        if not cases:
            print(f"    {path}: no cases")
        passed, surprises = passed + good, surprises + bad + (not cases)
    print(f"{passed} passed, {surprises} failed")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
