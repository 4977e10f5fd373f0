#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs models with ONNX Runtime on request, for machines that have its Python package but not node.
The same protocol and the same numbers as ort_worker.js: ort_worker.py MODEL|- THREADS."""
import json
import pathlib
import sys
import time

import numpy
import onnxruntime

TYPES = {"tensor(float)": numpy.float32, "tensor(int64)": numpy.int64, "tensor(bool)": numpy.bool_}


def ramp(info) -> numpy.ndarray:
    """Extents that are not known are 1."""
    shape = [extent if isinstance(extent, int) and extent > 0 else 1 for extent in info.shape]
    numbers = numpy.arange(numpy.prod(shape, dtype=numpy.int64))
    if info.type == "tensor(int64)":
        values = numbers * 37 % 29
    elif info.type == "tensor(bool)":
        values = numbers % 3 != 0
    else:
        values = numbers / max(1, len(numbers))
    return values.astype(TYPES[info.type]).reshape(shape)


class Runner:
    def __init__(self, threads: int):
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 3

    def load(self, path: str) -> dict:
        begin = time.perf_counter()
        self.session = onnxruntime.InferenceSession(path, self.options, providers=["CPUExecutionProvider"])
        loaded = time.perf_counter()
        feeds = {info.name: ramp(info) for info in self.session.get_inputs()}
        first = time.perf_counter()
        self.outputs = self.session.run(None, feeds)
        end = time.perf_counter()
        # Further runs write into the outputs of the first one, so that no run allocates memory.
        self.binding = self.session.io_binding()
        self.kept = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in feeds.values()]
        for name, value in zip(feeds, self.kept):
            self.binding.bind_ortvalue_input(name, value)
        for info, value in zip(self.session.get_outputs(), self.outputs):
            self.kept.append(onnxruntime.OrtValue.ortvalue_from_numpy(value))
            self.binding.bind_ortvalue_output(info.name, self.kept[-1])
        return {"load_ms": 1e3 * (loaded - begin), "first_ms": 1e3 * (end - first)}

    def save(self, path: str) -> dict:
        pathlib.Path(path).write_bytes(numpy.ascontiguousarray(self.outputs[0]).tobytes())
        return {}

    def run(self, count: str) -> list[float]:
        times = []
        for _ in range(int(count)):
            begin = time.perf_counter()
            self.session.run_with_iobinding(self.binding)
            times.append(1e3 * (time.perf_counter() - begin))
        return times

    def answer(self, line: str):
        word, _, argument = line.partition(" ")
        try:
            return {"load": self.load, "save": self.save, "run": self.run}[word](argument)
        except Exception as error:  # whatever ONNX Runtime refuses is the answer
            return {"error": str(error)}


def main() -> None:
    model, threads = sys.argv[1:3]
    runner = Runner(int(threads))
    if model != "-":
        print(json.dumps(runner.answer(f"load {model}")), flush=True)
    for line in sys.stdin:
        print(json.dumps(runner.answer(line.strip())), flush=True)


if __name__ == "__main__":
    main()
