#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts the cases of tests/stdlib/*/*.numbers to NNEF 1.0, runs what was written, and compares the numbers.

Prints for each operator how many cases agree and why others are refused (docs/nnef1-writing.md). Fails when a
converted model is refused or computes something else."""
import argparse
import ast
import collections
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent / "stdlib"
MODULES = r"\b(layout|math|nn|linalg|image|quant|algo|layer|misc|rand)\."
FORMATS = {"real": ("<f4", "f"), "int": ("<i8", "q"), "bool": ("|b1", "?")}


class Tensor:
    def __init__(self, line: str):
        found = re.match(r"\w+ (\S+): (\w+)\[([^\]]*)\] =\s*(.*)", line)
        if not found or found[2] not in FORMATS:
            raise ValueError(line)
        self.name, self.type = found[1], found[2]
        self.shape = [int(extent) for extent in found[3].split(",") if extent.strip()]
        self.values = [self.number(word) for word in found[4].split()]

    def number(self, word: str) -> float | int | bool:
        return word == "true" if self.type == "bool" else int(word) if self.type == "int" else float(word)

    def declaration(self) -> str:
        return f"{self.name}: {self.type}[{', '.join(map(str, self.shape))}];"

    def write(self, path: pathlib.Path) -> None:
        descr, letter = FORMATS[self.type]
        head = str({"descr": descr, "fortran_order": False, "shape": tuple(self.shape)})
        head += " " * (-(len(head) + 11) % 64) + "\n"
        data = b"".join(struct.pack("<" + letter, value) for value in self.values)
        path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)

    def agrees(self, path: pathlib.Path, relative: float, absolute: float) -> bool:
        data = path.read_bytes()
        end = 10 + int.from_bytes(data[8:10], "little")
        head = ast.literal_eval(data[10:end].decode())
        letters = {descr: letter for descr, letter in FORMATS.values()}
        found = [item[0] for item in struct.iter_unpack("<" + letters[head["descr"]], data[end:])]
        if list(head["shape"]) != self.shape or len(found) != len(self.values):
            return False
        return all(a == b or (math.isnan(a) and math.isnan(b)) or
                   (math.isfinite(b) and abs(a - b) <= absolute + relative * abs(b))
                   for a, b in zip(found, self.values, strict=True))


class Case:
    def __init__(self, name: str):
        self.name, self.compose, self.usable = name, [], True
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.tolerance = (1e-4, 1e-5)

    def add(self, line: str) -> None:
        """Cases with variables, several steps or symbolic extents are left out."""
        word, _, rest = line.partition(" ")
        try:
            if word == "compose":
                self.compose.append(rest)
            elif word == "input":
                self.inputs.append(Tensor(line))
            elif word == "output":
                self.outputs.append(Tensor(line))
            elif word == "tolerance":
                self.tolerance = tuple(map(float, rest.split()[:2]))
            else:
                self.usable = False
        except ValueError:
            self.usable = False

    def module(self) -> str:
        text = "\n        ".join(self.compose)
        imports = "".join(f"import {name};\n" for name in sorted(set(re.findall(MODULES, text))))
        inputs = " ".join(t.declaration() for t in self.inputs) or "unused: real[1];"
        outputs = " ".join(t.declaration() for t in self.outputs)
        return (f"{imports}graph G {{\n    @input {{ {inputs} }}\n    @output {{ {outputs} }}\n"
                f"    @compose {{\n        {text}\n    }}\n}}\n")

    def run(self, lemma: str, work: pathlib.Path) -> tuple[str, str]:
        """`same`, `refused` or `wrong`, and why."""
        model = work / "main.sknd"
        model.write_text(self.module())
        wrote = subprocess.run([lemma, "convert", "--brief", "--force", model, work / "nnef", "--to=nnef1"],
                               capture_output=True, text=True, check=False)
        if wrote.returncode != 0:
            return "refused", re.sub(r"^\S+ error: ", "", wrote.stderr.strip().split("\n")[0])
        words = [] if self.inputs else ["--random-inputs"]
        for tensor in self.inputs:
            tensor.write(work / f"{tensor.name}.npy")
            words += ["-i", f"{tensor.name}={work / tensor.name}.npy"]
        ran = subprocess.run([lemma, "run", "--brief", work / "nnef", "-o", work / "out", *words],
                             capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            return "wrong", ran.stderr.strip()
        for tensor in self.outputs:
            if not tensor.agrees(work / "out" / f"{tensor.name}.npy", *self.tolerance):
                return "wrong", f"`{tensor.name}` of the case `{self.name}`"
        return "same", ""


def read_cases(path: pathlib.Path) -> list[Case]:
    lines: list[str] = []
    for line in path.read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line[0].isspace():
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    cases: list[Case] = []
    for line in lines:
        if line.startswith("case "):
            cases.append(Case(line[5:]))
        else:
            cases[-1].add(line)
    return [case for case in cases if case.usable and case.outputs]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lemma", required=True, help="the program")
    parser.add_argument("--only", default="", help="operators whose names have this in them")
    args = parser.parse_args()
    wrong = 0
    for path in sorted(ROOT.glob("*/*.numbers")):
        operator = f"{path.parent.name}.{path.stem}"
        if args.only not in operator:
            continue
        counts: collections.Counter[str] = collections.Counter()
        reasons: collections.Counter[str] = collections.Counter()
        for case in read_cases(path):
            with tempfile.TemporaryDirectory() as work:
                answer, reason = case.run(args.lemma, pathlib.Path(work))
            counts[answer] += 1
            if reason:
                reasons[f"{answer}: {reason}"] += 1
        wrong += counts["wrong"]
        print(operator, ", ".join(f"{count} {answer}" for answer, count in sorted(counts.items())))
        for reason, count in reasons.items():
            print(f"    {count} {reason}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
