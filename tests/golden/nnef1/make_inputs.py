#!/usr/bin/env python3
"""Writes the models, data files and archives of the tests in run/ into run/inputs/."""
import io
import pathlib
import shutil
import struct
import tarfile

HERE = pathlib.Path(__file__).parent / "run" / "inputs"

LAYER = """\
version 1.0;

graph layer( x, pick ) -> ( y, z, n )
{
    x = external(shape = [2, 2]);
    pick = external<logical>(shape = [2, 2]);
    w = variable(shape = [1, 2], label = 'layer/W');
    k = variable<integer>(shape = [2], label = 'layer/k');
    f = variable<logical>(shape = [2, 2], label = 'flags');
    y = mul(x, w);
    both = and(pick, f);
    z = select(both, y, 0.0);
    n = copy(k);
}
"""

QUANTISED = """\
version 1.0;

graph net( x ) -> ( y, z )
{
    x = external(shape = [2, 2]);
    w = variable(shape = [2, 2], label = 'w');
    y = mul(x, 1.0);
    z = add(w, 0.0);
}
"""

CONSTANT = """\
version 1.0;

graph net( x ) -> ( y, z )
{
    x = external(shape = [2, 2]);
    c = constant(shape = [2, 2], value = [0.2, 0.3, 0.8, 1.2]);
    u = constant(shape = [], value = [0.3]);
    y = add(x, c);
    z = add(x, u);
}
"""

COUNTER = """\
version 1.0;

# Two variables that are swapped: each refers to its old value all through the cycle.
graph counter( x ) -> ( sum, was, other )
{
    x = external(shape = [2]);
    a = variable(shape = [2], label = 'state/a');
    b = variable(shape = [2], label = 'state/b');
    sum = add(a, x);
    was = copy(a);
    other = copy(b);
    new_a = update(a, b);
    new_b = update(b, sum);
}
"""

SWAP = """\
version 1.0;

# A swap, a delay of two steps, and a variable that keeps its value.
graph swap( x ) -> ( was_a, was_b, late, kept )
{
    x = external(shape = [2]);
    a = variable(shape = [2], label = 'a');
    b = variable(shape = [2], label = 'b');
    c = variable(shape = [2], label = 'c');
    d = variable(shape = [2], label = 'd');
    e = variable(shape = [2], label = 'e');
    new_a = update(a, b);
    new_b = update(b, a);
    new_c = update(c, x);
    new_d = update(d, c);
    new_e = update(e, e);
    was_a = copy(a);
    was_b = copy(b);
    late = copy(d);
    kept = copy(e);
}
"""

BAD = """\
version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [2]);
    shape = variable(shape = [2, 1], label = 'shape');
    type = variable<integer>(shape = [2], label = 'type');
    none = variable(shape = [2], label = 'none');
    y = add(x, none);
}
"""

BAD_ITEMS = """\
version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [4]);
    codes = variable(shape = [4], label = 'codes');
    loose = variable(shape = [4], label = 'loose');
    large = variable<integer>(shape = [2], label = 'large');
    extra = variable(shape = [2], label = 'extra');
    good = variable(shape = [4], label = 'good');
    y = add(x, codes);
}
"""

BAD_VALUES = """\
"x": linear_quantize(min = 1.0, max = 1.0, bits = 8);
"w": linear_quantize(min = [0.0, 0.5], max = [1.0, 0.25], bits = 8);
"z": linear_quantize(min = -1.0, max = 1.0, bits = 100);
"y": zero_point_linear_quantize(zero_point = 0, scale = 0.0, bits = 8, signed = true, symmetric = false);
"a": logarithmic_quantize(max = 0.0, bits = 8);
"""

BAD_LENGTHS = """\
"x": linear_quantize(min = [-1.0, -1.0, -2.0], max = 1.0, bits = 8);
"w": linear_quantize(min = -1.0, max = [[[1.0, 2.0]]], bits = 8);
"z": linear_quantize(min = [-1.0, -2.0], max = [[1.0, 2.0]], bits = 8);
"y": min_max_linear_quantize(min = 0.0, max = 1.0, bits = 1, signed = true, symmetric = true);
"""

BAD_QUANT = """\
# names of tensors and operations
"q": linear_quantize(min = 0.0, max = 1.0, bits = 8);
"w/label": linear_quantize(min = 0.0, max = 1.0, bits = 8);
"x": linear_quantise(min = 0.0, max = 1.0, bits = 8);
# all parameters but the first are given, by name, once, and in their types
"w": linear_quantize(min = 0.0, max = 1.0);
"y": linear_quantize(x = 1.0, min = 0.0, max = 1.0, bits = 8);
"z": linear_quantize(min = 0, max = 1.0, bits = 8.0);
"""

BAD_QUANT_MODEL = """\
version 1.0;

graph net( x ) -> ( y )
{
    x = external(shape = [2, 2]);
    w = variable(shape = [2, 2], label = 'w/label');
    z = mul(x, w);
    y = relu(z);
    a = relu(y);
}
"""


def dat(shape: list[int], values: bytes, bits: int, item: int) -> bytes:
    header = struct.pack("<2sBBII", b"N\xef", 1, 0, len(values), len(shape))
    header += struct.pack("<8I", *shape, *[0] * (8 - len(shape))) + struct.pack("<II", bits, item)
    return header.ljust(128, b"\0") + values


def reals(shape: list[int], *values: float) -> bytes:
    return dat(shape, struct.pack(f"<{len(values)}f", *values), 32, 0)


def write(name: str, content: str | bytes) -> None:
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def main() -> None:
    shutil.rmtree(HERE, ignore_errors=True)
    write("layer/graph.nnef", LAYER)
    write("layer/layer/w.dat", reals([1, 2], 2.0, -1.0))  # the label has another case
    write("layer/layer/k.dat", dat([2], struct.pack("<2h", 3, -4), 16, 4))
    write("layer/flags.dat", dat([2, 2], bytes([0b10110000]), 1, 5))
    write("layer/layer/w.dat.q8", b"another version of the data")
    write("layer/vendor/notes.txt", "not ours")
    write("x.json", "[[1.0, 2.0], [3.0, 4.0]]")
    write("pick.json", "[[true, true], [true, false]]")
    with tarfile.open(HERE / "layer.tgz", "w:gz", compresslevel=9) as tar:
        for file in sorted((HERE / "layer").rglob("*")):
            if file.is_dir():
                continue
            info = tarfile.TarInfo("./" + file.relative_to(HERE / "layer").as_posix())
            info.size = file.stat().st_size
            tar.addfile(info, io.BytesIO(file.read_bytes()))

    write("quantised/graph.nnef", QUANTISED)
    write("quantised/graph.quant",
          "# codes of the file, and values of the graph\n"
          '"w": min_max_linear_quantize(min = -1.0, max = 1.0, bits = 8, signed = false, '
          "symmetric = false);\n"
          '"y": zero_point_linear_quantize(zero_point = 0, scale = [[0.5, 2.0]], bits = 8, '
          "signed = true, symmetric = false);\n")
    write("quantised/w.dat", dat([2, 2], bytes([0, 255, 51, 204]), 8, 2))
    write("q.json", "[[0.8, 0.8], [200.0, 2.9]]")

    write("constant/graph.nnef", CONSTANT)
    write("constant/graph.quant",
          '"c": linear_quantize(min = 0.0, max = 1.0, bits = 2);\n'
          '"u": linear_quantize(min = 0.0, max = 1.0, bits = 1);\n')

    write("counter/graph.nnef", COUNTER)
    write("counter/state/a.dat", reals([2], 1.0, 2.0))
    write("counter/state/b.dat", reals([2], 10.0, 20.0))
    for step in range(3):
        write(f"steps/{step}/x.json", f"[{step}.0, 0.5]")

    write("swap/graph.nnef", SWAP)
    for number, name in enumerate("abcde"):
        write(f"swap/{name}.dat", reals([2], 10.0 * number + 1.0, 10.0 * number + 2.0))

    write("bad/graph.nnef", BAD)
    write("bad/shape.dat", reals([2], 1.0, 2.0))
    write("bad/type.dat", reals([2], 1.0, 2.0))
    write("bad/spare.dat", reals([2], 1.0, 2.0))
    write("bad_quant/graph.nnef", BAD_QUANT_MODEL)
    write("bad_quant/graph.quant", BAD_QUANT)
    write("bad_values/graph.nnef", BAD_QUANT_MODEL)
    write("bad_values/graph.quant", BAD_VALUES)
    write("bad_lengths/graph.nnef", BAD_QUANT_MODEL)
    write("bad_lengths/graph.quant", BAD_LENGTHS)
    write("bad_items/graph.nnef", BAD_ITEMS)
    four_bits = "(min = -1.0, max = 1.0, bits = 4, signed = false, symmetric = false);\n"
    write("bad_items/graph.quant",
          f'"codes": min_max_linear_quantize{four_bits}"good": min_max_linear_quantize{four_bits}')
    write("bad_items/codes.dat", dat([4], bytes([0, 1, 128, 255]), 8, 2))
    write("bad_items/loose.dat", dat([4], bytes([0, 1, 128, 255]), 8, 2))
    write("bad_items/large.dat", dat([2], struct.pack("<2Q", 1, 1 << 63), 64, 1))
    extra = bytearray(reals([2], 1.0, 2.0))
    extra[16] = 7  # the second extent
    write("bad_items/extra.dat", bytes(extra))
    write("bad_items/good.dat", dat([4], bytes([0, 1, 14, 15]), 8, 2))
    write("case/case.json", '{"rtol": 1e-4, "atol": 1e-5, "quant": true}\n')
    write("case/model/graph.nnef", QUANTISED)
    write("case/model/graph.quant", '"y": linear_quantize(min = 0.0, max = 4.0, bits = 2);\n')
    write("case/model/w.dat", reals([2, 2], 1.0, 2.0, 3.0, 4.0))
    write("case/inputs/x.json", "[[0.5, 1.0], [2.2, 9.0]]")
    write("case/outputs/y.json", "[[0.0, 1.3333333], [2.6666667, 4.0]]")
    write("case/outputs/z.json", "[[1.0, 2.0], [3.0, 4.0]]")


if __name__ == "__main__":
    main()
