"""layout: making tensors, and other views of the same data."""

import math

from cases import Numbers, attributes
from tensor import Tensor, boolean, count_up, integer, real, scalar

numbers = Numbers("layout.constant", "the values in row-major order.")
numbers.case("reals", "y = layout.constant{shape=[2, 3], value=[1.0, 2.5, -3.0, 4.0, 0.0, 6.0]}();",
             {}, {"y": real([2, 3], 1, 2.5, -3, 4, 0, 6)})
numbers.case("truth values",
             "y = layout.constant{shape=[2, 2], value=[true, false, false, true]}();", {},
             {"y": boolean([2, 2], 1, 0, 0, 1)})
numbers.case("the same everywhere", "y = layout.constant{shape=[2, 1, 2], value=7}();", {},
             {"y": integer([2, 1, 2], 7, 7, 7, 7)})
numbers.case("a scalar", "y = layout.constant{shape=[], value=[-4]}();", {},
             {"y": integer([], -4)})
numbers.case("three axes",
             "y = layout.constant{shape=[2, 2, 2], value=[1, 2, 3, 4, 5, 6, 7, 8]}();", {},
             {"y": count_up([2, 2, 2], dtype="int")})
numbers.case("strings", "y = layout.constant{shape=[2], value=['up', 'down']}();", {},
             {"y": Tensor("str", [2], ["up", "down"])})

numbers = Numbers("layout.tensor", "the values in row-major order, of rank 0 by default.")
numbers.case("a scalar", "y = layout.tensor{value=[2.5]}();", {}, {"y": scalar(2.5)})
numbers.case("a matrix", "y = layout.tensor{shape=[2, 3], value=[1, 2, 3, 4, 5, 6]}();", {},
             {"y": count_up([2, 3], dtype="int")})
numbers.case("the same everywhere", "y = layout.tensor{shape=[3], value=true}();", {},
             {"y": boolean([3], 1, 1, 1)})

numbers = Numbers("layout.uniform", "one value everywhere.")
numbers.case("a matrix", "y = layout.uniform{shape=[2, 3]}(v);", {"v": scalar(1.5)},
             {"y": real([2, 3], *[1.5] * 6)})
numbers.case("an integer", "y = layout.uniform{shape=[3]}(v);", {"v": integer([], -2)},
             {"y": integer([3], -2, -2, -2)})
numbers.case("a scalar", "y = layout.uniform{shape=[]}(v);", {"v": boolean([], True)},
             {"y": boolean([], True)})
numbers.case("nothing at all", "y = layout.uniform{shape=[2, 0]}(v);", {"v": scalar(1)},
             {"y": real([2, 0])})

numbers = Numbers("layout.range", "first, first + stride, ... before last.")
for title, first, last, stride in [("up", 2, 7, None), ("down", 9, 0, -2), ("uneven", 1, 8, 3),
                                   ("nothing", 3, 3, None), ("below zero", -2, 2, 1),
                                   ("reals", 0.0, 1.0, 0.25), ("uneven reals", -1.0, 1.25, 0.5),
                                   ("reals down", 1.0, -1.0, -0.75)]:
    step = stride or 1
    values = []
    while (first + len(values) * step < last) if step > 0 else (first + len(values) * step > last):
        values.append(first + len(values) * step)
    y = Tensor("real" if isinstance(first, float) else "int", [len(values)], values)
    call = attributes(first=first, last=last, stride=stride)
    numbers.case(title, f"y = layout.range{call}();", {}, {"y": y})

numbers = Numbers("layout.shape", "the extents.")
numbers.case("three axes", "y = layout.shape(x);", {"x": count_up([2, 1, 3])},
             {"y": integer([3], 2, 1, 3)})
numbers.case("none", "y = layout.shape(x);", {"x": scalar(5)}, {"y": integer([0])})
numbers.case("an empty axis", "y = layout.shape(x);", {"x": boolean([0, 2])},
             {"y": integer([2], 0, 2)})
numbers.case("extents that the run tells", "y = layout.shape(x);", {"x": count_up([3, 2])},
             {"y": integer([2], 3, 2)}, declare={"x": "real[n|8,2]"})

numbers = Numbers("layout.cast", "towards zero to int; 0 and 1 for false and true; true unless 0.")
for title, target, x, y in [
        ("real to int", "int", real([6], -2.75, -0.5, 0, 0.75, 1.5, 100),
         integer([6], -2, 0, 0, 0, 1, 100)),
        ("real to bool", "bool", real([4], -0.5, 0, 0.25, 3), boolean([4], 1, 0, 1, 1)),
        ("real to real", "real", real([2], 0.5, -3), real([2], 0.5, -3)),
        ("int to real", "real", integer([2, 2], -3, 0, 1, 7), real([2, 2], -3, 0, 1, 7)),
        ("int to bool", "bool", integer([3], -3, 0, 1), boolean([3], 1, 0, 1)),
        ("bool to int", "int", boolean([2], 0, 1), integer([2], 0, 1)),
        ("bool to real", "real", boolean([], 1), scalar(1))]:
    numbers.case(title, f"y = layout.cast<{target}>(x);", {"x": x}, {"y": y})

# ---- Views: the values stay in row-major order ---------------------------------------------------


def view(numbers, title, x, result, declare=None, **given):
    numbers.case(title, f"y = {numbers.operator}{attributes(**given)}(x);", {"x": x},
                 {"y": x.with_shape(result)}, declare=declare)


X = count_up([2, 3, 4])
numbers = Numbers("layout.reshape", "other extents for `rank` axes from `axis` on; -1 is the rest.")
view(numbers, "all axes", X, [6, 4], shape=[6, 4])
view(numbers, "the rest", X, [3, 2, 4], shape=[3, -1, 4])
view(numbers, "to a vector", X, [24], shape=[-1])
view(numbers, "some axes", X, [2, 2, 6], axis=1, rank=2, shape=[2, 6])
view(numbers, "an axis from the end", X, [2, 3, 2, 2], axis=-1, shape=[2, 2])
view(numbers, "one axis in the middle", X, [2, 3, 1, 4], axis=1, rank=1, shape=[3, 1])
view(numbers, "to a scalar", integer([1, 1], 7), [], shape=[])
view(numbers, "nothing at all", real([0, 3]), [3, 0, 2], shape=[3, 0, 2])
view(numbers, "integers", count_up([4], dtype="int"), [2, 2], shape=[2, 2])
view(numbers, "an extent that the run tells", count_up([2, 3]), [6], declare={"x": "real[n|4,3]"},
     shape=[-1])

numbers = Numbers("layout.flatten", "one axis for `rank` axes from `axis` on.")
view(numbers, "all axes", X, [24])
view(numbers, "from the second", X, [2, 12], axis=1)
view(numbers, "the first two", X, [6, 4], rank=2)
view(numbers, "from the end", X, [2, 12], axis=-2)
view(numbers, "just one", X, [2, 3, 4], axis=1, rank=1)
view(numbers, "no axis", X, [2, 1, 3, 4], axis=1, rank=0)
view(numbers, "truth values", boolean([2, 2], 1, 0, 0, 1), [4])

numbers = Numbers("layout.unflatten", "several axes for one.")
view(numbers, "the last", count_up([2, 6]), [2, 3, 2], axis=1, shape=[3, 2])
view(numbers, "from the end", count_up([6, 2]), [2, 1, 3, 2], axis=-2, shape=[2, 1, 3])
view(numbers, "just one", count_up([3, 2]), [3, 2], axis=0, shape=[3])
view(numbers, "nothing at all", real([0]), [2, 0], axis=0, shape=[2, 0])

numbers = Numbers("layout.squeeze", "without some axes of extent 1.")
view(numbers, "one axis", count_up([2, 1, 3]), [2, 3], axes=[1])
view(numbers, "two axes, one from the end", count_up([1, 3, 1]), [3], axes=[-1, 0])
view(numbers, "all axes", integer([1, 1], 5), [], axes=[0, 1])
view(numbers, "no axis", count_up([1, 2]), [1, 2], axes=[])

numbers = Numbers("layout.unsqueeze", "with axes of extent 1, which stand at `axes` of the result.")
view(numbers, "before and after", count_up([2, 3]), [1, 2, 3, 1], axes=[0, 3])
view(numbers, "from the end", count_up([2, 3]), [2, 1, 3], axes=[-2])
view(numbers, "side by side, in any order", count_up([2, 3]), [2, 1, 1, 3], axes=[2, 1])
view(numbers, "a scalar", scalar(5), [1, 1], axes=[0, 1])

# ---- Reordering ----------------------------------------------------------------------------------


def reorder(numbers, title, x, order, **given):
    numbers.case(title, f"y = layout.transpose{attributes(**given)}(x);", {"x": x},
                 {"y": x.transposed(order)})


numbers = Numbers(
    "layout.transpose",
    "axis `axis + j` of the result is axis perm[j] of x; in reverse by default.")
reorder(numbers, "a matrix", count_up([2, 3]), [1, 0])
reorder(numbers, "all reversed", X, [2, 1, 0])
reorder(numbers, "turned", X, [1, 2, 0], perm=[1, 2, 0])
reorder(numbers, "turned back", X, [2, 0, 1], perm=[2, 0, 1])
reorder(numbers, "counted from the end", X, [0, 2, 1], perm=[0, -1, -2])
reorder(numbers, "the last two", X, [0, 2, 1], axis=1, perm=[2, 1])
reorder(numbers, "the last two, reversed", X, [0, 2, 1], axis=-2)
reorder(numbers, "two long rows", count_up([2, 19]), [1, 0])
reorder(numbers, "four long rows, twice", count_up([2, 4, 17]), [0, 2, 1], perm=[0, 2, 1])
reorder(numbers, "eight long rows", count_up([8, 18]), [1, 0])
reorder(numbers, "integers, nothing moves", count_up([2, 2], dtype="int"), [0, 1], perm=[0, 1])


def spread(items):
    return [part for item in items for part in item]


def space_to_batch(x, block):
    """Spec 4.1.5: reshape, transpose, flatten."""
    b, c, *s = x.shape
    d = len(s)
    x = x.with_shape([b, c] + spread((k, e // k) for k, e in zip(block, s)))
    x = x.transposed([*range(2, 2 * d + 2, 2), 0, 1, *range(3, 2 * d + 2, 2)])
    return x.with_shape([math.prod(block) * b, c] + [e // k for k, e in zip(block, s)])


def batch_to_space(x, block):
    b, c, *s = x.shape
    d, blocks = len(s), math.prod(block)
    x = x.with_shape([*block, b // blocks, c, *s])
    x = x.transposed([d, d + 1] + spread((i, i + d + 2) for i in range(d)))
    return x.with_shape([b // blocks, c] + [k * e for k, e in zip(block, s)])


for name, about, function, shapes in [
        ("space_to_batch", "each spatial axis cut into parts, which go to the batch axis.",
         space_to_batch, [([1, 1, 4, 4], [2, 2]), ([2, 1, 4, 3], [2, 3]), ([2, 2, 6], [3]),
                          ([1, 2, 2, 3], [1, 1])]),
        ("batch_to_space", "parts of each spatial axis taken from the batch axis.",
         batch_to_space, [([4, 1, 2, 2], [2, 2]), ([12, 1, 2, 1], [2, 3]), ([6, 2, 2], [3]),
                          ([1, 2, 2, 3], [1, 1])])]:
    numbers = Numbers(f"layout.{name}", about)
    for shape, block in shapes:
        x = count_up(shape)
        numbers.case(f"blocks of {' by '.join(map(str, block))}",
                     f"y = layout.{name}{{block_size={block}}}(x);", {"x": x},
                     {"y": function(x, block)})


def space_to_depth(x, block, blocks_first, data_format):
    """Channels-first data: b, c, (s, k)...: the k move beside the c."""
    if data_format == "NXC":
        x = x.transposed([0, x.rank - 1, *range(1, x.rank - 1)])
    b, c, *s = x.shape
    d = len(s)
    x = x.with_shape([b, c] + spread((e // k, k) for k, e in zip(block, s)))
    inner, outer = [*range(3, 2 * d + 2, 2)], [*range(2, 2 * d + 2, 2)]
    x = x.transposed([0, *inner, 1, *outer] if blocks_first else [0, 1, *inner, *outer])
    x = x.with_shape([b, c * math.prod(block)] + [e // k for k, e in zip(block, s)])
    return x.transposed([0, *range(2, d + 2), 1]) if data_format == "NXC" else x


def depth_to_space(x, block, blocks_first, data_format):
    if data_format == "NXC":
        x = x.transposed([0, x.rank - 1, *range(1, x.rank - 1)])
    b, depth, *s = x.shape
    d, c = len(s), depth // math.prod(block)
    x = x.with_shape([b, *block, c, *s] if blocks_first else [b, c, *block, *s])
    blocks_at, channel = (1, d + 1) if blocks_first else (2, 1)
    x = x.transposed([0, channel] + spread((d + 2 + i, blocks_at + i) for i in range(d)))
    x = x.with_shape([b, c] + [k * e for k, e in zip(block, s)])
    return x.transposed([0, *range(2, d + 2), 1]) if data_format == "NXC" else x


for name, about, function, shapes in [
        ("space_to_depth", "each block of neighbours goes to the channels.", space_to_depth,
         {"NCX": ([1, 2, 2, 4], [1, 2, 6]), "NXC": ([1, 2, 4, 2], [1, 6, 2])}),
        ("depth_to_space", "blocks of neighbours taken from the channels.", depth_to_space,
         {"NCX": ([1, 8, 1, 2], [1, 6, 2]), "NXC": ([1, 1, 2, 8], [1, 2, 6])})]:
    numbers = Numbers(f"layout.{name}", about)
    for data_format in ("NCX", "NXC"):
        for blocks_first in (True, False):
            for shape, block in zip(shapes[data_format], ([2, 2], [3])):
                x = count_up(shape)
                call = attributes(block_size=block, blocks_first=None if blocks_first else False,
                                  data_format=None if data_format == "NCX" else data_format)
                title = f"{data_format}, {'blocks' if blocks_first else 'channels'} first, "
                numbers.case(title + f"{len(block)} spatial", f"y = layout.{name}{call}(x);",
                             {"x": x}, {"y": function(x, block, blocks_first, data_format)})

numbers = Numbers(
    "layout.shuffle",
    "channels of the groups in turn: [groups, c / groups] transposed.")
for title, shape, axis, count in [("two groups", [1, 6, 2], 1, 2), ("three groups", [6], 0, 3),
                                  ("from the end", [2, 4], -1, 2), ("one group", [4], 0, 1),
                                  ("as many as channels", [4, 1], 0, 4)]:
    x = count_up(shape)
    front = axis % len(shape)
    split = [*shape[:front], count, shape[front] // count, *shape[front + 1:]]
    order = [*range(len(split))]
    order[front], order[front + 1] = front + 1, front
    numbers.case(title, f"y = layout.shuffle{attributes(axis=axis, groups=count)}(x);", {"x": x},
                 {"y": x.with_shape(split).transposed(order).with_shape(shape)})
