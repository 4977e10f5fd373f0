# SPDX-License-Identifier: Apache-2.0
"""Draws models of one operator or a short chain, with shapes as networks have them. The same seed
gives the same models; the n-th model of a class does not depend on how many models are drawn."""
import math
import random

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Graph:
    """A model under construction. Values are names of tensors."""

    def __init__(self, seed: str):
        self.random = np.random.default_rng(sum(map(ord, seed)))
        self.nodes, self.constants, self.inputs, self.count = [], [], [], 0

    def input(self, *shape: int, type: int = TensorProto.FLOAT) -> str:
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, type, list(shape)))
        return name

    def constant(self, values) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def weights(self, *shape: int, low: float = -1.0, high: float = 1.0) -> str:
        return self.constant(self.random.uniform(low, high, shape).astype(np.float32))

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, dtype=np.int64))

    def op(self, kind: str, *inputs: str, **attributes) -> str:
        self.count += 1
        self.nodes.append(helper.make_node(kind, list(inputs), [f"t{self.count}"], **attributes))
        return f"t{self.count}"

    def model(self, *outputs: str):
        results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "sweep", self.inputs, results, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 8
        return model


# ---- Classes -------------------------------------------------------------------------------------
# A class draws one model: it fills the graph and returns a short description and the output.

CHANNELS = [16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 256, 320, 384, 512]
SIDES = [7, 10, 13, 14, 16, 19, 20, 26, 28, 32, 38, 40, 52, 56, 64, 80, 96, 112, 128, 160, 224, 256]


def fitting(draw, choices: list, cost, low: float, high: float):
    """A random choice whose cost is in the range, or the nearest one."""
    good = [choice for choice in choices if low <= cost(choice) <= high]
    if good:
        return draw.choice(good)
    return min(choices, key=lambda choice: abs(math.log(cost(choice) / math.sqrt(low * high))))


def activation(draw, g: Graph, x: str) -> tuple[str, str]:
    kind = draw.choice(["", "", "Relu", "Relu", "Sigmoid", "HardSwish", "Clip"])
    if not kind:
        return "", x
    if kind == "Clip":
        bounds = [g.constant(np.float32(0)), g.constant(np.float32(6))]
        return " clip", g.op("Clip", x, *bounds)
    return f" {kind.lower()}", g.op(kind, x)


def convolution(draw, g: Graph, cin: int, cout: int, sides: list[int], kernel: list[int], stride: int = 1,
                dilation: int = 1, groups: int = 1, x: str = "") -> tuple[str, str]:
    rank = len(kernel)
    x = x or g.input(1, cin, *sides)
    pads = [dilation * (k - 1) // 2 for k in kernel]
    w = g.weights(cout, cin // groups, *kernel)
    y = g.op("Conv", x, w, g.weights(cout), kernel_shape=kernel, strides=[stride] * rank,
             dilations=[dilation] * rank, pads=pads * 2, group=groups)
    text = f"{cin}->{cout} {'x'.join(map(str, sides))} k{'x'.join(map(str, kernel))}"
    text += f" s{stride}" if stride > 1 else ""
    text += f" d{dilation}" if dilation > 1 else ""
    return text + (f" g{groups}" if groups > 1 else ""), y


def conv2d(draw, g):
    cin, cout = draw.choice(CHANNELS), draw.choice(CHANNELS)
    k = draw.choice([1, 1, 1, 3, 3, 3, 3, 5, 7])
    stride = draw.choice([1, 1, 1, 2])
    dilation = draw.choice([1, 1, 1, 1, 2]) if k == 3 and stride == 1 else 1
    side = fitting(draw, SIDES, lambda n: cin * cout * k * k * (n / stride) ** 2, 1e7, 2e8)
    text, y = convolution(draw, g, cin, cout, [side, side], [k, k], stride, dilation)
    name, y = activation(draw, g, y)
    return text + name, y


def conv_first(draw, g):
    cin, cout = draw.choice([1, 1, 2, 3, 3, 3, 4, 6]), draw.choice([8, 12, 16, 24, 32, 48, 64, 96])
    k, stride = draw.choice([(3, 1), (3, 2), (3, 2), (4, 4), (5, 2), (7, 2), (7, 1), (16, 16)])
    side = draw.choice([96, 128, 160, 192, 224, 256])
    text, y = convolution(draw, g, cin, cout, [side, side], [k, k], stride)
    name, y = activation(draw, g, y)
    return text + name, y


def conv_few(draw, g):
    cin = draw.choice([1, 3, 4, 8, 12, 16, 24, 32, 48, 64])
    cout = draw.choice([1, 1, 2, 3, 3, 4, 4, 6, 8, 12])
    k = draw.choice([1, 3, 3, 3, 5, 9])
    side = fitting(draw, SIDES[8:], lambda n: cin * cout * k * k * n * n, 2e6, 8e7)
    text, y = convolution(draw, g, cin, cout, [side, side], [k, k])
    name, y = activation(draw, g, y)
    return text + name, y


def conv1d(draw, g):
    cin, cout = draw.choice([1, 16, 32, 64, 80, 128, 256]), draw.choice([1, 16, 32, 64, 128, 256])
    k, stride = draw.choice([(1, 1), (3, 1), (3, 2), (5, 1), (7, 1), (8, 4), (10, 5), (25, 1)])
    dilation = draw.choice([1, 1, 2, 8]) if stride == 1 else 1
    length = fitting(draw, [250, 500, 800, 1000, 3000, 8000, 16000], lambda n: cin * cout * k * n / stride, 5e6, 1e8)
    text, y = convolution(draw, g, cin, cout, [length], [k], stride, dilation)
    name, y = activation(draw, g, y)
    return text + name, y


def conv3d(draw, g):
    cin, cout = draw.choice([1, 3, 8, 16, 32, 64]), draw.choice([3, 8, 16, 32, 64])
    kernel = draw.choice([[3, 3, 3], [3, 3, 3], [1, 3, 3], [3, 1, 1], [1, 1, 1], [3, 7, 7]])
    stride = draw.choice([1, 1, 2])
    taps = math.prod(kernel)
    side = fitting(draw, [8, 12, 16, 20, 24, 32, 40, 48], lambda n: cin * cout * taps * (n / stride) ** 3, 1e7, 1.5e8)
    text, y = convolution(draw, g, cin, cout, [side, side, side], kernel, stride)
    name, y = activation(draw, g, y)
    return text + name, y


def grouped(draw, g):
    groups = draw.choice([2, 2, 3, 4, 8, 16, 32])
    each_in, each_out = draw.choice([4, 8, 8, 16, 24, 32, 60]), draw.choice([4, 8, 8, 16, 24, 32, 60])
    k, stride = draw.choice([(1, 1), (3, 1), (3, 1), (3, 2), (5, 1)])
    cost = lambda n: groups * each_in * each_out * k * k * (n / stride) ** 2
    side = fitting(draw, SIDES, cost, 5e6, 1e8)
    text, y = convolution(draw, g, groups * each_in, groups * each_out, [side, side], [k, k], stride, groups=groups)
    name, y = activation(draw, g, y)
    return text + name, y


def depthwise(draw, g):
    channels = draw.choice([*CHANNELS, 72, 144, 240, 480, 672, 960])
    k, stride = draw.choice([(3, 1), (3, 1), (3, 2), (5, 1), (5, 2), (7, 1)])
    multiplier = draw.choice([1, 1, 1, 1, 1, 2])
    side = fitting(draw, SIDES, lambda n: channels * n * n, 1e5, 1.5e6)
    text, y = convolution(draw, g, channels, channels * multiplier, [side, side], [k, k], stride, groups=channels)
    name, y = activation(draw, g, y)
    return text + name, y


def depthwise_1d_3d(draw, g):
    channels = draw.choice([32, 64, 96, 128, 256])
    kernel, sides = draw.choice([([3], [2000]), ([31], [500]), ([9], [1000]), ([3, 3, 3], [16, 16, 16]), ([5, 3, 3], [8, 28, 28])])
    return convolution(draw, g, channels, channels, sides, kernel, groups=channels)


def inverted(draw, g):
    """Expansion, depthwise convolution, projection, as in MobileNet."""
    cin, factor = draw.choice([16, 24, 32, 40, 64, 96]), draw.choice([3, 4, 6])
    k, stride = draw.choice([(3, 1), (3, 2), (5, 1)])
    wide = cin * factor
    side = fitting(draw, SIDES, lambda n: 2 * cin * wide * n * n, 1e7, 1e8)
    act = draw.choice(["Relu", "HardSwish"])
    text, y = convolution(draw, g, cin, wide, [side, side], [1, 1])
    _, y = convolution(draw, g, wide, wide, [side, side], [k, k], stride, groups=wide, x=g.op(act, y))
    _, y = convolution(draw, g, wide, cin, [side, side], [1, 1], x=g.op(act, y))
    if stride == 1:
        y = g.op("Add", y, "x0")
    return f"{text} dw{k} s{stride} {act.lower()}", y


def transposed(draw, g):
    cin, cout = draw.choice([8, 16, 32, 64, 128, 256]), draw.choice([1, 3, 8, 16, 21, 32, 64, 128])
    k, stride, pad = draw.choice([(2, 2, 0), (3, 2, 1), (4, 2, 1), (4, 2, 1), (4, 4, 0), (8, 4, 2), (16, 8, 4), (32, 16, 8), (3, 1, 1)])
    side = fitting(draw, [7, 8, 10, 14, 16, 20, 28, 32, 40, 56, 64, 112], lambda n: cin * cout * k * k * n * n, 5e6, 1e8)
    x = g.input(1, cin, side, side)
    y = g.op("ConvTranspose", x, g.weights(cin, cout, k, k), g.weights(cout), kernel_shape=[k, k], strides=[stride] * 2, pads=[pad] * 4)
    return f"{cin}->{cout} {side}x{side} k{k} s{stride}", y


def transposed_1d_3d(draw, g):
    cin, cout = draw.choice([16, 32, 64, 128]), draw.choice([1, 8, 16, 32, 64])
    if draw.random() < 0.6:
        k, stride, sides = draw.choice([(16, 8, [200]), (4, 2, [1000]), (20, 10, [100]), (8, 4, [1000])])
    else:
        k, stride, sides = draw.choice([(2, 2, [12, 12, 12]), (4, 2, [8, 8, 8]), (3, 2, [10, 10, 10])])
    rank = len(sides)
    x = g.input(1, cin, *sides)
    w = g.weights(cin, cout, *[k] * rank)
    y = g.op("ConvTranspose", x, w, g.weights(cout), kernel_shape=[k] * rank, strides=[stride] * rank)
    return f"{cin}->{cout} {'x'.join(map(str, sides))} k{k} s{stride}", y


def matmul(draw, g):
    m = draw.choice([1, 4, 16, 49, 64, 100, 128, 196, 256, 384, 512])
    k, n = draw.choice([64, 128, 192, 256, 384, 512, 768, 1024, 2048, 3072]), draw.choice([10, 64, 128, 192, 256, 384, 512, 768, 1000, 1024, 2048, 3072])
    while m * k * n > 3e8 or (m * k * n < 1e6 and m > 1):
        m = max(1, m // 2) if m * k * n > 3e8 else m * 4
    y = g.op("Add", g.op("MatMul", g.input(m, k), g.weights(k, n)), g.weights(n))
    name, y = activation(draw, g, y)
    return f"{m}x{k} {k}x{n}{name}", y


def matmul_two(draw, g):
    """Both operands change with every run."""
    m, k, n = (draw.choice([32, 64, 100, 128, 196, 256, 384, 512]) for _ in range(3))
    a, b = g.input(m, k), g.input(k, n)
    if draw.random() < 0.3:
        return f"{m}x{k} {k}x{n} gemm", g.op("Gemm", a, g.op("Transpose", b, perm=[1, 0]), transB=1)
    return f"{m}x{k} {k}x{n}", g.op("MatMul", a, b)


def matvec(draw, g):
    k, n = draw.choice([256, 512, 768, 1024, 2048, 4096]), draw.choice([100, 256, 512, 768, 1000, 2048, 3072, 4096])
    batch = draw.choice([1, 1, 1, 2, 3])
    if draw.random() < 0.5:
        y = g.op("Gemm", g.input(batch, k), g.weights(n, k), g.weights(n), transB=1)
        return f"{batch}x{k} {k}x{n} gemm", y
    return f"{batch}x{k} {k}x{n}", g.op("MatMul", g.input(batch, k), g.weights(k, n))


def batched(draw, g):
    m, k, n = (draw.choice([3, 4, 7, 8, 12, 16, 24, 32, 49, 64]) for _ in range(3))
    batch = fitting(draw, [16, 32, 64, 96, 128, 256, 512, 1024, 2048], lambda b: b * m * k * n, 1e6, 3e7)
    x, z = g.input(batch, m, k), g.input(batch, k, n) if draw.random() < 0.7 else g.weights(batch, k, n)
    return f"{batch}x{m}x{k} {k}x{n}{' constant' if z[0] == 'c' else ''}", g.op("MatMul", x, z)


def pooling(draw, g):
    rank = draw.choice([1, 2, 2, 2, 2, 3])
    channels = draw.choice([16, 32, 64, 96, 128, 256, 512])
    sides = {1: [500, 1000, 4000], 2: SIDES, 3: [8, 16, 24, 32]}[rank]
    side = fitting(draw, sides, lambda n: channels * n**rank, 1e5, 2e6)
    x = g.input(1, channels, *[side] * rank)
    kind = draw.choice(["MaxPool", "MaxPool", "AveragePool", "AveragePool", "Global", "GlobalMax"])
    text = f"{channels} {'x'.join([str(side)] * rank)}"
    if kind.startswith("Global"):
        return f"global {kind[6:].lower()} {text}", g.op("GlobalAveragePool" if kind == "Global" else "GlobalMaxPool", x)
    k, stride, pad = draw.choice([(2, 2, 0), (2, 2, 0), (3, 2, 1), (3, 1, 1), (5, 1, 2), (3, 3, 0)])
    extra = {"count_include_pad": draw.choice([0, 1])} if kind == "AveragePool" else {}
    y = g.op(kind, x, kernel_shape=[k] * rank, strides=[stride] * rank, pads=[pad] * 2 * rank, **extra)
    return f"{kind[:3].lower()} {text} k{k} s{stride}", y


def layer_norm(draw, g):
    rows, width = draw.choice([1, 16, 49, 128, 196, 256, 512, 1024, 3136]), draw.choice([64, 96, 128, 192, 256, 384, 768, 1024, 4096])
    while rows * width > 2e6:
        rows //= 2
    while rows * width < 1.5e4:
        rows *= 2
    x = g.input(rows, width)
    kind = draw.choice(["layer", "layer", "rms", "l2", "parts"])
    if kind == "layer":
        y = g.op("LayerNormalization", x, g.weights(width), g.weights(width), axis=-1)
    elif kind == "parts":
        centred = g.op("Sub", x, g.op("ReduceMean", x, axes=[-1], keepdims=1))
        square = g.op("ReduceMean", g.op("Mul", centred, centred), axes=[-1], keepdims=1)
        root = g.op("Sqrt", g.op("Add", square, g.constant(np.float32(1e-5))))
        y = g.op("Add", g.op("Mul", g.op("Div", centred, root), g.weights(width)), g.weights(width))
    elif kind == "rms":
        square = g.op("ReduceMean", g.op("Mul", x, x), axes=[-1], keepdims=1)
        root = g.op("Sqrt", g.op("Add", square, g.constant(np.float32(1e-5))))
        y = g.op("Mul", g.op("Div", x, root), g.weights(width))
    else:
        y = g.op("Div", x, g.op("ReduceL2", x, axes=[-1], keepdims=1))
    return f"{kind} {rows}x{width}", y


def channel_norm(draw, g):
    channels = draw.choice([32, 64, 96, 128, 256])
    side = fitting(draw, SIDES, lambda n: channels * n * n, 1e5, 2e6)
    x = g.input(1, channels, side, side)
    text = f"{channels} {side}x{side}"
    kind = draw.choice(["instance", "instance", "group", "group", "batch", "lrn"])
    if kind == "instance":
        return f"instance {text}", g.op("InstanceNormalization", x, g.weights(channels), g.weights(channels))
    if kind == "group":
        groups = draw.choice([4, 8, 16, 32])
        flat = g.op("Reshape", x, g.ints(1, groups, -1))
        one, zero = g.constant(np.ones(groups, np.float32)), g.constant(np.zeros(groups, np.float32))
        y = g.op("Reshape", g.op("InstanceNormalization", flat, one, zero), g.ints(1, channels, side, side))
        y = g.op("Add", g.op("Mul", y, g.weights(channels, 1, 1)), g.weights(channels, 1, 1))
        return f"group{groups} {text}", y
    if kind == "batch":
        mean, spread = g.weights(channels), g.weights(channels, low=0.5)
        y = g.op("BatchNormalization", x, g.weights(channels), g.weights(channels), mean, spread)
        return f"batch {text}", g.op("Relu", y)
    return f"lrn {text}", g.op("LRN", x, size=5)


def attention(draw, g):
    heads, width = draw.choice([1, 3, 4, 6, 8, 12, 16]), draw.choice([32, 32, 64, 64, 80, 128])
    length = fitting(draw, [32, 49, 64, 77, 100, 128, 196, 197, 256, 384, 512], lambda n: 2 * heads * n * n * width, 4e6, 2e8)
    keys = draw.choice([length, length, length, 77])
    q, k, v = g.input(1, heads, length, width), g.input(1, heads, width, keys), g.input(1, heads, keys, width)
    scores = g.op("Mul", g.op("MatMul", q, k), g.constant(np.float32(width**-0.5)))
    mask = draw.choice(["", "", " add", " causal", " bool"])
    if mask == " add":
        scores = g.op("Add", scores, g.input(1, 1, 1, keys))
    elif mask == " causal":
        triangle = np.triu(np.full((length, keys), -1e9, np.float32), 1)
        scores = g.op("Add", scores, g.constant(triangle))
    elif mask == " bool":
        kept = g.input(1, 1, length, keys, type=TensorProto.BOOL)
        scores = g.op("Where", kept, scores, g.constant(np.float32(-1e9)))
    y = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
    return f"{heads}x{length}x{width} keys {keys}{mask}", y


def self_attention(draw, g):
    """With the projections and the transpositions of an encoder layer."""
    heads, width, length = draw.choice([(4, 32, 128), (8, 32, 196), (8, 64, 64), (12, 64, 64), (6, 64, 197), (2, 64, 256)])
    model = heads * width
    x = g.input(1, length, model)

    def part(perm):
        y = g.op("Add", g.op("MatMul", x, g.weights(model, model, low=-0.1, high=0.1)), g.weights(model))
        return g.op("Transpose", g.op("Reshape", y, g.ints(1, length, heads, width)), perm=perm)

    scores = g.op("Div", g.op("MatMul", part([0, 2, 1, 3]), part([0, 2, 3, 1])), g.constant(np.float32(width**0.5)))
    y = g.op("MatMul", g.op("Softmax", scores, axis=-1), part([0, 2, 1, 3]))
    y = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]), g.ints(1, length, model))
    return f"{heads}x{length}x{width}", g.op("Add", g.op("MatMul", y, g.weights(model, model)), x)


def resize(draw, g):
    channels = draw.choice([3, 16, 21, 32, 64, 128, 256])
    mode = draw.choice(["nearest", "nearest", "linear", "linear", "linear", "cubic"])
    factor = draw.choice([2, 2, 2, 4, 0.5, 1.5, 8])
    side = fitting(draw, SIDES, lambda n: channels * (n * max(factor, 1)) ** 2, 1e5, 3e6)
    out = int(side * factor)
    rule = draw.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
    if mode == "nearest":
        rule = draw.choice(["half_pixel", "asymmetric"])
    extra = {"nearest_mode": draw.choice(["floor", "round_prefer_floor"])} if mode == "nearest" else {}
    x = g.input(1, channels, side, side)
    y = g.op("Resize", x, "", "", g.ints(1, channels, out, out), mode=mode, coordinate_transformation_mode=rule, **extra)
    return f"{mode} {rule} {channels} {side}->{out}", y


def depth_space(draw, g):
    block = draw.choice([2, 2, 2, 3, 4])
    channels = draw.choice([1, 3, 4, 16, 32, 64])
    side = fitting(draw, SIDES, lambda n: channels * block * block * n * n, 1e5, 2e6)
    if draw.random() < 0.3:
        x = g.input(1, channels, side * block, side * block)
        return f"to depth {channels} {side * block} b{block}", g.op("SpaceToDepth", x, blocksize=block)
    mode = draw.choice(["DCR", "CRD"])
    x = g.input(1, channels * block * block, side, side)
    return f"{mode} {channels} {side} b{block}", g.op("DepthToSpace", x, blocksize=block, mode=mode)


def conv_shuffle(draw, g):
    """The end of a super-resolution network."""
    block, channels, cin = draw.choice([2, 3, 4]), draw.choice([1, 3, 16]), draw.choice([16, 32, 64])
    side = fitting(draw, SIDES, lambda n: 9 * cin * channels * (block * n) ** 2, 5e6, 1e8)
    text, y = convolution(draw, g, cin, channels * block * block, [side, side], [3, 3])
    return f"{text} b{block}", g.op("DepthToSpace", y, blocksize=block, mode="CRD")


def gather(draw, g):
    rows, width = draw.choice([128, 1000, 30522]), draw.choice([32, 64, 128, 256, 768])
    count = fitting(draw, [64, 128, 384, 512, 2048, 8192], lambda n: n * width, 5e4, 1e6)
    table = g.weights(rows, width)
    y = g.op("Gather", table, g.input(1, count, type=TensorProto.INT64))
    if draw.random() < 0.5:
        y = g.op("Add", g.op("Mul", y, g.constant(np.float32(8))), g.weights(1, count, width))
        return f"{count} of {rows}x{width} position", y
    return f"{count} of {rows}x{width}", y


def softmax(draw, g):
    width = draw.choice([10, 21, 49, 100, 197, 512, 1000, 4096, 32000, 50257, 131072])
    rows = fitting(draw, [1, 4, 16, 64, 196, 512, 1024, 4096, 16384], lambda n: n * width, 3e4, 1e6)
    kind = draw.choice(["Softmax", "Softmax", "LogSoftmax"])
    if draw.random() < 0.25:
        width, side = draw.choice([4, 10, 21, 80]), draw.choice([64, 128, 160])
        return f"{kind.lower()} channels {width} {side}x{side}", g.op(kind, g.input(1, width, side, side), axis=1)
    return f"{kind.lower()} {rows}x{width}", g.op(kind, g.input(rows, width), axis=-1)


UNARY = ["Relu", "Sigmoid", "Tanh", "Exp", "Neg", "Abs", "Sqrt", "HardSwish", "Erf", "Softplus", "Floor", "Elu", "LeakyRelu"]


def elementwise(draw, g):
    shape = draw.choice([(1, 64, 56, 56), (1, 96, 112, 112), (128, 768), (16, 128, 512), (1, 3, 320, 320), (500, 1000), (1, 7, 129, 131)])
    x = y = g.input(*shape)
    names = []
    for _ in range(draw.choice([1, 1, 2, 3, 5])):
        if draw.random() < 0.5:
            kind = draw.choice(UNARY)
            y = g.op(kind, g.op("Abs", y) if kind == "Sqrt" else y)
        else:
            kind = draw.choice(["Add", "Mul", "Sub", "Max", "Min", "Div"])
            other = draw.choice(["same", "channel", "last", "scalar"])
            extents = {"same": shape, "channel": [n if axis == 1 else 1 for axis, n in enumerate(shape)],
                       "last": shape[-1:], "scalar": []}[other]
            z = g.input(*shape) if other == "same" and len(g.inputs) < 3 else g.weights(*extents, low=0.5)
            y = g.op(kind, y, z)
            kind += f"/{other}"
        names.append(kind.lower())
    if y == x:
        y = g.op("Relu", y)
    return f"{'x'.join(map(str, shape))} {' '.join(names)}", y


def gelu(draw, g):
    rows, width = draw.choice([(128, 3072), (196, 1536), (64, 1024), (1024, 256)])
    x = g.input(rows, width)
    half = g.constant(np.float32(0.5))
    if draw.random() < 0.5:
        y = g.op("Erf", g.op("Div", x, g.constant(np.float32(2**0.5))))
        return f"erf {rows}x{width}", g.op("Mul", g.op("Mul", x, g.op("Add", y, g.constant(np.float32(1)))), half)
    cube = g.op("Mul", g.op("Pow", x, g.constant(np.float32(3))), g.constant(np.float32(0.044715)))
    y = g.op("Tanh", g.op("Mul", g.op("Add", x, cube), g.constant(np.float32(0.7978846))))
    return f"tanh {rows}x{width}", g.op("Mul", g.op("Mul", x, g.op("Add", y, g.constant(np.float32(1)))), half)


def norm_conv(draw, g):
    """Batch normalisation and activation before a convolution, as in DenseNet."""
    cin, cout, k = draw.choice([32, 64, 96, 128, 256, 512]), draw.choice([16, 32, 48, 128]), draw.choice([1, 1, 3])
    side = fitting(draw, SIDES, lambda n: cin * cout * k * k * n * n, 1e7, 1e8)
    mean, spread = g.weights(cin), g.weights(cin, low=0.5)
    y = g.op("BatchNormalization", g.input(1, cin, side, side), g.weights(cin), g.weights(cin), mean, spread)
    text, y = convolution(draw, g, cin, cout, [side, side], [k, k], x=g.op("Relu", y))
    return text, y


def residual(draw, g):
    """Two convolutions and a shortcut."""
    channels = draw.choice([16, 32, 64, 128])
    side = fitting(draw, SIDES, lambda n: 18 * channels**2 * n * n, 2e7, 2e8)
    text, y = convolution(draw, g, channels, channels, [side, side], [3, 3])
    _, y = convolution(draw, g, channels, channels, [side, side], [3, 3], x=g.op("Relu", y))
    return text, g.op("Relu", g.op("Add", y, "x0"))


def squeeze_excite(draw, g):
    channels = draw.choice([32, 64, 96, 144, 240, 480])
    side = fitting(draw, SIDES, lambda n: channels * n * n, 5e4, 1e6)
    x = g.input(1, channels, side, side)
    y = g.op("GlobalAveragePool", x)
    _, y = convolution(draw, g, channels, channels // 4, [1, 1], [1, 1], x=y)
    _, y = convolution(draw, g, channels // 4, channels, [1, 1], [1, 1], x=g.op("Relu", y))
    return f"{channels} {side}x{side}", g.op("Mul", x, g.op("Sigmoid", y))


def reduction(draw, g):
    shape = draw.choice([(1, 64, 112, 112), (1, 256, 28, 28), (128, 768), (32, 64, 512), (1, 21, 256, 256), (8, 100000)])
    kind = draw.choice(["ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceProd", "ReduceLogSumExp"])
    axes = draw.choice([[-1], [1], [len(shape) - 2, len(shape) - 1], list(range(len(shape)))])
    y = g.op(kind, g.input(*shape), axes=axes, keepdims=draw.choice([0, 1]))
    return f"{kind[6:].lower()} {'x'.join(map(str, shape))} axes {','.join(map(str, axes))}", y


def movement(draw, g):
    """Transposition, concatenation, slices, padding, tiles."""
    channels = draw.choice([16, 32, 64, 128])
    side = fitting(draw, SIDES, lambda n: channels * n * n, 1e5, 2e6)
    kind = draw.choice(["transpose", "transpose", "transpose", "concat", "slice", "pad", "expand", "shuffle", "split"])
    text = f"{kind} {channels} {side}x{side}"
    if kind == "transpose":
        shape, perm = draw.choice([((1, channels, side, side), [0, 2, 3, 1]), ((1, side, side, channels), [0, 3, 1, 2]),
                                   ((side * 4, channels * 8), [1, 0]), ((8, 128, channels), [0, 2, 1]),
                                   ((1, 196, 12, channels), [0, 2, 1, 3]), ((1, 8, 8, 14, 14, channels // 8), [0, 1, 3, 2, 4, 5])])
        return f"{kind} {'x'.join(map(str, shape))} to {','.join(map(str, perm))}", g.op("Transpose", g.input(*shape), perm=perm)
    x = g.input(1, channels, side, side)
    if kind == "concat":
        axis = draw.choice([1, 3])
        return f"{text} axis {axis}", g.op("Concat", x, g.input(1, channels, side, side), axis=axis)
    if kind == "slice":
        step = draw.choice([1, 1, 2])
        y = g.op("Slice", x, g.ints(1, 1), g.ints(side - 1, side), g.ints(2, 3), g.ints(step, step))
        return f"{text} step {step}", y
    if kind == "pad":
        mode = draw.choice(["constant", "reflect", "edge"])
        return f"{text} {mode}", g.op("Pad", x, g.ints(0, 0, 1, 1, 0, 0, 2, 2), mode=mode)
    if kind == "expand":
        y = g.op("Expand", g.input(1, channels, 1, side), g.ints(1, channels, side, side))
        return text, g.op("Mul", x, y)
    if kind == "split":
        half = g.op("Slice", x, g.ints(0), g.ints(channels // 2), g.ints(1))
        rest = g.op("Slice", x, g.ints(channels // 2), g.ints(channels), g.ints(1))
        return text, g.op("Mul", half, g.op("Sigmoid", rest))
    y = g.op("Transpose", g.op("Reshape", x, g.ints(1, 4, channels // 4, side, side)), perm=[0, 2, 1, 3, 4])
    return text, g.op("Reshape", y, g.ints(1, channels, side, side))


# Each class with its share of a hundred models.
CLASSES = [(conv2d, 14), (conv_first, 4), (conv_few, 8), (conv1d, 4), (conv3d, 4), (grouped, 5), (depthwise, 6),
           (depthwise_1d_3d, 1), (inverted, 3), (transposed, 5), (transposed_1d_3d, 2), (matmul, 5), (matmul_two, 3),
           (matvec, 3), (batched, 4), (pooling, 5), (layer_norm, 4), (channel_norm, 3), (attention, 4),
           (self_attention, 1), (resize, 4), (depth_space, 2), (conv_shuffle, 1), (gather, 2), (softmax, 3),
           (elementwise, 5), (gelu, 1), (norm_conv, 2), (residual, 1), (squeeze_excite, 1), (reduction, 3), (movement, 4)]


def order(seed: int, count: int) -> list:
    """The classes of the models, in turns by their shares."""
    total = sum(share for _, share in CLASSES)
    given = [0] * len(CLASSES)
    result = []
    for n in range(1, count + 1):
        lacks = [share * n / total - given[i] for i, (_, share) in enumerate(CLASSES)]
        i = max(range(len(CLASSES)), key=lambda k: lacks[k])
        given[i] += 1
        result.append((CLASSES[i][0], given[i]))
    return result


def draw_models(seed: int, count: int):
    """Yields the name of each model, and a function that makes it."""
    for cls, number in order(seed, count):
        text_seed = f"{seed} {cls.__name__} {number}"
        graph = Graph(text_seed)
        text, output = cls(random.Random(text_seed), graph)
        yield f"{cls.__name__}{number:02} {text}", graph.model(output)
