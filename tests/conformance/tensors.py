# SPDX-License-Identifier: Apache-2.0
"""Tensors in the files of recorded cases: .npy, TensorProto (.pb) and raw little-endian bytes, without
any package. Values are compared as `lemma verify` compares them."""
import dataclasses
import math
import pathlib
import re
import struct

# By the names that `lemma show --json` prints: the letter of struct; bf16 has none.
LETTERS = {"f16": "e", "f32": "f", "f64": "d", "i8": "b", "i16": "h", "i32": "i", "i64": "q",
           "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "bool": "B"}
REALS = ("f16", "bf16", "f32", "f64")
NPY = {"f2": "f16", "f4": "f32", "f8": "f64", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64",
       "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "b1": "bool"}
ONNX = {1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 9: "bool", 10: "f16",
        11: "f64", 12: "u32", 13: "u64", 16: "bf16"}


def unpacked(dtype: str, data: bytes) -> list:
    if dtype == "bf16":
        halves = struct.unpack(f"<{len(data) // 2}H", data)
        return list(struct.unpack(f"<{len(halves)}f", b"".join(struct.pack("<I", h << 16) for h in halves)))
    letter = LETTERS[dtype]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data))


def byte_count(dtype: str, shape: list[int]) -> int:
    return (2 if dtype == "bf16" else struct.calcsize(LETTERS[dtype])) * math.prod(shape)


def packed(dtype: str, values: list) -> bytes:
    if dtype in REALS and dtype != "bf16":
        return struct.pack(f"<{len(values)}{LETTERS[dtype]}", *values)
    if dtype == "bf16":
        raise ValueError("a recorded value cannot become bf16")
    return struct.pack(f"<{len(values)}{LETTERS[dtype]}", *map(int, values))


@dataclasses.dataclass
class Tensor:
    name: str
    dtype: str
    shape: list[int]
    data: bytes

    def values(self) -> list:
        return unpacked(self.dtype, self.data)

    def as_type(self, dtype: str) -> bytes:
        """The elements as another type has them."""
        return self.data if dtype == self.dtype else packed(dtype, self.values())


def file_name(tensor: str) -> str:
    """The name of the file that `lemma run` reads or writes for a tensor."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" * len(c.encode())
                   for c in tensor) + ".npy"


def read_npy(path: pathlib.Path) -> Tensor:
    data = path.read_bytes()
    size, = struct.unpack("<H", data[8:10])
    header = data[10:10 + size].decode("latin1")
    kind = re.search(r"'descr': '[<|=]?(\w+)'", header).group(1)
    shape = re.search(r"'shape': \(([^)]*)\)", header).group(1)
    return Tensor("", NPY[kind], [int(e) for e in shape.split(",") if e.strip()], data[10 + size:])


def write_npy(path: pathlib.Path, tensor: Tensor) -> None:
    kind = next(kind for kind, dtype in NPY.items() if dtype == tensor.dtype)
    shape = "(" + "".join(f"{extent}, " for extent in tensor.shape) + ")"
    head = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + tensor.data)


def fields(data: bytes):
    """The fields of a protobuf message: number and value, a whole number or bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(key & 7)
        size = varint() if size is None else size
        yield key >> 3, data[at:at + size]
        at += size


def varints(value) -> list[int]:
    """A repeated field of whole numbers, packed or not."""
    if isinstance(value, int):
        return [value]
    found, item, shift = [], 0, 0
    for byte in value:
        item |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(item)
            item = shift = 0
    return found


def read_pb(path: pathlib.Path) -> Tensor:
    name, code, shape, raw, numbers = "", 0, [], None, []
    floats = b""
    for number, value in fields(path.read_bytes()):
        if number == 1:
            shape += varints(value)
        elif number == 2:
            code = value
        elif number in (4, 10):  # float_data, double_data
            floats += value
        elif number in (5, 7, 11):  # int32_data, int64_data, uint64_data
            numbers += varints(value)
        elif number == 8:
            name = value.decode()
        elif number == 9:
            raw = value
    if code not in ONNX:
        raise ValueError(f"`{path.name}` has elements of type {code}")
    dtype = ONNX[code]
    if raw is None:
        raw = floats
        if numbers:  # halves and small integers lie in int32_data, bit by bit
            size = 2 if dtype == "bf16" else struct.calcsize(LETTERS[dtype])
            raw = b"".join((n & (1 << 8 * size) - 1).to_bytes(size, "little") for n in numbers)
    return Tensor(name, dtype, shape, raw)


def read(path: pathlib.Path) -> Tensor:
    return read_pb(path) if path.suffix == ".pb" else read_npy(path)


def agrees(got: float, want: float, rtol: float, atol: float) -> bool:
    if got == want or (math.isnan(got) and math.isnan(want)):
        return True
    return not math.isinf(want) and abs(got - want) <= atol + rtol * abs(want)


def difference(got: Tensor, want: Tensor, rtol: float, atol: float) -> str:
    """What is different, or nothing. Reals agree within the tolerance, other values must be equal."""
    if (got.dtype in REALS) != (want.dtype in REALS) or (got.dtype == "bool") != (want.dtype == "bool"):
        return f"{got.name} has the type {got.dtype}, expected {want.dtype}"
    if got.shape != want.shape:
        return f"{got.name} has the shape {got.shape}, expected {want.shape}"
    if got.dtype == want.dtype and got.data == want.data:
        return ""
    left, right = got.values(), want.values()
    if len(left) != len(right):
        return f"{got.name} has {len(left)} elements, expected {len(right)}"
    real = want.dtype in REALS
    wrong = [i for i, (g, w) in enumerate(zip(left, right))
             if not (agrees(g, w, rtol, atol) if real else g == w)]
    if not wrong:
        return ""
    worst = max(wrong, key=lambda i: abs(left[i] - right[i]) if math.isfinite(left[i] - right[i]) else math.inf)
    return (f"element {worst} of {got.name} is {left[worst]}, expected {right[worst]}; "
            f"{len(wrong)} of {len(right)} elements differ")
