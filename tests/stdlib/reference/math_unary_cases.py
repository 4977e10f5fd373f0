"""math: functions of one tensor, item by item."""

import math

from cases import Numbers
from tensor import Tensor, boolean, count_up, integer, real, scalar

INF, NAN = math.inf, math.nan




def unary(name, about, function, values, special=(), dtypes=("real",)):
    """Cases of math.`name`: a matrix, a scalar, an empty tensor; `special` holds (x, f(x))."""
    numbers = Numbers(f"math.{name}", about)
    call = f"y = math.{name}(x);"
    x = real([2, len(values) // 2], *values)
    numbers.case("a matrix", call, {"x": x}, {"y": x.map(function)})
    x = scalar(values[0])
    numbers.case("a scalar", call, {"x": x}, {"y": x.map(function)})
    numbers.case("nothing at all", call, {"x": real([0, 3])}, {"y": real([0, 3])})
    if special:
        x, y = zip(*special)
        numbers.case("special values", call, {"x": real([len(x)], *x)}, {"y": real([len(y)], *y)})
    if "int" in dtypes:
        x = integer([2, 1, 3], -3, -1, 0, 1, 4, 1000)
        numbers.case("integers", call, {"x": x}, {"y": x.map(function)})
    return numbers


PLAIN = [-2.5, -1.0, -0.25, 0.0, 0.75, 3.0]
POSITIVE = [0.125, 0.5, 1.0, 2.0, 3.5, 100.0]
UNIT = [-1.0, -0.5, -0.125, 0.0, 0.625, 1.0]

numbers = unary("iden", "a copy.", lambda x: x, PLAIN, dtypes=("real", "int"))
x = boolean([3], True, False, True)
numbers.case("truth values", "y = math.iden(x);", {"x": x}, {"y": x})
x = Tensor("str", [2], ["one", "two"])
numbers.case("strings", "y = math.iden(x);", {"x": x}, {"y": x})
numbers.case("an extent that the run tells", "y = math.iden(x);",
             {"x": count_up([2, 3])}, {"y": count_up([2, 3])}, declare={"x": "real[n|5,3]"})

unary("neg", "-x.", lambda x: -x, PLAIN, [(INF, -INF), (-INF, INF)], ("real", "int"))
unary("rcp", "1 / x.", lambda x: 1 / x, [-4.0, -1.0, -0.5, 0.25, 2.0, 8.0],
      [(0.0, INF), (INF, 0.0), (-INF, 0.0)])
unary("sqr", "x * x.", lambda x: x * x, PLAIN, [(-INF, INF)], ("real", "int"))
unary("sqrt", "the square root.", math.sqrt, [0.0, 0.25, 1.0, 2.0, 9.0, 1000.0],
      [(INF, INF), (-1.0, NAN)])
unary("rsqr", "1 / (x * x).", lambda x: 1 / (x * x), [-4.0, -1.0, -0.5, 0.25, 2.0, 10.0],
      [(0.0, INF), (INF, 0.0)])
unary("rsqrt", "1 / sqrt(x).", lambda x: 1 / math.sqrt(x), POSITIVE,
      [(0.0, INF), (INF, 0.0), (-1.0, NAN)])
unary("exp", "e to the power of x.", math.exp, [-20.0, -1.0, 0.0, 0.5, 1.0, 10.0],
      [(-INF, 0.0), (INF, INF), (1000.0, INF), (-1000.0, 0.0)])
unary("log", "the natural logarithm.", math.log, POSITIVE, [(0.0, -INF), (INF, INF), (-1.0, NAN)])
unary("log2", "the logarithm to base 2.", math.log2, POSITIVE,
      [(0.0, -INF), (1024.0, 10.0), (-1.0, NAN)])
unary("sin", "the sine.", math.sin, [-3.0, -1.0, 0.0, 0.5, 1.5, 6.0], [(INF, NAN)])
unary("cos", "the cosine.", math.cos, [-3.0, -1.0, 0.0, 0.5, 1.5, 6.0], [(INF, NAN)])
unary("tan", "the tangent.", math.tan, [-1.25, -0.5, 0.0, 0.5, 1.0, 3.0], [(INF, NAN)])
unary("sinh", "the hyperbolic sine.", math.sinh, PLAIN, [(INF, INF), (-INF, -INF)])
unary("cosh", "the hyperbolic cosine.", math.cosh, PLAIN, [(INF, INF), (-INF, INF)])
unary("tanh", "the hyperbolic tangent.", math.tanh, PLAIN,
      [(INF, 1.0), (-INF, -1.0), (100.0, 1.0), (1e-4, 1e-4)])
unary("asin", "the inverse sine.", math.asin, UNIT, [(1.5, NAN)])
unary("acos", "the inverse cosine.", math.acos, UNIT, [(1.5, NAN)])
unary("atan", "the inverse tangent.", math.atan, PLAIN, [(INF, math.pi / 2), (-INF, -math.pi / 2)])
unary("asinh", "the inverse hyperbolic sine.", math.asinh, PLAIN, [(INF, INF), (-INF, -INF)])
unary("acosh", "the inverse hyperbolic cosine.", math.acosh, [1.0, 1.25, 2.0, 3.0, 10.0, 1000.0],
      [(0.5, NAN), (INF, INF)])
unary("atanh", "the inverse hyperbolic tangent.", math.atanh,
      [-0.875, -0.5, -0.125, 0.0, 0.25, 0.75], [(1.0, INF), (-1.0, -INF), (2.0, NAN)])
unary("abs", "the absolute value.", abs, PLAIN, [(-INF, INF), (INF, INF)], ("real", "int"))
unary("sign", "-1, 0 or 1.", lambda x: (x > 0) - (x < 0), PLAIN, [(-INF, -1.0), (INF, 1.0)],
      ("real", "int"))
unary("floor", "the greatest integer that is not above.", math.floor,
      [-2.5, -2.0, -0.25, 0.5, 1.75, 3.0], [(INF, INF), (-INF, -INF)])
unary("ceil", "the least integer that is not below.", math.ceil,
      [-2.5, -2.0, -0.25, 0.5, 1.75, 3.0], [(INF, INF), (-INF, -INF)])


def half_away(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


unary("round", "the nearest integer, halves away from zero.", half_away,
      [-2.5, -1.25, -0.5, 0.5, 1.5, 2.75], [(INF, INF), (-INF, -INF), (2.5, 3.0), (-0.25, 0.0)])

numbers = Numbers("math.not", "true where x is false.")
for title, x in [("a matrix", boolean([2, 2], True, False, False, True)),
                 ("a scalar", boolean([], True)), ("nothing at all", boolean([0]))]:
    numbers.case(title, "y = math.not(x);", {"x": x}, {"y": x.map(lambda v: not v)})
