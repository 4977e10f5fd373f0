# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/python."""
from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ADD

import lemma


def run(*arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_classify():
    assert "class 7, probability" in run("examples/python/classify.py", "examples/digits")


def test_new_operator():
    assert run("examples/python/new_operator.py") == "(5, 4) equal\n"


def test_threads():
    assert run("examples/python/threads.py", "examples/digits") == "1000 results, the same as one by one\n"


@pytest.mark.parametrize("ending", ["onnx"])
def test_inference_session(write, tmp_path, ending):
    lemma.convert(write(ADD), tmp_path / f"add.{ending}")
    assert run("examples/python/inference_session.py", tmp_path / "add.onnx") == "sum float32 (2, 3)\n"
