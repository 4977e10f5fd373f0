#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the seven networks of examples/certified and the models of odd_models.py to certified C and
compares it with the interpreter, bit for bit, on random inputs and in both modes of accumulation.
The modes must not give the same bits for a whole network.

The C must build without a warning: with gcc, and with clang and all its warnings except those of
CLANG_EXCEPTIONS. Compiling twice must give the same bytes."""
import argparse
import filecmp
import hashlib
import math
import os
import pathlib
import shutil
import sys

import c_build
import networks
import odd_models
import tensors

GCC = ["-std=c99", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-pedantic", "-Werror"]
# Warnings that certified C may have; docs/assurance.md gives the reasons.
CLANG_EXCEPTIONS = ["unsafe-buffer-usage", "float-equal"]
CLANG = ["-std=c99", "-ffp-contract=off", "-Weverything", "-Werror",
         *(f"-Wno-{name}" for name in CLANG_EXCEPTIONS)]
HOUR = 3600  # the limit of a thousand runs


class Inputs:
    """The same random inputs as files for the C program and as folders of steps for `lemma run`."""

    def __init__(self, model: c_build.CModel, folder: pathlib.Path, records: int):
        self.raw, self.steps = folder / "raw", folder / "steps"
        self.raw.mkdir(parents=True)
        for i in range(records):
            (self.steps / str(i)).mkdir(parents=True)
        for port in model.inputs:
            given = networks.random_inputs(port, records)
            (self.raw / f"{port.c_name}.bin").write_bytes(b"".join(given))
            for i, data in enumerate(given):
                tensor = tensors.Tensor(port.name, port.dtype, port.shape, data)
                tensors.write_npy(self.steps / str(i) / tensors.file_name(port.name), tensor)


class Checked:
    def __init__(self, args: argparse.Namespace, name: str):
        self.args, self.name = args, name
        self.lemma = os.path.abspath(args.lemma)
        self.work = args.work / name
        self.file = args.work / "models" / f"{name}.onnx"

    def compile(self, folder: pathlib.Path, accumulate: str) -> c_build.CModel:
        return c_build.compile_model(self.lemma, self.file, folder, "certified",
                                     [f"--accumulate={accumulate}"])

    def check(self, accumulate: str) -> tuple[str, str]:
        """Raises what is wrong; what was compared, in words, and a digest of the outputs."""
        work = self.work / accumulate
        shutil.rmtree(work, ignore_errors=True)
        model = self.compile(work / "c", accumulate)
        self.compile(work / "again", accumulate)
        names = [p.name for p in (work / "c").iterdir()]
        if filecmp.cmpfiles(work / "c", work / "again", names, shallow=False)[0] != names:
            raise c_build.Failed("compiling twice gives different bytes")
        if self.args.clang:
            model.check(self.args.clang, CLANG)
        model.build(flags=GCC)
        inputs = Inputs(model, work / "in", self.args.inputs)
        model.run(inputs.raw, work / "out", HOUR)
        told = self.compare(model, inputs, accumulate, work)
        data = b"".join((work / "out" / f"{port.c_name}.bin").read_bytes() for port in model.outputs)
        return told, hashlib.sha256(data).hexdigest()

    def compare(self, model: c_build.CModel, inputs: Inputs, accumulate: str,
                work: pathlib.Path) -> str:
        done = c_build.run([self.lemma, "run", self.file, f"--steps={inputs.steps}", "-o",
                            work / "want", "--engine=interpret", *([f"--accumulate={accumulate}"])],
                           "the interpreter", HOUR)
        if done.returncode != 0:
            raise c_build.Failed(f"the interpreter: {done.stderr.strip()[:300]}")
        elements = 0
        for port in model.outputs:
            got = (work / "out" / f"{port.c_name}.bin").read_bytes()
            recorded = [tensors.read_npy(work / "want" / str(i) / tensors.file_name(port.name))
                        for i in range(self.args.inputs)]
            if recorded[0].dtype != port.dtype or recorded[0].shape != port.shape:
                raise c_build.Failed(f"`{port.name}` is {port.dtype} {port.shape}, expected "
                                     f"{recorded[0].dtype} {recorded[0].shape}")
            want = b"".join(tensor.data for tensor in recorded)
            if len(got) != len(want):
                raise c_build.Failed(f"`{port.name}` has {len(got)} bytes, expected {len(want)}")
            count = math.prod(port.shape) * self.args.inputs
            if wrong := networks.different(port.dtype, got, want):
                raise c_build.Failed(f"{len(wrong)} of {count} elements of `{port.name}` have other "
                                     f"bits, the first is {wrong[0]}")
            elements += count
        if not elements:
            raise c_build.Failed("nothing was compared")
        return f"{elements} elements of {self.args.inputs} runs have the same bits"


def chosen(args: argparse.Namespace) -> list[str]:
    """The names of the models, written to the folder of models."""
    known = [*networks.NAMES, *odd_models.MODELS]
    names = args.names or known
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no model is called {', '.join(unknown)}; there are {', '.join(known)}")
    if some := [name for name in names if name in networks.NAMES]:
        networks.write_models(args.work / "models", some)
    odd_models.write_models(args.work / "models", [n for n in names if n in odd_models.MODELS])
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lemma", required=True, help="the program")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where everything is written")
    parser.add_argument("--inputs", type=int, default=1000, help="random inputs for each model")
    parser.add_argument("--clang", default="clang-19", help="the clang whose warnings count; empty: none")
    parser.add_argument("--accumulate", action="append", choices=["f32", "f64"])
    parser.add_argument("names", nargs="*", metavar="MODEL", help="those to compile; all")
    args = parser.parse_args()

    passed = failed = 0
    for name in chosen(args):
        digests = set()
        for accumulate in args.accumulate or ["f64", "f32"]:
            try:
                (told, digest), good = Checked(args, name).check(accumulate), True
                if name in networks.NAMES and digest in digests:
                    told, good = "FAILS: both modes give the same bits", False
                digests.add(digest)
            except (c_build.Failed, c_build.Refused, OSError, KeyError) as reason:
                told, good = f"FAILS: {reason}", False
            passed, failed = passed + good, failed + (not good)
            print(f"  {name:<14} {accumulate}  {told}", flush=True)
            if good:
                shutil.rmtree(args.work / name / accumulate)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
