"""math: functions of two or more tensors, item by item, with broadcasting."""

import math

from cases import Numbers, attributes
from tensor import boolean, broadcast, build, count_up, flags, integer, mixed, real, scalar

# Shapes and alignments; `None` aligns at the last axes.
LAYOUTS = [
    ("same shapes", [2, 3], [2, 3], None, None),
    ("one row for all", [2, 3], [3], None, None),
    ("one column for all", [2, 3], [2, 1], None, None),
    ("both stretched", [2, 1, 2], [3, 1], None, None),
    ("a scalar on the left", [], [2, 3], None, None),
    ("right aligned at the first axis", [2, 3, 2], [2], None, 0),
    ("right aligned at the second axis", [2, 3, 2], [3], None, 1),
    ("right with one axis after", [2, 3, 2], [3], None, -1),
    ("left aligned at the first axis", [2], [2, 3], 0, None),
    ("left with an axis after, right with one before", [2], [3], -1, 1),
]
FEW = {"same shapes", "one row for all", "right aligned at the first axis",
       "left with an axis after, right with one before"}


def binary(name, about, function, left, right, result=None, layouts=FEW):
    """Cases of math.`name`; `left` and `right` make tensors of a shape."""
    numbers = Numbers(f"math.{name}", about)
    for title, sx, sy, lhs, rhs in LAYOUTS:
        if title not in layouts:
            continue
        x, y = left(sx), right(sy)
        z = broadcast(function, [x, y], result, [lhs, rhs])
        call = f"z = math.{name}{attributes(lhs_align=lhs, rhs_align=rhs)}(x, y);"
        numbers.case(title, call, {"x": x, "y": y}, {"z": z})
    return numbers


def items(numbers, title, function, x, y, result=None):
    name = numbers.operator
    z = broadcast(function, [x, y], result)
    numbers.case(title, f"z = {name}(x, y);", {"x": x, "y": y}, {"z": z})


def left(shape):
    return mixed(shape, 3)


def right(shape):
    return mixed(shape, 5)


EVERY = {layout[0] for layout in LAYOUTS}
LHS, RHS = integer([6], -7, -3, 0, 1, 5, 8), integer([6], 2, -3, 4, 1, -2, 8)

numbers = binary("add", "x + y.", lambda x, y: x + y, left, right, layouts=EVERY)
items(numbers, "integers", lambda x, y: x + y, LHS, RHS)
items(numbers, "nothing at all", lambda x, y: x + y, real([0, 2]), real([2], 1, 2))
items(numbers, "infinities", lambda x, y: x + y, real([3], math.inf, -math.inf, math.inf),
      real([3], 1, 5, -math.inf))
numbers.case("a number in the call", "z = math.add(x, 0.5);", {"x": left([3])},
             {"z": left([3]).map(lambda v: v + 0.5)})
numbers.case("extents that the run tells", "z = math.add(x, y);",
             {"x": count_up([2, 3]), "y": count_up([3], 10)},
             {"z": broadcast(lambda x, y: x + y, [count_up([2, 3]), count_up([3], 10)])},
             declare={"x": "real[n|4,m|4]", "y": "real[m|4]"})

numbers = binary("sub", "x - y.", lambda x, y: x - y, left, right, layouts=EVERY)
items(numbers, "integers", lambda x, y: x - y, LHS, RHS)

numbers = binary("mul", "x * y.", lambda x, y: x * y, left, right, layouts=EVERY)
items(numbers, "integers", lambda x, y: x * y, LHS, RHS)


def not_zero(shape):
    return mixed(shape, 7).map(lambda v: v if v else 4.0)


numbers = binary("div", "x / y; of integers rounded down.", lambda x, y: x / y, left, not_zero)
items(numbers, "integers round down", lambda x, y: x // y, LHS, RHS)
numbers.case("by zero", "z = math.div(x, y);", {"x": real([3], 1, -1, 0), "y": real([3], 0, 0, 0)},
             {"z": real([3], math.inf, -math.inf, math.nan)})

numbers = binary("mod", "x - floor(x / y) * y: the remainder with the sign of y.",
                 lambda x, y: x - math.floor(x / y) * y, left, not_zero)
items(numbers, "integers", lambda x, y: x - (x // y) * y, LHS, RHS)
items(numbers, "all signs of reals", lambda x, y: x - math.floor(x / y) * y,
      real([4], 7.5, -7.5, 7.5, -7.5), real([4], 2, 2, -2, -2))

numbers = binary("pow", "x to the power of y.", lambda x, y: x ** y,
                 lambda shape: mixed(shape, 3, 0.25, 3.0), right)
items(numbers, "integers", lambda x, y: x ** y, integer([6], 2, -3, 0, 1, 5, 10),
      integer([6], 10, 3, 0, 7, 1, 9))
numbers.case("special values", "z = math.pow(x, y);",
             {"x": real([6], 0, 0, -8, -8, 2, 0), "y": real([6], 0, 2, 3, 0.5, -2, -1)},
             {"z": real([6], 1, 0, -512, math.nan, 0.25, math.inf)})

for name, about, function in [("min", "the lesser of two.", min),
                              ("max", "the greater of two.", max)]:
    numbers = binary(name, about, function, left, right)
    items(numbers, "integers", function, LHS, RHS)
    items(numbers, "infinities", function, real([3], math.inf, -math.inf, 0),
          real([3], 1, 1, -math.inf))

for name, about, function in [
        ("lt", "x < y.", lambda x, y: x < y), ("gt", "x > y.", lambda x, y: x > y),
        ("le", "x <= y.", lambda x, y: x <= y), ("ge", "x >= y.", lambda x, y: x >= y),
        ("eq", "x == y.", lambda x, y: x == y), ("ne", "x != y.", lambda x, y: x != y)]:
    coarse = [lambda shape: mixed(shape, 3, -1.0, 1.0, 0.5),
              lambda shape: mixed(shape, 4, -1.0, 1.0, 0.5)]
    numbers = binary(name, about, function, *coarse, result="bool")
    items(numbers, "integers", function, LHS, RHS, "bool")
    items(numbers, "infinities", function, real([4], math.inf, math.inf, -math.inf, 0),
          real([4], math.inf, 1, math.inf, -math.inf), "bool")
    if name in ("eq", "ne"):
        items(numbers, "truth values", function, boolean([4], 0, 0, 1, 1),
              boolean([4], 0, 1, 0, 1), "bool")

for name, about, function in [("and", "both hold.", lambda x, y: x and y),
                              ("or", "at least one holds.", lambda x, y: x or y),
                              ("xor", "exactly one holds.", lambda x, y: x != y)]:
    numbers = binary(name, about, function, lambda s: flags(s, 1), lambda s: flags(s, 2))
    items(numbers, "all combinations", function, boolean([4], 0, 0, 1, 1),
          boolean([4], 0, 1, 0, 1))

# ---- Three and four operands ---------------------------------------------------------------------

numbers = Numbers("math.select", "x where c holds, y elsewhere.")


def select(title, c, x, y, cond=None, lhs=None, rhs=None):
    z = broadcast(lambda c, x, y: x if c else y, [c, x, y], x.dtype, [cond, lhs, rhs])
    call = attributes(cond_align=cond, lhs_align=lhs, rhs_align=rhs)
    numbers.case(title, f"z = math.select{call}(c, x, y);", {"c": c, "x": x, "y": y}, {"z": z})


select("same shapes", flags([2, 3]), count_up([2, 3]), count_up([2, 3], 10))
select("all stretched", flags([2, 1]), count_up([1, 3]), scalar(-1))
select("the condition aligned at the first axis", flags([2], 4), count_up([2, 3]),
       count_up([2, 3], 10), cond=0)
select("operands aligned apart", flags([2, 3], 5), count_up([2]), count_up([3], 10), lhs=-1, rhs=1)
select("integers", boolean([3], 1, 0, 1), integer([3], 1, 2, 3), integer([3], 4, 5, 6))
select("truth values", boolean([2], 1, 0), boolean([2], 0, 0), boolean([2], 1, 1))
select("what is not taken does not matter", boolean([2], 1, 0), real([2], 1, math.nan),
       real([2], math.inf, 2))

numbers = Numbers("math.axpb", "a * x + b.")


def axpb(title, a, x, b, a_align=None, x_align=None, b_align=None):
    y = broadcast(lambda a, x, b: a * x + b, [a, x, b], None, [a_align, x_align, b_align])
    call = attributes(x_align=x_align, a_align=a_align, b_align=b_align)
    numbers.case(title, f"y = math.axpb{call}(a, x, b);", {"a": a, "x": x, "b": b}, {"y": y})


axpb("same shapes", mixed([2, 3], 1), mixed([2, 3], 2), mixed([2, 3], 3))
axpb("scalars", scalar(2), mixed([4], 2), scalar(-1))
axpb("aligned at the channels", mixed([3], 1), mixed([2, 3, 2], 2), mixed([3], 3), 1, None, 1)
axpb("x is the small one", mixed([2, 2], 1), mixed([2], 2), mixed([2, 1], 3), None, 0)

numbers = Numbers("math.axpby", "a * x + b * y.")


def axpby(title, a, x, b, y, aligns=(None,) * 4):
    z = broadcast(lambda a, x, b, y: a * x + b * y, [a, x, b, y], None, aligns)
    call = attributes(x_align=aligns[1], y_align=aligns[3], a_align=aligns[0], b_align=aligns[2])
    numbers.case(title, f"z = math.axpby{call}(a, x, b, y);", {"a": a, "x": x, "b": b, "y": y},
                 {"z": z})


axpby("same shapes", *(mixed([2, 2], seed) for seed in range(1, 5)))
axpby("a moving average", scalar(0.25), mixed([2, 3], 1), scalar(0.75), mixed([2, 3], 2))
axpby("weights aligned at the first axis", mixed([2], 1), mixed([2, 3], 2), mixed([2], 3),
      mixed([2, 3], 4), (0, None, 0, None))
axpby("x and y aligned at the first axis", mixed([2, 2], 1), mixed([2], 2), mixed([2, 2], 3),
      mixed([2], 4), (None, 0, None, 0))
axpby("vectors against each other", mixed([2, 1], 1), mixed([3], 2), mixed([3], 3),
      mixed([2, 1], 4))

numbers = Numbers("math.clamp", "x, but at least a and at most b.")


def clamp(title, x, a, b, val=None, low=None, high=None):
    y = broadcast(lambda x, a, b: min(max(x, a), b), [x, a, b], None, [val, low, high])
    call = attributes(val_align=val, min_align=low, max_align=high)
    numbers.case(title, f"y = math.clamp{call}(x, a, b);", {"x": x, "a": a, "b": b}, {"y": y})


clamp("a range", mixed([2, 4], 1), scalar(-1), scalar(0.5))
clamp("a range per row", mixed([2, 3], 2), real([2], -1, 0), real([2], 0, 1), None, 0, 0)
clamp("one value, a range per item", real([2], -1.5, 1.5), mixed([2, 2], 5, -2.0, 0.0),
      mixed([2, 2], 6, 0.0, 2.0), 0)
clamp("bounds of their own", mixed([3], 2), mixed([3], 5, -2.0, 0.0), mixed([3], 6, 0.0, 2.0))
clamp("integers", integer([5], -9, -1, 0, 3, 70), integer([], -1), integer([], 5))
clamp("open on one side", real([3], -5, 0, math.inf), scalar(-math.inf), scalar(1))
clamp("the upper bound wins", real([2], 0, 9), scalar(5), scalar(3))

# ---- Packs ---------------------------------------------------------------------------------------


def pack(name, about, function, tensors, dtype=None):
    """Cases of math.`name` for several tensors; function([items])."""
    numbers = Numbers(f"math.{name}", about)
    for title, xs in tensors:
        names = [f"x{i}" for i in range(len(xs))]
        y = build(dtype or xs[0].dtype, xs[0].shape,
                  lambda index, xs=xs: function([x[index] for x in xs]))
        numbers.case(title, f"y = math.{name}([{', '.join(names)}]);", dict(zip(names, xs)),
                     {"y": y})


REALS = [("three matrices", [mixed([2, 2], seed) for seed in (1, 2, 3)]),
         ("a single one", [mixed([3], 4)]),
         ("scalars", [scalar(2.5), scalar(-1), scalar(4), scalar(0.5)]),
         ("integers", [integer([4], 3, -2, 0, 7), integer([4], -1, -5, 9, 7)])]
TIES = REALS + [("the first of equals", [real([3], 1, 2, 3), real([3], 1, 5, 2),
                                         real([3], 1, 5, 2)])]
TRUTHS = [("three vectors", [boolean([4], 0, 0, 1, 1), boolean([4], 0, 1, 0, 1),
                             boolean([4], 0, 1, 1, 1)]),
          ("a single one", [boolean([2], 0, 1)])]

pack("sum_n", "the sum of several tensors.", sum, REALS)
pack("prod_n", "the product of several tensors.", math.prod, REALS)
pack("min_n", "the least of several tensors.", min, REALS)
pack("max_n", "the greatest of several tensors.", max, REALS)
pack("argmin_n", "which tensor is least; the first of equals.", lambda xs: xs.index(min(xs)),
     TIES, "int")
pack("argmax_n", "which tensor is greatest; the first of equals.", lambda xs: xs.index(max(xs)),
     TIES, "int")
pack("any_n", "true where any tensor is.", any, TRUTHS)
pack("all_n", "true where all tensors are.", all, TRUTHS)
