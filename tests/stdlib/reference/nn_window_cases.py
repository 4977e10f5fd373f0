"""nn: linear layers, convolution and pooling."""

import itertools
import math

from cases import Numbers, attributes
from tensor import build, count_up, mixed, normal, real, replaced
from windows import windows

numbers = Numbers("nn.linear", "input times the transposed filter, plus bias.")
for title, b, c, n, with_bias in [("without bias", 2, 3, 2, False), ("with bias", 2, 3, 2, True),
                                  ("one output", 3, 2, 1, True), ("one input", 1, 1, 3, True)]:
    x, w, bias = mixed([b, c], 1), mixed([n, c], 2), mixed([n], 3)
    y = build("real", [b, n], lambda i: sum(x[i[0], k] * w[i[1], k] for k in range(c))
              + (bias[i[1]] if with_bias else 0))
    inputs = {"x": x, "w": w, **({"b": bias} if with_bias else {})}
    numbers.case(title, f"y = nn.linear({', '.join(inputs)});", inputs, {"y": y})

# ---- Convolution ---------------------------------------------------------------------------------


def from_ncx(x, layout):
    """Axes in another order than N, C, X..."""
    order = {"NCX": range(x.rank), "NXC": [0, *range(2, x.rank), 1],
             "XCN": [*range(2, x.rank), 1, 0], "CXN": [*range(1, x.rank), 0]}[layout]
    return x.transposed(list(order))


def conv(x, w, bias, groups=1, **how):
    """Each output is the sum of products of the window with the filter of its channel."""
    groups = groups or x.shape[1]
    per_group, depth = w.shape[0] // groups, w.shape[1]
    over = windows(x.shape[2:], w.shape[2:], **how)

    def item(index):
        b, n, *place = index
        total = bias[n] if bias else 0.0
        first = n // per_group * depth
        taps = itertools.product(*(enumerate(window.positions(i))
                                   for window, i in zip(over, place)))
        for tap in taps:
            inside = tuple(position for _, position in tap)
            within = tuple(number for number, _ in tap)
            for c in range(depth):
                total += x.get((b, first + c, *inside), 0.0) * w[(n, c, *within)]
        return total

    return build("real", [x.shape[0], w.shape[0], *(window.count for window in over)], item)


def conv_case(numbers, title, sx, sw, bias=False, groups=None, upper=True, ceil=False,
              formats=(None, None), declare=None, **how):
    """`sx` and `sw` are given in the order N, C, X."""
    x, w, b = mixed(sx, 1), mixed(sw, 2), mixed([sw[0]], 3)
    y = conv(x, w, b if bias else None, 1 if groups is None else groups, upper=upper, ceil=ceil,
             **how)
    data, filters = formats
    call = attributes(**how, padding_align=None if upper else "LOWER", ceil_mode=ceil or None,
                      groups=groups, data_format=data, filter_format=filters)
    inputs = {"x": from_ncx(x, data or "NCX"), "w": from_ncx(w, filters or "NCX"),
              **({"b": b} if bias else {})}
    numbers.case(title, f"y = nn.conv{call}({', '.join(inputs)});", inputs,
                 {"y": from_ncx(y, data or "NCX")}, declare=declare)


numbers = Numbers(
    "nn.conv",
    "sums of window times filter. Without padding, it is chosen so that there are extent / stride"
    " outputs.")
conv_case(numbers, "one axis, no padding", [1, 1, 5], [1, 1, 3], padding=[0, 0])
conv_case(numbers, "one axis, automatic padding", [1, 1, 5], [1, 1, 3])
conv_case(numbers, "two axes, automatic padding", [1, 2, 3, 4], [2, 2, 3, 3])
conv_case(numbers, "bias", [2, 1, 3], [2, 1, 2], bias=True, padding=[0, 0])
conv_case(numbers, "automatic padding of an even window", [1, 1, 4], [1, 1, 2])
conv_case(numbers, "the same, more before", [1, 1, 4], [1, 1, 2], upper=False)
conv_case(numbers, "stride", [1, 1, 4, 5], [1, 1, 2, 2], stride=[2, 1], padding=[0, 0, 0, 0])
conv_case(numbers, "stride, automatic padding", [1, 1, 5], [1, 1, 3], stride=[2])
conv_case(numbers, "stride, automatic padding, rounded up", [1, 1, 5], [1, 1, 3], stride=[2],
          ceil=True)
conv_case(numbers, "stride longer than the window crops", [1, 1, 6], [1, 1, 1], stride=[4])
conv_case(numbers, "the same, more before, cropped", [1, 1, 6], [1, 1, 1], stride=[4], upper=False)
conv_case(numbers, "given padding, uneven", [1, 1, 3, 2], [1, 1, 2, 2], padding=[1, 0, 0, 2])
conv_case(numbers, "a last window that hangs over", [1, 1, 6], [1, 1, 3], stride=[2],
          padding=[0, 0], ceil=True)
conv_case(numbers, "dilation", [1, 1, 6], [1, 1, 3], dilation=[2], padding=[0, 0])
conv_case(numbers, "dilation, automatic padding", [1, 1, 3, 4], [1, 1, 2, 2], dilation=[2, 3])
conv_case(numbers, "two groups", [1, 4, 3], [2, 2, 2], groups=2, padding=[0, 0])
conv_case(numbers, "depthwise", [1, 3, 3], [3, 1, 2], groups=0, padding=[0, 0])
conv_case(numbers, "depthwise, two filters a channel", [1, 2, 3], [4, 1, 2], bias=True, groups=0,
          padding=[0, 0])
conv_case(numbers, "a single position", [2, 3, 2], [2, 3, 1])
conv_case(numbers, "channels last", [1, 2, 3, 3], [2, 2, 2, 2], bias=True, padding=[0, 0, 0, 0],
          formats=("NXC", None))
conv_case(numbers, "channels last, filter channels last", [1, 2, 4], [2, 2, 3],
          formats=("NXC", "NXC"))
conv_case(numbers, "batch last, filters last", [2, 2, 4], [3, 2, 2], padding=[0, 0],
          formats=("XCN", "XCN"))
conv_case(numbers, "filters last, channels first", [1, 2, 4], [3, 2, 2], padding=[1, 0],
          formats=("NCX", "CXN"))
conv_case(numbers, "groups with channels last", [1, 4, 3], [2, 2, 2], groups=2, padding=[0, 0],
          formats=("NXC", "XCN"))
conv_case(numbers, "three axes", [1, 1, 2, 3, 2], [1, 1, 2, 2, 2], padding=[0] * 6)
conv_case(numbers, "a batch that the run tells", [2, 1, 4], [1, 1, 3], bias=True,
          declare={"x": "real[n|3,1,4]"})
conv_case(numbers, "an extent that the run tells, automatic padding", [1, 1, 5], [1, 1, 3],
          stride=[2], declare={"x": "real[1,1,n|8]"})
conv_case(numbers, "an extent that the run tells, given padding", [1, 1, 5, 3], [1, 1, 2, 2],
          stride=[2, 1], padding=[1, 0, 0, 0], declare={"x": "real[1,1,n|8,m|8]"})

x, w = count_up([1, 1, 4]), real([1, 1, 2], 1, 10)
numbers.case("by hand: x[i] + 10 x[i + 1]", "y = nn.conv{padding=[0, 0]}(x, w);", {"x": x, "w": w},
             {"y": real([1, 1, 3], 21, 32, 43)})

# ---- Transposed convolution ----------------------------------------------------------------------


def deconv(x, w, bias, groups, upper, stride=None, dilation=None, padding=None, output_size=None):
    """Spreads each item, times the filter, over a canvas; then cuts the padding off."""
    d = x.rank - 2
    groups = groups or x.shape[1]
    per_group, depth = w.shape[0] // groups, w.shape[1]
    stride, dilation = stride or [1] * d, dilation or [1] * d
    reach = [(size - 1) * step + 1 for size, step in zip(w.shape[2:], dilation)]
    full = [(extent - 1) * step + length
            for extent, step, length in zip(x.shape[2:], stride, reach)]
    if padding is None:
        total = [f - extent * step for f, extent, step in zip(full, x.shape[2:], stride)]
        before = [math.floor(t / 2) if upper else math.ceil(t / 2) for t in total]
    else:
        before = padding[:d]
        total = [a + b for a, b in zip(padding[:d], padding[d:])]
    extents = output_size or [f - t for f, t in zip(full, total)]
    canvas = {}
    for (b, n, *place), value in x.items():
        for (filter_n, c, *tap), weight in w.items():
            if filter_n != n:
                continue
            at = tuple(i * step + j * wide
                       for i, step, j, wide in zip(place, stride, tap, dilation))
            key = (b, n // per_group * depth + c, *at)
            canvas[key] = canvas.get(key, 0.0) + value * weight

    def item(index):
        b, c, *place = index
        at = tuple(i + offset for i, offset in zip(place, before))
        return canvas.get((b, c, *at), 0.0) + (bias[c] if bias else 0.0)

    return build("real", [x.shape[0], depth * groups, *extents], item)


def deconv_case(numbers, title, sx, sw, bias=False, groups=None, upper=True, formats=(None, None),
                **how):
    x, w = mixed(sx, 1), mixed(sw, 2)
    count = 1 if groups is None else (groups or sx[1])
    b = mixed([sw[1] * count], 3)
    y = deconv(x, w, b if bias else None, count, upper, **how)
    data, filters = formats
    call = attributes(**how, padding_align=None if upper else "LOWER", groups=groups,
                      data_format=data, filter_format=filters)
    inputs = {"x": from_ncx(x, data or "NCX"), "w": from_ncx(w, filters or "NCX"),
              **({"b": b} if bias else {})}
    numbers.case(title, f"y = nn.deconv{call}({', '.join(inputs)});", inputs,
                 {"y": from_ncx(y, data or "NCX")})


numbers = Numbers(
    "nn.deconv",
    "each item spreads the filter over the output. Without padding, it is chosen so that there "
    "are extent * stride outputs.")
deconv_case(numbers, "one axis, no padding", [1, 1, 3], [1, 1, 3], padding=[0, 0])
deconv_case(numbers, "one axis, automatic padding", [1, 1, 4], [1, 1, 3])
deconv_case(numbers, "automatic padding of an even window", [1, 1, 4], [1, 1, 2])
deconv_case(numbers, "the same, more before", [1, 1, 4], [1, 1, 2], upper=False)
deconv_case(numbers, "two axes and channels", [1, 2, 2, 3], [2, 2, 2, 2], padding=[0, 0, 0, 0])
deconv_case(numbers, "bias", [2, 1, 2], [1, 2, 2], bias=True, padding=[0, 0])
deconv_case(numbers, "stride", [1, 1, 3], [1, 1, 3], stride=[2], padding=[0, 0])
deconv_case(numbers, "stride, automatic padding", [1, 1, 3], [1, 1, 3], stride=[2])
deconv_case(numbers, "stride longer than the window", [1, 1, 3], [1, 1, 2], stride=[3])
deconv_case(numbers, "the same, more before, grown", [1, 1, 3], [1, 1, 2], stride=[3], upper=False)
deconv_case(numbers, "given padding, uneven", [1, 1, 4, 3], [1, 1, 2, 3], padding=[1, 0, 0, 2])
deconv_case(numbers, "dilation", [1, 1, 3], [1, 1, 2], dilation=[3], padding=[0, 0])
deconv_case(numbers, "output size", [1, 1, 3], [1, 1, 3], stride=[2], padding=[1, 1],
            output_size=[6])
deconv_case(numbers, "output size and bias", [1, 1, 2], [1, 1, 2], bias=True, stride=[3],
            padding=[0, 0], output_size=[7])
deconv_case(numbers, "two groups", [1, 4, 2], [4, 1, 2], groups=2, padding=[0, 0])
deconv_case(numbers, "two groups of two outputs", [1, 2, 2], [2, 2, 2], bias=True, groups=2,
            padding=[0, 0])
deconv_case(numbers, "depthwise", [1, 3, 2], [3, 1, 2], groups=0, padding=[0, 0])
deconv_case(numbers, "channels last", [1, 2, 2, 2], [2, 1, 2, 2], bias=True, padding=[0, 0, 0, 0],
            formats=("NXC", "NXC"))
deconv_case(numbers, "batch last, filters last", [2, 2, 3], [2, 1, 2], formats=("XCN", "XCN"))
deconv_case(numbers, "filters last, channels first", [1, 2, 3], [2, 2, 2], stride=[2],
            formats=("NCX", "CXN"))

# ---- Pooling -------------------------------------------------------------------------------------


def pool(x, function, axes, size, **how):
    """function([items inside], volume of the window) of each window."""
    rank = x.rank
    axes = [normal(axis, rank) for axis in (axes if axes is not None else range(2, rank))]
    over = windows([x.shape[axis] for axis in axes], size, **how)
    shape = replaced(x.shape, axes, [window.count for window in over])

    def item(index):
        taps = itertools.product(*(window.positions(index[axis])
                                   for axis, window in zip(axes, over)))
        inside = [x.get(replaced(index, axes, tap), None) for tap in taps]
        return function([value for value in inside if value is not None], math.prod(size))

    return build("real", shape, item)


POOLS = [
    ("one axis", [1, 1, 6], dict(size=[2], stride=[2], padding=[0, 0])),
    ("two axes", [1, 2, 3, 4], dict(size=[2, 2], padding=[0, 0, 0, 0])),
    ("automatic padding", [1, 1, 3, 4], dict(size=[3, 2])),
    ("automatic padding, more before", [1, 1, 4], dict(size=[2], upper=False)),
    ("stride, automatic padding", [1, 1, 5], dict(size=[3], stride=[2])),
    ("stride, automatic padding, rounded up", [1, 1, 5], dict(size=[3], stride=[2], ceil=True)),
    ("stride longer than the window crops", [1, 1, 6], dict(size=[1], stride=[4])),
    ("given padding, uneven", [1, 1, 4, 2], dict(size=[3, 2], stride=[2, 1], padding=[1, 0, 0, 1])),
    ("a last window that hangs over", [1, 1, 6], dict(size=[3], stride=[2], padding=[0, 0],
                                                      ceil=True)),
    ("dilation", [1, 1, 6], dict(size=[2], dilation=[3], padding=[1, 1])),
    ("axes", [3, 2, 2], dict(axes=[0, -1], size=[2, 2], padding=[0, 0, 0, 0])),
    ("an axis from the end", [2, 4], dict(axes=[-1], size=[2], stride=[2], padding=[0, 0])),
    ("extents that the run tells", [2, 1, 5], dict(size=[2], padding=[1, 0],
                                                   declare={"x": "real[b|3,1,n|8]"})),
]


def pool_cases(name, about, functions, more=None):
    """functions: {title ending: (attributes, function)}."""
    numbers = Numbers(f"nn.{name}", about)
    for ending, (extra, function) in functions.items():
        for title, shape, how in POOLS:
            if ending and "padding" not in title and "hangs" not in title:
                continue
            x = mixed(shape, 4)
            given = dict(how)
            upper, ceil = given.pop("upper", True), given.pop("ceil", False)
            axes, declare = given.pop("axes", None), given.pop("declare", None)
            y = pool(x, function, axes, **given, upper=upper, ceil=ceil)
            call = attributes(axes=axes, **given, padding_align=None if upper else "LOWER",
                              ceil_mode=ceil or None, **extra)
            numbers.case(title + ending, f"y = nn.{name}{call}(x);", {"x": x}, {"y": y},
                         declare=declare)
    return numbers


def mean(values, count):
    return sum(values) / count


numbers = pool_cases("max_pool", "the greatest item of each window; padding never wins.",
                     {"": ({}, lambda values, volume: max(values))})
numbers.case("a window in the padding", "y = nn.max_pool{size=[1], padding=[1, 2]}(x);",
             {"x": real([1, 1, 2], -5, -3)},
             {"y": real([1, 1, 5], -math.inf, -5, -3, -math.inf, -math.inf)})
numbers = pool_cases("sum_pool", "the sum of each window.",
                     {"": ({}, lambda values, volume: sum(values))})
numbers.case("a window in the padding", "y = nn.sum_pool{size=[1], padding=[1, 2]}(x);",
             {"x": real([1, 1, 2], -5, -3)}, {"y": real([1, 1, 5], 0, -5, -3, 0, 0)})
pool_cases("avg_pool", "the mean of the items of each window that are inside; or of all, with "
                       "zeros outside.",
           {"": ({}, lambda values, volume: mean(values, len(values))),
            ", with the border": ({"ignore_border": False}, mean)})
pool_cases("rms_pool", "the root of the mean square of each window.",
           {"": ({}, lambda values, volume: math.sqrt(mean([v * v for v in values], len(values)))),
            ", with the border": ({"ignore_border": False}, lambda values, volume:
                                  math.sqrt(mean([v * v for v in values], volume)))})


def norm(p):
    return lambda values, volume: sum(abs(v) ** p for v in values) ** (1 / p)


pool_cases("lp_pool", "(sum of |x| ** p) ** (1 / p) of each window.",
           {"": ({"p": 2.0}, norm(2)), ", p = 1": ({"p": 1.0}, norm(1)),
            ", p = 3": ({"p": 3.0}, norm(3))})
