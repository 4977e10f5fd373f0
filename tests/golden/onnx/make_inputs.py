#!/usr/bin/env python3
"""Writes the ONNX models of this folder's tests into inputs/, field by field of the wire format."""
import pathlib
import struct

HERE = pathlib.Path(__file__).parent / "inputs"
FLOAT, UINT8, INT8, INT32, INT64, BOOL, FLOAT16, INT4 = 1, 2, 3, 6, 7, 9, 10, 22


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def integer(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def data(number: int, value: bytes | str) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name: str, value) -> bytes:
    """An int, a float, a string, a list of ints, or a graph as bytes."""
    head = data(1, name)
    if isinstance(value, int):
        return head + integer(3, value) + integer(20, 2)
    if isinstance(value, float):
        return head + varint(2 << 3 | 5) + struct.pack("<f", value) + integer(20, 1)
    if isinstance(value, str):
        return head + data(4, value) + integer(20, 3)
    if isinstance(value, bytes):
        return head + data(6, value) + integer(20, 5)
    return head + b"".join(integer(8, v) for v in value) + integer(20, 7)


def reference(name: str, of: str) -> bytes:
    return data(1, name) + data(21, of) + integer(20, 1)


def node(op: str, inputs: str, outputs: str, domain: str = "", refs: dict | None = None, **attributes) -> bytes:
    """Inputs and outputs are names with spaces between; `_` is one that is left out."""
    names = [("" if n == "_" else n) for n in inputs.split()]
    out = b"".join(data(1, n) for n in names) + b"".join(data(2, n) for n in outputs.split())
    out += data(4, op)
    out += b"".join(data(5, attribute(n, v)) for n, v in attributes.items())
    out += b"".join(data(5, reference(n, of)) for n, of in (refs or {}).items())
    return out + (data(7, domain) if domain else b"")


def value(name: str, shape: list | None, dtype: int = FLOAT) -> bytes:
    if shape is None:
        return data(1, name) + data(2, data(1, integer(1, dtype)))
    dims = b"".join(data(1, data(2, d) if isinstance(d, str) else integer(1, d)) for d in shape)
    return data(1, name) + data(2, data(1, integer(1, dtype) + data(2, dims)))


def tensor(name: str, shape: list, values: list, dtype: int = FLOAT) -> bytes:
    out = b"".join(integer(1, d) for d in shape) + integer(2, dtype) + data(8, name)
    if dtype == FLOAT:
        return out + data(9, struct.pack(f"<{len(values)}f", *values))
    if dtype == INT64:
        return out + data(9, struct.pack(f"<{len(values)}q", *values))
    return out + data(9, bytes(values))


def external(name: str, shape: list, location: str, **where: int) -> bytes:
    out = b"".join(integer(1, d) for d in shape) + integer(2, FLOAT) + data(8, name)
    entries = {"location": location} | {k: str(v) for k, v in where.items()}
    return out + b"".join(data(13, data(1, k) + data(2, v)) for k, v in entries.items()) + integer(14, 1)


def graph(inputs: list, outputs: list, nodes: list, tensors: list = ()) -> bytes:
    return (b"".join(data(1, n) for n in nodes) + data(2, "net") + b"".join(data(5, t) for t in tensors)
            + b"".join(data(11, v) for v in inputs) + b"".join(data(12, v) for v in outputs))


def function(name: str, inputs: str, outputs: str, attributes: str, nodes: list) -> bytes:
    out = data(1, name) + b"".join(data(4, n) for n in inputs.split())
    out += b"".join(data(5, n) for n in outputs.split()) + b"".join(data(6, n) for n in attributes.split())
    return out + b"".join(data(7, n) for n in nodes) + data(9, integer(2, 21)) + data(10, "local")


def model(name: str, body: bytes, opset: int = 21, functions: list = (), domain: str = "") -> bytes:
    out = integer(1, 10) + data(7, body) + data(8, integer(2, opset))
    if domain:
        out += data(8, data(1, domain) + integer(2, 1))
    out += b"".join(data(25, f) for f in functions)
    if functions:
        out += data(8, data(1, "local") + integer(2, 1))
    (HERE / name).write_bytes(out)
    return out


def good_models() -> None:
    x, y = value("x", [2, 3]), value("y", [2, 3])
    relu = node("Relu", "x", "y")
    whole = model("relu.onnx", graph([x], [y], [relu]))
    (HERE / "truncated.onnx").write_bytes(whole[:-20])

    # A function with an attribute, called twice.
    leaky = function("Twice", "a", "b", "slope",
                     [node("LeakyRelu", "a", "t", refs={"alpha": "slope"}), node("Add", "t t", "b")])
    model("function.onnx", graph([x], [y], [node("Twice", "x", "h", "local", slope=0.5),
                                            node("Twice", "h", "y", "local", slope=0.25)]),
          functions=[leaky])

    # A branch that only a run decides.
    then = graph([], [value("p", [2, 3])], [node("Neg", "x", "p")])
    other = graph([], [value("q", [2, 3])], [node("Add", "x x", "q")])
    model("branch.onnx", graph([x, value("c", [], BOOL)], [y],
                               [node("If", "c", "y", then_branch=then, else_branch=other)]))

    # Doubles until it is large enough: only a run counts the steps.
    model("pad_much.onnx", graph([value("x", [2, 3], INT64)], [value("y", [2, 4], INT64)],
                                 [node("Pad", "x", "y", pads=[0, 0, 0, 1], value=1e30)]), 10)
    body = graph([value("i", [], INT64), value("go", [], BOOL), value("v", [2, 3])],
                 [value("more", [], BOOL), value("w", [2, 3])],
                 [node("Add", "v v", "w"), node("ReduceMax", "w", "top", keepdims=0), node("Less", "top limit", "more")])
    model("while.onnx", graph([x], [y], [node("Loop", "_ _ x", "y", body=body)],
                              [tensor("limit", [], [20.0])]))

    # The same, at most ten times, with the largest element of each step collected.
    body = graph([value("i", [], INT64), value("go", [], BOOL), value("v", [2, 3])],
                 [value("more", [], BOOL), value("w", [2, 3]), value("top", [])],
                 [node("Add", "v v", "w"), node("ReduceMax", "w", "top", keepdims=0), node("Less", "top limit", "more")])
    model("collect.onnx", graph([x], [y, value("tops", ["n"])], [node("Loop", "ten _ x", "y tops", body=body)],
                                [tensor("limit", [], [20.0]), tensor("ten", [], [10], INT64)]))

    # Running sums along the first axis, gathered.
    body = graph([value("s", [3]), value("row", [3])], [value("t", [3]), value("o", [3])],
                 [node("Add", "s row", "t"), node("Identity", "t", "o")])
    model("scan.onnx", graph([x], [value("end", [3]), y],
                             [node("Scan", "zero x", "end y", num_scan_inputs=1, body=body)],
                             [tensor("zero", [3], [0.0, 0.0, 0.0])]))

    # Shape arithmetic over an extent that only a run tells.
    nodes = [node("Shape", "x", "s"), node("Gather", "s zero", "n", axis=0), node("Unsqueeze", "n zeros", "ns"),
             node("Mul", "ns two", "m"), node("Concat", "m minus", "shape", axis=0), node("Reshape", "x shape", "y")]
    model("symbolic.onnx", graph([value("x", ["n", 4])], [value("y", ["m", 2])], nodes,
                                 [tensor("zero", [], [0], INT64), tensor("zeros", [1], [0], INT64),
                                  tensor("two", [1], [2], INT64), tensor("minus", [1], [-1], INT64)]))

    # The value of an input decides the shape of the result.
    model("steered.onnx", graph([x, value("shape", [2], INT64)], [value("y", ["a", "b"])],
                                [node("Reshape", "x shape", "y")]))

    # Older opsets: a softmax over the last two axes, limits as attributes, an axis to align with.
    model("softmax11.onnx", graph([value("x", [2, 1, 3])], [value("y", [2, 1, 3])], [node("Softmax", "x", "y")]), 11)
    model("clip6.onnx", graph([x], [y], [node("Clip", "x", "y", min=0.0, max=2.0)]), 6)
    # Limits as exporters write them: tensors of one element.
    model("clip_ones.onnx", graph([x], [y], [node("Clip", "x low high", "y")],
                                  [tensor("low", [1], [0.0]), tensor("high", [1], [2.0])]))
    model("add6.onnx", graph([x], [y], [node("Add", "x b", "y", broadcast=1, axis=0)],
                             [tensor("b", [2], [10.0, 20.0])]), 6)

    # Forms that are definitions of their own: a scale for each group, a slope for each channel, softmaxes of rows.
    group = value("x", [1, 4, 2])
    model("older_forms.onnx", graph([group], [value("y", [1, 4, 2])], [
        node("GroupNormalization", "x scale bias", "n", num_groups=2),
        node("PRelu", "n slope", "p"), node("LogSoftmax", "p", "y")],
        [tensor("scale", [2], [1.0, 2.0]), tensor("bias", [2], [0.0, 1.0]),
         tensor("slope", [4], [1.0, 2.0, 3.0, 4.0])]), 6)

    # Sequences, whose places are known.
    model("sequence.onnx", graph([x], [value("y", [3])],
                                 [node("SplitToSequence", "x", "s", axis=0, keepdims=0), node("SequenceAt", "s one", "y")],
                                 [tensor("one", [], [1], INT64)]))

    # Integers of four bits, two in a byte: 1, -2, 7.
    model("int4.onnx", graph([value("scale", [])], [value("y", [3])],
                             [node("DequantizeLinear", "w scale", "y")], [tensor("w", [3], [0xE1, 0x07], INT4)]))

    # Operators that ONNX has for integers and bools, too.
    nodes = [node("Cast", "x", "n", to=INT32), node("Relu", "n", "relu"), node("Transpose", "n", "t"),
             node("MatMul", "n t", "product"), node("Gemm", "n n two", "scaled", transB=1, alpha=0.5),
             node("ReduceMean", "n last", "mean"), node("ReduceL2", "n last", "norm"),
             node("TopK", "n one", "top place"), node("QuantizeLinear", "n half point", "codes"),
             node("Greater", "x half", "b"), node("ReduceMin", "b last", "all"), node("Unique", "b", "kinds"),
             node("ScatterElements", "b place yes", "set", axis=1)]
    results = {"relu": INT32, "product": INT32, "scaled": INT32, "mean": INT32, "norm": INT32, "top": INT32,
               "codes": UINT8, "all": BOOL, "set": BOOL}
    two = integer(2, INT32) + data(8, "two") + data(9, struct.pack("<i", 2))
    model("integers.onnx", graph([x], [value(n, ["a", "b"], t) for n, t in results.items()] + [value("kinds", ["k"], BOOL)],
                                 nodes, [two, tensor("last", [1], [-1], INT64), tensor("one", [1], [1], INT64),
                                         tensor("half", [], [0.5]), tensor("point", [], [20], UINT8),
                                         tensor("yes", [2, 1], [1, 1], BOOL)]))
    # A layer in half precision whose statistics are of f32; a result that has the type of the scale.
    model("half.onnx", graph([x], [value("y", [2, 3], FLOAT16), value("mean", [2, 1]), value("z", [2, 3])],
                             [node("Cast", "x", "h", to=FLOAT16), node("Cast", "one", "s", to=FLOAT16),
                              node("LayerNormalization", "h s", "y mean"), node("RMSNormalization", "h one", "z")],
                             [tensor("one", [3], [1.0, 1.0, 1.0])]), 23)

    # A step of training for two tensors, and one by each of the other optimizers.
    domain = "ai.onnx.preview.training"
    nodes = [node("Momentum", "r t x x x x o o", "m1 m2 v1 v2", domain, alpha=0.5, beta=0.25, norm_coefficient=1.0,
                  mode="nesterov"),
             node("Adagrad", "r t x x o", "a h", domain, decay_factor=0.5, epsilon=0.0),
             node("Adam", "r t x x o o", "b w k", domain, alpha=0.5, beta=0.75, epsilon=0.0, norm_coefficient_post=0.25)]
    names = "m1 m2 v1 v2 a h b w k".split()
    model("training.onnx", graph([x], [value(n, [2, 3]) for n in names], nodes,
                                 [tensor("r", [], [0.5]), tensor("t", [], [2], INT64), tensor("o", [2, 3], [1.0] * 6)]),
          domain=domain)

    # More weights than stay in a model whose data goes to another file.
    model("wide.onnx", graph([x], [value("y", [2])], [node("MatMul", "x w", "p"), node("ReduceSum", "p last", "y", keepdims=0)],
                             [tensor("w", [3, 100], [float(i % 7) for i in range(300)]), tensor("last", [1], [-1], INT64)]))

    # No elements, and more rows than memory has addresses.
    many = (1 << 62) - (1 << 18)
    model("empty_rows.onnx",
          graph([x], [y, value("z", [many, 0]), value("w", []), value("c", [many, 0])],
                [node("Relu", "x", "y"), node("ConstantOfShape", "shape", "e"), node("Abs", "e", "z"),
                 node("ReduceSum", "z", "w", keepdims=0), node("Concat", "e e", "c", axis=1)],
                [tensor("shape", [2], [many, 0], INT64)]))

    # Weights in another file.
    (HERE / "weights.bin").write_bytes(struct.pack("<6f", *range(6)))
    model("external.onnx", graph([x], [y], [node("Add", "x w", "y")],
                                 [external("w", [2, 3], "weights.bin", offset=0, length=24)]))


def running_models() -> None:
    """Running sums and products, from either end, with or without the item itself."""
    nodes, outputs = [], []
    for op in ("CumSum", "CumProd"):
        for exclusive in (0, 1):
            for reverse in (0, 1):
                name = f"{op.lower()}{exclusive}{reverse}"
                nodes.append(node(op, "x axis", name, exclusive=exclusive, reverse=reverse))
                outputs.append(value(name, [2, 3]))
    model("running.onnx", graph([value("x", [2, 3])], outputs, nodes, [tensor("axis", [], [1], INT64)]), 26)


def newer_models() -> None:
    body = graph([value("x", [2, 3])], [value("y", [2, 3])], [node("Relu", "x", "y")])
    (HERE / "newer_format.onnx").write_bytes(integer(1, 99) + data(7, body) + data(8, integer(2, 21)))
    leaky = node("LeakyRelu", "x", "y", refs={"alpha": "slope"})
    model("reference_outside.onnx", graph([value("x", [2, 3])], [value("y", [2, 3])], [leaky]))


def converted_models() -> None:
    """For the tests of ../convert."""
    # Names that SkriptND cannot have, and extents without one.
    free = data(1, "xs") + data(2, data(1, integer(1, FLOAT) + data(2, data(1, b"") * 2)))
    nodes = [node("Add", "xs xs.1", "y.out"), node("Relu", "y.out", "real")]
    model("odd_names.onnx", graph([free, value("xs.1", [3])],
                              [value("xs", ["a", "b"]), value("y.out", ["a", "b"]), value("real", ["a", "b"])], nodes))
    # In half precision, where sums of squares are not those of single precision.
    half = [value("x", [2, 3], FLOAT16), value("y", [2, 3], FLOAT16)]
    model("half_precision.onnx", graph(half[:1], half[1:], [node("Exp", "x", "t"), node("Mul", "t t", "y")]))
    model("det.onnx", graph([value("x", [2, 2])], [value("y", [])], [node("Det", "x", "y")]))
    model("no_words.onnx", graph([value("x", [2]), value("u", [2], UINT8)],
                                 [value("y", [2]), value("z", [2], INT32), value("v", [2], UINT8)],
                                 [node("LeakyRelu", "x", "y", alpha=float("nan")), node("BitCast", "x", "z", to=INT32),
                                  node("BitwiseNot", "u", "v")]), 26)
    model("max_pool.onnx", graph([value("x", [1, 1, 2, 3])], [value("y", [1, 1, 1, 2])],
                                 [node("MaxPool", "x", "y", kernel_shape=[2, 2])]))


def zero_point_models() -> None:
    """Zero points of other shapes than the scales."""
    x = value("x", [2, 3])
    scales = [tensor("one", [1], [0.5]), tensor("three", [3], [0.5, 0.25, 1.0]), tensor("scalar", [], [0.5])]
    zeros = [tensor("ten", [], [10], UINT8), tensor("minus", [], [253], INT8), tensor("none", [0], [], INT8),
             tensor("list", [1], [10], UINT8)]
    nodes = [node("QuantizeLinear", "x one ten", "q1"), node("QuantizeLinear", "x three minus", "q3", axis=1),
             node("QuantizeLinear", "x scalar none", "q0"), node("QuantizeLinear", "x scalar list", "q2"),
             node("DequantizeLinear", "q1 one ten", "d1"), node("DequantizeLinear", "q3 three minus", "d3", axis=1),
             node("DequantizeLinear", "q0 scalar none", "d0"), node("DequantizeLinear", "q2 scalar list", "d2"),
             node("DequantizeLinear", "q3 three _", "d4", axis=1)]
    outputs = [value("q1", [2, 3], UINT8), value("q3", [2, 3], INT8), value("q0", [2, 3], INT8), value("q2", [2, 3], UINT8)]
    outputs += [value(f"d{i}", [2, 3]) for i in range(5)]
    model("zero_points.onnx", graph([x], outputs, nodes, scales + zeros))
    zeros = [tensor("two", [2], [1, 2], UINT8), tensor("square", [3, 1], [1, 2, 3], UINT8)]
    nodes = [node("QuantizeLinear", "x three two", "q", axis=1), node("QuantizeLinear", "x three square", "r", axis=1)]
    # Of 64 bits, which no quantised type has.
    model("wide_zero_point.onnx", graph([x], [value("q", [2, 3], INT64)], [node("QuantizeLinear", "x scalar wide", "q")],
                                        scales + [tensor("wide", [], [1], INT64)]))
    model("zero_point_shapes.onnx", graph([x], [value("q", [2, 3], UINT8), value("r", [2, 3], UINT8)], nodes, scales + zeros))


def halves_model() -> None:
    """Values in the middle of two steps, and an odd zero point: they are rounded before it is added."""
    scales = [tensor("half", [], [0.5]), tensor("one", [], [1.0])]
    zeros = [tensor("z0", [], [0], UINT8), tensor("z1", [], [1], UINT8)]
    weights = [tensor("m", [1, 1], [1], UINT8), tensor("w", [1, 1, 1, 1], [1], UINT8)]
    nodes = [node("QuantizeLinear", "x half z0", "a"), node("QLinearMatMul", "a half z0 m one z0 one z1", "y"),
             node("Unsqueeze", "a axes", "b"), node("QLinearConv", "b half z0 w one z0 one z1", "z"),
             node("QuantizeLinear", "x one z1", "q")]
    outputs = [value(n, None, UINT8) for n in "yzq"]
    model("halves.onnx", graph([value("x", [4, 1])], outputs, nodes,
                               scales + zeros + weights + [tensor("axes", [2], [0, 1], INT64)]))
    (HERE / "halves.json").write_text("[[0.5], [1.5], [2.5], [3.5]]\n")


def refused_runtime_models() -> None:
    """What operators of ONNX Runtime can do and Lemma cannot, one node for each."""
    own = "com.microsoft"
    x = value("x", [2, 3, 16])
    tensors = [tensor("w", [16, 48], [0.0] * 768), tensor("b", [48], [0.0] * 48), tensor("one", [], [1], INT64),
               tensor("square", [2, 1, 3, 3], [1, 0, 0, 0] * 18, INT32), tensor("count", [2], [2, 0, 0, 0] * 2, INT32),
               tensor("three", [1], [3, 0, 0, 0], INT32), tensor("scale", [1], [1.0]), tensor("cache", [8, 8], [1.0] * 64),
               tensor("bits", [4, 1, 8], [0] * 32, UINT8), tensor("scales", [4, 1], [1.0] * 4),
               tensor("columns", [16], [0, 0, 0, 0] * 16, INT32), tensor("gamma", [16], [1.0] * 16),
               tensor("places", [1], [0], INT64)]
    group = {"num_heads": 4, "kv_num_heads": 4}
    nodes = [
        node("Attention", "x w b", "a0", own, num_heads=4, do_rotary=1),
        node("Attention", "x w b", "a1", own, num_heads=4, past_present_share_buffer=1),
        node("Attention", "x w b square", "a2", own, num_heads=4),
        node("Attention", "x w b _ _ _ three", "a3", own, num_heads=4),
        node("MultiHeadAttention", "x x x _ _ _ _ _ three", "m0", own, num_heads=4),
        node("MultiHeadAttention", "x x x", "m1 m2 m3 m4", own, num_heads=4),
        node("GroupQueryAttention", "x x x _ _ count three", "g0 g1 g2 g3", own, **group),
        node("GroupQueryAttention", "x x x _ _ count three", "g4", own, qk_output=1, **group),
        node("GroupQueryAttention", "x x x _ _ count three", "g5", own, sliding_window_cache=1, **group),
        node("GroupQueryAttention", "x x x _ _ count three", "g6", own, k_quant_type="PER_TENSOR", **group),
        node("GroupQueryAttention", "x x x _ _ count three _ _ _ _ _ scale", "g7", own, **group),
        node("GroupQueryAttention", "x x x _ _ count three _ _ _ _ _ _ _ scale scale", "g8", own, **group),
        node("RotaryEmbedding", "x places cache cache", "r0", own, scale=2.0),
        node("RotaryEmbedding", "x places cache cache", "r1", own, is_packed_batching=1),
        node("MatMulNBits", "x bits scales _ columns", "n0", own, K=16, N=4, block_size=16),
        node("MatMulNBits", "x bits scales", "n1", own, K=16, N=4, block_size=16, weight_prepacked=1),
        node("MatMulNBits", "x bits scales", "n2", own, K=16, N=4, block_size=16, bits=3),
        node("FusedConv", "x w", "f0", own, activation="Gelu"),
        node("QGemm", "x scale one w scale one _ scale", "q0", own),
        node("QLinearConcat", "scale one x scale", "q1", own, axis=0),
        node("BeamSearch", "x", "s0", own),
    ]
    model("refused_runtime.onnx", graph([x], [value("a0", [2, 3, 16])], nodes, tensors), domain=own)


def unfinished_case() -> None:
    """A case without what it expects."""
    folder = HERE.parent / "no_outputs"
    inputs = folder / "test_data_set_0"
    inputs.mkdir(parents=True, exist_ok=True)
    body = graph([value("x", [2])], [value("y", [2])], [node("Relu", "x", "y")])
    (folder / "model.onnx").write_bytes(integer(1, 10) + data(7, body) + data(8, integer(2, 21)))
    (inputs / "input_0.pb").write_bytes(tensor("x", [2], [1.0, -1.0]))


def bad_models() -> None:
    x, y = value("x", [2, 3]), value("y", [2, 3])
    model("cycle.onnx", graph([x], [y], [node("Add", "x y", "a"), node("Relu", "a", "y")]))
    model("order.onnx", graph([x], [y], [node("Relu", "a", "y"), node("Abs", "x", "a")]))
    model("names.onnx", graph([value("input", [2, 3])], [y, value("z", [2])],
                              [node("Add", "inptu weights", "y"), node("Abs", "input", "y")]))
    model("output_twice.onnx", graph([x], [y, y], [node("Relu", "x", "y")]))
    model("opset.onnx", graph([x], [y], [node("Relu", "x", "y", "other.domain")]))
    model("operator.onnx", graph([x], [y], [node("Rellu", "x", "y")]))
    model("unsupported.onnx", graph([x], [y], [node("ImageDecoder", "x", "y")]))
    model("optimizer.onnx", graph([x], [y], [node("Adam", "x x x", "y", "ai.onnx.preview.training")]),
          domain="ai.onnx.preview.training")
    model("attribute.onnx", graph([x], [y], [node("Softmax", "x", "t", kind=1), node("Softmax", "x", "y", axis="last")]))
    model("shapes.onnx", graph([x], [y], [node("MatMul", "x x", "t"), node("Add", "x w", "y")],
                               [tensor("w", [2], [1.0, 2.0])]))
    model("declared.onnx", graph([x], [value("y", [2, 4]), value("z", [2, 3], INT64)],
                                 [node("Relu", "x", "y"), node("Abs", "x", "z")]))
    model("outside.onnx", graph([x], [y], [node("Add", "x w", "y")], [external("w", [2, 3], "../make_inputs.py")]))
    model("short.onnx", graph([x], [y], [node("Add", "x w", "y")],
                              [external("w", [2, 3], "weights.bin", offset=8, length=24)]))
    model("size.onnx", graph([x], [y], [node("Add", "x w", "y")], [tensor("w", [2, 3], [1.0, 2.0])]))
    model("dynamic.onnx", graph([x], [value("y", ["a", "b", "c"])],
                                [node("ArgMax", "x", "i", axis=0, keepdims=0), node("Expand", "one i", "y")],
                                [tensor("one", [], [1.0])]))
    deep = graph([], [value("y", [2, 3])], [node("Relu", "x", "y")])
    for _ in range(200):
        deep = graph([], [value("y", [2, 3])], [node("If", "c", "y", then_branch=deep, else_branch=deep[:0])])
    model("deep.onnx", deep)
    hostile_models()


def hostile_models() -> None:
    """What no exporter writes."""
    x, y = value("x", [2, 3]), value("y", [2, 3])
    add, huge = node("Add", "x w", "y"), 1 << 62

    def claim(name: str, dims: list) -> None:
        """Four bytes of data that claim to be much more."""
        weights = b"".join(integer(1, d) for d in dims) + integer(2, FLOAT) + data(8, "w") + data(9, b"1234")
        model(name, graph([x], [y], [add], [weights]))

    claim("claims_much.onnx", [huge])
    claim("claims_more.onnx", [huge, huge])
    claim("claims_less.onnx", [-5])
    claim("claims_axes.onnx", [1] * 5000)
    model("tile_much.onnx", graph([x], [value("y", ["a", "b"])], [node("Tile", "x r", "y")],
                                  [tensor("r", [2], [huge, huge], INT64)]))
    model("split_much.onnx", graph([x], [value("y", ["a", "b"])], [node("Split", "x", "y", num_outputs=1 << 40)]))
    body = graph([value("i", [], INT64), value("go", [], BOOL), value("v", [2, 3])],
                 [value("go", [], BOOL), value("w", [4, 3])], [node("Concat", "v v", "w", axis=0)])
    model("loop_grows.onnx", graph([x], [y], [node("Loop", "n _ x", "y", body=body)],
                                   [tensor("n", [], [1000], INT64)]))
    model("no_body.onnx", graph([x], [y], [node("Loop", "n _ x", "y")], [tensor("n", [], [3], INT64)]))
    model("twice.onnx", graph([x, x], [y], [add, node("Neg", "x", "x")],
                              [tensor("w", [3], [1.0, 2.0, 3.0]), tensor("w", [3], [1.0, 2.0, 3.0])]),
          functions=[function("F", "a", "b", "", [node("Relu", "a", "b")])] * 2)
    model("itself.onnx", graph([x], [y], [node("Relu", "y", "y")]))
    model("inside.onnx", graph([x, value("c", [], BOOL)], [y], [
        node("If", "c", "y", then_branch=graph([], [value("p", [2, 3])], [node("Neg", "y", "p")]),
             else_branch=graph([], [value("q", [2, 3])], [node("Neg", "x", "q")]))]))
    model("recursive.onnx", graph([x], [y], [node("F", "x", "y", "local")]),
          functions=[function("F", "a", "b", "", [node("F", "a", "b", "local")])])
    for name, location, where in [("external_root", "/etc/passwd", {}), ("external_none", "none.bin", {}),
                                  ("external_folder", ".", {}), ("external_before", "weights.bin", {"offset": -8}),
                                  ("external_behind", "weights.bin", {"offset": huge, "length": huge})]:
        model(f"{name}.onnx", graph([x], [y], [add], [external("w", [2, 3], location, **where)]))
    (HERE / "empty.onnx").write_bytes(b"")
    (HERE / "no_graph.onnx").write_bytes(integer(1, 10) + data(8, integer(2, 21)))
    (HERE / "no_opset.onnx").write_bytes(integer(1, 10) + data(7, graph([x], [y], [node("Relu", "x", "y")])))
    (HERE / "no_field.onnx").write_bytes(b"\0" * 100)
    (HERE / "no_number.onnx").write_bytes(b"\xff" * 100)


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    good_models()
    running_models()
    newer_models()
    converted_models()
    zero_point_models()
    halves_model()
    refused_runtime_models()
    unfinished_case()
    bad_models()
    (HERE / "x.json").write_text("[[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]]\n")
    (HERE / "x4.json").write_text("[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]\n")
    (HERE / "x213.json").write_text("[[[1.0, 2.0, 3.0]], [[0.0, 0.0, 0.0]]]\n")
    (HERE / "shape.json").write_text("[3, -1]\n")
    (HERE / "true.json").write_text("true\n")
    (HERE / "false.json").write_text("false\n")
    (HERE / "scale.json").write_text("0.5\n")
