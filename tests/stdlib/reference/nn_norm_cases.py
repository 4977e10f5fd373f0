"""nn: normalization."""

import math

from cases import Numbers, attributes
from tensor import build, groups, mixed, normal, real, replaced
from windows import Window

X = mixed([2, 4, 3], 6)


def affine(y, channel_of, bias, scale):
    """y * scale + bias, each by channel_of(index); either may be None."""
    return build("real", y.shape, lambda i: y[i] * (scale[channel_of(i)] if scale else 1)
                 + (bias[channel_of(i)] if bias else 0))


def standardized(x, axes, epsilon):
    """(x - mean) / sqrt(variance + epsilon), both over the axes."""
    result = {}
    for members in groups(x, axes).values():
        values = [value for _, value in members]
        mean = sum(values) / len(values)
        variance = sum((value - mean) ** 2 for value in values) / len(values)
        for index, value in members:
            result[index] = (value - mean) / math.sqrt(variance + epsilon)
    return build("real", x.shape, lambda i: result[i])


def arguments(**given):
    """Names of the inputs that are there; `~` for one that is not, unless only such follow."""
    names = [name if value else "~" for name, value in given.items()]
    while names and names[-1] == "~":
        names.pop()
    return ", ".join(names), {name: value for name, value in given.items() if value}


OPTIONS = [("plain", False, False), ("bias", True, False), ("scale", False, True),
           ("bias and scale", True, True)]

numbers = Numbers(
    "nn.batch_norm",
    "(x - mean) / sqrt(variance + epsilon) * scale + bias, with values of each channel.")


def batch_norm(title, shape, axis=None, epsilon=None, with_bias=True, with_scale=True):
    x = mixed(shape, 6)
    at = normal(1 if axis is None else axis, x.rank)
    c = [shape[at]]
    mean, variance = mixed(c, 1), mixed(c, 2, 0.25, 4.0)
    bias, scale = mixed(c, 3), mixed(c, 4, 0.5, 2.0)
    e = 1e-5 if epsilon is None else epsilon
    y = build("real", shape, lambda i: (x[i] - mean[i[at]]) / math.sqrt(variance[i[at]] + e))
    y = affine(y, lambda i: i[at], bias if with_bias else None, scale if with_scale else None)
    names, inputs = arguments(x=x, mean=mean, variance=variance, bias=bias if with_bias else None,
                              scale=scale if with_scale else None)
    numbers.case(title, f"y = nn.batch_norm{attributes(epsilon=epsilon, channel_axis=axis)}"
                        f"({names});", inputs, {"y": y})


for title, with_bias, with_scale in OPTIONS:
    batch_norm(title, [2, 3, 2], with_bias=with_bias, with_scale=with_scale)
batch_norm("a matrix", [3, 2])
batch_norm("channels last", [2, 2, 3], axis=-1)
batch_norm("channels first of all", [3, 2], axis=0)
batch_norm("a large epsilon", [1, 2, 2, 2], epsilon=0.5)

numbers = Numbers(
    "nn.mean_variance_norm",
    "(x - mean) / sqrt(variance + epsilon) over the axes, * scale + bias of each channel.")


def per_channel(name, title, axes_of, attribute_text, shape, epsilon, with_bias, with_scale):
    x = mixed(shape, 6)
    bias, scale = mixed([shape[1]], 3), mixed([shape[1]], 4, 0.5, 2.0)
    y = affine(standardized(x, axes_of, epsilon), lambda i: i[1], bias if with_bias else None,
               scale if with_scale else None)
    names, inputs = arguments(x=x, bias=bias if with_bias else None,
                              scale=scale if with_scale else None)
    numbers.case(title, f"y = nn.{name}{attribute_text}({names});", inputs, {"y": y})


for title, with_bias, with_scale in OPTIONS:
    per_channel("mean_variance_norm", title, [2], "", [2, 2, 4], 1e-5, with_bias, with_scale)
for title, shape, axes in [("spatial axes", [1, 2, 2, 3], None),
                           ("over the channels", [2, 3, 2], [1]),
                           ("over all axes", [2, 2, 2], [0, 1, 2]),
                           ("from the end", [2, 2, 3], [-1]),
                           ("over the batch and space", [2, 2, 2], [-3, 2])]:
    per_channel("mean_variance_norm", title, axes or [2, 3], attributes(axes=axes), shape, 1e-5,
                True, True)
per_channel("mean_variance_norm", "a large epsilon", [2], "{epsilon=0.5}", [1, 2, 3], 0.5, False,
            False)

numbers = Numbers("nn.instance_norm", "mean_variance_norm over the spatial axes.")
for title, with_bias, with_scale in OPTIONS:
    per_channel("instance_norm", title, [2], "", [2, 2, 4], 1e-5, with_bias, with_scale)
per_channel("instance_norm", "two axes", [2, 3], "{epsilon=0.25}", [1, 2, 2, 3], 0.25, True, True)

numbers = Numbers(
    "nn.group_norm",
    "(x - mean) / sqrt(variance + epsilon) over each group of channels and the spatial axes, * "
    "scale + bias of each channel.")


def group_norm(title, shape, count, epsilon=None, with_bias=True, with_scale=True):
    x = mixed(shape, 6)
    bias, scale = mixed([shape[1]], 3), mixed([shape[1]], 4, 0.5, 2.0)
    apart = x.with_shape([shape[0], count, shape[1] // count, *shape[2:]])
    y = standardized(apart, list(range(2, apart.rank)), 1e-5 if epsilon is None else epsilon)
    y = affine(y.with_shape(shape), lambda i: i[1], bias if with_bias else None,
               scale if with_scale else None)
    names, inputs = arguments(x=x, bias=bias if with_bias else None,
                              scale=scale if with_scale else None)
    numbers.case(title, f"y = nn.group_norm{attributes(groups=count, epsilon=epsilon)}({names});",
                 inputs, {"y": y})


for title, with_bias, with_scale in OPTIONS:
    group_norm(title, [2, 4, 2], 2, with_bias=with_bias, with_scale=with_scale)
group_norm("one group", [1, 2, 3], 1)
group_norm("a group a channel", [1, 2, 3], 2)
group_norm("two axes", [1, 4, 2, 2], 2, epsilon=0.5)
group_norm("no spatial axes", [2, 4], 2)

numbers = Numbers(
    "nn.layer_norm",
    "(x - mean) / sqrt(variance + epsilon) over the axes from `axis` on, * scale + bias, which "
    "have these axes.")
for title, shape, axis, epsilon, with_bias, with_scale in [
        ("plain", [2, 4], None, None, False, False), ("bias", [2, 4], None, None, True, False),
        ("scale", [2, 4], None, None, False, True), ("both", [2, 2, 3], None, None, True, True),
        ("two axes", [2, 2, 3], 1, None, True, True), ("two axes from the end", [2, 2, 2], -2, None,
                                                       True, True),
        ("all axes", [2, 3], 0, None, False, False), ("a large epsilon", [2, 3], None, 0.5, True,
                                                      True)]:
    x = mixed(shape, 6)
    at = normal(-1 if axis is None else axis, x.rank)
    bias, scale = mixed(shape[at:], 3), mixed(shape[at:], 4, 0.5, 2.0)
    y = standardized(x, list(range(at, x.rank)), 1e-5 if epsilon is None else epsilon)
    y = affine(y, lambda i: i[at:], bias if with_bias else None, scale if with_scale else None)
    names, inputs = arguments(x=x, bias=bias if with_bias else None,
                              scale=scale if with_scale else None)
    numbers.case(title, f"y = nn.layer_norm{attributes(axis=axis, epsilon=epsilon)}({names});",
                 inputs, {"y": y})
x = mixed([2, 3], 6)
numbers.case("extents that the run tells", "y = nn.layer_norm(x);", {"x": x},
             {"y": standardized(x, [1], 1e-5)}, declare={"x": "real[b|4,n|5]"})

numbers = Numbers(
    "nn.rms_norm",
    "x / sqrt(mean of squares + epsilon) over the axes from `axis` on, * scale, which has these "
    "axes.")
for title, shape, axis, epsilon, with_scale in [
        ("plain", [2, 4], None, None, False), ("scale", [2, 4], None, None, True),
        ("two axes", [2, 2, 3], 1, None, True), ("from the end", [2, 2, 2], -2, None, False),
        ("all axes", [2, 3], 0, None, True), ("a large epsilon", [2, 3], None, 0.5, True)]:
    x = mixed(shape, 6)
    at = normal(-1 if axis is None else axis, x.rank)
    scale = mixed(shape[at:], 4, 0.5, 2.0)
    roots = {}
    for key, members in groups(x, list(range(at, x.rank))).items():
        squares = [value * value for _, value in members]
        roots[key] = math.sqrt(sum(squares) / len(squares) + (1e-5 if epsilon is None else epsilon))
    y = build("real", shape, lambda i: x[i] / roots[i[:at]])
    y = affine(y, lambda i: i[at:], None, scale if with_scale else None)
    names, inputs = arguments(x=x, scale=scale if with_scale else None)
    numbers.case(title, f"y = nn.rms_norm{attributes(axis=axis, epsilon=epsilon)}({names});",
                 inputs, {"y": y})

numbers = Numbers(
    "nn.local_response_norm",
    "x / (bias + alpha * mean of squares in a window) ** beta; outside there are zeros.")
for title, shape, axes, size, more in [
        ("channels", [1, 5, 2], None, [3], {}), ("an even window", [1, 4, 1], None, [2], {}),
        ("a window of four", [1, 5], None, [4], {}), ("a single item", [1, 3], None, [1], {}),
        ("parameters", [1, 4, 2], None, [3], {"alpha": 0.5, "beta": 0.75, "bias": 2.0}),
        ("two axes", [1, 1, 3, 3], [2, 3], [3, 3], {}), ("from the end", [2, 4], [-1], [3], {})]:
    x = mixed(shape, 6)
    at = [normal(axis, x.rank) for axis in axes or [1]]
    over = [Window(shape[axis], extent, padding=((extent - 1) // 2, -(-(extent - 1) // 2)))
            for axis, extent in zip(at, size)]
    values = {"alpha": 1.0, "beta": 0.5, "bias": 1.0, **more}

    def item(index):
        places = [()]
        for axis, window in zip(at, over):
            places = [p + (q,) for p in places for q in window.positions(index[axis])]
        total = sum(x.get(replaced(index, at, place), 0.0) ** 2 for place in places)
        mean = total / math.prod(size)
        return x[index] / (values["bias"] + values["alpha"] * mean) ** values["beta"]

    call = attributes(axes=axes, size=size, **more)
    numbers.case(title, f"y = nn.local_response_norm{call}(x);", {"x": x},
                 {"y": build("real", shape, item)})

for name, about, length in [
        ("l1_norm", "x / (sum of |x| + bias), where the divisor is at least epsilon.",
         lambda values: sum(map(abs, values))),
        ("l2_norm",
         "x / (root of the sum of squares + bias), where the divisor is at least epsilon.",
         lambda values: math.sqrt(sum(v * v for v in values)))]:
    numbers = Numbers(f"nn.{name}", about)
    for title, axes, more in [("one axis", [1], {}), ("from the end", [-1], {}),
                              ("two axes", [0, 2], {}), ("all axes", [0, 1, 2], {}),
                              ("bias", [1], {"bias": 0.5}), ("epsilon that matters", [2],
                                                             {"epsilon": 3.0}),
                              ("bias and epsilon", [1], {"bias": 1.0, "epsilon": 5.0})]:
        divided = {}
        for members in groups(X, axes).values():
            by = length([value for _, value in members]) + more.get("bias", 0.0)
            for index, value in members:
                divided[index] = value / max(by, more.get("epsilon", 0.0))
        numbers.case(title, f"y = nn.{name}{attributes(axes=axes, **more)}(x);", {"x": X},
                     {"y": build("real", X.shape, lambda i: divided[i])})
    numbers.case("zeros", f"y = nn.{name}{{axes=[0], epsilon=0.5}}(x);", {"x": real([2], 0, 0)},
                 {"y": real([2], 0, 0)})


def softmax(x, axes, log):
    result = {}
    for members in groups(x, axes).values():
        top = max(value for _, value in members)
        total = sum(math.exp(value - top) for _, value in members)
        for index, value in members:
            result[index] = (value - top - math.log(total) if log
                             else math.exp(value - top) / total)
    return build("real", x.shape, lambda i: result[i])


for name, about, log in [("softmax", "exp(x) / sum of exp(x) along the axes.", False),
                         ("log_softmax", "x - log(sum of exp(x)) along the axes.", True)]:
    numbers = Numbers(f"nn.{name}", about)
    for title, x, axes in [("channels", X, None), ("a matrix", mixed([2, 3], 1), None),
                           ("the first axis", mixed([3, 2], 1), [0]), ("from the end", X, [-1]),
                           ("two axes", X, [1, 2]), ("large numbers", real([1, 3], 1000, 1001, 998),
                                                     None),
                           ("one choice", real([2, 1], 5, -5), None)]:
        numbers.case(title, f"y = nn.{name}{attributes(axes=axes)}(x);", {"x": x},
                     {"y": softmax(x, axes or [1], log)})
    x = mixed([2, 3], 2)
    numbers.case("extents that the run tells", f"y = nn.{name}(x);", {"x": x},
                 {"y": softmax(x, [1], log)}, declare={"x": "real[b|4,n|5]"})
