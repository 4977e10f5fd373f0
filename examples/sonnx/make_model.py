#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a small classifier as an ONNX file, without any package: `make_model.py OUT.onnx`.

It is written the way exporters do it: default attributes, SAME padding, axes from the back, implicit
broadcasting, no types in between. `lemma check --profile=sonnx --fix=…` makes all of that explicit."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from onnx_file import FLOAT, model, node, tensor, text, value  # noqa: E402


def weights(name, *shape):
    count = 1
    for extent in shape:
        count *= extent
    return tensor(name, shape, FLOAT, [((i * 37 + 11) % 23 - 11) / 64 for i in range(count)])


def classifier():
    graph = [
        text(1, node("Conv", ["image", "w1", "b1"], "features", auto_pad="SAME_UPPER", strides=[2, 2])),
        text(1, node("Relu", ["features"], "active")),
        text(1, node("Conv", ["active", "w2", "b2"], "filtered", group=8, pads=[1, 1, 1, 1])),
        text(1, node("Mul", ["filtered", "scale"], "scaled")),
        text(1, node("MaxPool", ["scaled"], "pooled", kernel_shape=[2, 2], strides=[2, 2])),
        text(1, node("Concat", ["pooled", "pooled"], "both", axis=-3)),
        text(1, node("Flatten", ["both"], "flat")),
        text(1, node("Gemm", ["flat", "w3", "b3"], "scores")),
        text(1, node("Softmax", ["scores"], "probabilities")),
        text(2, "classifier"),
        text(5, weights("w1", 8, 1, 3, 3)),
        text(5, weights("b1", 8)),
        text(5, weights("w2", 8, 1, 3, 3)),
        text(5, weights("b2", 8)),
        text(5, weights("scale", 8, 1, 1)),
        text(5, weights("w3", 256, 10)),
        text(5, weights("b3", 10)),
        text(11, value("image", [1, 1, 16, 16], "grey values from 0 to 1, rows from the top")),
        text(12, value("probabilities", [1, 10], "one for each digit")),
    ]
    return model(graph, "make_model.py",
                 [("replication_criterion", "exact"), ("training_trace", "none: an example")])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], "wb") as file:
        file.write(classifier())
