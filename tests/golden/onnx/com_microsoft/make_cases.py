#!/usr/bin/env python3
"""Writes cases of the operators in the domain com.microsoft: a folder for each operator, with a model that
calls it once for each variant, and its inputs. Some are in half precision, in com_microsoft_half. `record.js`
adds what ONNX Runtime makes of them.

    make_cases.py           writes the folders
    make_cases.py --print   tells record.js of their inputs and outputs, as JSON"""
import json
import math
import pathlib
import shutil
import struct
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from make_inputs import attribute, data, graph, integer, varint  # noqa: E402

CODES = {"float32": (1, "f"), "uint8": (2, "B"), "int8": (3, "b"), "int32": (6, "i"), "int64": (7, "q"),
         "bool": (9, "B"), "float16": (10, "H")}


class Array:
    def __init__(self, dtype: str, shape: list, values: list):
        assert len(values) == math.prod(shape), (shape, len(values))
        self.dtype, self.shape, self.values = dtype, shape, list(values)

    def half(self) -> "Array":
        """Reals in half precision."""
        if self.dtype != "float32":
            return self
        bits = [struct.unpack("<H", struct.pack("<e", v))[0] for v in self.values]
        return Array("float16", self.shape, bits)

    def proto(self, name: str) -> bytes:
        code, letter = CODES[self.dtype]
        raw = struct.pack(f"<{len(self.values)}{letter}", *self.values)
        return b"".join(integer(1, d) for d in self.shape) + integer(2, code) + data(8, name) + data(9, raw)


class Numbers:
    """The same numbers every time: a linear congruential generator."""

    def __init__(self, seed: int):
        self.state = seed

    def next(self, count: int) -> int:
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % count

    def reals(self, *shape, low: float = -2.0, high: float = 2.0) -> Array:
        """Multiples of 1/256 of the range, so that they are the same in every type."""
        values = [low + (high - low) * self.next(257) / 256 for _ in range(math.prod(shape))]
        return Array("float32", list(shape), values)

    def ints(self, dtype: str, *shape, low: int | None = None, high: int | None = None) -> Array:
        limits = {"uint8": (0, 255), "int8": (-128, 127)}.get(dtype, (0, 9))
        low = limits[0] if low is None else low
        high = limits[1] if high is None else high
        return Array(dtype, list(shape), [low + self.next(high - low + 1) for _ in range(math.prod(shape))])


def f32(*values) -> Array:
    return Array("float32", [len(values)], values)


def scale(value: float) -> Array:
    return Array("float32", [], [value])


def zero(dtype: str, value: int) -> Array:
    return Array(dtype, [], [value])


def floats_attribute(name: str, values: list) -> bytes:
    packed = b"".join(varint(7 << 3 | 5) + struct.pack("<f", v) for v in values)
    return data(1, name) + packed + integer(20, 6)


class Case:
    def __init__(self, name: str, domain: str = "com.microsoft"):
        self.name, self.folder, self.domain = name, name, domain
        self.twin = None  # computes the same; ONNX Runtime is given that
        self.numbers = Numbers(sum(ord(c) for c in name))
        self.calls, self.fed, self.tensors, self.nodes, self.outputs = [], [], [], [], []

    def feed(self, array: Array) -> str:
        """An input of the model, by whose name variants use it."""
        name = f"x{len(self.fed)}"
        self.fed.append((name, array))
        return name

    def call(self, variant: str, inputs: list, results: list | str = "float32", **attributes) -> None:
        """One node. Inputs are names, arrays that become initialisers, or None; results are their types, None
        for those that are left out."""
        results = [results] if isinstance(results, str) else results
        self.calls.append((variant, inputs, results, attributes))
        names = []
        for i, given in enumerate(inputs):
            if isinstance(given, Array):
                self.tensors.append(given.proto(f"{variant}_{i}"))
                given = f"{variant}_{i}"
            names.append(given or "")
        made = [f"{variant}_y{i}" if dtype else "" for i, dtype in enumerate(results)]
        node = b"".join(data(1, n) for n in names) + b"".join(data(2, n) for n in made)
        node += data(3, variant) + data(4, self.name)
        for key, value in attributes.items():
            reals = isinstance(value, list) and value and isinstance(value[0], float)
            node += data(5, floats_attribute(key, value) if reals else attribute(key, value))
        self.nodes.append(node + (data(7, self.domain) if self.domain else b""))
        self.outputs += [(n, dtype) for n, dtype in zip(made, results) if dtype]

    def model(self) -> bytes:
        def typed(name: str, dtype: str, shape: list | None) -> bytes:
            kind = integer(1, CODES[dtype][0])
            if shape is not None:
                kind += data(2, b"".join(data(1, integer(1, d)) for d in shape))
            return data(1, name) + data(2, data(1, kind))

        body = graph([typed(n, a.dtype, a.shape) for n, a in self.fed],
                     [typed(n, dtype, None) for n, dtype in self.outputs], self.nodes, self.tensors)
        opsets = data(8, integer(2, 21)) + data(8, data(1, "com.microsoft") + integer(2, 1))
        return integer(1, 10) + data(7, body) + opsets

    def write(self) -> None:
        folder = HERE / self.folder
        shutil.rmtree(folder, ignore_errors=True)
        inputs = folder / "test_data_set_0"
        inputs.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(self.model())
        for i, (name, array) in enumerate(self.fed):
            (inputs / f"input_{i}.pb").write_bytes(array.proto(name))

    def described(self) -> dict:
        inputs = [{"name": n, "type": a.dtype, "shape": a.shape, "values": a.values} for n, a in self.fed]
        model = list((self.twin or self).model())
        return {"case": self.folder, "model": model, "inputs": inputs, "outputs": [n for n, _ in self.outputs]}


# ---- Quantised tensors -------------------------------------------------------------------------------------

def two_operands(name: str) -> Case:
    case = Case(name)
    for dtype, za, zb, zc in [("uint8", 128, 10, 100), ("int8", -3, 0, 5)]:
        a = case.feed(case.numbers.ints(dtype, 2, 3, 4))
        b = case.numbers.ints(dtype, 2, 3, 4)
        row = case.numbers.ints(dtype, 3, 1)
        one = case.numbers.ints(dtype, 1)
        point = [zero(dtype, z) for z in (za, zb, zc)]
        case.call(f"{dtype}_same", [a, scale(0.02), point[0], b, scale(0.031), point[1], scale(0.05), point[2]], dtype)
        case.call(f"{dtype}_row", [a, scale(0.02), point[0], row, scale(0.031), point[1], scale(0.043), point[2]], dtype)
        case.call(f"{dtype}_one", [one, scale(0.02), point[0], a, scale(0.031), point[1], scale(0.043), point[2]], dtype)
        ones = Array(dtype, [1], [0 if name == "QLinearAdd" else 1])
        case.call(f"{dtype}_halves", [a, scale(0.5), zero(dtype, 0), ones, scale(1.0), zero(dtype, 0), scale(1.0),
                                      zero(dtype, 1)], dtype)
        case.call(f"{dtype}_saturates", [a, scale(0.2), point[0], b, scale(0.3), point[1], scale(0.01), point[2]], dtype)
    return case


def qlinear_concat() -> Case:
    case = Case("QLinearConcat")
    for dtype, points in [("uint8", (12, 128, 255, 40)), ("int8", (-7, 0, 127, 4))]:
        parts = [case.feed(case.numbers.ints(dtype, 2, n, 3)) for n in (2, 1, 3)]
        zeros = [zero(dtype, p) for p in points]
        scales = [scale(s) for s in (0.05, 0.02, 0.013)]
        triples = [each for i in range(3) for each in (parts[i], scales[i], zeros[i])]
        case.call(f"{dtype}_middle", [scale(0.031), zeros[3], *triples], dtype, axis=1)
        case.call(f"{dtype}_negative", [scale(0.031), zeros[3], *triples], dtype, axis=-2)
        pair = [parts[0], f32(0.05), Array(dtype, [1], [points[0]]), parts[0], scales[1], zeros[1]]
        case.call(f"{dtype}_last", [f32(0.05), zeros[0], *pair], dtype, axis=2)
        case.call(f"{dtype}_halves", [scale(1.0), zero(dtype, 1), parts[0], scale(0.5), zero(dtype, 0)], dtype, axis=0)
        case.call(f"{dtype}_alone", [scale(0.05), zeros[0], parts[2], scales[2], zeros[2]], dtype, axis=0)
    return case


def one_operand(name: str, spread: float, **attributes) -> Case:
    case = Case(name)
    for dtype, zx, zy in [("uint8", 110, 0), ("int8", 4, -128)]:
        x = case.feed(case.numbers.ints(dtype, 2, 40))
        case.call(f"{dtype}", [x, scale(0.05), zero(dtype, zx), scale(spread), zero(dtype, zy)], dtype, **attributes)
        case.call(f"{dtype}_no_zero", [x, scale(0.03), None, scale(spread), zero(dtype, zy)], dtype, **attributes)
        case.call(f"{dtype}_lists", [x, f32(0.11), Array(dtype, [1], [zx]), f32(spread), Array(dtype, [1], [zy + 9])],
                  dtype, **attributes)
    return case


def qlinear_leaky_relu() -> Case:
    case = one_operand("QLinearLeakyRelu", 0.04, alpha=0.3)
    x = case.feed(case.numbers.ints("uint8", 30))
    case.call("usual", [x, scale(0.05), zero("uint8", 128), scale(0.02), zero("uint8", 3)], "uint8")
    return case


def qlinear_softmax() -> Case:
    case = Case("QLinearSoftmax")
    for dtype, zx, zy in [("uint8", 110, 0), ("int8", 4, -128)]:
        x = case.feed(case.numbers.ints(dtype, 2, 3, 5))
        given = [x, scale(0.03), zero(dtype, zx), scale(1 / 256), zero(dtype, zy)]
        case.call(f"{dtype}_last", given, dtype, opset=13)
        case.call(f"{dtype}_middle", given, dtype, opset=13, axis=1)
        case.call(f"{dtype}_old", given, dtype, opset=11, axis=1)
        case.call(f"{dtype}_old_last", given, dtype, opset=12, axis=-1)
        case.call(f"{dtype}_no_zero", [x, scale(0.05), None, scale(1 / 256), zero(dtype, zy)], dtype, opset=13, axis=-1)
    return case


def qlinear_average_pool() -> Case:
    case = Case("QLinearAveragePool")
    for dtype, zx, zy in [("uint8", 110, 90), ("int8", 4, -5)]:
        x = case.feed(case.numbers.ints(dtype, 1, 2, 6, 7))
        line = case.feed(case.numbers.ints(dtype, 2, 3, 9))
        given = [x, scale(0.03), zero(dtype, zx), scale(0.0207), zero(dtype, zy)]
        case.call(f"{dtype}_plain", given, dtype, kernel_shape=[2, 3])
        case.call(f"{dtype}_halves", [x, scale(0.5), zero(dtype, 0), scale(1.0), zero(dtype, 1)], dtype,
                  kernel_shape=[1, 2])
        case.call(f"{dtype}_pads", given, dtype, kernel_shape=[3, 3], pads=[1, 0, 1, 2], strides=[2, 2])
        case.call(f"{dtype}_count", given, dtype, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
        case.call(f"{dtype}_ceil", given, dtype, kernel_shape=[2, 2], strides=[2, 3], ceil_mode=1)
        case.call(f"{dtype}_same", given, dtype, kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")
        case.call(f"{dtype}_channels_last", given, dtype, kernel_shape=[2, 2], channels_last=1)
        case.call(f"{dtype}_line", [line, scale(0.03), zero(dtype, zx), scale(0.0207), zero(dtype, zy)], dtype, kernel_shape=[4], strides=[2])
    return case


def qlinear_global_average_pool() -> Case:
    case = Case("QLinearGlobalAveragePool")
    for dtype, zx, zy in [("uint8", 110, 90), ("int8", 4, -5)]:
        x = case.feed(case.numbers.ints(dtype, 2, 3, 5, 4))
        given = [x, scale(0.03), zero(dtype, zx), scale(0.0107), zero(dtype, zy)]
        case.call(f"{dtype}_first", given, dtype)
        case.call(f"{dtype}_last", given, dtype, channels_last=1)
        column = case.feed(case.numbers.ints(dtype, 1, 9, 2, 1))
        case.call(f"{dtype}_halves", [column, scale(1.0), zero(dtype, 0), scale(1.0), zero(dtype, 1)], dtype)
    return case


def quantize_linear() -> Case:
    case = Case("QuantizeLinear")
    x = case.feed(case.numbers.reals(3, 4, low=-3.0, high=3.0))
    case.call("uint8", [x, scale(0.023), zero("uint8", 120)], "uint8")
    case.call("int8", [x, scale(0.037), zero("int8", -7)], "int8")
    case.call("axis", [x, f32(0.023, 0.037, 0.051), Array("int8", [3], [1, -2, 3])], "int8", axis=0)
    case.call("last", [x, f32(0.023, 0.037, 0.051, 0.01), Array("uint8", [4], [1, 20, 130, 255])], "uint8", axis=1)
    case.call("saturates", [x, f32(0.003), Array("uint8", [1], [7])], "uint8")
    return case


def dequantize_linear() -> Case:
    case = Case("DequantizeLinear")
    x = case.feed(case.numbers.ints("uint8", 3, 4))
    y = case.feed(case.numbers.ints("int8", 3, 4))
    wide = case.feed(case.numbers.ints("int32", 3, 4, low=-1000, high=1000))
    case.call("uint8", [x, scale(0.023), zero("uint8", 120)])
    case.call("int8", [y, scale(0.037)])
    case.call("int32", [wide, scale(0.001)])
    case.call("axis", [y, f32(0.023, 0.037, 0.051), Array("int8", [3], [1, -2, 3])], axis=0)
    case.call("last", [x, f32(0.023, 0.037, 0.051, 0.01), Array("uint8", [4], [1, 20, 130, 255])], axis=1)
    case.call("list", [x, f32(0.5), Array("uint8", [1], [3])])
    return case


# ---- Products ----------------------------------------------------------------------------------------------

def qgemm() -> Case:
    case = Case("QGemm")
    for da, db in [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")]:
        name = f"{da}_{db}"
        a = case.feed(case.numbers.ints(da, 3, 5))
        at = case.feed(case.numbers.ints(da, 5, 3))
        b, bt = case.numbers.ints(db, 5, 4), case.numbers.ints(db, 4, 5)
        za, zb, zy = zero(da, 5), zero(db, 3), zero(da, 7)
        term = case.numbers.ints("int32", 4, low=-900, high=900)
        matrix = case.numbers.ints("int32", 3, 4, low=-900, high=900)
        case.call(f"{name}_plain", [a, scale(0.02), za, b, scale(0.03), zb, None, scale(0.4), zy], da)
        case.call(f"{name}_term", [a, scale(0.02), za, b, scale(0.03), zb, term, scale(0.4), zy], da, transA=0, transB=0)
        case.call(f"{name}_turned", [at, scale(0.02), za, bt, scale(0.03), zb, matrix, scale(0.4), zy], da,
                  transA=1, transB=1)
        columns = f32(0.01, 0.02, 0.03, 0.04)
        zeros = Array(db, [4], [1, 2, 3, 4])
        case.call(f"{name}_columns", [a, scale(0.02), za, b, columns, zeros, term, scale(0.4), zy], da)
        case.call(f"{name}_real", [a, scale(0.02), za, b, columns, zeros, term], alpha=1.0)
        case.call(f"{name}_alpha", [a, scale(0.02), za, b, scale(0.03), zb], alpha=0.5)
    return case


def matmul_integer_to_float() -> Case:
    case = Case("MatMulIntegerToFloat")
    for da, db in [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")]:
        name = f"{da}_{db}"
        a = case.feed(case.numbers.ints(da, 2, 3, 5))
        b = case.numbers.ints(db, 5, 4)
        many = case.numbers.ints(db, 2, 5, 4)
        bias = case.numbers.reals(4)
        columns = f32(0.01, 0.02, 0.03, 0.04)
        zeros = Array(db, [4], [1, 2, 3, 4])
        case.call(f"{name}_plain", [a, b, scale(0.02), scale(0.03)])
        case.call(f"{name}_zeros", [a, b, scale(0.02), scale(0.03), zero(da, 5), zero(db, 7), bias])
        case.call(f"{name}_columns", [a, b, f32(0.02), columns, zero(da, 5), zeros, bias])
        case.call(f"{name}_batch", [a, many, scale(0.02), scale(0.03), zero(da, 5), zero(db, 7)])
    return case


def dynamic_quantize_matmul() -> Case:
    case = Case("DynamicQuantizeMatMul")
    x = case.feed(case.numbers.reals(2, 3, 5))
    positive = case.feed(case.numbers.reals(3, 5, low=0.5, high=4.0))
    for db in ("int8", "uint8"):
        b = case.numbers.ints(db, 5, 4)
        bias = case.numbers.reals(4)
        columns = f32(0.01, 0.02, 0.03, 0.04)
        zeros = Array(db, [4], [1, 2, 3, 4])
        case.call(f"{db}_plain", [x, b, scale(0.03)])
        case.call(f"{db}_zeros", [x, b, scale(0.03), zero(db, 7), bias])
        case.call(f"{db}_columns", [x, b, columns, zeros, bias])
        case.call(f"{db}_positive", [positive, b, scale(0.03), zero(db, 7)])
    return case


def matmul_nbits() -> Case:
    case = Case("MatMulNBits")
    for bits in (2, 4, 8):
        for k, n, block in [(32, 3, 16), (40, 4, 32), (64, 5, 64)]:
            blocks = (k + block - 1) // block
            name = f"bits{bits}_{k}_{block}"
            x = case.feed(case.numbers.reals(2, 2, k))
            b = case.numbers.ints("uint8", n, blocks, block * bits // 8)
            scales = case.numbers.reals(n, blocks, low=0.01, high=0.1)
            shape = {"K": k, "N": n, "bits": bits, "block_size": block, "accuracy_level": 1}
            case.call(name, [x, b, scales], **shape)
            zeros = case.numbers.ints("uint8", n, (blocks * bits + 7) // 8)
            case.call(f"{name}_zeros", [x, b, scales, zeros], **shape)
            case.call(f"{name}_bias", [x, b, scales, zeros, None, case.numbers.reals(n)], **shape)
            flat = Array("float32", [n * blocks], scales.values)
            case.call(f"{name}_flat", [x, b, flat, Array("uint8", [len(zeros.values)], zeros.values)], **shape)
            reals = case.numbers.reals(n, blocks, low=3.0, high=9.0)
            if bits < 8:
                case.call(f"{name}_real_zeros", [x, b, scales, reals], **shape)
    return case


def fused_matmul() -> Case:
    case = Case("FusedMatMul")
    a = case.feed(case.numbers.reals(2, 3, 4))
    square = case.feed(case.numbers.reals(3, 2, 5, 4))
    case.call("plain", [a, case.numbers.reals(4, 5)], alpha=0.5)
    case.call("trans_a", [a, case.numbers.reals(2, 3, 5)], transA=1)
    case.call("trans_b", [a, case.numbers.reals(2, 5, 4)], transB=1, alpha=2.0)
    case.call("both", [a, case.numbers.reals(5, 3)], transA=1, transB=1)
    case.call("batch_a", [square, case.numbers.reals(2, 5, 4, 3)], transBatchA=1)
    case.call("batch_b", [case.numbers.reals(2, 5, 3, 4), square], transBatchB=1, transB=1)
    case.call("batch_both", [square, case.numbers.reals(6, 2, 5, 4)], transBatchA=1, transBatchB=1, transB=1)
    case.call("batch_turned", [square, case.numbers.reals(2, 5, 3, 7)], transBatchA=1, transA=1)
    case.call("vector", [a, case.numbers.reals(4)], transB=1)
    case.call("row", [case.numbers.reals(3), a], transA=1)
    return case


ACTIVATIONS = [("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.25]), ("HardSigmoid", [0.3, 0.4])]


def fused_gemm() -> Case:
    case = Case("FusedGemm")
    a = case.feed(case.numbers.reals(3, 5))
    b, term = case.numbers.reals(5, 4), case.numbers.reals(4)
    for name, values in [*ACTIVATIONS, ("Elu", [0.7]), ("Celu", [0.5]), ("Softplus", []), ("Softsign", []),
                         ("ThresholdedRelu", [0.6]), ("ScaledTanh", [0.5, 0.7]), ("ParametricSoftplus", [0.5, 0.7])]:
        more = dict(zip(("activation_alpha", "activation_beta"), values))
        case.call(name, [a, b, term], activation=name, **more)
    case.call("Selu", [a, b, term], activation="Selu", activation_alpha=1.6, activation_gamma=1.1)
    case.call("scaled", [a, b, term], activation="Relu", alpha=0.5, beta=2.0)
    at, bt, matrix = case.numbers.reals(5, 3), case.numbers.reals(4, 5), case.numbers.reals(3, 1)
    case.call("turned", [at, bt, matrix], activation="Tanh", transA=1, transB=1)
    case.call("no_term", [a, b], activation="Sigmoid")
    return case


def fused_conv() -> Case:
    case = Case("FusedConv")
    x = case.feed(case.numbers.reals(1, 4, 6, 5))
    w, bias = case.numbers.reals(6, 4, 3, 3), case.numbers.reals(6)
    z = case.feed(case.numbers.reals(1, 6, 6, 5))
    for name, values in [*ACTIVATIONS, ("Clip", [-0.5, 1.5])]:
        more = {"activation_params": values} if values else {}
        case.call(name, [x, w, bias], activation=name, pads=[1, 1, 1, 1], **more)
    case.call("added", [x, w, bias, z], activation="Relu", pads=[1, 1, 1, 1])
    case.call("added_only", [x, w, None, z], pads=[1, 1, 1, 1])
    case.call("groups", [x, case.numbers.reals(6, 2, 3, 2)], activation="Relu", group=2, strides=[2, 1], dilations=[1, 2])
    case.call("same", [x, w, bias], activation="Tanh", auto_pad="SAME_LOWER", strides=[2, 2], kernel_shape=[3, 3])
    case.call("line", [case.numbers.reals(2, 3, 9), case.numbers.reals(4, 3, 4)], activation="Relu")
    return case


# ---- Activations and normalisations ------------------------------------------------------------------------

def gelu(name: str) -> Case:
    case = Case(name)
    x = case.feed(case.numbers.reals(2, 3, 8, low=-5.0, high=5.0))
    bias = case.numbers.reals(8)
    if name == "BiasGelu":
        case.call("bias", [x, bias])
        case.call("matrix", [case.numbers.reals(5, 8), bias])
        return case
    case.call("plain", [x])
    if name == "FastGelu":
        case.call("bias", [x, bias])
    if name == "QuickGelu":
        case.call("alpha", [x], alpha=1.0)
        case.call("negative", [x], alpha=-0.5)
    return case


def skip_layer_normalization(name: str) -> Case:
    case = Case(name)
    simple = name == "SkipSimplifiedLayerNormalization"
    x, skip = case.feed(case.numbers.reals(2, 3, 8)), case.feed(case.numbers.reals(2, 3, 8))
    gamma, beta, bias = (case.numbers.reals(8) for _ in range(3))
    end = [] if simple else [beta]
    case.call("plain", [x, skip, gamma, *end])
    case.call("bias", [x, skip, gamma, *end, bias], epsilon=0.01)
    case.call("sum", [x, skip, gamma, *end, bias], ["float32", None, None, "float32"])
    case.call("sum_only", [x, skip, gamma], ["float32", None, None, "float32"], epsilon=1e-5)
    case.call("rows", [case.numbers.reals(5, 8), case.numbers.reals(5, 8), gamma, *end])
    case.call("one_batch", [x, case.numbers.reals(1, 3, 8), gamma, *end])
    case.call("no_batch", [x, case.numbers.reals(3, 8), gamma, *end])
    return case


def simplified_layer_normalization() -> Case:
    case = Case("SimplifiedLayerNormalization", domain="")
    x = case.feed(case.numbers.reals(2, 3, 8))
    case.call("plain", [x, case.numbers.reals(8)])
    case.call("epsilon", [x, case.numbers.reals(8)], epsilon=0.01, axis=2, stash_type=1)
    case.call("two_axes", [x, case.numbers.reals(3, 8)], axis=1)
    case.call("deviation", [x, case.numbers.reals(8)], ["float32", "float32"])
    return case


def embed_layer_normalization() -> Case:
    case = Case("EmbedLayerNormalization")
    ids = case.feed(case.numbers.ints("int32", 2, 4, low=0, high=9))
    segments = case.feed(case.numbers.ints("int32", 2, 4, low=0, high=1))
    places = case.feed(case.numbers.ints("int32", 2, 4, low=0, high=5))
    mask = case.feed(Array("int32", [2, 4], [1, 1, 1, 0, 1, 0, 0, 0]))
    words, positions, kinds = (case.numbers.reals(n, 8) for n in (10, 6, 2))
    gamma, beta = case.numbers.reals(8), case.numbers.reals(8)
    end = [gamma, beta]
    case.call("plain", [ids, segments, words, positions, kinds, *end], ["float32", "int32"])
    case.call("mask", [ids, segments, words, positions, kinds, *end, mask], ["float32", "int32"], epsilon=0.01)
    case.call("no_segments", [ids, None, words, positions, None, *end, mask], ["float32", "int32"])
    case.call("places", [ids, segments, words, positions, kinds, *end, None, places], ["float32", "int32"])
    one = Array("int32", [1, 4], [5, 0, 2, 2])
    case.call("one_row", [ids, None, words, positions, None, *end, mask, one], ["float32", "int32", "float32"])
    return case


# ---- Attention ---------------------------------------------------------------------------------------------

def i32(shape: list, *values) -> Array:
    return Array("int32", shape, values)


def attention() -> Case:
    case = Case("Attention")
    x = case.feed(case.numbers.reals(2, 3, 6))
    w = case.feed(case.numbers.reals(6, 24))
    bias = case.numbers.reals(24)
    past = case.feed(case.numbers.reals(2, 2, 2, 4, 4))
    both = ["float32", "float32"]
    case.call("plain", [x, w, bias], num_heads=2)
    case.call("heads", [x, w, bias], num_heads=4)
    case.call("scale", [x, w, bias], num_heads=2, scale=0.3)
    case.call("causal", [x, w, bias], num_heads=2, unidirectional=1)
    case.call("keys", [x, w, bias, i32([2, 3], 1, 1, 0, 0, 1, 1)], num_heads=2)
    case.call("all_masked", [x, w, bias, i32([2, 3], 1, 1, 0, 0, 0, 0)], num_heads=2, mask_filter_value=-50.0)
    case.call("queries", [x, w, bias, i32([2, 3, 3], 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 1)], num_heads=2)
    case.call("lengths", [x, w, bias, i32([2], 2, 3)], num_heads=2)
    case.call("spans", [x, w, bias, i32([4], 3, 2, 1, 0)], num_heads=2)
    case.call("causal_keys", [x, w, bias, i32([2, 3], 1, 1, 0, 0, 1, 1)], num_heads=2, unidirectional=1,
              mask_filter_value=-1000.0)
    case.call("bias", [x, w, bias, None, None, case.numbers.reals(2, 2, 3, 3)], num_heads=2)
    case.call("bias_shared", [x, w, bias, i32([2, 3], 1, 1, 0, 0, 1, 1), None, case.numbers.reals(1, 1, 3, 3)],
              num_heads=2)
    case.call("sizes", [x, case.numbers.reals(6, 20), case.numbers.reals(20)], num_heads=2, qkv_hidden_sizes=[8, 8, 4])
    case.call("present", [x, w, bias], both, num_heads=2)
    case.call("past", [x, w, bias, None, past], both, num_heads=2)
    case.call("past_causal", [x, w, bias, None, past], both, num_heads=2, unidirectional=1)
    keys = i32([2, 7], 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0)
    case.call("past_keys", [x, w, bias, keys, past], both, num_heads=2, unidirectional=1)
    return case


def multi_head_attention() -> Case:
    case = Case("MultiHeadAttention")
    q, k, v = (case.feed(case.numbers.reals(2, n, 8)) for n in (3, 5, 5))
    values = case.numbers.reals(2, 5, 4)
    past_k, past_v = case.feed(case.numbers.reals(2, 2, 3, 4)), case.feed(case.numbers.reals(2, 2, 3, 4))
    bias = case.numbers.reals(24)
    mask = i32([2, 5], 1, 1, 1, 0, 1, 0, 1, 1, 1, 1)
    three = ["float32", "float32", "float32"]
    case.call("plain", [q, k, v], num_heads=2)
    case.call("bias", [q, k, v, bias], num_heads=4)
    case.call("narrow", [q, k, values, case.numbers.reals(20)], num_heads=2, scale=0.2)
    case.call("keys", [q, k, v, bias, mask], num_heads=2)
    case.call("filter", [q, k, v, bias, mask], num_heads=2, mask_filter_value=-2.5)
    case.call("lengths", [q, k, v, None, i32([2], 2, 5)], num_heads=2)
    grid = i32([2, 3, 5], *(case.numbers.next(3) for _ in range(30)))
    case.call("queries", [q, k, v, None, grid], num_heads=2)
    case.call("added", [q, k, v, bias, None, case.numbers.reals(2, 2, 3, 5)], num_heads=2)
    case.call("added_shared", [q, k, v, None, mask, case.numbers.reals(1, 2, 3, 5)], num_heads=2)
    case.call("added_one", [q, k, v, None, None, case.numbers.reals(2, 1, 3, 5)], num_heads=2)
    case.call("self_causal", [q, q, q, bias], num_heads=2, unidirectional=1)
    case.call("ready", [q, past_k, past_v], num_heads=2)
    case.call("ready_bias", [q, past_k, past_v, bias], num_heads=2)
    case.call("present", [q, k, v, bias], three, num_heads=2)
    case.call("past", [q, q, q, None, None, None, past_k, past_v], three, num_heads=2)
    case.call("past_causal", [q, q, q, bias, None, None, past_k, past_v], three, num_heads=2, unidirectional=1)
    wide = i32([2, 6], 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1)
    case.call("past_keys", [q, q, q, bias, wide, case.numbers.reals(1, 1, 3, 6), past_k, past_v], three, num_heads=2)
    return case


def together(parts: list, heads: int) -> Array:
    """Tensors of (batch, positions, heads * channels) side by side: (batch, positions, heads, parts, channels)."""
    batch, length, size = parts[0].shape
    channels = size // heads
    values = []
    for row in range(batch * length * heads):
        for part in parts:
            values += part.values[row * channels:(row + 1) * channels]
    return Array("float32", [batch, length, heads, len(parts), channels], values)


def packed_multi_head_attention() -> Case:
    """ONNX Runtime has no packed forms on CPUs: it is given the same numbers in three tensors."""
    case, twin = Case("MultiHeadAttention"), Case("MultiHeadAttention")
    case.folder, case.twin = "MultiHeadAttention_packed", twin
    q, k, v = (case.numbers.reals(2, 3, 8) for _ in range(3))
    far_k, far_v = (case.numbers.reals(2, 5, 8) for _ in range(2))
    bias, mask = case.numbers.reals(24), i32([2, 3], 1, 1, 0, 0, 1, 1)
    x = case.feed(q)
    case.call("all", [together([q, k, v], 2)], num_heads=2)
    case.call("all_bias", [together([q, k, v], 2), None, None, bias, mask], num_heads=2, unidirectional=1)
    case.call("pairs", [x, together([far_k, far_v], 2)], num_heads=2)
    twin.feed(q)
    twin.call("all", [q, k, v], num_heads=2)
    twin.call("all_bias", [q, k, v, bias, mask], num_heads=2, unidirectional=1)
    twin.call("pairs", [x, far_k, far_v], num_heads=2)
    return case


def angles(case: Case, count: int, half: int) -> list:
    turns = [p / 3.0 ** i for p in range(count) for i in range(half)]
    return [Array("float32", [count, half], [f(t) for t in turns]) for f in (math.cos, math.sin)]


def rotary_embedding() -> Case:
    case = Case("RotaryEmbedding")
    flat, heads = case.feed(case.numbers.reals(2, 3, 16)), case.feed(case.numbers.reals(2, 2, 3, 8))
    whole, part = angles(case, 10, 4), angles(case, 10, 2)
    each, first = Array("int64", [2, 3], [0, 4, 2, 9, 1, 5]), Array("int64", [1], [3])
    for mode in (0, 1):
        name = "interleaved_" if mode else "halves_"
        case.call(f"{name}flat", [flat, each, *whole], interleaved=mode)
        case.call(f"{name}heads", [heads, each, *whole], interleaved=mode)
        case.call(f"{name}first", [flat, first, *whole], interleaved=mode)
        case.call(f"{name}part", [heads, each, *part], interleaved=mode, rotary_embedding_dim=4, num_heads=2)
        case.call(f"{name}flat_part", [flat, first, *part], interleaved=mode, rotary_embedding_dim=4, num_heads=2)
    return case


def group_query_attention() -> Case:
    case = Case("GroupQueryAttention")
    three = ["float32", "float32", "float32"]
    kinds = {"num_heads": 4, "kv_num_heads": 2}
    cache = angles(case, 12, 8)

    def prompt(batch: int, length: int) -> list:
        return [case.numbers.reals(batch, length, n * 16, low=-1.0, high=1.0) for n in (4, 2, 2)]

    first = [case.feed(each) for each in prompt(2, 4)]
    whole = [None, None, i32([2], 3, 3), i32([1], 4)]
    ragged = [None, None, i32([2], 3, 1), i32([1], 4)]
    case.call("prompt", [*first, *whole], three, **kinds)
    case.call("ragged", [*first, *ragged], three, **kinds)
    case.call("scale", [*first, *whole], three, scale=0.5, **kinds)
    case.call("packed", [case.numbers.reals(2, 4, 128), None, None, *whole], three, **kinds)
    case.call("rotary", [*first, *whole, *cache], three, do_rotary=1, **kinds)
    case.call("interleaved", [*first, *whole, *cache], three, do_rotary=1, rotary_interleaved=1, **kinds)
    case.call("window", [*first, *whole], three, local_window_size=2, **kinds)
    case.call("cap", [*first, *whole], three, softcap=1.5, **kinds)
    case.call("smooth", [*first, *whole], three, smooth_softmax=1, **kinds)
    case.call("sink", [*first, *whole, None, None, None, None, case.numbers.reals(4)], three, **kinds)
    case.call("bias", [*first, *whole, None, None, None, case.numbers.reals(2, 4, 4, 4)], three, **kinds)
    case.call("bias_cap", [*first, *whole, None, None, None, case.numbers.reals(1, 1, 4, 4)], three, softcap=1.5, **kinds)
    case.call("both_ways", [*first, *whole], three, causal=0, **kinds)

    step = [case.feed(each) for each in prompt(2, 1)]
    past = [case.feed(case.numbers.reals(2, 2, 5, 16)) for _ in range(2)]
    last = [*past, i32([2], 5, 5), i32([1], 6)]
    uneven = [*past, i32([2], 5, 2), i32([1], 6)]
    case.call("step", [*step, *last], three, **kinds)
    case.call("step_uneven", [*step, *uneven], three, **kinds)
    case.call("step_rotary", [*step, *uneven, *cache], three, do_rotary=1, **kinds)
    places = Array("int64", [2, 1], [7, 3])
    case.call("step_places", [*step, *uneven, *cache, places], three, do_rotary=1, **kinds)
    case.call("step_window", [*step, *last], three, local_window_size=3, **kinds)
    case.call("step_packed", [case.numbers.reals(2, 1, 128), None, None, *uneven, *cache], three, do_rotary=1, **kinds)
    case.call("step_bias", [*step, *uneven, None, None, None, case.numbers.reals(2, 4, 1, 6)], three, **kinds)
    case.call("step_sink", [*step, *uneven, None, None, None, None, case.numbers.reals(4)], three, softcap=2.0, **kinds)

    room = [case.feed(case.numbers.reals(2, 2, 8, 16)) for _ in range(2)]
    case.call("buffer", [*step, *room, i32([2], 5, 2), i32([1], 6)], three, **kinds)
    case.call("buffer_bias", [*step, *room, i32([2], 5, 2), i32([1], 6), None, None, None, case.numbers.reals(1, 4, 1, 6)],
              three, **kinds)
    case.call("buffer_prompt", [*first, *room, i32([2], 3, 3), i32([1], 4)], three, **kinds)
    wide = [case.numbers.reals(1, 3, n * 32, low=-1.0, high=1.0) for n in (4, 2, 2)]
    case.call("rotary_part", [*wide, None, None, i32([1], 2), i32([], 3), *cache], three, do_rotary=1, **kinds)
    case.call("rotary_places", [*first, *whole, *cache, Array("int64", [2, 4], [2, 3, 4, 5, 1, 2, 3, 4])], three,
              do_rotary=1, **kinds)

    more = [case.feed(each) for each in prompt(1, 3)]
    one = [case.feed(case.numbers.reals(1, 2, 5, 16)) for _ in range(2)]
    case.call("chunk", [*more, *one, i32([1], 7), i32([1], 8)], three, **kinds)
    case.call("chunk_rotary", [*more, *one, i32([1], 7), i32([1], 8), *cache], three, do_rotary=1, **kinds)
    case.call("chunk_window", [*more, *one, i32([1], 7), i32([1], 8)], three, local_window_size=3, **kinds)
    return case


def in_half(whole: Case, *variants: str) -> Case:
    """Some variants of a case in half precision. What normalisations divided by stays in f32."""
    case = Case(whole.name, whole.domain)
    case.folder = f"../com_microsoft_half/{whole.name}"
    fed = {name: case.feed(array.half()) for name, array in whole.fed}
    for variant, inputs, results, attributes in whole.calls:
        if variant in variants:
            given = [i.half() if isinstance(i, Array) else fed.get(i) for i in inputs]
            keep = "float32" if whole.name == "SimplifiedLayerNormalization" else "float16"
            types = ["float16", *(keep for _ in results[1:])]
            case.call(variant, given, types, **attributes)
    return case


CASES = [
    lambda: two_operands("QLinearAdd"), lambda: two_operands("QLinearMul"), qlinear_concat,
    lambda: one_operand("QLinearSigmoid", 1 / 256), qlinear_leaky_relu, qlinear_softmax, qlinear_average_pool,
    qlinear_global_average_pool, quantize_linear, dequantize_linear, qgemm, matmul_integer_to_float,
    dynamic_quantize_matmul, matmul_nbits, fused_matmul, fused_gemm, fused_conv,
    lambda: gelu("Gelu"), lambda: gelu("FastGelu"), lambda: gelu("QuickGelu"), lambda: gelu("BiasGelu"),
    lambda: skip_layer_normalization("SkipLayerNormalization"),
    lambda: skip_layer_normalization("SkipSimplifiedLayerNormalization"),
    simplified_layer_normalization, embed_layer_normalization, attention, multi_head_attention,
    packed_multi_head_attention, rotary_embedding, group_query_attention,
    lambda: in_half(matmul_nbits(), "bits4_32_16_bias", "bits4_40_32_zeros"),
    lambda: in_half(simplified_layer_normalization(), "plain", "deviation"),
    lambda: in_half(skip_layer_normalization("SkipSimplifiedLayerNormalization"), "plain", "bias"),
    lambda: in_half(group_query_attention(), "packed", "step_rotary", "chunk_window"),
    lambda: in_half(multi_head_attention(), "keys", "past_causal"),
    lambda: in_half(rotary_embedding(), "halves_flat", "interleaved_heads"),
]

if __name__ == "__main__":
    cases = [make() for make in CASES]
    if sys.argv[1:] == ["--print"]:
        print(json.dumps([case.described() for case in cases]))
    else:
        for case in cases:
            case.write()
