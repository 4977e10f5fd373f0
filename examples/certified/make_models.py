#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes seven networks as ONNX files, without any package: `make_models.py FOLDER [NAME…]`.

The networks have the shapes of networks that people certify. Their weights are random with a fixed
seed and the scale of trained ones, so the same call always writes the same bytes. They are written
as exporters do it: transposed weights in Gemm, implicit broadcasting, attributes left to their
defaults, axes from the back, no types in between. `lemma check --profile=sonnx --fix=…` makes all of
that explicit."""
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from onnx_file import FLOAT, INT64, model, node, tensor, text, value  # noqa: E402


class Graph:
    """A graph that grows node by node. Weights depend on the names of the graph and the tensor."""

    def __init__(self, name):
        self.name = name
        self.nodes, self.constants, self.values = [], [], []

    def input(self, name, shape, doc):
        self.values.append(text(11, value(name, shape, doc)))
        return name

    def output(self, name, shape, doc):
        self.values.append(text(12, value(name, shape, doc)))

    def add(self, op, inputs, outputs, **attributes):
        self.nodes.append(text(1, node(op, inputs, outputs, **attributes)))
        return outputs

    def floats(self, name, shape, items):
        self.constants.append(text(5, tensor(name, shape, FLOAT, items)))
        return name

    def integers(self, name, items):
        self.constants.append(text(5, tensor(name, [len(items)], INT64, items)))
        return name

    def random(self, name, shape, low, high):
        source = random.Random(f"{self.name}/{name}")
        count = math.prod(shape)
        return self.floats(name, shape, [low + (high - low) * source.random() for _ in range(count)])

    def weights(self, name, shape, fan_in, gain=2.0):
        """Uniform weights that keep the variance of a signal: gain 2 before Relu, 1 elsewhere."""
        limit = math.sqrt(3 * gain / fan_in)
        return self.random(name, shape, -limit, limit)

    def bias(self, name, count):
        return self.random(name, [count], -0.1, 0.1)

    def conv(self, x, name, channels, kernel, gain=2.0, bias=True, **attributes):
        """A convolution of `channels` = (in, out), in groups where an attribute says so."""
        shape = [channels[1], channels[0] // attributes.get("group", 1), kernel, kernel]
        inputs = [x, self.weights(f"{name}_w", shape, math.prod(shape[1:]), gain)]
        if bias:
            inputs.append(self.bias(f"{name}_b", channels[1]))
        return self.add("Conv", inputs, name, kernel_shape=[kernel, kernel], **attributes)

    def dense(self, x, name, extents, gain=2.0):
        """A fully connected layer of `extents` = (in, out), as exporters write it: Gemm with the
        weights transposed and a bias of one axis."""
        weights = self.weights(f"{name}_w", [extents[1], extents[0]], extents[0], gain)
        return self.add("Gemm", [x, weights, self.bias(f"{name}_b", extents[1])], name,
                        alpha=1.0, beta=1.0, transB=1)

    def bytes(self):
        return model([*self.nodes, text(2, self.name), *self.constants, *self.values],
                     "make_models.py",
                     [("replication_criterion", "exact"),
                      ("training_trace", f"none: an example; random weights, seed {self.name}")])


def acas_xu():
    """Six hidden layers of 50: the shape of the ACAS Xu networks for collision avoidance."""
    g = Graph("acas_xu")
    x = g.input("sensors", [1, 5],
                "distance, angle, heading of the intruder, own speed, its speed; scaled to -0.7 to 0.7")
    x = g.add("Sub", [x, g.random("mean", [1, 5], -0.02, 0.02)], "centred")
    extents = [5, 50, 50, 50, 50, 50, 50, 5]
    for i, (rows, columns) in enumerate(zip(extents, extents[1:]), 1):
        x = g.add("MatMul", [x, g.weights(f"w{i}", [rows, columns], rows)], f"product{i}")
        last = i == len(extents) - 1
        x = g.add("Add", [x, g.bias(f"b{i}", columns)], "costs" if last else f"sum{i}")
        if not last:
            x = g.add("Relu", [x], f"hidden{i}")
    g.output("costs", [1, 5], "costs of clear of conflict, weak left, weak right, left, right")
    return g


def tanh_mlp():
    """A controller with two hidden layers of 32 and tanh."""
    g = Graph("tanh_mlp")
    x = g.input("state", [1, 6], "errors of position, speed and attitude, scaled to -1 to 1")
    x = g.add("Tanh", [g.dense(x, "layer1", (6, 32), 1.0)], "hidden1")
    x = g.add("Tanh", [g.dense(x, "layer2", (32, 32), 1.0)], "hidden2")
    g.add("Tanh", [g.dense(x, "layer3", (32, 3), 1.0)], "command")
    g.output("command", [1, 3], "roll, pitch and yaw commands from -1 to 1")
    return g


def lenet5():
    """LeNet-5 for digits of 28×28."""
    g = Graph("lenet5")
    x = g.input("image", [1, 1, 28, 28], "grey values from 0 to 1, rows from the top")
    x = g.add("Relu", [g.conv(x, "conv1", (1, 6), 5, pads=[2, 2, 2, 2])], "active1")
    x = g.add("MaxPool", [x], "pool1", kernel_shape=[2, 2], strides=[2, 2])
    x = g.add("Relu", [g.conv(x, "conv2", (6, 16), 5)], "active2")
    x = g.add("MaxPool", [x], "pool2", kernel_shape=[2, 2], strides=[2, 2])
    x = g.add("Flatten", [x], "flat")
    x = g.add("Relu", [g.dense(x, "fc1", (400, 120))], "active3")
    x = g.add("Relu", [g.dense(x, "fc2", (120, 84))], "active4")
    g.add("Softmax", [g.dense(x, "fc3", (84, 10), 1.0)], "probabilities")
    g.output("probabilities", [1, 10], "one for each digit")
    return g


def normalised(g, x, name, channels, kernel, **attributes):
    """A convolution without bias, and its batch normalisation."""
    x = g.conv(x, f"{name}_conv", channels, kernel, bias=False, **attributes)
    count = [channels[1]]
    return g.add("BatchNormalization",
                 [x, g.random(f"{name}_scale", count, 0.5, 1.5), g.bias(f"{name}_offset", count[0]),
                  g.random(f"{name}_mean", count, -0.3, 0.3),
                  g.random(f"{name}_variance", count, 0.3, 1.5)], name, epsilon=1e-3)


def resnet8():
    """ResNet-8 for images of CIFAR-10: three residual blocks of 16, 32 and 64 channels."""
    g = Graph("resnet8")
    x = g.input("image", [1, 3, 32, 32], "red, green and blue from 0 to 1, rows from the top")
    x = g.add("Relu", [normalised(g, x, "stem", (3, 16), 3, pads=[1, 1, 1, 1])], "stem_active")
    before = 16
    for i, after in enumerate([16, 32, 64], 1):
        stride = [after // before] * 2
        y = normalised(g, x, f"block{i}a", (before, after), 3, pads=[1, 1, 1, 1], strides=stride)
        y = g.add("Relu", [y], f"block{i}a_active")
        y = normalised(g, y, f"block{i}b", (after, after), 3, pads=[1, 1, 1, 1])
        if after != before:
            x = g.conv(x, f"short{i}", (before, after), 1, gain=1.0, strides=stride)
        x = g.add("Relu", [g.add("Add", [y, x], f"block{i}")], f"block{i}_active")
        before = after
    x = g.add("Flatten", [g.add("GlobalAveragePool", [x], "average")], "flat")
    g.add("Softmax", [g.dense(x, "scores", (64, 10), 1.0)], "probabilities")
    g.output("probabilities", [1, 10], "one for each class of CIFAR-10, in its order")
    return g


def mobilenet_v1():
    """MobileNetV1 with a quarter of the channels, for images of 64×64. The batch normalisation is
    folded into the convolutions."""
    g = Graph("mobilenet_v1")
    x = g.input("image", [1, 3, 64, 64], "red, green and blue from -1 to 1, rows from the top")
    bounds = [g.floats("zero", [], [0.0]), g.floats("six", [], [6.0])]

    def layer(x, name, channels, kernel, **attributes):
        return g.add("Clip", [g.conv(x, name, channels, kernel, **attributes), *bounds],
                     f"{name}_active")

    x = layer(x, "stem", (3, 8), 3, pads=[0, 0, 1, 1], strides=[2, 2])
    before = 8
    blocks = [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2)]
    blocks += [(128, 1)] * 5 + [(256, 2), (256, 1)]
    for i, (after, stride) in enumerate(blocks, 1):
        pads = [1, 1, 1, 1] if stride == 1 else [0, 0, 1, 1]
        x = layer(x, f"depth{i}", (before, before), 3, group=before, pads=pads,
                  strides=[stride, stride])
        x = layer(x, f"point{i}", (before, after), 1)
        before = after
    x = g.add("Flatten", [g.add("GlobalAveragePool", [x], "average")], "flat")
    g.add("Softmax", [g.dense(x, "scores", (256, 10), 1.0)], "probabilities")
    g.output("probabilities", [1, 10], "one for each of ten classes")
    return g


def decoded(g, x, name, grid, anchors, classes):
    """Boxes from a map of raw predictions: centre and size in pixels, then confidences."""
    fields, count = 5 + classes, len(anchors)
    shape = g.integers(f"{name}_shape", [1, count, fields, grid, grid])
    x = g.add("Reshape", [x, shape], f"{name}_split")
    x = g.add("Transpose", [x], f"{name}_rows", perm=[0, 1, 3, 4, 2])

    def part(what, start, end):
        bounds = [g.integers(f"{name}_{what}_{side}", [item])
                  for side, item in (("start", start), ("end", end), ("axis", -1))]
        return g.add("Slice", [x, *bounds], f"{name}_{what}")

    stride = 64 // grid
    cells = [item for row in range(grid) for column in range(grid) for item in (column, row)]
    centre = g.add("Sigmoid", [part("offset", 0, 2)], f"{name}_inside")
    centre = g.add("Add", [centre, g.floats(f"{name}_cells", [1, 1, grid, grid, 2], cells)],
                   f"{name}_place")
    centre = g.add("Mul", [centre, g.floats(f"{name}_stride", [], [float(stride)])],
                   f"{name}_centre")
    limits = [g.floats(f"{name}_least", [], [-8.0]), g.floats(f"{name}_most", [], [8.0])]
    size = g.add("Clip", [part("scale", 2, 4), *limits], f"{name}_bounded")  # Exp must not overflow
    size = g.add("Exp", [size], f"{name}_factor")
    sides = [float(side) for anchor in anchors for side in anchor]
    size = g.add("Mul", [size, g.floats(f"{name}_anchors", [1, count, 1, 1, 2], sides)],
                 f"{name}_size")
    sure = g.add("Sigmoid", [part("logits", 4, fields)], f"{name}_sure")
    x = g.add("Concat", [centre, size, sure], f"{name}_fields", axis=-1)
    return g.add("Reshape", [x, g.integers(f"{name}_list", [1, -1, fields])], f"{name}_boxes")


def yolo_head():
    """The head of a small YOLO for images of 64×64: two scales, three anchors each, three classes."""
    g = Graph("yolo_head")
    coarse = g.input("coarse", [1, 32, 4, 4], "features of the backbone, one for 16×16 pixels")
    fine = g.input("fine", [1, 16, 8, 8], "features of the backbone, one for 8×8 pixels")
    classes, channels = 3, 3 * (5 + 3)

    def layer(x, name, extents, kernel):
        pads = [kernel // 2] * 4
        return g.add("LeakyRelu", [g.conv(x, name, extents, kernel, pads=pads)], f"{name}_active",
                     alpha=0.1)

    x = layer(coarse, "neck", (32, 16), 1)
    large = g.conv(layer(x, "wide", (16, 32), 3), "large", (32, channels), 1, gain=0.5)
    x = layer(x, "up", (16, 8), 1)
    scales = g.floats("up_scales", [4], [1.0, 1.0, 2.0, 2.0])
    x = g.add("Resize", [x, "", scales], "up_sampled", mode="nearest", nearest_mode="floor",
              coordinate_transformation_mode="asymmetric")
    x = g.add("Concat", [x, fine], "joined", axis=1)
    small = g.conv(layer(x, "join", (24, 24), 3), "small", (24, channels), 1, gain=0.5)
    boxes = [decoded(g, large, "large", 4, [(20, 20), (33, 42), (60, 52)], classes),
             decoded(g, small, "small", 8, [(5, 7), (9, 11), (14, 13)], classes)]
    g.output(g.add("Concat", boxes, "boxes", axis=1), [1, 240, 8],
             "centre x and y, width and height in pixels, confidence, three class probabilities")
    return g


def lstm():
    """An LSTM of 16 cells over two steps, which starts from zeros."""
    g = Graph("lstm")
    x = g.input("signals", [2, 1, 8], "two samples of eight sensors, scaled to -1 to 1")
    weights = [g.weights("w", [1, 64, 8], 8, 1.0), g.weights("r", [1, 64, 16], 16, 1.0),
               g.random("b", [1, 128], -0.1, 0.1)]
    g.add("LSTM", [x, *weights], ["steps", "hidden", "cells"], hidden_size=16)
    x = g.add("Reshape", ["steps", g.integers("rows", [-1, 16])], "rows_of_steps")
    g.add("Sigmoid", [g.dense(x, "score", (16, 2), 1.0)], "alarms")
    g.output("alarms", [2, 2], "probability of two faults after each sample")
    g.output("hidden", [1, 1, 16], "outputs of the cells after the last sample, -1 to 1")
    g.output("cells", [1, 1, 16], "states of the cells after the last sample")
    return g


NETWORKS = [acas_xu, tanh_mlp, lenet5, resnet8, mobilenet_v1, yolo_head, lstm]


def main(arguments):
    by_name = {make.__name__: make for make in NETWORKS}
    unknown = [name for name in arguments[1:] if name not in by_name]
    if not arguments or arguments[0].startswith("-") or unknown:
        sys.exit(f"{__doc__}\n\nNames: {', '.join(by_name)}")
    folder = pathlib.Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name in arguments[1:] or by_name:
        (folder / f"{name}.onnx").write_bytes(by_name[name]().bytes())


if __name__ == "__main__":
    main(sys.argv[1:])
