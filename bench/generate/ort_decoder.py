#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates tokens with ONNX Runtime, for machines that have its Python package but not node. The same
arguments and the same output as ort_decoder.js: ort_decoder.py MODEL THREADS PROMPT COUNT. Outputs
become the inputs of the next run as `OrtValue`s, without a copy in Python."""
import json
import sys
import time

import numpy
import onnxruntime


def session_of(model: str, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def value_of(array: numpy.ndarray):
    return onnxruntime.OrtValue.ortvalue_from_numpy(array)


def ints(items: list[int]):
    return value_of(numpy.array([items], dtype=numpy.int64))


def generate(session: onnxruntime.InferenceSession, prompt: int, count: int) -> dict:
    past = {}
    for info in session.get_inputs():
        if info.name.startswith("past_"):
            shape = (1, info.shape[1], 0, info.shape[3])
            past[info.name] = value_of(numpy.zeros(shape, dtype=numpy.float32))
    names = [info.name for info in session.get_outputs()]
    tokens = [(i * 7919 + 13) % 61 for i in range(prompt)]
    seen = 0
    made: list[int] = []
    times: list[float] = []
    while len(made) < count:
        positions = list(range(seen, seen + len(tokens)))
        feeds = {**past, "tokens": ints(tokens), "positions": ints(positions)}
        begin = time.perf_counter()
        results = dict(zip(names, session.run_with_ort_values(names, feeds)))
        times.append(1e3 * (time.perf_counter() - begin))
        made.append(int(results["logits"].numpy()[0, len(tokens) - 1].argmax()))
        past = {name: results[name.replace("past_", "present_")] for name in past}
        seen += len(tokens)
        tokens = [made[-1]]
    return {"tokens": made, "ms": times}


def main() -> None:
    model, threads, prompt, count = sys.argv[1:5]
    print(json.dumps(generate(session_of(model, int(threads)), int(prompt), int(count))))


if __name__ == "__main__":
    main()
