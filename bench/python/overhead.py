#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs on top of the C interface, on a model of one addition.

    ./dev build release lemma_python lemma_jit
    PYTHONPATH=build/release/python bench/python/overhead.py build/release

The C program and Python take turns; each number is that of the best round.
"""
from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import lemma

MODEL = """
import math;
graph Tiny {
    @input { x: real[4]; }
    @output { y: real[4]; }
    @compose { y = math.add(x, x); }
}
"""
ENGINES = {"interpret": 1, "compile": 2}
ROUNDS, CALLS = 2000, 50  # a round is shorter than a time slice
LIMIT = 5.0  # µs


def build(folder: pathlib.Path, library: pathlib.Path) -> pathlib.Path:
    root = pathlib.Path(__file__).resolve().parents[2]
    program = folder / "overhead"
    subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", f"-I{root / 'include'}", root / "bench/python/overhead.c",
                    "-o", program, library / "liblemma.so", f"-Wl,-rpath,{library.resolve()}"],
                   check=True)  # fmt: skip
    return program


def best_call(call) -> float:
    """Nanoseconds of a call: the best round."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter_ns()
        for _ in range(CALLS):
            call()
        best = min(best, (time.perf_counter_ns() - begin) / CALLS)
    return best


def main() -> int:
    library = pathlib.Path(sys.argv[1])
    worst = 0.0
    x = np.arange(4, dtype=np.float32)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = build(folder, library)
        path = folder / "main.sknd"
        path.write_text(MODEL)
        print(f"{'engine':10} {'call':18} {'C':>8} {'Python':>8} {'more':>8}   (µs)")
        for engine, number in ENGINES.items():
            model = lemma.load(path, engine=engine)
            session = model.session()
            calls = {
                "model(x)": lambda: model(x),
                "model(x=x)": lambda: model(x=x),
                "session(x)": lambda: session(x),
                "model.run({'x': x})": lambda: model.run({"x": x}),
            }
            command = [program, path, str(number), str(ROUNDS), str(CALLS)]
            for text, call in calls.items():
                c = min(float(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(2))
                python = best_call(call)
                more = (python - c) / 1000
                worst = max(worst, more)
                print(f"{engine:10} {text:18} {c / 1000:8.2f} {python / 1000:8.2f} {more:8.2f}")
    print(f"at most {worst:.2f} µs on top of the C interface; the limit is {LIMIT} µs")
    return 0 if worst < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
