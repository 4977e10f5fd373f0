"""algo, misc, quant and rand."""

import math

from cases import Numbers, attributes
from tensor import Tensor, build, count_up, groups, integer, normal, real, replaced, shuffled

# ---- algo ----------------------------------------------------------------------------------------

numbers = Numbers(
    "algo.top_k",
    "the k greatest (or least) along an axis, best first, and their indices; of equals the first.")


def top_k(x, k, axis=0, largest=True):
    axis = normal(axis, x.rank)
    shape = replaced(x.shape, [axis], [min(k, x.shape[axis])])
    values, where = {}, {}
    for members in groups(x, [axis]).values():
        best = sorted(members, key=lambda m: (-m[1] if largest else m[1], m[0][axis]))
        for rank, (index, value) in enumerate(best[:k]):
            values[replaced(index, [axis], [rank])] = value
            where[replaced(index, [axis], [rank])] = index[axis]
    return {"values": build("real", shape, lambda i: values[i]),
            "indices": build("int", shape, lambda i: where[i])}


X = shuffled([2, 4, 2], 3)
for title, x, given in [("a vector", shuffled([6], 2), {"k": 3}),
                        ("least first", shuffled([6], 2), {"k": 2, "largest": False}),
                        ("along an axis", X, {"k": 2, "axis": 1}),
                        ("from the end", X, {"k": 1, "axis": -1, "largest": False}),
                        ("along the first axis", X, {"k": 2}),
                        ("more than there are", shuffled([3], 2), {"k": 9}),
                        ("equals", real([6], 1, 3, 2, 3, 3, 1), {"k": 4}),
                        ("equals, least first", real([6], 1, 3, 2, 3, 3, 1), {"k": 3,
                                                                             "largest": False}),
                        ("infinities", real([4], -math.inf, 0, math.inf, 5), {"k": 3})]:
    numbers.case(title, f"values, indices = algo.top_k{attributes(**given)}(x);", {"x": x},
                 top_k(x, **given))
best = top_k(shuffled([6], 2), 3)
numbers.case("unsorted: the same set",
             ["values, indices = algo.top_k{k=3, sorted=false}(x);",
              "sum = math.sum_reduce(values);", "places = math.sum_reduce(indices);"],
             {"x": shuffled([6], 2)}, {"sum": real([1], sum(best["values"].values)),
                                       "places": integer([1], sum(best["indices"].values))})

numbers = Numbers(
    "algo.nonmax_suppress",
    "boxes that do not overlap a better one of their class by more than the threshold; rows of "
    "batch, class and box, best first in each class.")


def edges(box, box_format):
    """Lower and upper corner."""
    if box_format == "CENTER":
        return [(c - e / 2, c + e / 2) for c, e in zip(box[:2], box[2:])]
    return list(zip(box[:2], box[2:]))


def overlap(a, b):
    """Intersection over union."""
    common = math.prod(max(0.0, min(p[1], q[1]) - max(p[0], q[0])) for p, q in zip(a, b))
    return common / (math.prod(p[1] - p[0] for p in a) + math.prod(p[1] - p[0] for p in b) - common)


def nonmax_suppress(title, boxes, scores, box_format=None, most=None, threshold=None, least=None):
    rows = []
    for b in range(boxes.shape[0]):
        shapes = [edges([boxes[b, n, k] for k in range(4)], box_format)
                  for n in range(boxes.shape[1])]
        for c in range(scores.shape[1]):
            open_boxes = sorted((n for n in range(boxes.shape[1])
                                 if least is None or scores[b, c, n] > least),
                                key=lambda n: -scores[b, c, n])
            kept = []
            while open_boxes and (most is None or len(kept) < most):
                best = open_boxes.pop(0)
                kept.append(best)
                open_boxes = [n for n in open_boxes
                              if overlap(shapes[n], shapes[best]) <= (threshold or 0.0)]
            rows += [(b, c, n) for n in kept]
    call = attributes(box_format=box_format, max_outputs_per_class=most, iou_threshold=threshold,
                      score_threshold=least)
    y = Tensor("int", [len(rows), 3], [v for row in rows for v in row])
    numbers.case(title, f"y = algo.nonmax_suppress{call}(boxes, scores);",
                 {"boxes": boxes, "scores": scores}, {"y": y})


# Three that overlap, one that touches, one alone.
BOXES = real([1, 5, 4], 0, 0, 4, 4, 0, 1, 4, 5, 0, 3, 4, 7, 4, 0, 8, 4, 10, 10, 12, 12)
MIDDLES = real([1, 5, 4], 2, 2, 4, 4, 2, 3, 4, 4, 2, 5, 4, 4, 6, 2, 4, 4, 11, 11, 2, 2)
SCORES = real([1, 1, 5], 0.9, 0.8, 0.7, 0.3, 0.5)
CLASSES = real([1, 2, 5], 0.9, 0.8, 0.7, 0.3, 0.5, 0.1, 0.95, 0.4, 0.6, 0.2)
nonmax_suppress("any overlap", BOXES, SCORES)
nonmax_suppress("half", BOXES, SCORES, threshold=0.5)
nonmax_suppress("much", BOXES, SCORES, threshold=0.75)
nonmax_suppress("all", BOXES, SCORES, threshold=1.0)
nonmax_suppress("two classes", BOXES, CLASSES, threshold=0.5)
nonmax_suppress("good ones", BOXES, CLASSES, threshold=0.5, least=0.45)
nonmax_suppress("at most two a class", BOXES, CLASSES, threshold=0.5, most=2)
nonmax_suppress("none", BOXES, SCORES, most=0)
nonmax_suppress("none good enough", BOXES, SCORES, least=0.95)
nonmax_suppress("middles and extents", MIDDLES, CLASSES, box_format="CENTER", threshold=0.5)
nonmax_suppress("a batch", real([2, 2, 4], 0, 0, 2, 2, 0, 1, 2, 3, 0, 0, 2, 2, 5, 5, 6, 6),
                real([2, 1, 2], 0.5, 0.75, 0.25, 0.5), threshold=0.25)

# ---- misc ----------------------------------------------------------------------------------------

numbers = Numbers("misc.mesh_grid", "outputs[k] at an index is inputs[k] at its k-th part.")
for title, xs in [("three vectors", [count_up([2]), count_up([3], 10), count_up([2], 100)]),
                  ("two vectors", [real([3], 5, -1, 2), real([2], 7, 8)]), ("one", [count_up([4])]),
                  ("integers", [integer([2], 1, 2), integer([1], 9)]),
                  ("nothing at all", [count_up([2]), real([0])])]:
    shape = [x.shape[0] for x in xs]
    inputs, outputs = [f"x{i}" for i in range(len(xs))], [f"y{i}" for i in range(len(xs))]
    ys = [build(xs[k].dtype, shape, lambda i, k=k: xs[k][i[k]]) for k in range(len(xs))]
    numbers.case(title, f"[{', '.join(outputs)}] = misc.mesh_grid([{', '.join(inputs)}]);",
                 dict(zip(inputs, xs)), dict(zip(outputs, ys)))

# ---- quant ---------------------------------------------------------------------------------------


def half_away(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


def per_channel(values, index, axis):
    return values if not isinstance(values, list) else values[index[axis]]


VALUES = real([2, 2, 3], -100, -2.375, -1, -0.375, 0, 0.125, 0.25, 0.875, 1.5, 3, 7.25, 100)

numbers = Numbers(
    "quant.zero_point_linear_quantize",
    "(clamp(zero_point + round(x / scale)) - zero_point) * scale, halves away from zero.")
for title, given in [("unsigned", dict(zero_point=3, scale=0.5, bits=3, signed=False)),
                     ("signed", dict(zero_point=0, scale=0.25, bits=4)),
                     ("signed and symmetric", dict(zero_point=0, scale=0.25, bits=4,
                                                   symmetric=True)),
                     ("signed, with an offset", dict(zero_point=-2, scale=0.75, bits=4)),
                     ("eight bits", dict(zero_point=0, scale=0.5, bits=8)),
                     ("a scale for each channel", dict(zero_point=[0, 1], scale=[0.5, 2.0],
                                                       bits=4)),
                     ("along the last axis", dict(zero_point=[0, 1, 2], scale=[0.5, 1.0, 0.25],
                                                  bits=4, channel_axis=-1)),
                     ("one zero point, many scales", dict(zero_point=0, scale=[1.0, 0.5], bits=3))]:
    bits, signed = given["bits"], given.get("signed", True)
    top = 2 ** (bits - 1) - 1 if signed else 2 ** bits - 1
    bottom = (-top if given.get("symmetric") else -top - 1) if signed else 0
    axis = normal(given.get("channel_axis", 1), 3)

    def item(index):
        zero = per_channel(given["zero_point"], index, axis)
        scale = per_channel(given["scale"], index, axis)
        level = min(max(zero + half_away(VALUES[index] / scale), bottom), top)
        return (level - zero) * scale

    numbers.case(title, f"y = quant.zero_point_linear_quantize{attributes(**given)}(x);",
                 {"x": VALUES}, {"y": build("real", VALUES.shape, item)})

numbers = Numbers(
    "quant.min_max_linear_quantize",
    "x clamped to [min, max] and rounded to one of 2 ** bits levels (one less if signed and "
    "symmetric).")
for title, given in [("unsigned", dict(min=-1.0, max=2.0, bits=2, signed=False)),
                     ("signed", dict(min=-2.0, max=2.0, bits=3)),
                     ("signed and symmetric", dict(min=-3.0, max=3.0, bits=3, symmetric=True)),
                     ("unsigned, symmetric means nothing", dict(min=0.0, max=6.0, bits=2,
                                                                signed=False, symmetric=True)),
                     ("eight bits", dict(min=-8.0, max=8.0, bits=8)),
                     ("a range for each channel", dict(min=[-1.0, 0.0], max=[1.0, 7.0], bits=3)),
                     ("along the last axis", dict(min=[-1.0, 0.0, -4.0], max=[1.0, 2.0, 3.0],
                                                  bits=3, channel_axis=2)),
                     ("one minimum, many maxima", dict(min=-1.0, max=[1.0, 4.0], bits=4))]:
    fewer = given.get("signed", True) and given.get("symmetric", False)
    steps = 2 ** given["bits"] - 1 - fewer
    axis = normal(given.get("channel_axis", 1), 3)

    def item(index):
        low = per_channel(given["min"], index, axis)
        high = per_channel(given["max"], index, axis)
        inside = min(max(VALUES[index], low), high)
        return half_away((inside - low) / (high - low) * steps) / steps * (high - low) + low

    numbers.case(title, f"y = quant.min_max_linear_quantize{attributes(**given)}(x);",
                 {"x": VALUES}, {"y": build("real", VALUES.shape, item)})

# ---- rand ----------------------------------------------------------------------------------------


def sample(title, compose, text):
    numbers.steps(title, compose, [({}, {})], samples=[text])


def estimate(name, kind, shape, least, greatest, center, deviation):
    return (f"{name}: {kind}[{','.join(map(str, shape))}] = least {least:g} greatest {greatest:g} "
            f"mean {center:g} deviation {deviation:.6g}")


numbers = Numbers(
    "rand.uniform",
    "any number of [min, max) as likely as any other; of integers, max is one of them.")
sample("reals", "y = rand.uniform{shape=[1000]}();",
       estimate("y", "real", [1000], 0, 1, 0.5, 12 ** -0.5))
sample("another range", "y = rand.uniform{min=-4.0, max=2.0, shape=[20, 50]}();",
       estimate("y", "real", [20, 50], -4, 2, -1, 6 * 12 ** -0.5))
sample("integers", "y = rand.uniform<int>{min=-2, max=2, shape=[1000]}();",
       estimate("y", "int", [1000], -2, 2, 0, 2 ** 0.5))
sample("both ends of the integers",
       ["v = rand.uniform<int>{min=3, max=4, shape=[1000]}();", "y = layout.cast<real>(v);"],
       estimate("y", "real", [1000], 3, 4, 3.5, 0.5))
sample("two calls differ",
       ["a = rand.uniform{shape=[1000]}();", "b = rand.uniform{shape=[1000]}();",
        "y = math.sub(a, b);"],
       estimate("y", "real", [1000], -1, 1, 0, 6 ** -0.5))
sample("one item after the other differs",
       ["v = rand.uniform{shape=[2, 1000]}();", "[a, b] = layout.unstack{axis=0}(v);",
        "y = math.sub(a, b);"], estimate("y", "real", [1000], -1, 1, 0, 6 ** -0.5))
numbers.case("no room", "y = rand.uniform{min=1.5, max=1.5, shape=[3]}();", {},
             {"y": real([3], 1.5, 1.5, 1.5)})
numbers.case("nothing at all", "y = rand.uniform{shape=[0, 2]}();", {}, {"y": real([0, 2])})

numbers = Numbers(
    "rand.normal",
    "the normal distribution. One of 1000 is further than six deviations out once in 500 000 "
    "tries.")
sample("plain", "y = rand.normal{shape=[1000]}();", estimate("y", "real", [1000], -6, 6, 0, 1))
sample("mean and deviation", "y = rand.normal{mean=10.0, std=0.5, shape=[10, 100]}();",
       estimate("y", "real", [10, 100], 7, 13, 10, 0.5))
sample("two thirds within one deviation",
       ["v = rand.normal{shape=[1000]}();", "a = math.abs(v);", "b = math.lt(a, 1.0);",
        "y = layout.cast<real>(b);"],
       estimate("y", "real", [1000], 0, 1, math.erf(0.5 ** 0.5),
                (math.erf(0.5 ** 0.5) * (1 - math.erf(0.5 ** 0.5))) ** 0.5))
sample("two calls differ", ["a = rand.normal{shape=[1000]}();", "b = rand.normal{shape=[1000]}();",
                            "y = math.sub(a, b);"],
       estimate("y", "real", [1000], -9, 9, 0, 2 ** 0.5))
numbers.case("no deviation", "y = rand.normal{mean=-2.0, std=0.0, shape=[2]}();", {},
             {"y": real([2], -2, -2)})

numbers = Numbers("rand.bernoulli", "true with the given probability.")
for prob in (0.5, 0.125, 0.9):
    sample(f"probability {prob:g}", [f"v = rand.bernoulli{{prob={prob}, shape=[1000]}}();",
                                     "y = layout.cast<real>(v);"],
           estimate("y", "real", [1000], 0, 1, prob, (prob * (1 - prob)) ** 0.5))
sample("truth values", "y = rand.bernoulli{prob=0.5, shape=[10, 100]}();",
       estimate("y", "bool", [10, 100], 0, 1, 0.5, 0.5))
for prob, value in ((0.0, False), (1.0, True)):
    numbers.case(f"probability {prob:g}", f"y = rand.bernoulli{{prob={prob}, shape=[2, 2]}}();", {},
                 {"y": Tensor("bool", [2, 2], [value] * 4)})
