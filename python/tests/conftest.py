# SPDX-License-Identifier: Apache-2.0
"""Small models for the tests."""
from __future__ import annotations

import pathlib

import pytest

ADD = """
import math;
graph Add {
    @input { x: real[2, 3]; y: real[2, 3]; }
    @output { sum: real[2, 3]; }
    @compose { sum = math.add(x, y); }
}
"""

STATS = """
import math;
graph Stats {
    @input { x: real[n|8]; }
    @output { low: real[]; doubled: real[n]; }
    @compose {
        low = math.min_reduce{axes=[0], squeeze=true}(x);
        doubled = math.add(x, x);
    }
}
"""

COUNTER = """
import math;
graph Counter {
    @input { x: real[1]; }
    @output { y: real[1]; }
    @variable { sum: real[1]; }
    @compose { y = math.add(sum, x); }
    @update { sum = y; }
}
"""

# Long enough to be stopped: the interpreter needs minutes for it.
SLOW = """
import linalg;
graph Slow {
    @input { x: real[1500, 1500]; }
    @output { y: real[1500, 1500]; }
    @compose { a = linalg.matmul(x, x); b = linalg.matmul(a, x); y = linalg.matmul(b, b); }
}
"""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes long; run.py runs it with --slow only")


@pytest.fixture
def write(tmp_path: pathlib.Path):
    """A function that writes a model to a file and returns the path."""

    def write_model(text: str, name: str = "main.sknd") -> pathlib.Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write_model
