"""image: resampling, grids and regions of interest."""

import itertools
import math

from cases import Numbers, attributes
from tensor import build, count_up, mixed, normal, real, replaced, shuffled


def axes_of(axes, rank):
    return [normal(axis, rank) for axis in (axes if axes is not None else range(rank))]


def resample(x, axes, sizes, taps):
    """Each output is the sum of weight * item over taps(extent, size, position) of each axis."""
    at = axes_of(axes, x.rank)
    shape = replaced(x.shape, at, sizes)

    def item(index):
        total = 0.0
        per_axis = [taps(x.shape[axis], size, index[axis]) for axis, size in zip(at, sizes)]
        for chosen in itertools.product(*per_axis):
            weight = math.prod(w for _, w in chosen)
            place = replaced(index, at, [p for p, _ in chosen])
            total += weight * x[place]
        return total

    return build("real", shape, item)


def clamp(position, extent):
    return min(max(position, 0), extent - 1)


# ---- By whole factors ----------------------------------------------------------------------------

SHRINK = [("all axes", [4, 6], None, [2, 3]), ("one axis", [2, 6], [1], [2]),
          ("from the end", [2, 2, 6], [-1, 1], [3, 2]), ("by one", [2, 3], None, [1, 1])]
GROW = [("all axes", [2, 2], None, [2, 3]), ("one axis", [2, 3], [1], [2]),
        ("from the end", [1, 2, 2], [-1, 1], [3, 2]), ("by one", [2, 3], None, [1, 1]),
        ("a single item", [1, 1], [0], [4])]


def sizes(x, axes, factor, grow):
    extents = [x.shape[axis] for axis in axes_of(axes, x.rank)]
    return [e * f if grow else e // f for e, f in zip(extents, factor)]


for name, about, choices, grow, taps in [
        ("nearest_downsample", "every factor-th item.", SHRINK, False,
         lambda extent, size, i: [(i * (extent // size), 1.0)]),
        ("nearest_upsample", "each item factor times.", GROW, True,
         lambda extent, size, i: [(i // (size // extent), 1.0)]),
        ("area_downsample", "the means of blocks.", SHRINK, False,
         lambda extent, size, i: [(i * (extent // size) + j, size / extent)
                                  for j in range(extent // size)])]:
    numbers = Numbers(f"image.{name}", about)
    for title, shape, axes, factor in choices:
        x = mixed(shape, 3)
        y = resample(x, axes, sizes(x, axes, factor, grow), taps)
        numbers.case(title, f"y = image.{name}{attributes(axes=axes, factor=factor)}(x);",
                     {"x": x}, {"y": y})

numbers = Numbers(
    "image.linear_upsample",
    "linear interpolation at (i + 1/2) / factor - 1/2, or at i / factor if not `symmetric`; "
    "outside of the input are its border items, or zeros if not `replicate_border`.")


def linear_upsample_taps(symmetric, replicate):
    def taps(extent, size, i):
        factor = size // extent
        source = (i + 0.5) / factor - 0.5 if symmetric else i / factor
        found = []
        for position in range(-1, extent + 1):
            weight = 1.0 - abs(position - source)
            if weight > 0 and (replicate or 0 <= position < extent):
                found.append((clamp(position, extent), weight))
        return found
    return taps


for symmetric, replicate in itertools.product((True, False), (True, False)):
    for title, shape, axes, factor in GROW:
        x = mixed(shape, 3)
        y = resample(x, axes, sizes(x, axes, factor, True),
                     linear_upsample_taps(symmetric, replicate))
        call = attributes(axes=axes, factor=factor, symmetric=None if symmetric else False,
                          replicate_border=None if replicate else False)
        words = ("" if symmetric else ", not symmetric") + ("" if replicate else ", zero border")
        numbers.case(title + words, f"y = image.linear_upsample{call}(x);", {"x": x}, {"y": y})

# ---- To a size -----------------------------------------------------------------------------------

TRANSFORMS = ("SYMMETRIC", "ASYMMETRIC", "ALIGNED")
ROUNDINGS = ("FLOOR", "CEIL", "ROUND_PREFER_FLOOR", "ROUND_PREFER_CEIL")


def source_of(extent, size, i, transform):
    """Where in the input the output at i lies."""
    if transform == "SYMMETRIC":
        return (i + 0.5) * extent / size - 0.5
    if transform == "ASYMMETRIC":
        return i * extent / size
    return i * (extent - 1) / (size - 1) if size > 1 else 0.0


def nearest_taps(transform, rounding):
    def taps(extent, size, i):
        source = source_of(extent, size, i, transform)
        below, part = math.floor(source), source - math.floor(source)
        up = {"FLOOR": False, "CEIL": part > 0, "ROUND_PREFER_FLOOR": part > 0.5,
              "ROUND_PREFER_CEIL": part >= 0.5}[rounding]
        return [(clamp(below + up, extent), 1.0)]
    return taps


def linear_taps(transform):
    def taps(extent, size, i):
        source = source_of(extent, size, i, transform)
        below, part = math.floor(source), source - math.floor(source)
        return [(clamp(below, extent), 1 - part), (clamp(below + 1, extent), part)]
    return taps


def cubic_kernel(t, a):
    """Cubic convolution (Keys 1981)."""
    t = abs(t)
    if t <= 1:
        return (a + 2) * t ** 3 - (a + 3) * t ** 2 + 1
    return a * t ** 3 - 5 * a * t ** 2 + 8 * a * t - 4 * a if t < 2 else 0.0


def cubic_taps(transform, a=-0.75, widen=False):
    def taps(extent, size, i):
        source = source_of(extent, size, i, transform)
        width = max(extent / size, 1.0) if widen else 1.0
        reach = range(math.floor(source - 2 * width), math.ceil(source + 2 * width) + 1)
        weights = [(p, cubic_kernel((p - source) / width, a)) for p in reach]
        total = sum(weight for _, weight in weights)
        return [(clamp(p, extent), weight / total) for p, weight in weights]
    return taps


RESIZES = [("grown", [2, 3], None, [4, 5]), ("shrunk", [4, 5], None, [2, 3]),
           ("one axis", [2, 4], [1], [7]), ("from the end", [2, 2, 3], [-1, 1], [2, 3]),
           ("to one", [3], None, [1]), ("from one", [1], None, [3]), ("as it is", [2, 3], None,
                                                                      [2, 3])]

numbers = Numbers(
    "image.nearest_resize",
    "the item nearest to the source (i + 1/2) * extent / size - 1/2; i * extent / size if "
    "ASYMMETRIC; i * (extent - 1) / (size - 1) if ALIGNED.")
for transform in TRANSFORMS:
    for title, shape, axes, size in RESIZES:
        x = shuffled(shape, 3)
        y = resample(x, axes, size, nearest_taps(transform, "ROUND_PREFER_FLOOR"))
        call = attributes(axes=axes, size=size,
                          coordinate_transform=None if transform == "SYMMETRIC" else transform)
        numbers.case(f"{title}, {transform}", f"y = image.nearest_resize{call}(x);", {"x": x},
                     {"y": y})
for transform, rounding in itertools.product(TRANSFORMS, ROUNDINGS):
    for shape, size in [([4], [6]), ([6], [4]), ([3], [5])]:
        x = count_up(shape, 0)
        y = resample(x, None, size, nearest_taps(transform, rounding))
        call = attributes(size=size, coordinate_transform=transform, rounding_method=rounding)
        numbers.case(f"{shape[0]} to {size[0]}, {transform}, {rounding}",
                     f"y = image.nearest_resize{call}(x);", {"x": x}, {"y": y})

numbers = Numbers(
    "image.linear_resize",
    "linear interpolation at the source of nearest_resize; outside of the input are its border "
    "items.")
for transform in TRANSFORMS:
    for title, shape, axes, size in RESIZES:
        x = shuffled(shape, 3)
        y = resample(x, axes, size, linear_taps(transform))
        call = attributes(axes=axes, size=size,
                          coordinate_transform=None if transform == "SYMMETRIC" else transform)
        numbers.case(f"{title}, {transform}", f"y = image.linear_resize{call}(x);", {"x": x},
                     {"y": y})
x = shuffled([6], 3)
numbers.case("antialias changes nothing", "y = image.linear_resize{size=[4], antialias=false}(x);",
             {"x": x}, {"y": resample(x, None, [4], linear_taps("SYMMETRIC"))})

numbers = Numbers(
    "image.cubic_resize",
    "cubic convolution at the source of nearest_resize; outside of the input are its border "
    "items. `antialias` widens the kernel where the input shrinks.")
for transform in TRANSFORMS:
    for title, shape, axes, size in RESIZES:
        x = shuffled(shape, 3)
        y = resample(x, axes, size, cubic_taps(transform))
        call = attributes(axes=axes, size=size, antialias=False,
                          coordinate_transform=None if transform == "SYMMETRIC" else transform)
        numbers.case(f"{title}, {transform}", f"y = image.cubic_resize{call}(x);", {"x": x},
                     {"y": y})
x = shuffled([4], 3)
numbers.case("antialias does not matter for growth", "y = image.cubic_resize{size=[7]}(x);",
             {"x": x}, {"y": resample(x, None, [7], cubic_taps("SYMMETRIC"))})
for a in (-0.5, 0.0):
    numbers.case(f"coefficient {a:g}", f"y = image.cubic_resize{{size=[7], coeff_a={a}}}(x);",
                 {"x": x}, {"y": resample(x, None, [7], cubic_taps("SYMMETRIC", a))})
x = shuffled([16], 3)
inside = resample(x, None, [8], cubic_taps("SYMMETRIC", widen=True)).values[2:6]
numbers.case("antialias away from the border",
             ["whole = image.cubic_resize{size=[8]}(x);",
              "y = layout.slice{begin=[2], end=[6]}(whole);"], {"x": x},
             {"y": real([4], *inside)})


def taps_of(mode="NEAREST", coordinate_transform="SYMMETRIC", rounding_method="ROUND_PREFER_FLOOR",
            cubic_coeff_a=-0.75, antialias=True):
    """By the attributes of resize; where `antialias` would matter, the cases switch it off."""
    if mode == "NEAREST":
        return nearest_taps(coordinate_transform, rounding_method)
    if mode == "LINEAR":
        return linear_taps(coordinate_transform)
    return cubic_taps(coordinate_transform, cubic_coeff_a)


numbers = Numbers("image.resize", "nearest_resize, linear_resize or cubic_resize.")
for title, shape, axes, size, more in [
        ("plain", [2, 3], None, [3, 5], {}),
        ("nearest, rounded up", [4], None, [6], {"rounding_method": "CEIL"}),
        ("nearest, aligned", [4], None, [6], {"coordinate_transform": "ALIGNED"}),
        ("linear", [2, 3], [-1], [5], {"mode": "LINEAR"}),
        ("linear, asymmetric", [2, 3], None, [3, 5],
         {"mode": "LINEAR", "coordinate_transform": "ASYMMETRIC"}),
        ("cubic", [2, 3], None, [3, 5], {"mode": "CUBIC"}),
        ("cubic, aligned, shrunk", [5], None, [3],
         {"mode": "CUBIC", "coordinate_transform": "ALIGNED", "antialias": False}),
        ("cubic, another coefficient", [4], None, [7], {"mode": "CUBIC", "cubic_coeff_a": -0.5})]:
    x = shuffled(shape, 3)
    numbers.case(title, f"y = image.resize{attributes(axes=axes, size=size, **more)}(x);", {"x": x},
                 {"y": resample(x, axes, size, taps_of(**more))})

numbers = Numbers("image.rescale", "resize to the rounded product of extent and factor.")
for title, shape, axes, factor, more in [
        ("twice", [2, 3], None, [2.0, 2.0], {}), ("half", [4, 6], None, [0.5, 0.5], {}),
        ("nearest, rounded up, aligned", [4], None, [1.5],
         {"coordinate_transform": "ALIGNED", "rounding_method": "CEIL"}),
        ("size rounded up", [3], None, [1.5], {"mode": "LINEAR"}),
        ("size rounded down", [4], None, [0.6], {"mode": "LINEAR"}),
        ("one axis", [2, 4], [-1], [1.75], {"mode": "LINEAR"}),
        ("cubic", [4], None, [2.0], {"mode": "CUBIC"}),
        ("cubic, shrunk", [5], None, [0.5],
         {"mode": "CUBIC", "antialias": False, "cubic_coeff_a": -0.5})]:
    x = shuffled(shape, 3)
    size = [math.floor(x.shape[axis] * f + 0.5) for axis, f in zip(axes_of(axes, x.rank), factor)]
    numbers.case(title, f"y = image.rescale{attributes(axes=axes, factor=factor, **more)}(x);",
                 {"x": x}, {"y": resample(x, axes, size, taps_of(**more))})
