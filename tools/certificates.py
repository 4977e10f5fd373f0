#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the certificates of the networks in examples/certified on random inputs against 128-bit
arithmetic, and prints how close the bounds are: bound / largest error seen. Needs the program
certificate_soundness of a release build."""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

# network -> ranges of its inputs, as their documentation states them
NETWORKS = {
    "acas_xu": ["sensors=-0.7:0.7"],
    "tanh_mlp": ["state=-1:1"],
    "lenet5": ["image=0:1"],
    "resnet8": ["image=0:1"],
    "mobilenet_v1": ["image=-1:1"],
    "yolo_head": ["coarse=-1:1", "fine=-1:1"],
    "lstm": ["signals=-1:1"],
}
ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULT = re.compile(r"(\S+): bound (\S+), largest error (\S+), bound/error (\S+),")


def run(program: pathlib.Path, model: pathlib.Path, precision: str, samples: int, seed: int,
        reference: str):
    command = [program, model, precision, str(samples), str(seed), reference, *NETWORKS[model.stem]]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), help="names (all)")
    parser.add_argument("--samples", type=int, default=10000, help="inputs for each network (10000)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once (2)")
    parser.add_argument("--reference", choices=["quad", "double"], default="quad",
                        help="binary128, or 106 bits as two doubles: much faster (quad)")
    parser.add_argument("--accumulate", choices=["f32", "f64", "both"], default="f32")
    parser.add_argument("--program", type=pathlib.Path,
                        default=ROOT / "build/release/tests/certificate_soundness")
    arguments = parser.parse_args()
    precisions = ["f32", "f64"] if arguments.accumulate == "both" else [arguments.accumulate]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        make = ROOT / "examples/certified/make_models.py"
        subprocess.run([sys.executable, make, folder], check=True, stdout=subprocess.DEVNULL)
        share = max(1, -(-arguments.samples // arguments.jobs))
        print("| network | arithmetic | output | inputs | bound | largest error | bound / error |")
        print("|---|---|---|---|---|---|---|", flush=True)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for name in arguments.networks:
                for precision in precisions:
                    model = pathlib.Path(folder) / f"{name}.onnx"
                    runs = [pool.submit(run, arguments.program, model, precision, share, seed + 1,
                                        arguments.reference)
                            for seed in range(arguments.jobs)]
                    failed += report(name, precision, [r.result() for r in runs])
    return 1 if failed else 0


def report(name: str, precision: str, runs: list) -> int:
    bounds, errors, samples, failed = {}, {}, 0, 0
    for one in runs:
        if one.returncode != 0:
            failed += 1
            print(f"{name} {precision}: {one.stderr.strip() or one.stdout.strip()}", file=sys.stderr)
        for line in one.stdout.splitlines():
            if match := RESULT.search(line):
                output = match[1]
                bounds[output] = float(match[2])
                errors[output] = max(errors.get(output, 0.0), float(match[3]))
            elif match := re.match(r"(\d+) samples", line):
                samples += int(match[1])
    for output, bound in bounds.items():
        error = errors[output]
        ratio = f"{bound / error:.3g}" if error > 0 else "-"
        print(f"| {name} | {precision} | {output} | {samples} | {bound:.3g} | {error:.3g} | {ratio} |",
              flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
