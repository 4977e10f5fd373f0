#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs quantised ONNX models on recorded inputs, and counts the steps between each element and the recorded one.

A step is the scale of the quantised tensor that is nearest before an output; for an output of integers it is 1. Without
such a tensor, as behind dynamic quantisation, it is the range of the recorded output by 255. An element counts as right
within `--steps`: ties in rounding and the order of sums may move a value by one, and what depends on it by more.
Fails when an element of a model is wrong that the list of known failures does not name, and when all of one that it names
are right. The reasons stand in docs/onnx-coverage.md."""
import argparse
import array
import collections
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from onnx import unpack

# By ONNX's code: the letters of struct and of numpy.
TYPES = {1: ("f", "<f4"), 2: ("B", "|u1"), 3: ("b", "|i1"), 6: ("i", "<i4"), 7: ("q", "<i8"), 11: ("d", "<f8")}
# Which input is the scale of the result.
SCALE_OF = {"QuantizeLinear": 1, "DequantizeLinear": 1, "QLinearConv": 6, "QLinearMatMul": 6, "QLinearAdd": 6,
            "QLinearMul": 6, "QLinearConcat": 0, "QGemm": 7, "QLinearSigmoid": 3, "QLinearLeakyRelu": 3,
            "QLinearSoftmax": 3, "QLinearAveragePool": 3, "QLinearGlobalAveragePool": 3}


def fields(data: bytes):
    """The fields of a protobuf message: numbers and values."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(key & 7) or varint()
        yield key >> 3, data[at:at + size]
        at += size


def tensor(data: bytes) -> tuple[str, list]:
    """The name and the elements of a TensorProto."""
    name, code, raw, loose = "", 0, b"", []
    for number, value in fields(data):
        if number == 2:
            code = value
        elif number == 8:
            name = value.decode()
        elif number == 9:
            raw = value
        elif number == 4:
            loose += struct.unpack(f"<{len(value) // 4}f", value)
        elif number in (5, 7):
            loose += [v for _, v in fields(b"".join(bytes([8, b]) for b in value))] if isinstance(value, bytes) else [value]
    letter = TYPES.get(code, ("B",))[0]
    return name, list(struct.unpack(f"<{len(raw) // struct.calcsize(letter)}{letter}", raw)) if raw else loose


class Graph:
    def __init__(self, model: bytes):
        self.tensors, self.makers, self.outputs = {}, {}, []
        graph = next(value for number, value in fields(model) if number == 7)
        for number, value in fields(graph):
            if number == 1:
                node = collections.defaultdict(list)
                for key, item in fields(value):
                    node[key].append(item)
                inputs = [name.decode() for name in node[1]]
                for output in node[2]:
                    self.makers[output.decode()] = (node[4][0].decode(), inputs)
            elif number == 5:
                name, items = tensor(value)
                self.tensors[name] = items
            elif number == 12:
                self.outputs.append(next(item for key, item in fields(value) if key == 1).decode())

    def scale(self, output: str) -> float | None:
        """Of the nearest quantised tensor before an output."""
        waiting, seen = collections.deque([output]), {output}
        while waiting:
            op, inputs = self.makers.get(waiting.popleft(), ("", []))
            place = SCALE_OF.get(op)
            if place is not None and place < len(inputs) and inputs[0] not in self.tensors:
                if self.tensors.get(inputs[place]):
                    return max(self.tensors[inputs[place]])
            for name in inputs:
                if name not in seen:
                    seen.add(name)
                    waiting.append(name)
        return None


def read_npy(path: pathlib.Path) -> tuple[bool, list]:
    """Whether the elements are reals, and they."""
    data = path.read_bytes()
    size, = struct.unpack("<H", data[8:10])
    kind = re.search(r"'descr': '([^']*)'", data[10:10 + size].decode()).group(1)
    letter = next(letter for letter, name in TYPES.values() if name == kind)
    items = array.array(letter)
    items.frombytes(data[10 + size:])
    return letter in "fd", list(items)


def wrong_elements(lemma: str, case: pathlib.Path, options: list, steps: float) -> list[str]:
    """What is wrong with a model, a line for each output."""
    data = case / "test_data_set_0"
    graph = Graph((case / "model.onnx").read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        command = [os.path.abspath(lemma), "run", *options, case / "model.onnx", "-o", folder]
        for i in range(len(list(data.glob("input_*.pb")))):
            command += ["-i", data / f"input_{i}.pb"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return [(done.stderr or done.stdout).strip()[:300]]
        told = []
        for i, output in enumerate(graph.outputs):
            _, want = tensor((data / f"output_{i}.pb").read_bytes())
            real, got = read_npy(pathlib.Path(folder) / f"{output}.npy")
            scale = graph.scale(output) or (max(want) - min(want)) / 255
            unit = scale if real else 1
            far = [abs(g - w) / unit for g, w in zip(got, want, strict=True)]
            wrong = sum(not distance <= steps * (1 + 1e-4) for distance in far)
            if wrong or any(math.isnan(distance) for distance in far):
                told.append(f"{wrong} of {len(far)} elements of {output} are off, by {max(far):.1f} steps at most")
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lemma", required=True, help="the program")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where to unpack")
    parser.add_argument("--known", type=pathlib.Path, required=True, help="names of known failures")
    parser.add_argument("--option", action="append", default=[], help="passed to lemma run")
    parser.add_argument("--steps", type=float, default=2, help="how far an element may be off")
    parser.add_argument("archives", nargs="+", type=pathlib.Path)
    args = parser.parse_args()

    known = {line for line in args.known.read_text().split("\n") if line and line[0] != "#"}
    passed = surprises = 0
    for archive in args.archives:
        folder = unpack(archive, args.work)
        models = sorted(folder.glob("*/model.onnx"))
        if not models:
            surprises += 1
            print(f"    {archive.name}: no model")
        for model in models:
            name = model.parent.name
            told = wrong_elements(args.lemma, model.parent, args.option, args.steps)
            passed += not told
            surprise = (not told) == (name in known)
            surprises += surprise
            print(f"  {name:<28} {'right' if not told else 'wrong'}{'' if surprise or not told else ', as is known'}")
            for line in told:
                print(f"      {line}")
    print(f"{passed} passed, {surprises} failed")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
