"""Small tensors in plain Python: a dtype, a shape and a flat list of values in row-major order."""

import itertools
import math


class Tensor:
    def __init__(self, dtype, shape, values):
        self.dtype = dtype
        self.shape = tuple(shape)
        self.values = list(values)
        if len(self.values) != math.prod(self.shape):
            raise ValueError(f"{len(self.values)} values for shape {self.shape}")

    @property
    def rank(self):
        return len(self.shape)

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if len(index) != self.rank:
            raise IndexError(f"index {index} for shape {self.shape}")
        offset = 0
        for position, extent in zip(index, self.shape):
            if not 0 <= position < extent:
                raise IndexError(f"index {index} for shape {self.shape}")
            offset = offset * extent + position
        return self.values[offset]

    def get(self, index, otherwise):
        """The item at `index`, or something else where that lies outside."""
        inside = all(0 <= position < extent for position, extent in zip(index, self.shape))
        return self[index] if inside else otherwise

    def items(self):
        return zip(indices(self.shape), self.values)

    def map(self, function, dtype=None):
        return Tensor(dtype or self.dtype, self.shape, [function(value) for value in self.values])

    def with_shape(self, shape):
        return Tensor(self.dtype, shape, self.values)

    def transposed(self, order):
        """Axis j of the result is axis order[j] of this."""
        shape = [self.shape[axis] for axis in order]

        def item(index):
            return self[tuple(index[order.index(axis)] for axis in range(self.rank))]

        return build(self.dtype, shape, item)


def indices(shape):
    """All indices of a shape, in row-major order."""
    return itertools.product(*(range(extent) for extent in shape))


def build(dtype, shape, function):
    """The tensor whose item at an index is function(index)."""
    return Tensor(dtype, shape, [function(index) for index in indices(shape)])


def real(shape, *values):
    return Tensor("real", shape, [float(value) for value in values])


def integer(shape, *values):
    return Tensor("int", shape, values)


def boolean(shape, *values):
    return Tensor("bool", shape, [bool(value) for value in values])


def scalar(value):
    return real([], value)


# ---- Inputs --------------------------------------------------------------------------------------


def count_up(shape, first=1, step=1, dtype="real"):
    """first, first + step, ...: where an item came from can be seen from its value."""
    kind = float if dtype == "real" else int
    return Tensor(dtype, shape, [kind(first + step * i) for i in range(math.prod(shape))])


def _random(seed):
    state = seed * 2654435761 % 2**32
    while True:
        state = (state * 1664525 + 1013904223) % 2**32
        yield state >> 8


def mixed(shape, seed=1, low=-2.0, high=2.0, step=0.25):
    """Multiples of `step` between `low` and `high`, the same for the same seed."""
    source = _random(seed)
    count = round((high - low) / step) + 1
    return Tensor("real", shape, [low + step * (next(source) % count)
                                  for _ in range(math.prod(shape))])


def shuffled(shape, seed=1, step=0.5):
    """Items that all differ, in no order; multiples of `step` around zero."""
    volume = math.prod(shape)
    source = _random(seed)
    order = sorted(range(volume), key=lambda _: next(source))
    return Tensor("real", shape, [step * (position - volume // 2) for position in order])


def flags(shape, seed=1):
    source = _random(seed)
    return Tensor("bool", shape, [next(source) % 2 == 1 for _ in range(math.prod(shape))])


# ---- Axes ----------------------------------------------------------------------------------------


def normal(axis, rank):
    """An axis counted from the front."""
    return axis + rank if axis < 0 else axis


def replaced(items, axes, new):
    """The items as a tuple, with those at the axes replaced."""
    items = list(items)
    for axis, value in zip(axes, new):
        items[axis] = value
    return tuple(items)


def groups(tensor, axes):
    """The items that agree in all but the given axes: {other indices: [(index, value), ...]}."""
    axes = [normal(axis, tensor.rank) for axis in axes]
    found = {}
    kept = [axis for axis in range(tensor.rank) if axis not in axes]
    for index in indices([tensor.shape[axis] for axis in kept]):
        found[index] = []
    for index, value in tensor.items():
        found[tuple(index[axis] for axis in kept)].append((index, value))
    return found


def reduce(tensor, axes, function, squeeze=False, dtype=None):
    """function([values]) of each set of items along the axes."""
    axes = [normal(axis, tensor.rank) for axis in axes]
    results = [function([value for _, value in members])
               for members in groups(tensor, axes).values()]
    if squeeze:
        shape = [extent for axis, extent in enumerate(tensor.shape) if axis not in axes]
    else:
        shape = [1 if axis in axes else extent for axis, extent in enumerate(tensor.shape)]
    return Tensor(dtype or tensor.dtype, shape, results)


# ---- Broadcasting (spec 4.2.2) -------------------------------------------------------------------


def align(tensors, aligns):
    """The shapes after the alignment that the text of 4.2.2 describes."""
    padded = []
    for tensor, count in zip(tensors, aligns):
        ones = (1,) * abs(count or 0)
        shape = tensor.shape
        padded.append(shape + ones if count is not None and count < 0 else ones + shape)
    rank = max(len(shape) for shape in padded)
    shapes = []
    for shape, count in zip(padded, aligns):
        ones = (1,) * (rank - len(shape))
        shapes.append(shape + ones if count is not None and count >= 0 else ones + shape)
    return shapes


def stretched(shapes):
    """The shape that all of them are stretched to; they have the same rank."""
    result = []
    for extents in zip(*shapes):
        wide = {extent for extent in extents if extent != 1}
        if len(wide) > 1:
            raise ValueError(f"shapes {shapes} do not broadcast")
        result.append(wide.pop() if wide else 1)
    return result


def broadcast(function, tensors, dtype=None, aligns=None):
    """function(items...) with extents of 1 stretched."""
    shapes = align(tensors, aligns or [None] * len(tensors))
    views = [tensor.with_shape(shape) for tensor, shape in zip(tensors, shapes)]
    result = stretched(shapes)

    def item(index):
        return function(*(view[tuple(0 if extent == 1 else i
                                     for i, extent in zip(index, view.shape))]
                          for view in views))

    return build(dtype or tensors[0].dtype, result, item)
