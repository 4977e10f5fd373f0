# SPDX-License-Identifier: Apache-2.0
"""The seven networks of examples/certified, random inputs for them, and the comparison of bits."""
import math
import pathlib
import random
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples" / "certified"))
import make_models  # noqa: E402
import tensors  # noqa: E402

NAMES = [make.__name__ for make in make_models.NETWORKS]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 1e-38, 3e38, -3e38, float("inf"), float("-inf"),
           float("nan")]


def write_models(folder: pathlib.Path, names: list[str]) -> None:
    make_models.main([str(folder), *names])


def random_reals(source: random.Random, count: int, index: int) -> list[float]:
    """Most inputs have values from -1 to 1, every 50th has another scale, and every 50th has zeros,
    subnormal numbers, large numbers, infinities and NaN in it."""
    values = [2 * source.random() - 1 for _ in range(count)]
    if index % 50 == 24:
        scale = 2.0 ** source.randint(-30, 30)
        return [v * scale for v in values]
    if index % 50 == 49:
        share = source.choice([0.01, 0.1, 1.0])
        kinds = SPECIAL[:source.randint(1, len(SPECIAL))]
        return [source.choice(kinds) if source.random() < share else v for v in values]
    return values


def random_inputs(port, records: int) -> list[bytes]:
    """The values of an input, run after run; its name is the seed."""
    source = random.Random(f"inputs/{port.name}")
    count = math.prod(port.shape)
    if port.dtype in ("f32", "f64"):
        return [tensors.packed(port.dtype, random_reals(source, count, i)) for i in range(records)]
    if port.dtype == "f16":  # all values but NaN, whose bits are free
        return [tensors.packed("f16", [source.uniform(-4, 4) for _ in range(count)])
                for _ in range(records)]
    if port.dtype == "bool":
        return [bytes(source.getrandbits(1) for _ in range(count)) for _ in range(records)]
    size = struct.calcsize(tensors.LETTERS[port.dtype])
    return [source.randbytes(size * count) for _ in range(records)]


# The unsigned type with the bits of a real, and the bits of infinity.
BITS = {"f16": ("H", 0x7C00), "bf16": ("H", 0x7F80), "f32": ("I", 0x7F800000),
        "f64": ("Q", 0x7FF0000000000000)}


def different(dtype: str, left: bytes, right: bytes) -> list[int]:
    """The elements whose bits differ. NaN is a class: its sign and payload are free."""
    if left == right:
        return []
    letter, infinity = BITS.get(dtype, (tensors.LETTERS.get(dtype), 0))
    size = struct.calcsize(letter)
    a = struct.unpack(f"<{len(left) // size}{letter}", left)
    b = struct.unpack(f"<{len(right) // size}{letter}", right)
    sign = 1 << 8 * size - 1

    def both_nan(x: int, y: int) -> bool:
        return dtype in BITS and x & ~sign > infinity and y & ~sign > infinity

    return [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y and not both_nan(x, y)]
