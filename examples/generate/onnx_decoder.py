# SPDX-License-Identifier: Apache-2.0
"""Decoders as ONNX graphs, as exporters write them: the keys and values of earlier tokens are
inputs (`past_…`), and those of all tokens are outputs (`present_…`)."""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import onnx_file as onnx

BLOCK = 32  # weights of few bits that share a scale


class Graph:
    def __init__(self, weights, bits):
        self.weights = weights
        self.bits = bits  # of the weights of matrix products
        self.nodes, self.tensors, self.inputs, self.outputs = [], [], [], []
        self.count = 0
        self.constants = {}

    # ---- Nodes ----------------------------------------------------------------------------------

    def op(self, kind, *inputs, name=None, **attributes):
        self.count += 1
        name = name or "%s_%d" % (kind.lower(), self.count)
        self.nodes.append(onnx.node(kind, inputs, name, **attributes))
        return name

    def split(self, value, sizes, axis):
        self.count += 1
        names = ["split_%d_%d" % (self.count, i) for i in range(len(sizes))]
        self.nodes.append(onnx.node("Split", [value, self.ints(sizes)], names, axis=axis))
        return names

    def ints(self, items):
        return self.constant(onnx.INT64, [len(items)], list(items))

    def number(self, kind, item):
        return self.constant(kind, [], [item])

    def constant(self, kind, shape, items):
        key = (kind, tuple(shape), tuple(items))
        if key not in self.constants:
            name = "constant_%d" % len(self.constants)
            self.tensors.append(onnx.tensor(name, shape, kind, items))
            self.constants[key] = name
        return self.constants[key]

    def reshape(self, value, shape):
        return self.op("Reshape", value, self.ints(shape))

    # ---- Weights --------------------------------------------------------------------------------

    def weight(self, name, shape, deviation):
        data = self.weights.normal(shape, deviation)
        self.tensors.append(onnx.raw_tensor(name, shape, onnx.FLOAT, data))
        return name

    def filled(self, name, shape, data):
        self.tensors.append(onnx.raw_tensor(name, shape, onnx.FLOAT, bytes(data)))
        return name

    def product(self, x, name, rows, columns, result=None):
        deviation = 1 / math.sqrt(rows)
        if self.bits == 32:
            return self.op("MatMul", x, self.weight(name, [rows, columns], deviation), name=result)
        # Blocks of 32 weights with a scale each; the zero point is in the middle.
        blocks = rows // BLOCK
        data = self.weights.bits(columns * rows * self.bits // 8)
        shape = [columns, blocks, BLOCK * self.bits // 8]
        self.tensors.append(onnx.raw_tensor(name, shape, onnx.UINT8, data))
        scale = deviation * math.sqrt(12) / 2 ** self.bits
        scales = self.filled(name + ".scales", [columns * blocks],
                             self.weights.same([columns * blocks], scale))
        return self.op("MatMulNBits", x, name, scales, name=result, domain="com.microsoft",
                       K=rows, N=columns, bits=self.bits, block_size=BLOCK)

    def linear(self, x, name, rows, columns, bias=True):
        y = self.product(x, name + ".weight", rows, columns)
        if not bias:
            return y
        return self.op("Add", y, self.weight(name + ".bias", [columns], 0.1))

    # ---- The file -------------------------------------------------------------------------------

    def write(self, path):
        fields = [onnx.text(1, node) for node in self.nodes]
        fields.append(onnx.text(2, "decoder"))
        fields += [onnx.text(5, tensor) for tensor in self.tensors]
        fields += [onnx.text(11, value) for value in self.inputs]
        fields += [onnx.text(12, value) for value in self.outputs]
        size = sum(map(len, fields))
        with open(path, "wb") as file:
            file.write(onnx.number(1, 8) + onnx.text(2, "lemma examples"))
            file.write(onnx.varint(7 << 3 | 2) + onnx.varint(size))
            for field in fields:
                file.write(field)
            file.write(onnx.text(8, onnx.number(2, 17)))
            if self.bits != 32:
                file.write(onnx.text(8, onnx.text(1, "com.microsoft") + onnx.number(2, 1)))


class Decoder(Graph):
    """What both decoders share: tokens, positions, the cache and attention."""

    def __init__(self, shape, weights, bits):
        super().__init__(weights, bits)
        self.shape = shape

    def begin(self):
        s = self.shape
        tokens = [("tokens", "the new tokens"), ("positions", "and their positions")]
        for name, doc in tokens:
            self.inputs.append(onnx.value(name, [1, "new"], doc, onnx.INT64))
        self.outputs.append(onnx.value("logits", [1, "new", s.words], "one row for each new token"))
        for i in range(s.layers):
            for part in ("key", "value"):
                doc = "layer %d" % i
                name = "%s_%d" % (part, i)
                self.inputs.append(
                    onnx.value("past_" + name, [1, s.key_heads, "past", s.head], doc))
                self.outputs.append(
                    onnx.value("present_" + name, [1, s.key_heads, "all", s.head], doc))

    # Whether a new token may see a token: a matrix of the new tokens by all tokens.
    def visible(self, past):
        extent = self.op("Gather", self.op("Shape", past), self.number(onnx.INT64, 2), axis=0)
        new = self.op("Gather", self.op("Shape", "tokens"), self.number(onnx.INT64, 1), axis=0)
        every = self.op("Range",
                        self.number(onnx.INT64, 0),
                        self.op("Add", extent, new),
                        self.number(onnx.INT64, 1))
        column = self.reshape("positions", [-1, 1])
        return self.op("LessOrEqual", every, column)

    def heads(self, x, count):
        return self.op("Transpose",
                       self.reshape(x, [1, -1, count, self.shape.head]),
                       perm=[0, 2, 1, 3])

    def cache(self, part, layer, new):
        name = "%s_%d" % (part, layer)
        return self.op("Concat", "past_" + name, new, name="present_" + name, axis=2)

    # Repeats each head of keys or values for the query heads that share it.
    def shared(self, x):
        s = self.shape
        times = s.heads // s.key_heads
        if times == 1:
            return x
        apart = self.op("Unsqueeze", x, self.ints([2]))
        copies = self.op("Expand", apart, self.ints([1, 1, times, 1, 1]))
        return self.reshape(copies, [1, s.heads, -1, s.head])

    def attention(self, query, key, value, visible):
        s = self.shape
        turned = self.op("Transpose", self.shared(key), perm=[0, 1, 3, 2])
        scores = self.op("MatMul", query, turned)
        scores = self.op("Mul", scores, self.number(onnx.FLOAT, 1 / math.sqrt(s.head)))
        scores = self.op("Where", visible, scores, self.number(onnx.FLOAT, -1e9))
        shares = self.op("Softmax", scores, axis=-1)
        mixed = self.op("MatMul", shares, self.shared(value))
        return self.reshape(self.op("Transpose", mixed, perm=[0, 2, 1, 3]), [1, -1, s.width])


class Gpt2(Decoder):
    def norm(self, x, name):
        width = [self.shape.width]
        scale = self.filled(name + ".scale", width, self.weights.ones(width))
        bias = self.filled(name + ".bias", width, self.weights.zeros(width))
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-5)

    # The approximation of GELU by tanh, as exporters write it.
    def gelu(self, x):
        def times(a, number):
            return self.op("Mul", a, self.number(onnx.FLOAT, number))

        cube = self.op("Pow", x, self.number(onnx.FLOAT, 3.0))
        inner = times(self.op("Add", x, times(cube, 0.044715)), math.sqrt(2 / math.pi))
        wave = self.op("Add", self.op("Tanh", inner), self.number(onnx.FLOAT, 1.0))
        return self.op("Mul", times(x, 0.5), wave)

    def layer(self, x, i, visible):
        s = self.shape
        name = "layer.%d." % i
        normed = self.norm(x, name + "norm1")
        joined = self.linear(normed, name + "attention", s.width, 3 * s.width)
        query, key, value = (self.heads(part, s.heads)
                             for part in self.split(joined, [s.width] * 3, axis=2))
        key = self.cache("key", i, key)
        value = self.cache("value", i, value)
        mixed = self.attention(query, key, value, visible)
        x = self.op("Add", x, self.linear(mixed, name + "output", s.width, s.width))
        normed = self.norm(x, name + "norm2")
        inner = self.gelu(self.linear(normed, name + "inner", s.width, s.inner))
        return self.op("Add", x, self.linear(inner, name + "outer", s.inner, s.width))

    def build(self):
        s = self.shape
        self.begin()
        visible = self.visible("past_key_0")
        words = self.op("Gather", self.weight("words", [s.words, s.width], 1.0), "tokens", axis=0)
        places = self.weight("places", [s.room, s.width], 0.1)
        x = self.op("Add", words, self.op("Gather", places, "positions", axis=0))
        for i in range(s.layers):
            x = self.layer(x, i, visible)
        x = self.norm(x, "norm")
        self.product(x, "head", s.width, s.words, result="logits")


class Llama(Decoder):
    def norm(self, x, name):
        width = [self.shape.width]
        scale = self.filled(name, width, self.weights.ones(width))
        square = self.op("Pow", x, self.number(onnx.FLOAT, 2.0))
        mean = self.op("ReduceMean", square, axes=[-1], keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.number(onnx.FLOAT, 1e-5)))
        return self.op("Mul", self.op("Div", x, root), scale)

    # The cosines and sines of the rotary embedding, for each new token.
    def angles(self):
        half = self.shape.head // 2
        rates = self.constant(onnx.FLOAT, [1, half], [10000.0 ** (-i / half) for i in range(half)])
        places = self.op("Cast", self.reshape("positions", [-1, 1]), to=onnx.FLOAT)
        angles = self.op("Mul", places, rates)
        both = self.op("Concat", angles, angles, axis=-1)
        return self.op("Cos", both), self.op("Sin", both)

    def rotate(self, x, angles):
        half = self.shape.head // 2
        low, high = self.split(x, [half, half], axis=3)
        turned = self.op("Concat", self.op("Neg", high), low, axis=-1)
        return self.op("Add", self.op("Mul", x, angles[0]), self.op("Mul", turned, angles[1]))

    def layer(self, x, i, visible, angles):
        s = self.shape
        name = "layer.%d." % i
        normed = self.norm(x, name + "norm1")
        shared = s.key_heads * s.head

        def project(part, width):
            return self.linear(normed, name + part, s.width, width, bias=False)

        query = self.rotate(self.heads(project("query", s.width), s.heads), angles)
        key = self.rotate(self.heads(project("key", shared), s.key_heads), angles)
        value = self.heads(project("value", shared), s.key_heads)
        key = self.cache("key", i, key)
        value = self.cache("value", i, value)
        mixed = self.attention(query, key, value, visible)
        x = self.op("Add", x, self.linear(mixed, name + "output", s.width, s.width, bias=False))
        normed = self.norm(x, name + "norm2")
        gate = self.linear(normed, name + "gate", s.width, s.inner, bias=False)
        inner = self.linear(normed, name + "inner", s.width, s.inner, bias=False)
        gate = self.op("Mul", gate, self.op("Sigmoid", gate))
        inner = self.op("Mul", gate, inner)
        return self.op("Add", x, self.linear(inner, name + "outer", s.inner, s.width, bias=False))

    def build(self):
        s = self.shape
        self.begin()
        visible = self.visible("past_key_0")
        angles = self.angles()
        x = self.op("Gather", self.weight("words", [s.words, s.width], 1.0), "tokens", axis=0)
        for i in range(s.layers):
            x = self.layer(x, i, visible, angles)
        x = self.norm(x, "norm")
        self.product(x, "head", s.width, s.words, result="logits")


def write_onnx(name, shape, weights, path, bits=32):
    decoder = (Gpt2 if name.startswith("gpt2") else Llama)(shape, weights, bits)
    decoder.build()
    decoder.write(path)
