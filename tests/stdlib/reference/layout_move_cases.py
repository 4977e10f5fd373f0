"""layout: joining, splitting, growing, shrinking, and access by index."""

from cases import Numbers, attributes
from tensor import (Tensor, boolean, build, count_up, indices, integer, normal, real, replaced,
                    scalar)

# ---- Joining and splitting -----------------------------------------------------------------------


def part(x, axis, begin, end):
    """The slice of x from begin to end along an axis."""
    shape = replaced(x.shape, [axis], [end - begin])
    return build(x.dtype, shape, lambda i: x[replaced(i, [axis], [i[axis] + begin])])


def join(xs, axis):
    shape = replaced(xs[0].shape, [axis], [sum(x.shape[axis] for x in xs)])

    def item(index):
        at = index[axis]
        for x in xs:
            if at < x.shape[axis]:
                return x[replaced(index, [axis], [at])]
            at -= x.shape[axis]
        raise IndexError

    return build(xs[0].dtype, shape, item)


def insert(x, axis):
    return x.with_shape([*x.shape[:axis], 1, *x.shape[axis:]])


def names(letter, count):
    return [f"{letter}{i}" for i in range(count)]


numbers = Numbers("layout.concat", "end to end along an axis.")
for title, shapes, axis in [("rows", [[2, 3], [2, 3]], 0), ("of different widths",
                                                            [[2, 1], [2, 3], [2, 2]], 1),
                            ("from the end", [[2, 2, 1], [2, 2, 2]], -1),
                            ("in the middle", [[2, 1, 2], [2, 2, 2]], 1), ("just one", [[3]], 0),
                            ("with an empty one", [[2], [0], [1]], 0)]:
    xs = [count_up(shape, 1 + 100 * i) for i, shape in enumerate(shapes)]
    inputs = names("x", len(xs))
    numbers.case(title, f"y = layout.concat{{axis={axis}}}([{', '.join(inputs)}]);",
                 dict(zip(inputs, xs)), {"y": join(xs, normal(axis, xs[0].rank))})
xs = [count_up([2, 2]), count_up([1, 2], 10)]
numbers.case("extents that the run tells", "y = layout.concat{axis=0}([x0, x1]);",
             dict(zip(["x0", "x1"], xs)), {"y": join(xs, 0)},
             declare={"x0": "real[n|4,2]", "x1": "real[m|4,2]"})
xs = [boolean([2], 1, 0), boolean([1], 1)]
numbers.case("truth values", "y = layout.concat{axis=0}([x0, x1]);", dict(zip(["x0", "x1"], xs)),
             {"y": boolean([3], 1, 0, 1)})

numbers = Numbers("layout.split", "parts of an axis, all equal or of given sizes.")
for title, shape, axis, count, sizes in [("equal parts", [2, 6], 1, 3, None),
                                         ("given sizes", [4, 2], 0, None, [1, 3]),
                                         ("from the end", [2, 4], -1, 2, [3, 1]),
                                         ("an empty part", [3], 0, None, [0, 2, 1]),
                                         ("one part", [2, 2], 0, 1, None)]:
    x = count_up(shape)
    front = normal(axis, x.rank)
    each = sizes or [shape[front] // count] * count
    ends = [sum(each[:i + 1]) for i in range(len(each))]
    parts = [part(x, front, end - size, end) for end, size in zip(ends, each)]
    outputs = names("y", len(each))
    numbers.case(title, f"[{', '.join(outputs)}] = layout.split"
                        f"{attributes(axis=axis, count=count, sizes=sizes)}(x);", {"x": x},
                 dict(zip(outputs, parts)))

numbers = Numbers("layout.stack", "along a new axis, or along one of extent 1 if `squeeze`.")
for title, shape, axis, squeeze, count in [("in front", [2, 3], 0, False, 2),
                                           ("in the middle", [2, 3], 1, False, 2),
                                           ("at the end", [2], 1, False, 3),
                                           ("from the end of the input", [2, 3], -1, False, 2),
                                           ("in place of an axis", [2, 1, 2], 1, True, 3),
                                           ("scalars", [], 0, False, 3)]:
    xs = [count_up(shape, 1 + 100 * i) for i in range(count)]
    front = normal(axis, len(shape))
    y = join(xs if squeeze else [insert(x, front) for x in xs], front)
    inputs = names("x", count)
    call = attributes(axis=axis, squeeze=squeeze or None)
    numbers.case(title, f"y = layout.stack{call}([{', '.join(inputs)}]);", dict(zip(inputs, xs)),
                 {"y": y})

numbers = Numbers("layout.unstack", "apart along an axis, which is dropped if `squeeze`.")
for title, shape, axis, squeeze in [("the first axis", [2, 3], 0, True),
                                    ("the last axis", [2, 3], -1, True),
                                    ("keeping the axis", [2, 3], 1, False),
                                    ("in the middle", [2, 2, 2], 1, True),
                                    ("a vector", [3], 0, True)]:
    x = count_up(shape)
    front = normal(axis, x.rank)
    parts = [part(x, front, i, i + 1) for i in range(shape[front])]
    if squeeze:
        parts = [y.with_shape([*shape[:front], *shape[front + 1:]]) for y in parts]
    outputs = names("y", len(parts))
    call = attributes(axis=axis, squeeze=None if squeeze else False)
    numbers.case(title, f"[{', '.join(outputs)}] = layout.unstack{call}(x);", {"x": x},
                 dict(zip(outputs, parts)))

# ---- Growing and shrinking -----------------------------------------------------------------------


def picked(x, shape, where):
    """The tensor whose item at an index is that of x at where(axis, position) along each axis."""
    return build(x.dtype, shape, lambda index: x[tuple(where(a, i) for a, i in enumerate(index))])


numbers = Numbers("layout.tile", "repeated along axes.")
for title, shape, axes, repeats in [("all axes", [2, 2], None, [2, 3]),
                                    ("one axis", [2, 3], [1], [2]),
                                    ("from the end", [2, 3], [-1, 0], [1, 2]),
                                    ("once", [3], None, [1]), ("a single item", [1, 1], [0], [4])]:
    x = count_up(shape)
    where = [normal(axis, x.rank) for axis in (axes or range(x.rank))]
    wide = replaced(shape, where, [shape[a] * n for a, n in zip(where, repeats)])
    numbers.case(title, f"y = layout.tile{attributes(axes=axes, repeats=repeats)}(x);", {"x": x},
                 {"y": picked(x, wide, lambda a, i: i % shape[a])})

numbers = Numbers("layout.broadcast", "axes of extent 1 stretched.")
for title, shape, axes, new in [("a row", [1, 3], None, [2, 3]), ("a column", [2, 1], [1], [3]),
                                ("from the end", [2, 1, 2], [-2], [3]),
                                ("a single item", [1, 1], None, [2, 2]),
                                ("as it is", [2, 2], None, [2, 2])]:
    x = count_up(shape)
    where = [normal(axis, x.rank) for axis in (axes or range(x.rank))]
    wide = replaced(shape, where, new)
    numbers.case(title, f"y = layout.broadcast{attributes(axes=axes, shape=new)}(x);", {"x": x},
                 {"y": picked(x, wide, lambda a, i: 0 if shape[a] == 1 else i)})

numbers = Numbers("layout.slice", "every stride-th position from begin up to, without, end.")


def slice_positions(extent, begin, end, stride):
    """Positions that a slice keeps; ends are clamped, below zero they count from the end."""
    begin = begin + extent if begin < 0 else begin
    end = end + extent if end < 0 else end
    begin, end = min(max(begin, -1), extent), min(max(end, -1), extent)
    return list(range(begin, end, stride))


for title, shape, axes, begin, end, stride in [
        ("all axes", [3, 4], None, [1, 0], [3, 2], None), ("one axis", [3, 4], [1], [1], [3], None),
        ("from the end", [3, 4], [-1], [-3], [-1], None),
        ("every second", [7], None, [0], [7], [2]),
        ("every third", [7], None, [1], [7], [3]), ("past the end", [4], None, [2], [99], None),
        ("backwards", [5], None, [3], [0], [-1]), ("all backwards", [4], None, [3], [-9], [-1]),
        ("every second backwards", [2, 6], [1], [-1], [0], [-2]),
        ("nothing", [4, 2], [0], [2], [2], None), ("two axes", [3, 2, 4], [2, 0], [1, 1], [4, 3],
                                                   [2, 1])]:
    x = count_up(shape)
    where = [normal(axis, x.rank) for axis in (axes or range(x.rank))]
    kept = {a: list(range(e)) for a, e in enumerate(shape)}
    for a, b, e, s in zip(where, begin, end, stride or [1] * len(where)):
        kept[a] = slice_positions(shape[a], b, e, s)
    y = picked(x, [len(kept[a]) for a in range(x.rank)], lambda a, i: kept[a][i])
    call = attributes(axes=axes, begin=begin, end=end, stride=stride)
    numbers.case(title, f"y = layout.slice{call}(x);", {"x": x}, {"y": y})

numbers = Numbers(
    "layout.pad",
    "with a border: before each axis, then after each. REFLECT mirrors at the edge items, "
    "SYMMETRIC beside them, REPLICATE repeats them.")


def border(position, extent, method):
    """Where an item of the border is taken from; None: a constant."""
    if 0 <= position < extent:
        return position
    if method == "REPLICATE":
        return 0 if position < 0 else extent - 1
    if method == "REFLECT":
        return -position if position < 0 else 2 * (extent - 1) - position
    if method == "SYMMETRIC":
        return -position - 1 if position < 0 else 2 * extent - 1 - position
    return None


def pad(title, x, axes, padding, method=None, value=None):
    where = [normal(axis, x.rank) for axis in (axes if axes is not None else range(x.rank))]
    before, after = [0] * x.rank, [0] * x.rank
    for i, a in enumerate(where):
        before[a], after[a] = padding[i], padding[len(where) + i]
    shape = [b + e + a for b, e, a in zip(before, x.shape, after)]
    fill = value.values[0] if value else {"real": 0.0, "int": 0, "bool": False}[x.dtype]

    def item(index):
        source = tuple(border(i - b, e, method) for i, b, e in zip(index, before, x.shape))
        return fill if None in source else x[source]

    inputs = {"x": x, "v": value} if value else {"x": x}
    call = attributes(axes=axes, padding=padding, method=method)
    numbers.case(title, f"y = layout.pad{call}({', '.join(inputs)});", inputs,
                 {"y": build(x.dtype, shape, item)})


pad("zeros", count_up([2, 2]), None, [1, 0, 0, 2])
pad("one axis", count_up([2, 3]), [1], [1, 2])
pad("one axis from the end", count_up([2, 3]), [-2], [0, 1])
pad("a value", count_up([2, 2]), None, [1, 1, 1, 1], value=scalar(-9))
pad("integers", count_up([3], dtype="int"), None, [2, 1])
pad("a truth value", boolean([2], 0, 1), None, [1, 1], value=boolean([], True))
pad("nothing to add", count_up([2, 2]), None, [0, 0, 0, 0])
pad("an empty input", real([0, 2]), [0], [1, 1], value=scalar(3))
for how in ("REFLECT", "REPLICATE", "SYMMETRIC"):
    pad(f"{how} on one axis", count_up([4]), None, [3, 2], how)
    pad(f"{how} on two axes", count_up([3, 2]), None, [1, 1, 2, 0], how)
    pad(f"{how} on the last axis", count_up([2, 3]), [-1], [2, 1], how)
pad("REPLICATE further than the extent", count_up([2]), None, [3, 4], "REPLICATE")
pad("SYMMETRIC by the whole extent", count_up([3]), None, [3, 3], "SYMMETRIC")

# ---- Access by index -----------------------------------------------------------------------------

numbers = Numbers(
    "layout.nonzero",
    "the indices of items that are not zero, a column each, in row-major order.")


def nonzero(title, x):
    found = [index for index, value in x.items() if value]
    y = Tensor("int", [x.rank, len(found)], [index[a] for a in range(x.rank) for index in found])
    numbers.case(title, "y = layout.nonzero(x);", {"x": x}, {"y": y})


nonzero("a matrix", real([2, 3], 0, 1.5, 0, -2, 0, 0.25))
nonzero("a vector of integers", integer([5], 0, 3, 0, 0, -1))
nonzero("truth values", boolean([2, 2, 2], 1, 0, 0, 1, 0, 0, 1, 1))
nonzero("none", integer([2, 2], 0, 0, 0, 0))
nonzero("all", real([2, 2], 1, 2, 3, 4))

numbers = Numbers("layout.gather", "slices along an axis, by index.")


def gather(title, x, index, axis):
    front = normal(axis, x.rank)
    shape = [*x.shape[:front], *index.shape, *x.shape[front + 1:]]

    def item(i):
        chosen = index[i[front:front + index.rank]]
        return x[(*i[:front], chosen, *i[front + index.rank:])]

    numbers.case(title, f"y = layout.gather{{axis={axis}}}(x, i);", {"x": x, "i": index},
                 {"y": build(x.dtype, shape, item)})


gather("rows", count_up([4, 2]), integer([3], 2, 0, 2), 0)
gather("columns", count_up([2, 4]), integer([2], 3, 1), 1)
gather("from the end", count_up([2, 2, 3]), integer([2], 2, 0), -1)
gather("a matrix of indices", count_up([3, 2]), integer([2, 2], 0, 2, 1, 1), 0)
gather("a single index", count_up([2, 3]), integer([], 1), 1)
gather("none", count_up([2, 3]), integer([0]), 0)
gather("truth values", boolean([3], 1, 0, 1), integer([4], 2, 1, 0, 1), 0)
numbers.fails("past the end", "y = layout.gather{axis=0}(x, i);",
              {"x": count_up([2]), "i": integer([1], 2)}, "outside of its extent",
              {"y": "real[1]"})

numbers = Numbers(
    "layout.gather_nd",
    "items or slices, by index tuples along the last axis of the indices.")


def gather_nd(title, x, index, batch=0):
    depth = index.shape[-1]
    outer = index.shape[:-1]
    shape = [*outer, *x.shape[batch + depth:]]

    def item(i):
        place = tuple(index[(*i[:len(outer)], k)] for k in range(depth))
        return x[(*i[:batch], *place, *i[len(outer):])]

    numbers.case(title, f"y = layout.gather_nd{attributes(batch_dims=batch or None)}(x, i);",
                 {"x": x, "i": index}, {"y": build(x.dtype, shape, item)})


gather_nd("items", count_up([2, 3]), integer([3, 2], 0, 0, 1, 2, 0, 1))
gather_nd("rows", count_up([3, 2]), integer([2, 1], 2, 0))
gather_nd("one item", count_up([2, 3]), integer([2], 1, 1))
gather_nd("a matrix of tuples", count_up([2, 2, 2]), integer([2, 1, 2], 1, 0, 0, 1))
gather_nd("within each batch item", count_up([2, 3]), integer([2, 2, 1], 2, 0, 1, 1), 1)
gather_nd("slices within each batch item", count_up([2, 2, 2]), integer([2, 1], 1, 0), 1)

numbers = Numbers("layout.scatter", "items overwritten along an axis; the last writer wins.")


def scatter(title, x, index, updates, axis):
    front = normal(axis, x.rank)
    result = dict(x.items())
    for at, chosen in index.items():
        result[replaced(at, [front], [chosen])] = updates[at]
    numbers.case(title, f"y = layout.scatter{{axis={axis}}}(x, i, u);",
                 {"x": x, "i": index, "u": updates},
                 {"y": build(x.dtype, x.shape, lambda i: result[i])})


scatter("a vector", count_up([5]), integer([2], 3, 0), real([2], -1, -2), 0)
scatter("along the first axis", count_up([3, 2]), integer([2, 2], 0, 2, 2, 1),
        count_up([2, 2], 100), 0)
scatter("along the last axis", count_up([2, 3]), integer([2, 1], 2, 0), count_up([2, 1], 100), -1)
scatter("the last of several", count_up([3]), integer([3], 1, 1, 1), real([3], 7, 8, 9), 0)
scatter("integers", count_up([3], dtype="int"), integer([1], 1), integer([1], 50), 0)
scatter("nothing", count_up([2]), integer([0]), real([0]), 0)

numbers = Numbers("layout.scatter_nd", "items or slices overwritten by index tuples.")


def scatter_nd(title, x, index, updates, batch=0):
    depth = index.shape[-1]
    outer = index.shape[:-1]
    result = dict(x.items())
    for i in indices(updates.shape):
        place = tuple(index[(*i[:len(outer)], k)] for k in range(depth))
        result[(*i[:batch], *place, *i[len(outer):])] = updates[i]
    numbers.case(title, f"y = layout.scatter_nd{attributes(batch_dims=batch or None)}(x, i, u);",
                 {"x": x, "i": index, "u": updates},
                 {"y": build(x.dtype, x.shape, lambda i: result[i])})


scatter_nd("items", count_up([2, 3]), integer([2, 2], 0, 1, 1, 2), real([2], -1, -2))
scatter_nd("rows", count_up([3, 2]), integer([2, 1], 2, 0), count_up([2, 2], 100))
scatter_nd("the last of several", count_up([3]), integer([2, 1], 1, 1), real([2], 7, 8))
scatter_nd("within each batch item", count_up([2, 3]), integer([2, 1, 1], 2, 0),
           real([2, 1], -1, -2), 1)
