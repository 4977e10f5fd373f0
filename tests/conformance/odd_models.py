# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models with what generated code gets wrong first: hostile names, constants that are not
finite, extents of 1, empty tensors, scalars, outputs that are inputs, all element types."""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "examples"))
from onnx_file import FLOAT, INT64, model, node, tensor, text, value  # noqa: E402

TYPES = {"uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
         "float16": 10, "double": 11, "uint32": 12, "uint64": 13}


def build(nodes: list, constants: list, inputs: list, outputs: list) -> bytes:
    """A model; values are (name, shape) or (name, shape, type)."""
    graph = [text(1, node(*n[:3], **(n[3] if len(n) > 3 else {}))) for n in nodes]
    graph += [text(2, "odd"), *(text(5, c) for c in constants)]
    for field, ports in ((11, inputs), (12, outputs)):
        graph += [text(field, value(p[0], p[1], "", p[2] if len(p) > 2 else FLOAT)) for p in ports]
    return model(graph, "odd_models.py", [])


def floats(name: str, shape: list, items: list) -> bytes:
    return tensor(name, shape, FLOAT, items)


def integers(name: str, items: list) -> bytes:
    return tensor(name, [len(items)], INT64, items)


def hostile_names() -> bytes:
    """Names that are keywords, collide as identifiers, end comments and strings, or are very long."""
    names = ["x y", "int", "a/b:0", "a_b_0", "a.b.0", "*/ int evil; /*", "??/", "\\", '"', "%s%n", "é", "\n#error\n", "//",
             "main", "model_run", "n0_add", "sx_add", "t_x", "float", "_", "0", "/*@ ensures \\false; */", "@*/", "z" * 5000,
             "z" * 4999 + "y", "result"]
    nodes = [("Add", [left, "one" if i % 2 else "_/one"], right)
             for i, (left, right) in enumerate(zip(names, names[1:]))]
    constants = [floats("one", [2], [1.0, 0.5]), floats("_/one", [2], [-0.25, 2.0])]
    return build(nodes, constants, [(names[0], [2])], [(names[-1], [2])])


def odd_constants() -> bytes:
    """NaN, infinities, zeros of both signs, subnormal and extreme numbers."""
    odd = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1e-45, -1e-45, 1.1754942e-38,
           3.4028234663852886e38, -3.4028234663852886e38, 1 / 3, -1e-20]
    payload = struct.pack("<I", 0xFFC12345)
    odd.append(struct.unpack("<f", payload)[0])
    n = len(odd)
    nodes = [("Add", ["x", "odd"], "sum"), ("Mul", ["x", "odd"], "product"), ("Relu", ["sum"], "relu"),
             ("Max", ["x", "odd"], "largest"), ("MatMul", ["product", "column"], "contracted")]
    constants = [floats("odd", [n], odd), floats("column", [n, 1], odd)]
    return build(nodes, constants, [("x", [1, n])],
                 [("relu", [1, n]), ("largest", [1, n]), ("contracted", [1, 1])])


def extents_of_one() -> bytes:
    nodes = [("Conv", ["x", "w", "b"], "conv", {"kernel_shape": [1, 1]}),
             ("MaxPool", ["conv"], "pool", {"kernel_shape": [1, 1]}),
             ("Transpose", ["pool"], "turned", {"perm": [3, 1, 0, 2]}),
             ("Softmax", ["turned"], "certain", {"axis": 1}),
             ("Concat", ["certain", "turned"], "joined", {"axis": 1}),
             ("Reshape", ["joined", "shape"], "flat"),
             ("MatMul", ["flat", "m"], "product"),
             ("ReduceSum", ["product", "axes"], "sum", {"keepdims": 0})]
    constants = [floats("w", [1, 1, 1, 1], [1.5]), floats("b", [1], [-0.25]), integers("shape", [1, 2]),
                 floats("m", [2, 1], [0.1, 3.0]), integers("axes", [0])]
    return build(nodes, constants, [("x", [1, 1, 1, 1])], [("sum", [1]), ("turned", [1, 1, 1, 1])])


def empty_tensors() -> bytes:
    nodes = [("Add", ["nothing", "nothing"], "still_nothing"),
             ("Concat", ["nothing", "x"], "joined", {"axis": 0}),
             ("ReduceSum", ["nothing", "axes"], "zero", {"keepdims": 0})]
    return build(nodes, [integers("axes", [0])], [("nothing", [0, 3]), ("x", [2, 3])],
                 [("still_nothing", [0, 3]), ("joined", [2, 3]), ("zero", [3])])


def scalars() -> bytes:
    nodes = [("Mul", ["x", "scale"], "scaled"), ("Add", ["scaled", "v"], "sums"), ("Exp", ["scaled"], "grown")]
    return build(nodes, [floats("scale", [], [0.1])], [("x", []), ("v", [3])],
                 [("sums", [3]), ("grown", [])])


def shared_outputs() -> bytes:
    """Outputs that are inputs, constants, copies of each other, or used on the way."""
    nodes = [("Identity", ["x"], "copy"), ("Identity", ["copy"], "again"), ("Add", ["again", "k"], "sum"),
             ("Identity", ["k"], "constant"), ("Relu", ["sum"], "end")]
    return build(nodes, [floats("k", [2], [1.0, -1.0])], [("x", [2]), ("unused", [3])],
                 [("copy", [2]), ("again", [2]), ("sum", [2]), ("constant", [2]), ("end", [2])])


def element_types() -> bytes:
    """Arithmetic that wraps, comparisons, and conversions from float and back, for each type."""
    nodes, inputs, outputs = [], [("x", [6])], []
    for name, kind in TYPES.items():
        a, b = f"{name}_a", f"{name}_b"
        inputs += [(a, [6], kind), (b, [6], kind)]
        ops = ["And", "Or", "Xor"] if name == "bool" else ["Add", "Sub", "Mul"]
        for op in ops:
            nodes.append((op, [a, b], f"{name}_{op}"))
            outputs.append((f"{name}_{op}", [6], kind))
        if name != "bool":
            nodes.append(("Less", [a, b], f"{name}_less"))
            nodes.append(("Where", [f"{name}_less", a, b], f"{name}_where"))
            outputs += [(f"{name}_less", [6], TYPES["bool"]), (f"{name}_where", [6], kind)]
        nodes.append(("Cast", [f"{name}_{ops[0]}"], f"{name}_float", {"to": FLOAT}))
        outputs.append((f"{name}_float", [6]))
    nodes.append(("Cast", ["x"], "x_double", {"to": TYPES["double"]}))
    nodes.append(("Cast", ["x"], "x_half", {"to": TYPES["float16"]}))
    outputs += [("x_double", [6], TYPES["double"]), ("x_half", [6], TYPES["float16"])]
    return build(nodes, [], inputs, outputs)


MODELS = {make.__name__: make for make in (hostile_names, odd_constants, extents_of_one, empty_tensors,
                                           scalars, shared_outputs, element_types)}


def write_models(folder: pathlib.Path, names: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.onnx").write_bytes(MODELS[name]())
