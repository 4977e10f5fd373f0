#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pairs of models with known differences, for `lemma diff`: `diff_test.py LEMMA`.

Each pair has the expected exit status, the first line of the report, and lines that must occur."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples"))
from onnx_file import FLOAT, FLOAT16, INT64, node, number, tensor, text, value  # noqa: E402

LEMMA = pathlib.Path(sys.argv[1]).resolve()


def lemma(*arguments):
    done = subprocess.run([LEMMA, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


# ---- Models --------------------------------------------------------------------------------------

def numbers(count, seed=0):
    return [((i * 37 + 11 + seed) % 23 - 11) / 64 for i in range(count)]


def weights(name, *shape, seed=0, items=None):
    count = 1
    for extent in shape:
        count *= extent
    return text(5, tensor(name, shape, FLOAT, items or numbers(count, seed)))


def onnx(path, nodes, inits, inputs, outputs, opset=17, kind=FLOAT):
    graph = [text(1, one) for one in nodes] + [text(2, "net")] + inits
    graph += [text(11, value(name, shape, "", kind)) for name, shape in inputs]
    graph += [text(12, value(name, shape, "", kind)) for name, shape in outputs]
    content = number(1, 8) + text(2, "diff_test") + text(7, b"".join(graph))
    path.write_bytes(content + text(8, number(2, opset)))
    return path


def network(path, slope=0.125, act="Relu", extra=None, removed=False, changed_weight=None, swap=False,
            prefix="", opset=17, reverse_inits=False, batch=1):
    """Two branches of convolutions, their sum, and a classifier."""
    p = prefix
    w1 = numbers(36)
    if changed_weight:
        w1[changed_weight[0]] = changed_weight[1]
    left = [node("Conv", ["x", p + "w1", p + "b1"], p + "left", pads=[1, 1, 1, 1]),
            node("LeakyRelu", [p + "left"], p + "leaky", alpha=slope)]
    right = [node("Conv", ["x", p + "w2", p + "b2"], p + "right", pads=[1, 1, 1, 1]),
             node(act, [p + "right"], p + "active")]
    nodes = right + left if swap else left + right
    nodes.append(node("Add", [p + "leaky", p + "active"], p + "sum"))
    last = p + "sum"
    if extra:
        nodes.append(node(extra, [last], p + "more"))
        last = p + "more"
    if not removed:
        nodes.append(node("Tanh", [last], p + "bounded"))
        last = p + "bounded"
    nodes += [node("MaxPool", [last], p + "pooled", kernel_shape=[2, 2], strides=[2, 2]),
              node("Flatten", [p + "pooled"], p + "flat"),
              node("Gemm", [p + "flat", p + "w3", p + "b3"], p + "scores", transB=1),
              node("Softmax", [p + "scores"], "y", axis=-1)]
    inits = [weights(p + "w1", 4, 1, 3, 3, items=w1), weights(p + "b1", 4),
             weights(p + "w2", 4, 1, 3, 3, seed=5), weights(p + "b2", 4, seed=3),
             weights(p + "w3", 5, 64), weights(p + "b3", 5)]
    if reverse_inits:
        inits.reverse()
    return onnx(path, nodes, inits, [("x", [batch, 1, 8, 8])], [("y", [batch, 5])], opset)


def small(path, nodes, inits=(), inputs=(("x", [2, 3]),), outputs=(("y", [2, 3]),), **options):
    return onnx(path, nodes, list(inits), inputs, outputs, **options)


def sknd(path, body, head="", ports="@input { x: real[2, 3]; } @output { y: real[2, 3]; }"):
    path.write_text("import math;\nimport nn;\n%s\ngraph Net {\n    %s\n    @compose {\n        %s\n    }\n}\n"
                    % (head, ports, body))
    return path


LOOP = """y = with s = x do..(3) {
            t = math.%s(s);
            yield t;
        };"""
BRANCH = """m = math.max_reduce{squeeze=true}(x);
        c = math.gt(m, %s);
        y = if c then { a = math.exp(x); yield a; } else { b = math.%s(x); yield b; };"""
OWN = """operator twice { @input { a: real[s..]; } @output { b: real[s..]; }
    @lower { b[i..] = a[i..] %s, i < s; } }"""


# ---- Pairs ---------------------------------------------------------------------------------------

class Pairs:
    def __init__(self, folder):
        self.folder = folder
        self.count = 0
        self.failures = []

    def path(self, name):
        return self.folder / name

    def convert(self, model, out, *options):
        status, _, err = lemma("convert", model, self.path(out), *options)
        assert status == 0, err
        return self.path(out)

    def expect(self, label, a, b, status, first, *lines, options=()):
        self.count += 1
        got, out, err = lemma("diff", a, b, *options)
        said = out or err
        wrong = got != status or not re.fullmatch(first, said.split("\n")[0])
        wrong = wrong or any(not re.search(line, out + err) for line in lines)
        if wrong:
            self.failures.append(label)
            print("FAILED: %s: status %d, expected %d; %s %s\n%s" % (label, got, status, first, lines, said))


def format_pairs(pairs, base):
    names = "equal up to names"
    to_sknd = pairs.convert(base, "base.sknd", "--to=sknd")
    to_nnef = pairs.convert(base, "base.nnef", "--to=nnef1")
    to_onnx = pairs.convert(base, "again.onnx")
    archive = pairs.convert(base, "base.nnef.tgz", "--to=nnef1")
    flat = pairs.convert(base, "flat.nnef", "--to=nnef1", "--flat")
    pairs.expect("itself", base, base, 0, "equal")
    pairs.expect("as ONNX again", base, to_onnx, 0, "equal(?: up to names)?")
    pairs.expect("as SkriptND", base, to_sknd, 0, names)
    pairs.expect("as NNEF 1.0", base, to_nnef, 0, names)
    pairs.expect("as flat NNEF 1.0", base, flat, 1, "4 operations only in A, 9 operations only in B",
                 r"(?m)^- nn.relu leaky", r"(?m)^\+ math.select leaky")
    pairs.expect("from NNEF 1.0", to_nnef, base, 0, names)
    pairs.expect("SkriptND and NNEF 1.0", to_sknd, to_nnef, 0, names)
    pairs.expect("folder and archive", to_nnef, archive, 0, "equal")
    pairs.expect("archive and ONNX", archive, base, 0, names)
    for label, model in (("SkriptND", to_sknd), ("ONNX", base), ("NNEF 1.0", to_nnef)):
        listing = pairs.path("listing_%s.ir" % label.split()[0])
        listing.write_text(lemma("show", model, "--text")[1])
        pairs.expect("%s and its program" % label, model, listing, 0, "equal",
                     "6 weights have data in one of the models only, and were not compared")
        pairs.expect("the program of %s, by formulas" % label, listing, listing, 0, "equal",
                     options=["--level=formula"])
    changed = network(pairs.path("changed.onnx"), slope=0.25)
    pairs.expect("an attribute across formats", changed, to_nnef, 1, "1 operation changed",
                 r"attribute +alpha|definition")
    changed = network(pairs.path("changed.onnx"), changed_weight=(7, 2.0))
    pairs.expect("a weight across formats", changed, to_sknd, 1, "1 operation changed",
                 r"weight .* 1 of 36 elements differ, max abs .*, most at \[0, 0, 2, 1\]: 2 →")
    batch = network(pairs.path("batch.onnx"), batch=2)
    pairs.expect("a shape across formats", batch, to_nnef, 1, ".* inputs and outputs changed",
                 r"shape +input x +\[2, 1, 8, 8\] → \[1, 1, 8, 8\]")


def change_pairs(pairs, base):
    def made(**options):
        return network(pairs.path("other.onnx"), **options)

    pairs.expect("an attribute", base, made(slope=0.25), 1, "1 operation changed",
                 r"~ LeakyRelu leaky", r"attribute +alpha +0.125 → 0.25")
    weight = made(changed_weight=(7, 2.0))
    pairs.expect("a weight", base, weight, 1, "1 operation changed",
                 r"weight +w +1 of 36 elements differ, max abs .*, max rel .*, most at \[0, 0, 2, 1\]")
    pairs.expect("a weight, ignored", base, weight, 0, "equal", options=["--weights=ignore"])
    pairs.expect("a weight, far off", base, weight, 1, "1 operation changed", options=["--weights=0.01"])
    near = made(changed_weight=(7, numbers(36)[7] + 1e-4))
    pairs.expect("a weight, within", base, near, 0, "equal", options=["--weights=0.01"])
    pairs.expect("a weight, a little", base, near, 1, "1 operation changed", options=["--weights=exact"])
    renamed = made(prefix="new_")
    pairs.expect("names", base, renamed, 0, "equal up to names")
    pairs.expect("names that count", base, renamed, 1, r"\d+ names changed", r"operation +left +→ new_left",
                 r"weight +w1 +→ new_w1", options=["--names"])
    moved = made(swap=True)
    pairs.expect("order", base, moved, 0, "equal up to order")
    pairs.expect("order that counts", base, moved, 1, "2 operations moved", options=["--order"])
    pairs.expect("names and order", base, made(prefix="n_", swap=True), 0, "equal up to names and order")
    pairs.expect("another operator", base, made(act="Sigmoid"), 1, "1 operation changed",
                 r"operator +Relu → Sigmoid")
    pairs.expect("an operation more", base, made(extra="Abs"), 1, "1 operation only in B",
                 r"^\+ Abs more: f32\[1, 4, 8, 8\]".replace("^", "(?m)^"))
    pairs.expect("an operation less", base, made(removed=True), 1, "1 operation only in A",
                 r"(?m)^- Tanh bounded")
    pairs.expect("two changes", base, made(slope=0.5, act="Elu", extra="Neg"), 1,
                 "2 operations changed, 1 operation only in B")
    pairs.expect("another operator set", base, made(opset=13), 0, "equal")
    pairs.expect("initializers in another order", base, made(reverse_inits=True), 0, "equal")
    pairs.expect("another batch", base, made(batch=3), 1, ".*2 inputs and outputs changed",
                 r"shape +output y +\[1, 5\] → \[3, 5\]")
    half = [node("Relu", ["x"], "y")]
    pairs.expect("another type", small(pairs.path("a.onnx"), half),
                 small(pairs.path("b.onnx"), half, kind=FLOAT16), 1,
                 "1 operation changed, 2 inputs and outputs changed", r"dtype +y +f32 → f16")


def folded_pairs(pairs):
    norm = [node("Conv", ["x", "w", "b"], "c"),
            node("BatchNormalization", ["c", "g", "s", "m", "v"], "y", epsilon=0.0)]
    four = [2.0, 0.5, 1.0, 4.0]
    inits = [weights("w", 4, 1, 1, 1), weights("b", 4), weights("g", 4, items=four),
             weights("s", 4, items=[0.0] * 4), weights("m", 4, items=[0.0] * 4),
             weights("v", 4, items=[1.0] * 4)]
    ports = {"inputs": [("x", [1, 1, 4, 4])], "outputs": [("y", [1, 4, 4, 4])]}
    a = small(pairs.path("a.onnx"), norm, inits, **ports)
    folded = [weights("w", 4, 1, 1, 1, items=[x * y for x, y in zip(numbers(4), four)]),
              weights("b", 4, items=[x * y for x, y in zip(numbers(4), four)])]
    b = small(pairs.path("b.onnx"), [node("Conv", ["x", "w", "b"], "y")], folded, **ports)
    pairs.expect("a folded normalisation", a, b, 1, "1 operation changed, 1 operation only in A",
                 r"weight +w +2 of 4 elements", r"(?m)^- BatchNormalization y")
    pairs.expect("its numbers", a, b, 1, "1 operation changed, 1 operation only in A, numbers differ in 1 tensor",
                 r"(?m)^= +y ", "first difference: c", options=["--run", "--atol=1e-6"])


def meaning_pairs(pairs):
    def both(label, nodes_a, nodes_b, inits_a=(), inits_b=(), **ports):
        a = small(pairs.path("a.onnx"), nodes_a, inits_a, **ports)
        b = small(pairs.path("b.onnx"), nodes_b, inits_b, **ports)
        pairs.expect(label + ", by formulas", a, b, 0, "equal.*", options=["--level=formula"])
        pairs.expect(label, a, b, 1, ".*(changed|only in).*", "both models compute the same outputs")

    one = [weights("w", 2, 3)]
    both("operands of a sum", [node("Add", ["x", "w"], "y")], [node("Add", ["w", "x"], "y")], one, one)
    limits = [text(5, tensor("lo", [], FLOAT, [0.0])), text(5, tensor("hi", [], FLOAT, [6.0]))]
    both("a clip in two steps", [node("Clip", ["x", "lo", "hi"], "y")],
         [node("Max", ["x", "lo"], "t"), node("Min", ["t", "hi"], "y")], limits, limits)
    both("a copy", [node("Neg", ["x"], "y")],
         [node("Reshape", ["x", "s"], "t"), node("Neg", ["t"], "y")], (),
         [text(5, tensor("s", [2], INT64, [2, 3]))])
    both("a transposition there and back", [node("Neg", ["x"], "y")],
         [node("Transpose", ["x"], "t", perm=[1, 0]), node("Neg", ["t"], "u"),
          node("Transpose", ["u"], "y", perm=[1, 0])])
    shape = [text(5, tensor("s", [2], INT64, [2, 12]))]
    ports = {"inputs": [("x", [2, 3, 2, 2])], "outputs": [("y", [2, 12])]}
    both("a flattening", [node("Flatten", ["x"], "y")], [node("Reshape", ["x", "s"], "y")], (), shape,
         **ports)
    conv = {"inputs": [("x", [1, 2, 4, 4])], "outputs": [("y", [1, 3, 4, 4])]}
    bias = [weights("w", 3, 2, 1, 1), weights("b", 3)]
    apart = [weights("w", 3, 2, 1, 1), weights("b", 3, 1, 1)]
    both("a bias by itself", [node("Conv", ["x", "w", "b"], "y")],
         [node("Conv", ["x", "w"], "t"), node("Add", ["t", "b"], "y")], bias, apart, **conv)
    both("a result used twice", [node("Exp", ["x"], "a"), node("Mul", ["a", "a"], "y")],
         [node("Exp", ["x"], "a"), node("Exp", ["x"], "b"), node("Mul", ["a", "b"], "y")])
    a = small(pairs.path("a.onnx"), [node("Sub", ["x", "w"], "y")], one)
    b = small(pairs.path("b.onnx"), [node("Sub", ["w", "x"], "y")], one)
    pairs.expect("operands of a difference", a, b, 1, "1 operation changed", r"input +a +x → w")
    pairs.expect("operands of a difference, by formulas", a, b, 1, "1 operation changed",
                 options=["--level=formula"])


def interface_pairs(pairs):
    two = {"inputs": [("x", [2, 3]), ("z", [2, 3])]}
    sub = [node("Sub", ["x", "z"], "y")]
    a = small(pairs.path("a.onnx"), sub, **two)
    b = small(pairs.path("b.onnx"), sub, inputs=[("z", [2, 3]), ("x", [2, 3])])
    pairs.expect("inputs in another order", a, b, 0, "equal up to order")
    b = small(pairs.path("b.onnx"), [node("Sub", ["p", "z"], "y")], inputs=[("p", [2, 3]), ("z", [2, 3])])
    pairs.expect("an input with another name", a, b, 0, "equal up to names")
    b = small(pairs.path("b.onnx"), [node("Sub", ["x", "z"], "y"), node("Neg", ["y"], "n")],
              outputs=[("y", [2, 3]), ("n", [2, 3])], **two)
    pairs.expect("an output more", a, b, 1, "1 operation only in B, 1 input or output changed",
                 r"(?m)^\+ output n")
    a = small(pairs.path("a.onnx"), [node("Neg", ["x"], "y")], inputs=[("x", ["n", 3])],
              outputs=[("y", ["n", 3])])
    b = small(pairs.path("b.onnx"), [node("Neg", ["x"], "y")], inputs=[("x", ["batch", 3])],
              outputs=[("y", ["batch", 3])])
    pairs.expect("a runtime extent with another name", a, b, 0, "equal")
    b = small(pairs.path("b.onnx"), [node("Neg", ["x"], "y")])
    pairs.expect("a runtime extent that became a number", a, b, 1, ".*2 inputs and outputs changed",
                 r"shape +input x +\[n, 3\] → \[2, 3\]")


def sknd_pairs(pairs):
    def made(name, body, **options):
        return sknd(pairs.path(name), body, **options)

    pairs.expect("a loop", made("a.sknd", LOOP % "exp"), made("b.sknd", LOOP % "exp"), 0, "equal")
    pairs.expect("inside a loop", made("a.sknd", LOOP % "exp"), made("b.sknd", LOOP % "sin"), 1,
                 "1 operation changed", "operator +math.exp → math.sin")
    pairs.expect("the count of a loop", made("a.sknd", LOOP % "exp"),
                 made("b.sknd", LOOP.replace("(3)", "(4)") % "exp"), 1, "1 operation changed")
    pairs.expect("inside a branch", made("a.sknd", BRANCH % (0.5, "sin")), made("b.sknd", BRANCH % (0.5, "cos")),
                 1, "1 operation changed", "operator +math.sin → math.cos")
    pairs.expect("the condition of a branch", made("a.sknd", BRANCH % (0.5, "sin")),
                 made("b.sknd", BRANCH % (0.25, "sin")), 1, "1 operation changed", "0.5 → 0.25")
    pairs.expect("a definition", made("a.sknd", "y = twice(x);", head=OWN % "* 2.0"),
                 made("b.sknd", "y = twice(x);", head=OWN % "* 3.0"), 1, "1 operation changed",
                 "definition")
    state = "@input { x: real[2]; } @output { y: real[2]; } @variable { s: real[2]; } " \
            "@update { s = %s; }"
    for name, kept in (("a.sknd", "t"), ("b.sknd", "y")):
        made(name, "t = math.add(x, s); y = math.neg(t);", ports=state % kept)
    pairs.expect("another update", pairs.path("a.sknd"), pairs.path("b.sknd"), 1,
                 "1 input or output changed", "input +output update of s +t → y")
    for name in ("alexnet", "bert_layer", "control_flow", "lstm", "mobilenet_v2", "running_mean"):
        model = ROOT / "examples" / name
        pairs.expect("examples/" + name, model, model, 0, "equal")
        pairs.expect("examples/%s, by formulas" % name, model, model, 0, "equal",
                     options=["--level=formula"])
    bare = pairs.convert(pairs.path("base.onnx"), "bare.sknd", "--to=sknd", "--no-data")
    pairs.expect("data in one model only", pairs.path("base.sknd"), bare, 1, "3 operations changed",
                 "data → no data")


def trouble_pairs(pairs, base):
    broken = pairs.path("broken.sknd")
    broken.write_text("graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = no.op(x); } }")
    missing = pairs.path("missing.onnx")
    pairs.expect("a missing model", base, missing, 2, "lemma: cannot read .*missing.onnx.*")
    pairs.expect("a broken and a missing model", broken, missing, 2, ".*broken.sknd:1:.*: error: .*",
                 "missing.onnx")
    pairs.expect("a bad option", base, base, 2, "lemma: --weights must be .*; got `some`.*",
                 options=["--weights=some"])
    pairs.expect("a bad tolerance", base, base, 2, "lemma: --rtol must be .*", options=["--rtol=-1"])
    pairs.expect("a run of a program", base, pairs.path("listing_ONNX.ir"), 2,
                 "lemma: .* is the text of a program, which has no data to run with.*", options=["--run"])
    status, out, _ = lemma("diff", broken, missing, "--json")
    pairs.count += 1
    if status != 2 or len(json.loads(out)["models"]) != 2:
        pairs.failures.append("broken models as JSON")


def number_pairs(pairs, base):
    pairs.expect("numbers", base, pairs.path("base.nnef"), 0, "equal up to names", r"(?m)^= +y ",
                 options=["--run"])
    pairs.expect("two engines", base, base, 0, "equal", "A by the interpreter, B by compiled code",
                 options=["--run", "--engine=interpret", "--engine-b=jit"])
    weight = network(pairs.path("other.onnx"), changed_weight=(7, 2.0))
    pairs.expect("the first difference", base, weight, 1, r"1 operation changed, numbers differ in \d+ tensors",
                 r"first difference: left\[0, 0, \d, \d\]: ", options=["--run"])
    status, out, _ = lemma("diff", base, weight, "--run", "--json")
    document = json.loads(out)
    pairs.count += 1
    tensors = document["numbers"]["tensors"]
    change = document["changed"][0]["changes"][0]
    good = status == 1 and document["schema"] == 1 and not document["equal"]
    good = good and tensors[document["numbers"]["first"]]["a"] == "left"
    if not good or change["what"] != "weight" or change["amount"]["changed"] != 1:
        pairs.failures.append("numbers as JSON")
        print(out)


def large_pairs(pairs):
    """Neither long nor repetitive graphs take quadratic time."""
    count = 10000

    def chain(name, skipped):
        lines, last = [], "x"
        for i in range(count):
            if i != skipped:
                lines.append("t%d = math.%s(%s);" % (i, ("exp", "neg", "abs")[i % 3], last))
                last = "t%d" % i
        return sknd(pairs.path(name), "\n        ".join(lines) + "\n        y = math.sin(%s);" % last)

    def wide(name, op):
        lines = ["t%d = math.%s(x);" % (i, op) for i in range(count)]
        items = ", ".join("t%d" % i for i in range(count))
        return sknd(pairs.path(name), "\n        ".join(lines) + "\n        y = math.sum_n([%s]);" % items)

    begin = time.time()
    pairs.expect("a long chain", chain("a.sknd", None), chain("b.sknd", 5000), 1, "1 operation only in A")
    pairs.expect("a long chain, by formulas", pairs.path("a.sknd"), pairs.path("b.sknd"), 1,
                 ".*(changed|only in A).*", options=["--level=formula"])
    pairs.expect("ten thousand alike", wide("a.sknd", "exp"), wide("b.sknd", "neg"), 1,
                 "10000 operations changed")
    pairs.expect("ten thousand alike, by formulas", wide("a.sknd", "exp"), wide("b.sknd", "exp"), 0, "equal",
                 options=["--level=formula"])
    seconds = time.time() - begin
    pairs.count += 1
    if seconds > 120:
        pairs.failures.append("large graphs took %.0f s" % seconds)


def main():
    with tempfile.TemporaryDirectory() as name:
        pairs = Pairs(pathlib.Path(name))
        base = network(pairs.path("base.onnx"))
        format_pairs(pairs, base)
        change_pairs(pairs, base)
        folded_pairs(pairs)
        meaning_pairs(pairs)
        interface_pairs(pairs)
        sknd_pairs(pairs)
        trouble_pairs(pairs, base)
        number_pairs(pairs, base)
        large_pairs(pairs)
    print("%d pairs, %d failed" % (pairs.count, len(pairs.failures)))
    return 1 if pairs.failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main())
