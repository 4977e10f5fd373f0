"""linalg: products of vectors and matrices."""

from cases import Numbers, attributes
from tensor import build, mixed, real, scalar, stretched

numbers = Numbers("linalg.dot", "the sum of products, plus b.")
for title, n, b in [("two vectors", 4, None), ("plus a number", 3, scalar(10)),
                    ("of nothing", 0, None), ("of nothing, plus a number", 0, scalar(-2)),
                    ("of one item", 1, None)]:
    x, y = mixed([n], 1), mixed([n], 2)
    z = sum(a * c for a, c in zip(x.values, y.values)) + (b.values[0] if b else 0)
    inputs = {"x": x, "y": y, **({"b": b} if b else {})}
    numbers.case(title, f"z = linalg.dot({', '.join(inputs)});", inputs, {"z": scalar(z)})

numbers = Numbers("linalg.matvec", "A x + b, or with A transposed.")
for title, rows, cols, trans, bias in [("a wide matrix", 2, 3, False, False),
                                       ("a tall matrix", 3, 2, False, False),
                                       ("transposed", 3, 2, True, False),
                                       ("plus a vector", 2, 3, False, True),
                                       ("transposed, plus a vector", 2, 3, True, True)]:
    a = mixed([rows, cols], 1)
    m = a.transposed([1, 0]) if trans else a
    x, b = mixed([m.shape[1]], 2), mixed([m.shape[0]], 3)
    y = [sum(m[i, k] * x[k] for k in range(m.shape[1])) + (b[i] if bias else 0)
         for i in range(m.shape[0])]
    inputs = {"A": a, "x": x, **({"b": b} if bias else {})}
    call = attributes(transA=trans or None)
    numbers.case(title, f"y = linalg.matvec{call}({', '.join(inputs)});", inputs,
                 {"y": real([len(y)], *y)})

numbers = Numbers("linalg.matmul", "A B + C for each item of the batch; either may be transposed.")


def product(a, b):
    """Of two matrices, each a list of rows."""
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))]
            for i in range(len(a))]


def matrix(x, batch, trans):
    """The matrix of x at a batch index, whose extents of 1 are stretched."""
    own = tuple(0 if e == 1 else i
                for i, e in zip(batch[len(batch) - (x.rank - 2):], x.shape[:-2]))
    rows = [[x[(*own, i, j)] for j in range(x.shape[-1])] for i in range(x.shape[-2])]
    return [list(column) for column in zip(*rows)] if trans else rows


def matmul(title, sa, sb, sc=None, ta=False, tb=False, declare=None):
    a, b = mixed(sa, 1), mixed(sb, 2)
    c = mixed(sc, 3) if sc is not None else None
    depth = max(len(sa), len(sb)) - 2
    batch = stretched([[1] * (depth + 2 - len(own)) + own[:-2] for own in (sa, sb)])
    shape = [*batch, sa[-1] if ta else sa[-2], sb[-2] if tb else sb[-1]]

    def item(index):
        value = product(matrix(a, index[:-2], ta), matrix(b, index[:-2], tb))[index[-2]][index[-1]]
        return value + (matrix(c, index[:-2], False)[index[-2]][index[-1]] if c else 0)

    inputs = {"A": a, "B": b, **({"C": c} if c else {})}
    call = attributes(transA=ta or None, transB=tb or None)
    numbers.case(title, f"Z = linalg.matmul{call}({', '.join(inputs)});", inputs,
                 {"Z": build("real", shape, item)}, declare=declare)


matmul("two matrices", [2, 3], [3, 2])
matmul("a row and a column", [1, 3], [3, 1])
matmul("a column and a row", [2, 1], [1, 3])
matmul("the left transposed", [3, 2], [3, 2], ta=True)
matmul("the right transposed", [2, 3], [2, 3], tb=True)
matmul("both transposed", [3, 2], [2, 3], ta=True, tb=True)
matmul("plus a matrix", [2, 3], [3, 2], [2, 2])
matmul("a batch", [2, 2, 2], [2, 2, 2])
matmul("one matrix for the batch", [2, 2, 2], [2, 3])
matmul("a batch on the right", [2, 3], [2, 3, 1])
matmul("batches stretched against each other", [2, 1, 1, 2], [3, 2, 1])
matmul("a batch, plus one matrix", [2, 2, 2], [2, 2, 2], [2, 2])
matmul("a batch, plus a batch", [2, 1, 2], [2, 2, 2], [2, 1, 2], tb=True)
matmul("extents that the run tells", [2, 2, 3], [2, 3, 2],
       declare={"A": "real[b|4,2,k|8]", "B": "real[b|4,k|8,2]"})

numbers = Numbers("linalg.outer", "each item times each item.")
for title, sx, sy in [("two vectors", [2], [3]), ("a matrix and a vector", [2, 2], [2]),
                      ("a scalar", [], [3]), ("with nothing", [0], [2])]:
    x, y = mixed(sx, 1), mixed(sy, 2)
    z = build("real", [*sx, *sy], lambda i: x[i[:len(sx)]] * y[i[len(sx):]])
    numbers.case(title, "z = linalg.outer(x, y);", {"x": x, "y": y}, {"z": z})
