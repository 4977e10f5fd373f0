# SPDX-License-Identifier: Apache-2.0
"""The example of lemma.dask: a cluster of two processes, one of which is killed."""
from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "python" / "score_with_dask.py"


@pytest.mark.slow
def test_scores_more_than_a_worker_holds_and_survives_a_killed_worker():
    command = [sys.executable, str(EXAMPLE), "--rows=260000", "--memory=250MB", "--chunk=4000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "266 MB of rows, two workers with 250 MB each" in done.stdout
    assert re.search(r"killed the worker process \d+", done.stdout)
    assert "260000 of 260000 rows have the same bits as one call" in done.stdout


def test_the_example_wants_more_rows_than_a_worker_holds():
    command = [sys.executable, str(EXAMPLE), "--rows=1000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "give more --rows" in done.stdout
