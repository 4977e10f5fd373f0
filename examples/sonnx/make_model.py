#!/usr/bin/env python3
"""Writes a small classifier as an ONNX file, without any package: `make_model.py OUT.onnx`.

It is written the way exporters do it: default attributes, SAME padding, axes from the back, implicit
broadcasting, no types in between. `lemma check --profile=sonnx --fix=…` makes all of that explicit."""
import struct
import sys

FLOAT, INT64 = 1, 7


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    if isinstance(value, str):
        body = text(4, value) + number(20, 3)
    elif isinstance(value, int):
        body = number(3, value) + number(20, 2)
    else:
        body = text(8, b"".join(varint(item) for item in value)) + number(20, 7)
    return text(1, name) + body


def node(op, inputs, output, **attributes):
    body = b"".join(text(1, name) for name in inputs) + text(2, output)
    body += text(3, output) + text(4, op)
    return body + b"".join(text(5, attribute(*item)) for item in attributes.items())


def value(name, shape, doc):
    dims = b"".join(text(1, number(1, extent)) for extent in shape)
    tensor = number(1, FLOAT) + text(2, dims)
    return text(1, name) + text(2, text(1, tensor)) + text(3, doc)


def tensor(name, shape, kind, items):
    form = "<%d%s" % (len(items), "f" if kind == FLOAT else "q")
    body = b"".join(number(1, extent) for extent in shape) + number(2, kind)
    return body + text(8, name) + text(9, struct.pack(form, *items))


def weights(name, *shape):
    count = 1
    for extent in shape:
        count *= extent
    return tensor(name, shape, FLOAT, [((i * 37 + 11) % 23 - 11) / 64 for i in range(count)])


def model():
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
    out = number(1, 8) + text(2, "make_model.py") + text(3, "1") + number(5, 1)
    out += text(7, b"".join(graph)) + text(8, number(2, 17))
    for key, content in [("replication_criterion", "exact"), ("training_trace", "none: an example")]:
        out += text(14, text(1, key) + text(2, content))
    return out


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], "wb") as file:
        file.write(model())
