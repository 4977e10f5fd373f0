#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's own tests of backends (onnx.backend.test) on lemma.backend and prints the counts.

    python/tests/onnx_backend.py --package build/release/python --lemma build/release/lemma

Debian's python3-onnx has the definitions of the tests, but not their files; ONNX's generator writes
them to --work. --archive runs the tests of an archive with folders node/, simple/, … instead.
Tests of the kind `real` download their models. They run if the models are in $ONNX_MODELS.

With --lemma, the command `lemma verify` runs the same files. The script fails if a test fails here
that the command passes, and if a test fails that --known does not name.
"""
from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest
import warnings
from collections import Counter, defaultdict

import numpy as np

# ONNX 1.12 uses names that numpy 1.24 does not have any more.
for _name, _type in {"object": object, "bool": bool, "float": float, "int": int}.items():
    if _name not in np.__dict__:
        setattr(np, _name, _type)

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "light", "real")


def generate(data: pathlib.Path) -> None:
    """Writes the tests of the installed ONNX, once."""
    stamp = data / ".generated"
    if stamp.exists():
        return
    from onnx.backend.test import cmd_tools

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cmd_tools.generate_data(argparse.Namespace(output=str(data), op_type=None))
    stamp.touch()


def unpack(archive: pathlib.Path, data: pathlib.Path) -> None:
    stamp = data / f".{archive.name}"
    if not stamp.exists():
        data.mkdir(parents=True, exist_ok=True)
        subprocess.run(["tar", "-xf", archive, "-C", data], check=True)
        stamp.touch()


def make_suites(data: pathlib.Path) -> dict[str, type[unittest.TestCase]]:
    """The test cases of ONNX's runner on these files."""
    from onnx.backend.test import loader, runner

    from lemma.backend import LemmaBackend

    for kind in KINDS:
        (data / kind).mkdir(parents=True, exist_ok=True)

    class Runner(runner.Runner):
        @classmethod
        def prepare_model_data(cls, model_test):
            home = os.getenv("ONNX_HOME", os.path.expanduser("~/.onnx"))
            models = os.getenv("ONNX_MODELS", os.path.join(home, "models"))
            folder = os.path.join(models, model_test.model_name)
            if not os.path.exists(os.path.join(folder, "model.onnx")):
                raise unittest.SkipTest(f"needs a download: {model_test.url}")
            return folder

    def tests_of(kind):
        tests = loader.load_model_tests(data_dir=str(data), kind=kind)
        # The runner wants this start of a name.
        return [dataclasses.replace(t, name="test_" + t.name.removeprefix("test_")) for t in tests]

    class Counted(LemmaBackend):
        @classmethod
        def is_compatible(cls, model, device="CPU", **kwargs):
            return True  # so that `prepare` tells the reason

    runner.load_model_tests = tests_of
    suites = Runner(Counted, __name__)
    for test in tests_of("light"):
        suites._add_model_test(test, "Light")
    return suites.test_cases


def reason_of(error: BaseException) -> str:
    """Why a model is not supported, in a few words; empty for a failure."""
    import lemma

    if not isinstance(error, lemma.ModelError):
        return ""
    # The models of the tests are valid, so what Lemma finds wrong is what it does not support.
    return re.sub(r"`[^`]*`", "`…`", error.diagnostics[0].message)


class Result(unittest.TestResult):
    """Counts by suite, and the names of what does not pass."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.reasons: defaultdict[str, list[str]] = defaultdict(list)
        self.failed: dict[str, str] = {}

    @staticmethod
    def _name(test) -> str:
        return str(test._testMethodName).removesuffix("_cpu")

    def _count(self, test, what: str) -> None:
        self.counts[type(test).__name__][what] += 1

    def addSuccess(self, test):
        self._count(test, "passed")

    def addSkip(self, test, reason):
        self._count(test, "skipped")
        self.reasons[f"skipped: {reason.partition(':')[0]}"].append(self._name(test))

    def addError(self, test, err):
        reason = reason_of(err[1])
        if reason:
            self._count(test, "not supported")
            self.reasons[f"not supported: {reason}"].append(self._name(test))
            return
        self._count(test, "failed")
        text = " ".join(str(err[1]).split())
        self.failed[self._name(test)] = f"{err[0].__name__}: {text[:300]}"

    addFailure = addError


def command_passes(lemma: str, data: pathlib.Path) -> set[str]:
    """The tests that the command line passes."""
    passed = set()
    for kind in KINDS:
        if not any((data / kind).iterdir()):
            continue
        command = [lemma, "verify", "--json", str(data / kind)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            cases = json.loads(done.stdout)["cases"]
        except (ValueError, KeyError):
            sys.exit(f"`lemma verify` gave no result for {data / kind}: {done.stderr[:500]}")
        for case in cases:
            name = pathlib.Path(case["case"]).name
            if case["passed"]:
                passed.add(name if name.startswith("test_") else "test_" + name)
    return passed


def show(result: Result, verbose: bool) -> None:
    columns = ("passed", "failed", "not supported", "skipped")
    print(f"{'':28}" + "".join(f"{column:>15}" for column in columns))
    for suite in sorted(result.counts):
        print(f"{suite:28}" + "".join(f"{result.counts[suite][column]:15}" for column in columns))
    for reason, names in sorted(result.reasons.items()):
        print(f"  {len(names):5}  {reason}")
        if verbose:
            print("         " + " ".join(sorted(names)))
    for name, text in sorted(result.failed.items()):
        print(f"  FAILED {name}: {text}")


def known_failures(path: pathlib.Path | None) -> set[str]:
    if path is None:
        return set()
    lines = path.read_text().splitlines()
    return {line.strip() for line in lines if line.strip() and line[0] != "#"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=pathlib.Path, required=True, help="the folder with lemma/")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/onnx_backend"))
    parser.add_argument("--archive", type=pathlib.Path, help="tests in an archive instead of ONNX's own")
    parser.add_argument("--lemma", help="the program, to compare with `lemma verify`")
    parser.add_argument("--known", type=pathlib.Path, help="a file with the names of known failures")
    parser.add_argument("--filter", default="", help="run the tests whose name contains this")
    parser.add_argument("--verbose", action="store_true", help="name the tests that are not supported")
    options = parser.parse_args()
    sys.path.insert(0, str(options.package.resolve()))

    data = options.work / (options.archive.name.split(".")[0] if options.archive else "onnx")
    if options.archive:
        unpack(options.archive, data)
    else:
        generate(data)
    result = Result()
    begin = time.monotonic()
    warnings.simplefilter("ignore")
    for suite in make_suites(data).values():
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(suite):
            name = test._testMethodName
            if name.endswith("_cpu") and options.filter in name:
                test.run(result)
    show(result, options.verbose)
    print(f"{time.monotonic() - begin:.0f} s")

    surprises = set(result.failed) - known_failures(options.known)
    if options.lemma:
        passes = command_passes(options.lemma, data)
        unsupported = {n for reason, names in result.reasons.items() if reason[0] == "n" for n in names}
        worse = sorted(passes & (set(result.failed) | unsupported))
        print(f"`lemma verify` passes {len(passes)} of them; {len(worse)} of these fail here")
        for name in worse:
            print(f"  PASSES ON THE COMMAND LINE: {name}")
        surprises.update(worse)
    total = sum(counts["passed"] for counts in result.counts.values())
    print(f"{total} passed, {len(surprises)} failed")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
