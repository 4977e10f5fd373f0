#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the ONNX models of this folder's tests into inputs/."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "onnx"))
import make_inputs as onnx  # noqa: E402

onnx.HERE = pathlib.Path(__file__).parent / "inputs"


def quantised_model() -> None:
    """A convolution, a pool and a concatenation between pairs of QuantizeLinear and DequantizeLinear."""
    node, tensor, value = onnx.node, onnx.tensor, onnx.value
    weights = [(37 * i + 11) % 256 for i in range(8 * 4 * 3 * 3)]
    tensors = [tensor("xs", [], [0.05]), tensor("xz", [], [121], onnx.UINT8),
               tensor("w", [8, 4, 3, 3], weights, onnx.INT8),
               tensor("ws", [8], [0.001 * (i + 1) for i in range(8)]), tensor("wz", [8], [0] * 8, onnx.INT8),
               tensor("b", [8], [0.125 * i for i in range(8)]),
               tensor("ys", [], [0.02]), tensor("yz", [], [7], onnx.UINT8)]
    nodes = [node("QuantizeLinear", "x xs xz", "xq"), node("DequantizeLinear", "xq xs xz", "xd"),
             node("DequantizeLinear", "w ws wz", "wd", axis=0),
             node("Conv", "xd wd b", "c", pads=[1, 1, 1, 1]),
             node("QuantizeLinear", "c ys yz", "cq"), node("DequantizeLinear", "cq ys yz", "cd"),
             node("MaxPool", "cd", "p", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
             node("QuantizeLinear", "p ys yz", "pq"), node("DequantizeLinear", "pq ys yz", "pd"),
             node("Concat", "cd pd", "j", axis=1), node("QuantizeLinear", "j ys yz", "y")]
    onnx.model("quantised.onnx", onnx.graph([value("x", [1, 4, 8, 8])], [value("y", [1, 16, 8, 8], onnx.UINT8)],
                                            nodes, tensors))


if __name__ == "__main__":
    quantised_model()
