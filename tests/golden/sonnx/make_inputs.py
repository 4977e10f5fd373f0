#!/usr/bin/env python3
"""Writes the ONNX models of this folder's tests into inputs/, with the functions of ../onnx/make_inputs.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "onnx"))
from make_inputs import INT64, data, graph, integer, node, tensor, value  # noqa: E402

HERE = pathlib.Path(__file__).parent / "inputs"
CONV = {"auto_pad": "NOTSET", "dilations": [1, 1], "group": 1, "kernel_shape": [2, 2], "pads": [0, 0, 0, 0],
        "strides": [1, 1]}


def numbers(name: str, *shape: int) -> bytes:
    count = 1
    for extent in shape:
        count *= extent
    return tensor(name, list(shape), [((i * 5 + 3) % 7 - 3) / 4 for i in range(count)])


def model(name: str, body: bytes) -> None:
    out = integer(1, 10) + data(2, "make_inputs.py") + integer(5, 1) + data(7, body) + data(8, integer(2, 21))
    for key, text in (("replication_criterion", "exact"), ("training_trace", "none: made by hand")):
        out += data(14, data(1, key) + data(2, text))
    (HERE / name).write_bytes(out)


def documented(name: str, shape: list, text: str) -> bytes:
    return value(name, shape) + data(3, text)


def typed(body: bytes, **shapes: list) -> bytes:
    """With the types of tensors between nodes."""
    return body + b"".join(data(13, value(name, shape)) for name, shape in shapes.items())


def models() -> None:
    x, y = documented("x", [1, 2, 3, 3], "an image"), documented("y", [1, 4, 2, 2], "features")
    constants = [numbers("w", 2, 2, 2, 2), numbers("b", 2)]
    good = [node("Conv", "x w b", "c", **CONV), node("Mul", "c c", "m"), node("Concat", "c m", "y", axis=1)]
    model("good.onnx", typed(graph([x], [y], good, constants), c=[1, 2, 2, 2], m=[1, 2, 2, 2]))

    # As exporters write it: a default, an axis from the back, a broadcast, no types in between.
    attributes = {key: CONV[key] for key in CONV if key not in ("auto_pad", "group", "pads")} | {"auto_pad": "VALID"}
    implicit = [node("Conv", "x w b", "c", **attributes), node("Mul", "c scale", "m"),
                node("Concat", "c m", "y", axis=-3)]
    model("implicit.onnx", graph([x], [y], implicit, constants + [numbers("scale", 2, 1, 1)]))

    # What no rewriting repairs.
    wrong = [node("Conv", "x w b", "c", **CONV | {"group": 2}), node("RandomNormalLike", "c", "r"),
             node("Loop", "c c", "l"), node("Concat", "c lost", "y", axis=1)]
    model("wrong.onnx", graph([x, value("free", ["n", 2])], [y], wrong, constants))

    # Nothing of it has a reference in C.
    others = [node("Relu", "x", "r"), node("Conv", "r w1", "c", kernel_shape=[2]), node("Reshape", "c shape", "z")]
    model("no_reference.onnx", graph([value("x", [1, 2, 3])], [value("z", [4])], others,
                                     [numbers("w1", 2, 2, 2), tensor("shape", [1], [4], INT64)]))

    # Typical nodes of exported networks, which --fix repairs.
    nodes = [node("Conv", "x w", "c", kernel_shape=[2, 2]),
             node("MaxPool", "c", "p", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
             node("Flatten", "p", "f"), node("Gemm", "f matrix bias", "g", transB=1),
             node("Slice", "g start end axis", "s"), node("Clip", "s _ six", "h"), node("Softmax", "h", "y")]
    model("exported.onnx", graph([documented("x", [1, 2, 4, 4], "an image")],
                                 [documented("y", [1, 3], "probabilities")], nodes,
                                 [numbers("w", 2, 2, 2, 2), numbers("matrix", 4, 8), numbers("bias", 4),
                                  tensor("start", [1], [1], INT64), tensor("end", [1], [2**63 - 1], INT64),
                                  tensor("axis", [1], [-1], INT64), tensor("six", [1], [6.0])]))


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    models()
