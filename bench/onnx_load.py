#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long loading ONNX models takes in the library, and in ONNX Runtime: `bench/onnx_load.py [OPTIONS] MODEL…`

Both stay in one process each, which has loaded the model once before; they take turns, and the ratio is the median
of the ratios of neighbours. Times are CPU times of one thread, which other programs on the machine hardly change. Loading is `lemma_load` here (decoding, checks, shapes, formulas of all operations and
the data of the variables) and the creation of a session there, with all of its optimisations and with none.
ONNX Runtime comes from npm: npm install --ignore-scripts --prefix build/peers onnxruntime-node"""
import argparse
import ctypes
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent


class Lemma:
    def __init__(self, library: str):
        self.library = ctypes.CDLL(library)
        self.library.lemma_report_text.restype = ctypes.c_char_p
        self.library.lemma_report_text.argtypes = [ctypes.c_void_p]
        self.library.lemma_report_free.argtypes = [ctypes.c_void_p]
        self.library.lemma_model_free.argtypes = [ctypes.c_void_p]

    def load(self, path: str) -> float:
        """Milliseconds of CPU time."""
        model, report = ctypes.c_void_p(), ctypes.c_void_p()
        begin = time.process_time()
        status = self.library.lemma_load(path.encode(), None, ctypes.byref(model), ctypes.byref(report))
        spent = (time.process_time() - begin) * 1e3
        if status != 0:
            sys.exit(f"{path}: {self.library.lemma_report_text(report).decode()}")
        self.library.lemma_report_free(report)
        self.library.lemma_model_free(model)
        return spent


class Runtime:
    def __init__(self, modules: str):
        self.process = subprocess.Popen(
            ["node", HERE / "onnx_load.js"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "NODE_PATH": os.path.abspath(modules)})

    def load(self, level: str, path: str) -> float:
        self.process.stdin.write(f"{level} {os.path.abspath(path)}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        try:
            return float(answer)
        except ValueError:
            sys.exit(f"{path}: ONNX Runtime {answer or 'gives no answer'}")


def name_of(path: str) -> str:
    file = pathlib.Path(path).resolve()
    return file.parent.name if file.stem == "model" else file.stem


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=15, help="how often each model is loaded (15)")
    parser.add_argument("--library", default="build/release/liblemma.so")
    parser.add_argument("--modules", default="build/peers/node_modules")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    args = parser.parse_args()
    lemma, runtime = Lemma(args.library), Runtime(args.modules)
    print(f"{'model':<24} {'lemma':>9} {'ort':>9} {'ratio':>6} {'ort plain':>9} {'ratio':>6}   (ms of CPU time, medians)")
    for path in args.models:
        sides = [lambda: lemma.load(path), lambda: runtime.load("all", path), lambda: runtime.load("disabled", path)]
        for side in sides:
            side()
        rounds = [[side() for side in sides] for _ in range(args.n)]
        ours, full, plain = (statistics.median(column) for column in zip(*rounds))
        ratios = [statistics.median(r[i] / r[0] for r in rounds) for i in (1, 2)]
        print(f"{name_of(path):<24} {ours:9.1f} {full:9.1f} {ratios[0]:6.2f} {plain:9.1f} {ratios[1]:6.2f}", flush=True)


if __name__ == "__main__":
    main()
