"""math: reductions along axes and running sums."""

import math

from cases import Numbers
from tensor import (Tensor, boolean, build, flags, groups, integer, mixed, normal, real, reduce,
                    replaced, shuffled)

# The attribute list of a call, the axes it means for a rank, and whether they are dropped.
CHOICES = [
    ("all axes", "", lambda rank: range(rank), False),
    ("all axes, squeezed", "{squeeze=true}", lambda rank: range(rank), True),
    ("the first axis", "{axes=[0]}", lambda rank: [0], False),
    ("the last axis, squeezed", "{axes=[-1], squeeze=true}", lambda rank: [-1], True),
    ("two axes, one from the end", "{axes=[-1, 0]}", lambda rank: [-1, 0], False),
    ("the outer axes, squeezed", "{axes=[0, 2], squeeze=true}", lambda rank: [0, 2], True),
    ("no axis", "{axes=[]}", lambda rank: [], False),
]


def reduction(name, about, function, tensor, more=""):
    """Cases of math.`name` on a tensor of rank 3; function([values])."""
    numbers = Numbers(f"math.{name}", about)
    for title, attributes, axes, squeeze in CHOICES:
        if more:
            attributes = "{" + more + (", " + attributes[1:-1] if attributes else "") + "}"
        y = reduce(tensor, list(axes(tensor.rank)), function, squeeze)
        numbers.case(title, f"y = math.{name}{attributes}(x);", {"x": tensor}, {"y": y})
    return numbers


X = shuffled([2, 3, 2], 3)
WHOLE = integer([2, 3], 4, -1, 0, 7, 2, 2)


def along(numbers, title, function, x, axes, declare=None):
    y = reduce(x, axes, function)
    numbers.case(title, f"y = {numbers.operator}{{axes={axes}}}(x);", {"x": x}, {"y": y},
                 declare=declare)


def empty(numbers, neutral):
    x = real([2, 0])
    numbers.case("of nothing", f"y = {numbers.operator}{{axes=[1]}}(x);", {"x": x},
                 {"y": real([2, 1], neutral, neutral)})


for name, about, function, neutral in [
        ("min_reduce", "the least along axes.", min, math.inf),
        ("max_reduce", "the greatest along axes.", max, -math.inf),
        ("sum_reduce", "the sum along axes.", sum, 0.0),
        ("prod_reduce", "the product along axes.", math.prod, 1.0)]:
    numbers = reduction(name, about, function, X)
    along(numbers, "integers", function, WHOLE, [1])
    along(numbers, "an extent that the run tells", function, shuffled([3, 2], 2), [0],
          {"x": "real[n|8,2]"})
    empty(numbers, neutral)
    of_int = {math.inf: 2 ** 63 - 1, -math.inf: -2 ** 63}.get(neutral, neutral)
    numbers.case("of no integers", f"y = math.{name}(x);", {"x": integer([0])},
                 {"y": integer([1], of_int)})


def mean(values):
    return sum(values) / len(values)


numbers = reduction("mean_reduce", "the sum along axes, divided by how many there are.", mean, X)
along(numbers, "an extent that the run tells", mean, shuffled([3, 2], 2), [0],
      {"x": "real[n|8,2]"})

numbers = Numbers("math.lp_reduce", "(sum of |x| ** p) ** (1 / p).")
for p in (1.0, 2.0, 3.0, 0.5):
    for title, attributes, axes, squeeze in CHOICES if p == 2.0 else CHOICES[3:4]:
        inside = ", " + attributes[1:-1] if attributes else ""
        y = reduce(X, list(axes(X.rank)), lambda v: sum(abs(x) ** p for x in v) ** (1 / p), squeeze)
        numbers.case(f"p = {p:g}, {title}", f"y = math.lp_reduce{{p={p}{inside}}}(x);", {"x": X},
                     {"y": y})

for name, about, function, neutral in [
        ("any_reduce", "true where any item along axes is.", any, False),
        ("all_reduce", "true where all items along axes are.", all, True)]:
    numbers = reduction(name, about, function, flags([2, 3, 2], 2))
    numbers.case("of nothing", f"y = math.{name}{{axes=[0]}}(x);", {"x": boolean([0, 2])},
                 {"y": boolean([1, 2], neutral, neutral)})
    x = boolean([4, 2], 0, 0, 0, 1, 1, 0, 1, 1)
    along(numbers, "all combinations", function, x, [1])

# ---- Where the extremes are ----------------------------------------------------------------------

EQUALS = real([2, 4], 1, 3, 3, 0, -2, -2, 5, 5)

for name, about, best in [("argmin", "index of the least along an axis; the first of equals.", min),
                          ("argmax", "index of the greatest along an axis; the first of equals.",
                           max)]:
    def where(values):
        return values.index(best(values))

    numbers = Numbers(f"math.{name}", about)
    for axis in (0, 1, -1):
        for squeeze in (False, True):
            y = reduce(X, [axis], where, squeeze, "int")
            attributes = f"axis={axis}" + (", squeeze=true" if squeeze else "")
            title = f"axis {axis}" + (", squeezed" if squeeze else "")
            numbers.case(title, f"y = math.{name}{{{attributes}}}(x);", {"x": X}, {"y": y})
    numbers.case("equals", f"y = math.{name}{{axis=1}}(x);", {"x": EQUALS},
                 {"y": reduce(EQUALS, [1], where, dtype="int")})
    one = real([2, 1], 5, -5)
    numbers.case("a choice of one", f"y = math.{name}{{axis=1}}(x);", {"x": one},
                 {"y": integer([2, 1], 0, 0)})

    numbers = Numbers(f"math.{name}_nd", about.replace("index", "indices").replace(
        "an axis", "axes, a tensor per axis"))

    def places(x, axes, squeeze):
        """For each of the axes, the index of the first best item."""
        found = []
        for members in groups(x, axes).values():
            values = [value for _, value in members]
            found.append(members[where(values)][0])
        shape = reduce(x, axes, len, squeeze).shape
        return [Tensor("int", shape, [index[normal(axis, x.rank)] for index in found])
                for axis in axes]

    for title, x, axes, squeeze in [("both axes of a matrix", shuffled([3, 4], 5), [0, 1], False),
                                    ("both axes, squeezed", shuffled([3, 4], 5), [0, 1], True),
                                    ("two of three axes", X, [0, 2], False),
                                    ("two of three axes, squeezed", X, [1, 2], True),
                                    ("in the order of the axes", X, [-1, 1], False),
                                    ("one axis", X, [1], True),
                                    ("equals", EQUALS, [0, 1], False)]:
        names = [f"y{i}" for i in range(len(axes))]
        attributes = f"axes={axes}" + (", squeeze=true" if squeeze else "")
        numbers.case(title, f"[{', '.join(names)}] = math.{name}_nd{{{attributes}}}(x);", {"x": x},
                     dict(zip(names, places(x, axes, squeeze))))

# ---- Moments and running sums --------------------------------------------------------------------


def variance(values):
    center = mean(values)
    return mean([(value - center) ** 2 for value in values])


numbers = Numbers("math.moments", "mean, and mean of the squared distance from it, along axes.")
for title, attributes, axes, squeeze in CHOICES:
    axes = list(axes(X.rank))
    numbers.case(title, f"mean, variance = math.moments{attributes}(x);", {"x": X},
                 {"mean": reduce(X, axes, mean, squeeze),
                  "variance": reduce(X, axes, variance, squeeze)})
FAR = real([4], 1000, 1001, 1002, 1003)
numbers.case("far from zero", "mean, variance = math.moments(x);", {"x": FAR},
             {"mean": reduce(FAR, [0], mean), "variance": reduce(FAR, [0], variance)},
             note="The variance is not lost between large squares: mean 1001.5, variance 1.25.")

numbers = Numbers(
    "math.cumsum",
    "sums of the items up to each; without it if `exclusive`, from the end if `reverse`.")


def cumsum(x, axis, exclusive, reverse):
    axis = normal(axis, x.rank)

    def item(index):
        at = index[axis]
        if reverse:
            range_of = range(at + exclusive, x.shape[axis])
        else:
            range_of = range(0, at + 1 - exclusive)
        return sum(x[replaced(index, [axis], [i])] for i in range_of)

    return build(x.dtype, x.shape, item)


for exclusive in (False, True):
    for reverse in (False, True):
        for title, x, axis in [("first axis", mixed([3, 2], 2), 0), ("last axis", X, -1),
                               ("integers", WHOLE, 1)]:
            words = (", exclusive" if exclusive else "") + (", reverse" if reverse else "")
            flags_text = (", exclusive=true" if exclusive else "") + (
                ", reverse=true" if reverse else "")
            numbers.case(title + words, f"y = math.cumsum{{axis={axis}{flags_text}}}(x);",
                         {"x": x}, {"y": cumsum(x, axis, exclusive, reverse)})
numbers.case("of nothing", "y = math.cumsum{axis=0}(x);", {"x": real([0, 2])}, {"y": real([0, 2])})
