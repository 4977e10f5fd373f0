"""nn: activation functions, item by item."""

import math

from cases import Numbers, attributes
from tensor import mixed, normal, real

INF = math.inf
X = real([2, 5], -30, -2.5, -1, -0.5, -0.125, 0, 0.25, 1, 3, 30)


def activation(name, about, function, special=(), **choices):
    """Cases of nn.`name`; choices: {title: attributes}, each of function(x, **attributes)."""
    numbers = Numbers(f"nn.{name}", about)
    for title, given in {"plain": {}, **choices}.items():
        call = f"y = nn.{name}{attributes(**given)}(x);"
        numbers.case(title.replace("_", " "), call, {"x": X},
                     {"y": X.map(lambda x: float(function(x, **given)))})
    if special:
        x, y = zip(*special)
        numbers.case("special values", f"y = nn.{name}(x);", {"x": real([len(x)], *x)},
                     {"y": real([len(y)], *y)})
    numbers.case("nothing at all", f"y = nn.{name}(x);", {"x": real([0, 2])},
                 {"y": real([0, 2])})
    return numbers


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def softplus(x):
    return math.log1p(math.exp(x)) if x < 30 else x


def relu(x, alpha=0.0, max=INF):
    """The spec takes the greater of min(x, max) and alpha * x: a steep slope passes the limit."""
    below = alpha * x
    limited = x if x < max else max
    return limited if limited > below else below


activation("relu", "x, or alpha * x where that is greater (0 without alpha); limited by max.", relu,
           [(INF, INF), (-INF, 0.0)], leaky={"alpha": 0.25}, limited={"max": 2.0},
           leaky_and_limited={"alpha": 0.125, "max": 6.0}, slope_one={"alpha": 1.0})

numbers = Numbers("nn.prelu", "alpha * x below zero, where alpha goes with an axis; else x.")
for title, shape, axis in [("channels", [2, 3, 2], None), ("a matrix", [2, 3], None),
                           ("the first axis", [2, 3], 0), ("from the end", [2, 2, 3], -1)]:
    x = mixed(shape, 2)
    at = normal(1 if axis is None else axis, x.rank)
    alpha = real([shape[at]], *[0.25 * (i + 1) for i in range(shape[at])])
    y = [v if v >= 0 else alpha[i[at]] * v for i, v in x.items()]
    numbers.case(title, f"y = nn.prelu{attributes(axis=axis)}(x, alpha);", {"x": x, "alpha": alpha},
                 {"y": real(shape, *y)})

activation("thresholded_relu", "x above theta, else 0.",
           lambda x, theta=0.0: x if x > theta else 0.0, at_one={"theta": 1.0},
           between={"theta": 0.5})
activation("elu", "alpha * (exp(x) - 1) below zero, else x.",
           lambda x, alpha=1.0: alpha * math.expm1(x) if x < 0 else x, [(-INF, -1.0), (INF, INF)],
           alpha_half={"alpha": 0.5}, alpha_two={"alpha": 2.0})
activation("selu", "lambda times elu, with the constants of self-normalizing networks.",
           lambda x, alpha=1.6732632423543772, **more:
           more.get("lambda", 1.0507009873554805) * (alpha * math.expm1(x) if x < 0 else x),
           other_constants={"alpha": 1.5, "lambda": 2.0})


def gelu(x, approximate=None):
    if approximate == "TANH":
        return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    if approximate == "SIGMOID":
        return x * sigmoid(1.702 * x)
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


activation("gelu", "x times the normal distribution function, or an approximation.", gelu,
           by_tanh={"approximate": "TANH"}, by_sigmoid={"approximate": "SIGMOID"})
activation("silu", "x / (1 + exp(-x)).", lambda x: x * sigmoid(x))
activation("sigmoid", "1 / (1 + exp(-x)).", sigmoid, [(-INF, 0.0), (INF, 1.0), (-1000.0, 0.0)])
activation("softplus", "log(1 + exp(x)).", softplus, [(1000.0, 1000.0), (-1000.0, 0.0)])
activation("erf", "the error function.", math.erf, [(INF, 1.0), (-INF, -1.0)])
activation("hard_sigmoid", "alpha * x + beta, but at least 0 and at most 1.",
           lambda x, alpha=0.2, beta=0.5: min(max(alpha * x + beta, 0.0), 1.0),
           [(INF, 1.0), (-INF, 0.0)], other_line={"alpha": 0.5, "beta": 0.25})
activation("hard_swish", "x times (x / 6 + 1 / 2, but at least 0 and at most 1).",
           lambda x: x * min(max(x / 6 + 0.5, 0.0), 1.0), [(3.0, 3.0), (-3.0, 0.0), (1.0, 2 / 3)])
activation("hard_tanh", "x, but at least min and at most max.",
           lambda x, min=-1.0, max=1.0: x if min <= x <= max else (min if x < min else max),
           [(INF, 1.0), (-INF, -1.0)], other_range={"min": -2.0, "max": 0.5},
           half_open={"max": 6.0})
activation("mish", "x * tanh(log(1 + exp(x))).", lambda x: x * math.tanh(softplus(x)),
           [(1000.0, 1000.0), (-1000.0, 0.0)])
activation("softsign", "x / (1 + |x|).", lambda x: x / (1 + abs(x)), [(1e6, 1.0), (-1e6, -1.0)])
