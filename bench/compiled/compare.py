#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares models that `lemma compile -o MODEL.so` made with the compiled engine, with one thread.
Both stay loaded and take turns, so that a machine that is slower for a while is slower for both.

    compare.py [--build build/release] [--compiler CC] [--rounds N] [--json FILE] MODEL...

With --compiler, the library is the C of `lemma compile --form=fast`, built by GCC or Clang with the
flags -O3 -march=native and those that the Makefile of the C has.

Printed are the best times, the median over the rounds of the ratio of neighbouring bursts (library /
engine: below 1 the library is faster), and the bytes of code, constants and memory. The results must
be equal bit for bit."""
import argparse
import json
import math
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from worker import Worker  # bench/worker.py

BURST_SECONDS = 0.2
TYPES = {"f16": (1, 2), "bf16": (2, 2), "f32": (3, 4), "f64": (4, 8), "i8": (5, 1), "i16": (6, 2), "i32": (7, 4),
         "i64": (8, 8), "u8": (9, 1), "u16": (10, 2), "u32": (11, 4), "u64": (12, 8), "bool": (13, 1)}
FORMATS = {"f32": "f", "f64": "d", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I",
           "u64": "Q", "bool": "B"}


def build_worker(build: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    program = folder / "worker"
    subprocess.run(["g++", "-O1", "-std=c++17", f"-I{root / 'include'}", pathlib.Path(__file__).parent / "worker.cpp",
                    "-o", program, f"-L{build}", "-llemma", f"-Wl,-rpath,{build}", "-ldl"], check=True)
    return program


def write_inputs(ports: list[dict], folder: pathlib.Path) -> pathlib.Path:
    """Random numbers from 0 to 1, and the integers 0 and 1."""
    generator = random.Random(1)
    lines = []
    for number, port in enumerate(ports):
        count = math.prod(port["shape"])
        real = port["dtype"] in ("f32", "f64")
        values = [generator.random() if real else generator.randrange(2) for _ in range(count)]
        file = folder / f"input{number}.bin"
        file.write_bytes(struct.pack(f"<{count}{FORMATS[port['dtype']]}", *values))
        code, size = TYPES[port["dtype"]]
        lines.append(" ".join(map(str, [port["name"], code, count * size, file, *port["shape"]])))
    listing = folder / "inputs.txt"
    listing.write_text("".join(line + "\n" for line in lines))
    return listing


def section_bytes(library: pathlib.Path) -> dict[str, int]:
    """Of `.text`, `.rodata` and `.bss`: from the section headers of the ELF file."""
    data = library.read_bytes()
    offset = struct.unpack_from("<Q", data, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, offset + i * size) for i in range(count)]
    text = headers[names][4]

    def name(at: int) -> str:
        return data[text + at:data.index(b"\0", text + at)].decode()
    return {name(header[0]): header[5] for header in headers}


def build_library(model: str, arguments, folder: pathlib.Path) -> pathlib.Path:
    lemma = arguments.build / "lemma"
    library = folder / "model.so"
    if not arguments.compiler:
        subprocess.run([lemma, "compile", model, "-o", library], check=True)
        return library
    code = folder / "c"
    subprocess.run([lemma, "compile", "--form=fast", model, "-o", code], check=True)
    for name in ("model", "weights"):
        subprocess.run(["make", "-s", "-C", code, f"CC={arguments.compiler}", "CFLAGS=-O3 -march=native -fPIC",
                        "-W", f"{name}.c", f"{name}.o"], check=True)
    subprocess.run([arguments.compiler, "-shared", "-o", library, code / "model.o", code / "weights.o", "-lm"],
                   check=True)
    return library


def measure(model: str, arguments, worker: pathlib.Path, folder: pathlib.Path) -> dict:
    lemma = arguments.build / "lemma"
    begin = time.monotonic()
    library = build_library(model, arguments, folder)
    compiled = time.monotonic() - begin
    shown = json.loads(subprocess.run([lemma, "show", "--json", model], check=True, capture_output=True).stdout)
    inputs = write_inputs(shown["inputs"], folder)
    outputs = [math.prod(port["shape"]) * TYPES[port["dtype"]][1] for port in shown["outputs"]]
    workers = [Worker([worker, "engine", model, inputs]), Worker([worker, "library", library, inputs, *outputs])]
    if workers[0].ready["digest"] != workers[1].ready["digest"]:
        sys.exit(f"{model}: the results differ")
    counts = [max(1, round(BURST_SECONDS * 1e3 / min(one.run(3)))) for one in workers]
    best = [math.inf, math.inf]
    ratios = []
    for turn in range(arguments.rounds):
        medians = [0.0, 0.0]
        for which in ((0, 1) if turn % 2 == 0 else (1, 0)):
            burst = workers[which].run(counts[which])
            best[which] = min(best[which], *burst)
            medians[which] = statistics.median(burst)
        ratios.append(medians[1] / medians[0])
    for one in workers:
        one.close()
    sections = section_bytes(library)
    return {"model": pathlib.Path(model).name.split(".")[0], "engine_ms": best[0], "library_ms": best[1],
            "ratio": statistics.median(ratios), "best_ratio": best[1] / best[0], "compile_s": compiled,
            "code": sections[".text"], "constants": sections[".rodata"], "memory": sections[".bss"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="build/release")
    parser.add_argument("--compiler", help="build the C of the fast form with it")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--json", help="a file for the numbers")
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    results = []
    print(f"{'model':20} {'engine':>10} {'library':>10}   ratio  of best   {'code':>8} {'constants':>10} {'memory':>9}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        worker = build_worker(arguments.build, folder)
        for model in arguments.models:
            r = measure(model, arguments, worker, folder)
            results.append(r)
            print(f"{r['model']:20} {r['engine_ms']:7.3f} ms {r['library_ms']:7.3f} ms  {r['ratio']:6.3f}  "
                  f"{r['best_ratio']:7.3f}   {r['code'] >> 10:4} KiB {r['constants'] >> 10:6} KiB "
                  f"{r['memory'] >> 10:5} KiB", flush=True)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
