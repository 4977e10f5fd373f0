"""image: sampling by a grid, and regions of interest."""

import itertools
import math

from cases import Numbers, attributes
from image_cases import clamp, cubic_kernel
from tensor import build, integer, real, shuffled

# ---- Grids ---------------------------------------------------------------------------------------


def bordered(position, extent, padding):
    """Where an item outside of the input is taken from; None: zero."""
    if padding == "REPLICATE":
        return clamp(position, extent)
    if padding == "ZEROS":
        return position if 0 <= position < extent else None
    while not 0 <= position < extent:  # bounce from border to border
        if padding == "REFLECT":
            position = -position if position < 0 else 2 * (extent - 1) - position
        else:
            position = -1 - position if position < 0 else 2 * extent - 1 - position
    return position


def weights_at(source, mode):
    below, part = math.floor(source), source - math.floor(source)
    if mode == "NEAREST":  # halves to the even one
        return [(below + (part > 0.5 or (part == 0.5 and below % 2 == 1)), 1.0)]
    if mode == "LINEAR":
        return [(below, 1 - part), (below + 1, part)]
    return [(p, cubic_kernel(p - source, -0.75)) for p in range(below - 1, below + 3)]


def grid_sample(x, grid, mode, padding, aligned):
    extents = x.shape[2:]
    d = len(extents)

    def item(index):
        n, c, *z = index
        per_axis = []
        for axis, extent in enumerate(extents):
            unit = (grid[(n, *z, d - 1 - axis)] + 1) / 2  # 0 to 1; the last axis comes first
            source = unit * (extent - 1) if aligned else unit * extent - 0.5
            per_axis.append([(bordered(p, extent, padding), w)
                             for p, w in weights_at(source, mode)])
        total = 0.0
        for taps in itertools.product(*per_axis):
            if all(p is not None for p, _ in taps):
                total += math.prod(w for _, w in taps) * x[(n, c, *(p for p, _ in taps))]
        return total

    return build("real", [x.shape[0], x.shape[1], *grid.shape[1:-1]], item)


numbers = Numbers(
    "image.grid_sample",
    "the input at points given in [-1, 1], last axis first. -1 and 1 are the outer edges of the "
    "border items, or their middles if `aligned`.")
PLANE = shuffled([1, 1, 3, 4], 3)
GRID = real([1, 2, 3, 2], -1, -1, 0, 0, 0.75, -0.5, 0.25, 1, -1.75, 0.125, 1.5, 1.75)
for mode, padding, aligned in itertools.product(("NEAREST", "LINEAR", "CUBIC"),
                                                ("ZEROS", "REPLICATE", "REFLECT", "SYMMETRIC"),
                                                (False, True)):
    call = attributes(mode=None if mode == "LINEAR" else mode,
                      padding=None if padding == "ZEROS" else padding, aligned=aligned or None)
    numbers.case(f"{mode}, {padding}" + (", aligned" if aligned else ""),
                 f"y = image.grid_sample{call}(x, g);", {"x": PLANE, "g": GRID},
                 {"y": grid_sample(PLANE, GRID, mode, padding, aligned)})
x, g = shuffled([2, 2, 4], 5), real([2, 3, 1], -0.5, 0, 0.5, 1, -1, 0.25)
numbers.case("one axis, batch and channels", "y = image.grid_sample(x, g);", {"x": x, "g": g},
             {"y": grid_sample(x, g, "LINEAR", "ZEROS", False)})
x, g = real([1, 1, 1, 1], 5), real([1, 1, 2, 2], 0, 0, 2, -2)
numbers.case("a single item, reflected", "y = image.grid_sample{padding='SYMMETRIC'}(x, g);",
             {"x": x, "g": g}, {"y": real([1, 1, 1, 2], 5, 5)})

# ---- Regions: NNEF 1.0.4, 4.6; a cell begins where its region does, plus strides -----------------


def cells(begin, end, count):
    """Positions of each cell along an axis."""
    begin, end = math.floor(begin + 0.5), math.floor(end + 0.5)
    length = end - begin
    size, stride = -(-length // count), length // count
    return [range(begin + i * stride, begin + i * stride + size) for i in range(count)]


def roi_pool(x, rois, index, output_size, function):
    d = len(output_size)

    def item(place):
        m, c, *cell = place
        spans = [cells(rois[m, axis], rois[m, d + axis], output_size[axis])[cell[axis]]
                 for axis in range(d)]
        return function([x[(index[m], c, *at)] for at in itertools.product(*spans)])

    return build("real", [rois.shape[0], x.shape[1], *output_size], item)


def mean(values):
    return sum(values) / len(values)


MAPS = shuffled([2, 1, 4, 5], 3)
REGIONS = real([3, 4], 0, 0, 4, 4, 1, 1, 4, 5, 0.25, 1.75, 2.75, 4.75)
BATCH = integer([3], 0, 1, 1)
LINES = shuffled([1, 2, 7], 4)
SPANS = real([2, 2], 0, 7, 2, 6)

for name, about, function in [
        ("max_roi_pool", "the greatest item of each cell of the region.", max),
        ("avg_roi_pool", "the mean of each cell of the region.", mean)]:
    numbers = Numbers(f"image.{name}", about + " Corners are rounded; of a length not divisible, "
                                               "cells overlap.")
    for title, x, rois, index, size in [("two by two", MAPS, REGIONS, BATCH, [2, 2]),
                                        ("one cell", MAPS, REGIONS, BATCH, [1, 1]),
                                        ("not square", MAPS, REGIONS, BATCH, [1, 3]),
                                        ("one axis", LINES, SPANS, integer([2], 0, 0), [3])]:
        numbers.case(title, f"y = image.{name}{{output_size={size}}}(x, rois, index);",
                     {"x": x, "rois": rois, "index": index},
                     {"y": roi_pool(x, rois, index, size, function)})


def region_source(begin, end, size, i, transform):
    length = end - begin
    if transform == "SYMMETRIC":
        return begin + (i + 0.5) * length / size - 0.5
    if transform == "ASYMMETRIC":
        return begin + i * length / size
    return begin + i * (length - 1) / (size - 1) if size > 1 else begin


def roi_align(x, rois, index, output_size, rate, mode, transform):
    """Resizes each region linearly to output_size * rate, then pools by rate."""
    d = len(output_size)

    def sample(m, c, place):
        per_axis = []
        for axis in range(d):
            source = region_source(rois[m, axis], rois[m, d + axis], output_size[axis] * rate[axis],
                                   place[axis], transform)
            extent = x.shape[2 + axis]
            per_axis.append([(clamp(p, extent), w) for p, w in weights_at(source, "LINEAR")])
        return sum(math.prod(w for _, w in taps) * x[(index[m], c, *(p for p, _ in taps))]
                   for taps in itertools.product(*per_axis))

    def item(place):
        m, c, *cell = place
        spans = [range(i * r, (i + 1) * r) for i, r in zip(cell, rate)]
        values = [sample(m, c, at) for at in itertools.product(*spans)]
        return mean(values) if mode == "AVG" else max(values)

    return build("real", [rois.shape[0], x.shape[1], *output_size], item)


numbers = Numbers(
    "image.roi_align",
    "each region resized linearly to output_size * sampling_rate, then pooled by sampling_rate.")
WIDE = real([3, 4], 0, 0, 4, 5, 0, 0.5, 4, 4.5, 0, 0, 4, 4)
for title, x, rois, index, size, rate, mode, transform in [
        ("two by two", MAPS, WIDE, BATCH, [2, 2], None, None, None),
        ("the greatest", MAPS, WIDE, BATCH, [2, 2], None, "MAX", None),
        ("one sample a cell", MAPS, WIDE, BATCH, [2, 2], [1, 1], None, None),
        ("uneven samples", MAPS, WIDE, BATCH, [1, 2], [4, 2], None, None),
        ("asymmetric", MAPS, WIDE, BATCH, [2, 2], None, None, "ASYMMETRIC"),
        ("aligned", MAPS, WIDE, BATCH, [2, 2], None, None, "ALIGNED"),
        ("aligned, the greatest", MAPS, WIDE, BATCH, [2, 1], [2, 3], "MAX", "ALIGNED"),
        ("one axis", LINES, SPANS, integer([2], 0, 0), [2], None, None, None)]:
    call = attributes(output_size=size, sampling_rate=rate, mode=mode,
                      coordinate_transform=transform)
    y = roi_align(x, rois, index, size, rate or [2] * len(size), mode or "AVG",
                  transform or "SYMMETRIC")
    numbers.case(title, f"y = image.roi_align{call}(x, rois, index);",
                 {"x": x, "rois": rois, "index": index}, {"y": y})
