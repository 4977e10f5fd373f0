#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the package: pytest over tests and doctests, then the types by mypy.

    ./dev build release lemma_python lemma_jit
    python/tests/run.py --package build/release/python [ARGUMENT OF PYTEST…]
"""
from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

TESTS = pathlib.Path(__file__).resolve().parent


def run_pytest(package: pathlib.Path, arguments: list[str], slow: list[str]) -> tuple[int, int]:
    results = package / "results.xml"
    results.unlink(missing_ok=True)
    paths = arguments or [str(TESTS), str(package / "lemma")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules",
               "--ignore-glob=*/onnx_backend.py", "--ignore-glob=*/run.py",
               f"--junitxml={results}", *slow, *paths]  # fmt: skip
    path = os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    status = subprocess.run(command, env=environment, cwd=TESTS.parent.parent, check=False)
    if not results.exists():
        return 0, 1
    counts = xml.parse(results).getroot().find("testsuite")
    assert counts is not None
    failed = int(counts.get("failures", 0)) + int(counts.get("errors", 0))
    skipped = int(counts.get("skipped", 0))
    failed += skipped  # what the tests need is in `./dev setup`
    if status.returncode != 0 and failed == 0:
        failed = 1
    return max(int(counts.get("tests", 0)) - failed, 0), failed


def run_mypy() -> tuple[int, int]:
    folder = TESTS.parent
    command = [sys.executable, "-m", "mypy", "--config-file", str(folder / "pyproject.toml"),
               "--no-incremental", "--cache-dir=/dev/null", str(folder / "lemma")]  # fmt: skip
    status = subprocess.run(command, cwd=folder, check=False)
    return (1, 0) if status.returncode == 0 else (0, 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--slow", action="store_true", help="also the tests that take minutes")
    parser.add_argument("--package", type=pathlib.Path, required=True, help="the folder with lemma/")
    options, arguments = parser.parse_known_args()
    slow = [] if options.slow else ["-m", "not slow"]
    counts = [run_pytest(options.package.resolve(), arguments, slow)]
    if not arguments:
        counts.append(run_mypy())
    passed, failed = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
