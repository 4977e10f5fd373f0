"""layer: operators of nn that own their weights."""

import math

from cases import Numbers, attributes
from nn_window_cases import conv, deconv
from tensor import broadcast, build, mixed, reduce

numbers = Numbers("layer.linear", "nn.linear with a filter and a bias of its own.")
for title, channels, use_bias in [("with bias", 3, None), ("without bias", 2, False)]:
    x, w, b = mixed([2, 3], 1), mixed([channels, 3], 2), mixed([channels], 3)
    y = build("real", [2, channels], lambda i: sum(x[i[0], k] * w[i[1], k] for k in range(3))
              + (b[i[1]] if use_bias is None else 0))
    numbers.case(title, f"y = layer.linear{attributes(channels=channels, use_bias=use_bias)}(x);",
                 {"x": x}, {"y": y}, variables={"y.filter": w, **({} if use_bias is False else
                                                                   {"y.bias": b})})

x, w, v = mixed([2, 2], 1), mixed([2, 2], 2), mixed([2, 2], 3)
zero = mixed([2], 1).map(lambda _: 0.0)
numbers.case("two layers, each with its own", ["first = layer.linear{channels=2}(x);",
                                               "y = layer.linear{channels=2}(first);"], {"x": x},
             {"y": build("real", [2, 2], lambda i: sum(
                 x[i[0], k] * w[j, k] * v[i[1], j] for k in range(2) for j in range(2)))},
             variables={"first.filter": w, "first.bias": zero, "y.filter": v, "y.bias": zero})

numbers = Numbers("layer.conv", "nn.conv with a filter and a bias of its own.")
for title, shape, channels, size, groups, use_bias, more in [
        ("automatic padding", [1, 2, 3, 3], 2, [3, 3], None, None, {}),
        ("without bias", [1, 2, 4], 3, [2], None, False, {"padding": [0, 0]}),
        ("stride and dilation", [1, 1, 5, 4], 1, [2, 2], None, None,
         {"stride": [2, 1], "dilation": [1, 2], "padding": [0, 1, 0, 0]}),
        ("two groups", [1, 4, 3], 2, [2], 2, None, {"padding": [0, 0]}),
        ("depthwise", [1, 3, 3], 3, [2], 0, None, {"padding": [0, 0]}),
        ("more before", [1, 1, 4], 1, [2], None, None, {"padding_align": "LOWER"}),
        ("rounded up", [1, 1, 5], 1, [3], None, None, {"stride": [2], "ceil_mode": True})]:
    count = 1 if groups is None else groups or shape[1]
    x = mixed(shape, 1)
    w, b = mixed([channels, shape[1] // count, *size], 2), mixed([channels], 3)
    how = {key: more[key] for key in ("stride", "dilation", "padding") if key in more}
    y = conv(x, w, b if use_bias is None else None, count, ceil=more.get("ceil_mode", False),
             upper=more.get("padding_align") != "LOWER", **how)
    call = attributes(channels=channels, size=size, groups=groups, use_bias=use_bias, **more)
    numbers.case(title, f"y = layer.conv{call}(x);", {"x": x}, {"y": y},
                 variables={"y.filter": w, **({} if use_bias is False else {"y.bias": b})})

numbers = Numbers("layer.deconv", "nn.deconv with a filter and a bias of its own.")
for title, shape, channels, size, groups, use_bias, more in [
        ("automatic padding", [1, 2, 4], 3, [3], None, None, {}),
        ("without bias", [1, 2, 2, 2], 1, [2, 2], None, False, {"padding": [0, 0, 0, 0]}),
        ("stride and output size", [1, 1, 3], 1, [3], None, None,
         {"stride": [2], "padding": [1, 1], "output_size": [6]}),
        ("dilation, more before", [1, 1, 4], 1, [2], None, None,
         {"dilation": [3], "padding_align": "LOWER"}),
        ("two groups", [1, 2, 2], 4, [2], 2, None, {"padding": [0, 0]}),
        ("depthwise", [1, 3, 2], 3, [2], 0, None, {"padding": [0, 0]})]:
    count = 1 if groups is None else groups or shape[1]
    x = mixed(shape, 1)
    w, b = mixed([shape[1], channels // count, *size], 2), mixed([channels], 3)
    how = {key: more[key]
           for key in ("stride", "dilation", "padding", "output_size") if key in more}
    y = deconv(x, w, b if use_bias is None else None, count,
               more.get("padding_align") != "LOWER", **how)
    call = attributes(channels=channels, size=size, groups=groups, use_bias=use_bias, **more)
    numbers.case(title, f"y = layer.deconv{call}(x);", {"x": x}, {"y": y},
                 variables={"y.filter": w, **({} if use_bias is False else {"y.bias": b})})

numbers = Numbers(
    "layer.batch_norm",
    "nn.batch_norm with values of its own. With a momentum m, it takes mean and variance of the "
    "batch, and the running ones become m * theirs + (1 - m) * before.")


def normalized(x, mean, variance, bias, scale, epsilon):
    def item(i):
        value = (x[i] - mean[i[1]]) / math.sqrt(variance[i[1]] + epsilon)
        return value * (scale[i[1]] if scale else 1) + (bias[i[1]] if bias else 0)

    return build("real", x.shape, item)


def average(values):
    return sum(values) / len(values)


def spread(values):
    return average([(value - average(values)) ** 2 for value in values])


def batch_norm(title, shape, use_bias=None, use_scale=None, epsilon=None):
    x, c = mixed(shape, 6), [shape[1]]
    mean, variance = mixed(c, 1), mixed(c, 2, 0.25, 4.0)
    bias, scale = mixed(c, 3), mixed(c, 4, 0.5, 2.0)
    y = normalized(x, mean, variance, bias if use_bias is None else None,
                   scale if use_scale is None else None, 1e-5 if epsilon is None else epsilon)
    variables = {"y.running_mean": mean, "y.running_variance": variance}
    if use_bias is None:
        variables["y.bias"] = bias
    if use_scale is None:
        variables["y.scale"] = scale
    call = attributes(epsilon=epsilon, use_bias=use_bias, use_scale=use_scale)
    numbers.case(title, f"y = layer.batch_norm{call}(x);", {"x": x}, {"y": y}, variables=variables)


batch_norm("running values", [2, 2, 3])
batch_norm("a matrix", [3, 2])
batch_norm("without bias", [1, 2, 2], use_bias=False)
batch_norm("without scale, a large epsilon", [1, 2, 2], use_scale=False, epsilon=0.5)
batch_norm("without both", [1, 2, 2, 2], use_bias=False, use_scale=False)

C = [2]
MEAN, VARIANCE = mixed(C, 1), mixed(C, 2, 0.25, 4.0)
BIAS, SCALE = mixed(C, 3), mixed(C, 4, 0.5, 2.0)
for momentum, title in [(0.25, "values of the batch, twice"), (1.0, "only the last batch counts")]:
    runs, mean, variance = [], MEAN, VARIANCE
    for seed in (1, 2):
        x = mixed([3, 2, 2], seed)
        center, width = (reduce(x, [0, 2], how, squeeze=True) for how in (average, spread))
        mean, variance = (broadcast(lambda new, old: momentum * new + (1 - momentum) * old, pair)
                          for pair in ([center, mean], [width, variance]))
        runs.append(({"x": x}, {"y": normalized(x, center, width, BIAS, SCALE, 0.25)},
                     {"y.running_mean": mean, "y.running_variance": variance}))
    call = attributes(momentum=momentum, epsilon=0.25)
    numbers.steps(title, f"y = layer.batch_norm{call}(x);", runs,
                  variables={"y.running_mean": MEAN, "y.running_variance": VARIANCE,
                             "y.bias": BIAS, "y.scale": SCALE})
