#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A script for ONNX Runtime that runs on Lemma: only the import differs.

    examples/python/inference_session.py model.onnx
"""
import sys

import numpy as np

import lemma as ort  # was: import onnxruntime as ort


def main(path: str) -> None:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feed = {}
    for port in session.get_inputs():
        shape = [extent if isinstance(extent, int) else 1 for extent in port.shape]
        kind = {"tensor(float)": np.float32, "tensor(double)": np.float64}.get(port.type, np.int64)
        feed[port.name] = np.ones(shape, kind)
    for port, value in zip(session.get_outputs(), session.run(None, feed)):
        print(port.name, value.dtype, value.shape)


if __name__ == "__main__":
    main(*sys.argv[1:])
