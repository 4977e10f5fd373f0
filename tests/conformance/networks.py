"""The seven networks of examples/certified, random inputs for them, and the comparison of bits."""
import pathlib
import random
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples" / "certified"))
import make_models  # noqa: E402

NAMES = [make.__name__ for make in make_models.NETWORKS]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 1e-38, 3e38, -3e38, float("inf"), float("-inf"),
           float("nan")]


def write_models(folder: pathlib.Path, names: list[str]) -> None:
    make_models.main([str(folder), *names])


def random_record(source: random.Random, count: int, index: int) -> bytes:
    """An input of floats: most have values from -1 to 1, every 50th has another scale, and every 50th
    has zeros, subnormal numbers, large numbers, infinities and NaN in it."""
    values = [2 * source.random() - 1 for _ in range(count)]
    if index % 50 == 24:
        scale = 2.0 ** source.randint(-30, 30)
        values = [v * scale for v in values]
    elif index % 50 == 49:
        share = source.choice([0.01, 0.1, 1.0])
        kinds = SPECIAL[:source.randint(1, len(SPECIAL))]
        values = [source.choice(kinds) if source.random() < share else v for v in values]
    return struct.pack(f"<{count}f", *values)


def random_inputs(name: str, count: int, records: int) -> list[bytes]:
    """Inputs of `count` elements for the tensor of this name; the name is the seed."""
    source = random.Random(f"inputs/{name}")
    return [random_record(source, count, i) for i in range(records)]


def is_nan(bits: int) -> bool:
    return bits & 0x7FFFFFFF > 0x7F800000


def different_floats(left: bytes, right: bytes) -> list[int]:
    """The elements whose bits differ. NaN is a class: its sign and payload are free."""
    if left == right:
        return []
    a = struct.unpack(f"<{len(left) // 4}I", left)
    b = struct.unpack(f"<{len(right) // 4}I", right)
    return [i for i, (x, y) in enumerate(zip(a, b, strict=True))
            if x != y and not (is_nan(x) and is_nan(y))]
