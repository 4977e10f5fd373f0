"""nn: recurrent networks. The gates are stacked along the first axis of W, R and B."""

import math

from cases import Numbers, attributes
from tensor import integer, mixed, real

S, B, C, N = 3, 2, 2, 2  # steps, batch, input channels, state size


def rows(x):
    """A matrix as a list of lists."""
    return [[x[i, j] for j in range(x.shape[1])] for i in range(x.shape[0])]


def flat(matrix, shape):
    def items(part):
        return [v for p in part for v in items(p)] if isinstance(part, list) else [part]
    return real(shape, *items(matrix))


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def plus(*vectors):
    return [sum(items) for items in zip(*vectors)]


def lstm_cell(h, c, x, w, r, b):
    """Input, forget, cell and output gate, in this order."""
    n = len(h)
    gates = plus(times(w, x), times(r, h), b)
    i, f, g, o = (gates[k * n:(k + 1) * n] for k in range(4))
    c = [sigmoid(f[k]) * c[k] + sigmoid(i[k]) * math.tanh(g[k]) for k in range(n)]
    return [sigmoid(o[k]) * math.tanh(c[k]) for k in range(n)], c


def gru_cell(h, x, w, r, b, q, reset_after):
    """Reset, update and candidate gate, in this order."""
    n = len(h)
    q = q or [0.0] * (3 * n)
    own, state = plus(times(w, x), b), plus(times(r, h), q)
    reset = [sigmoid(own[k] + state[k]) for k in range(n)]
    update = [sigmoid(own[n + k] + state[n + k]) for k in range(n)]
    if reset_after:
        part = [reset[k] * state[2 * n + k] for k in range(n)]
    else:
        part = plus(times(r[2 * n:], [reset[k] * h[k] for k in range(n)]), q[2 * n:])
    new = [math.tanh(own[2 * n + k] + part[k]) for k in range(n)]
    return [update[k] * h[k] + (1 - update[k]) * new[k] for k in range(n)]


def rnn_cell(h, x, w, r, b, activation):
    total = plus(times(w, x), times(r, h), b)
    return [math.tanh(v) if activation == "TANH" else max(v, 0.0) for v in total]


def run(cell, x, states, steps):
    """Y, and the last states: lists of states, a row for each batch item.

    An item runs as many steps as its own count; what it puts out later is zero.
    """
    longest = max(steps)
    outputs = [[[0.0] * N for _ in range(B)] for _ in range(longest)]
    states = [[list(row) for row in state] for state in states]
    for b in range(B):
        for t in range(steps[b]):
            new = cell([state[b] for state in states], [x[t, b, c] for c in range(C)])
            for state, value in zip(states, new):
                state[b] = value
            outputs[t][b] = new[0]
    return flat(outputs, [longest, B, N]), [flat(state, [B, N]) for state in states]


def weights(gates):
    return (mixed([gates * N, C], 1, -1.0, 1.0), mixed([gates * N, N], 2, -1.0, 1.0),
            mixed([gates * N], 3, -1.0, 1.0))


X = mixed([S, B, C], 4, -1.5, 1.5)
H0, C0 = mixed([B, N], 5, -1.0, 1.0), mixed([B, N], 6, -1.0, 1.0)
ZERO = real([B, N], *[0] * (B * N))

# ---- LSTM ----------------------------------------------------------------------------------------

W, R, BIAS = weights(4)


def lstm(h0, c0, steps, x=X):
    def cell(states, item):
        return lstm_cell(*states, item, rows(W), rows(R), BIAS.values)
    y, (h, c) = run(cell, x, [rows(h0), rows(c0)], steps)
    return {"Y": y, "hN": h, "cN": c}


ABOUT = ("c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c'), where W x + R h + B is "
         "stacked as i, f, g, o")
FIXED = {"W": W, "R": R, "B": BIAS}

numbers = Numbers("nn.lstm_step", ABOUT + ".")
for title, h0, c0 in [("given states", H0, C0), ("zero states", ZERO, ZERO)]:
    x = mixed([B, C], 4, -1.5, 1.5)
    out = lstm(h0, c0, [1, 1], x.with_shape([1, B, C]))
    numbers.case(title, "h1, c1 = nn.lstm_step(h0, c0, x, W, R, B);",
                 {"h0": h0, "c0": c0, "x": x, **FIXED}, {"h1": out["hN"], "c1": out["cN"]})

numbers = Numbers("nn.lstm_loop", ABOUT + ", for each step.")
STATES = {"X": X, **FIXED, "h0": H0, "c0": C0}
numbers.case("all steps", "Y, hN, cN = nn.lstm_loop(X, W, R, B, h0, c0);", STATES,
             lstm(H0, C0, [S] * B))
for count in (2, 1, 3):
    numbers.case(f"{count} of {S} steps", "Y, hN, cN = nn.lstm_loop(X, W, R, B, h0, c0, steps);",
                 {**STATES, "steps": integer([], count)}, lstm(H0, C0, [count] * B))

numbers = Numbers("nn.lstm", ABOUT + ", for each step; an item past its own number of steps puts "
                                     "out zeros and keeps its state.")
numbers.case("zero states", "Y, hN, cN = nn.lstm(X, W, R, B);", {"X": X, **FIXED},
             lstm(ZERO, ZERO, [S] * B))
numbers.case("given states", "Y, hN, cN = nn.lstm(X, W, R, B, h0, c0);", STATES,
             lstm(H0, C0, [S] * B))
numbers.case("a given state, no cell", "Y, hN, cN = nn.lstm(X, W, R, B, h0);",
             {"X": X, **FIXED, "h0": H0}, lstm(H0, ZERO, [S] * B))
for title, steps in [("all steps", [3, 3]), ("fewer steps for all", [2, 2]),
                     ("steps of their own", [3, 1]), ("one item that takes no step", [0, 2])]:
    numbers.case(title, "Y, hN, cN = nn.lstm(X, W, R, B, h0, c0, steps);",
                 {**STATES, "steps": integer([B], *steps)}, lstm(H0, C0, steps))

# ---- GRU -----------------------------------------------------------------------------------------

W3, R3, B3 = weights(3)
Q3 = mixed([3 * N], 7, -1.0, 1.0)
numbers = Numbers(
    "nn.gru",
    "r = sigmoid, u = sigmoid, c = tanh of W x + B combined with R h + Q, which is multiplied by "
    "r for c, or computed from r h; h' = u h + (1 - u) c. Stacked as r, u, c.")


def gru(title, h0=None, q=None, steps=None, reset_after=None):
    def cell(states, item):
        return [gru_cell(*states, item, rows(W3), rows(R3), B3.values, q.values if q else None,
                         reset_after is not False)]
    y, (h,) = run(cell, X, [rows(h0 or ZERO)], steps or [S] * B)
    given = {"X": X, "W": W3, "R": R3, "B": B3, "Q": q, "h0": h0,
             "steps": integer([B], *steps) if steps else None}
    names = [name if value else "~" for name, value in given.items()]
    while names[-1] == "~":
        names.pop()
    call = attributes(reset_after=reset_after)
    numbers.case(title, f"Y, hN = nn.gru{call}({', '.join(names)});",
                 {name: value for name, value in given.items() if value}, {"Y": y, "hN": h})


gru("zero state")
gru("recurrent bias", q=Q3)
gru("given state", h0=H0, q=Q3)
gru("given state, no recurrent bias", h0=H0)
gru("reset before", h0=H0, reset_after=False)
gru("reset before, recurrent bias", h0=H0, q=Q3, reset_after=False)
gru("steps of their own", h0=H0, q=Q3, steps=[1, 3])
gru("fewer steps, reset before", h0=H0, steps=[2, 2], reset_after=False)

# ---- Simple network ------------------------------------------------------------------------------

W1, R1, B1 = weights(1)
numbers = Numbers("nn.rnn", "h' = tanh or relu of W x + R h + B; steps as in lstm.")
for title, h0, steps, activation in [("zero state", None, None, None),
                                     ("given state", H0, None, None),
                                     ("relu", H0, None, "RELU"), ("tanh", None, None, "TANH"),
                                     ("steps of their own", H0, [1, 2], None),
                                     ("relu, fewer steps", H0, [2, 2], "RELU")]:
    def cell(states, item):
        return [rnn_cell(*states, item, rows(W1), rows(R1), B1.values, activation or "TANH")]
    y, (h,) = run(cell, X, [rows(h0 or ZERO)], steps or [S] * B)
    given = {"X": X, "W": W1, "R": R1, "B": B1, **({"h0": h0} if h0 else {}),
             **({"steps": integer([B], *steps)} if steps else {})}
    numbers.case(title, f"Y, hN = nn.rnn{attributes(activation=activation)}({', '.join(given)});",
                 given, {"Y": y, "hN": h})
