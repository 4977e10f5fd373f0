#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs certified C on a Cortex-M4 that QEMU emulates, and compares every bit with the same C on this
machine.

The networks are those of examples/certified. They are built with newlib and semihosting, so that the
program reads and writes files of this machine. `--libm` compares the libraries alone: how many results
of each function differ between newlib and the C library of this machine, in double and rounded to
float."""
import argparse
import itertools
import os
import pathlib
import random
import re
import shutil
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))
import c_build  # noqa: E402
import networks  # noqa: E402

C99 = ["-std=c99", "-O1", "-ffp-contract=off"]
TARGET = ["-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"]
NEWLIB = ["--specs=rdimon.specs", "-T", HERE / "mps2_an386.ld", HERE / "startup.c"]
QEMU = ["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none"]
# Functions of libm: how many samples, and how large they may be.
SAMPLES, LIMIT = 100_000, 20.0


def build_for_target(sources: list, program: pathlib.Path) -> str:
    """Builds the program; its size in words."""
    done = c_build.run(["arm-none-eabi-gcc", *C99, *TARGET, *sources, *NEWLIB, "-lm", "-o", program],
                       "building for the target")
    if done.returncode != 0:
        raise c_build.Failed(f"does not build for the target: {done.stderr.strip()[-300:]}")
    size = c_build.run(["arm-none-eabi-size", program], "arm-none-eabi-size").stdout
    text, data, zero = re.search(r"^\s*(\d+)\s+(\d+)\s+(\d+)", size, re.MULTILINE).groups()
    return f"{int(text) + int(data):,} bytes of flash, {int(data) + int(zero):,} of RAM"


def emulate(program: pathlib.Path, inputs: pathlib.Path, outputs: pathlib.Path) -> None:
    outputs.mkdir(parents=True, exist_ok=True)
    words = ["model", "-i", inputs, "-o", outputs]
    config = "enable=on,target=native" + "".join(f",arg={word}" for word in words)
    done = c_build.run([*QEMU, "-semihosting-config", config, "-kernel", program], "QEMU")
    if done.returncode != 0:
        raise c_build.Failed(f"QEMU ended with {done.returncode}: {done.stderr.strip()[:300]}")


def check_network(lemma: str, work: pathlib.Path, name: str, accumulate: str, records: int) -> str:
    folder = work / name / accumulate
    shutil.rmtree(folder, ignore_errors=True)
    model = c_build.compile_model(lemma, work / "models" / f"{name}.onnx", folder / "c", "certified",
                                  [f"--accumulate={accumulate}"])
    (folder / "in").mkdir()
    for port in model.inputs:
        data = b"".join(networks.random_inputs(port, records))
        (folder / "in" / f"{port.c_name}.bin").write_bytes(data)
    model.build()
    model.run(folder / "in", folder / "host")
    size = build_for_target(model.sources(), folder / "model.elf")
    emulate(folder / "model.elf", folder / "in", folder / "target")
    elements = 0
    for port in model.outputs:
        want = (folder / "host" / f"{port.c_name}.bin").read_bytes()
        got = (folder / "target" / f"{port.c_name}.bin").read_bytes()
        if not want or len(got) != len(want):
            raise c_build.Failed(f"`{port.name}` has {len(got)} bytes, expected {len(want)}")
        if wrong := networks.different("f32", got, want):
            raise c_build.Failed(f"{len(wrong)} of {len(want) // 4} elements of `{port.name}` have "
                                 f"other bits, the first is {wrong[0]}")
        elements += len(want) // 4
    return f"{elements} elements of {records} runs have the same bits; {size}"


def compare_libm(work: pathlib.Path) -> list[str]:
    """A line for each function."""
    folder = work / "libm"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "host").mkdir(parents=True)
    source = random.Random("libm")
    values = [LIMIT * (2 * source.random() - 1) for _ in range(SAMPLES)]
    (folder / "x.bin").write_bytes(struct.pack(f"<{SAMPLES}f", *values))
    program = folder / "host.elf"
    done = c_build.run(["gcc", *C99, HERE / "libm.c", "-lm", "-o", program], "building")
    if done.returncode != 0:
        raise c_build.Failed(f"does not build: {done.stderr[-300:]}")
    c_build.run([program, "-i", folder, "-o", folder / "host"], "running")
    build_for_target([HERE / "libm.c"], folder / "model.elf")
    emulate(folder / "model.elf", folder, folder / "target")
    lines = []
    for wide in sorted((folder / "host").glob("*_double.bin")):
        name = wide.name.removesuffix("_double.bin")
        host, target = wide.read_bytes(), (folder / "target" / wide.name).read_bytes()
        a, b = struct.unpack(f"<{SAMPLES}d", host), struct.unpack(f"<{SAMPLES}d", target)
        doubles = sum(x != y and not (x != x and y != y) for x, y in zip(a, b, strict=True))
        floats = networks.different("f32", (folder / "host" / f"{name}.bin").read_bytes(),
                                    (folder / "target" / f"{name}.bin").read_bytes())
        lines.append(f"  {name:<8} {doubles:6} doubles and {len(floats):4} floats "
                     f"of {SAMPLES} differ")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lemma", required=True, help="the program")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where everything is written")
    parser.add_argument("--inputs", type=int, default=100, help="random inputs for each network")
    parser.add_argument("--libm", action="store_true", help="compare the libraries instead")
    parser.add_argument("names", nargs="*", metavar="NETWORK", default=["acas_xu", "tanh_mlp", "lenet5"])
    args = parser.parse_args()

    work = args.work.resolve()
    if args.libm:
        print("\n".join(compare_libm(work)))
        return 0
    names = args.names
    networks.write_models(work / "models", names)
    passed = failed = 0
    for name, accumulate in itertools.product(names, ("f64", "f32")):
        try:
            told, good = check_network(os.path.abspath(args.lemma), work, name, accumulate,
                                       args.inputs), True
        except (c_build.Failed, c_build.Refused, OSError) as reason:
            told, good = f"FAILS: {reason}", False
        passed, failed = passed + good, failed + (not good)
        print(f"  {name:<10} {accumulate}  {told}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
