#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The time to the first result, in Lemma and in ONNX Runtime: from the call that loads a model to the
end of its first run. Every start is a new process, and the programs take turns.

    start.py --lemma PROGRAM --ort PROGRAM [--threads N] [--rounds N] [--json FILE] MODEL.onnx…

Lemma starts with an empty cache of compiled kernels (cold) and with the kernels of an earlier start
(warm). Times are medians in milliseconds. A ratio is the median over the rounds of the time of ONNX
Runtime divided by that of the warm start: above 1 Lemma is faster."""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from worker import interpreter  # bench/worker.py


def start(command: list, cache: str | None = None) -> dict:
    """What a worker says after its first run."""
    environment = dict(os.environ)
    if cache is not None:
        environment["LEMMA_CACHE"] = cache
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          env=environment)
    if done.returncode != 0 or not done.stdout:
        sys.exit(f"`{' '.join(map(str, command))}` exits with {done.returncode}")
    ready = json.loads(done.stdout)
    if "error" in ready:
        sys.exit(f"`{' '.join(map(str, command))}`: {ready['error']}")
    return ready


def first_result(ready: dict) -> float:
    return ready["load_ms"] + ready["first_ms"]


def name_of(path: str) -> str:
    file = pathlib.Path(path).resolve()
    return file.parent.name if file.stem == "model" else file.stem


def measure(model: str, arguments) -> dict:
    lemma = [arguments.lemma, model, arguments.threads]
    ort = [*interpreter(arguments.ort), arguments.ort, model, arguments.threads]
    cold, warm, other, sums = [], [], [], []
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory() as cache:
            begun = start(lemma, cache)
            cold.append(first_result(begun))
            warm.append(first_result(start(lemma, cache)))
        peer = start(ort)
        other.append(first_result(peer))
        sums = [begun["checksum"], peer["checksum"]]
    # Quantised models may differ by a step of their scale.
    if not math.isclose(*sums, rel_tol=arguments.tolerance, abs_tol=arguments.tolerance):
        sys.exit(f"{model}: the results differ: {sums[0]} and {sums[1]}")
    return {
        "model": name_of(model),
        "cold_ms": statistics.median(cold),
        "warm_ms": statistics.median(warm),
        "ort_ms": statistics.median(other),
        "ratio": statistics.median(b / a for a, b in zip(warm, other)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lemma", required=True, help="the program lemma_worker (bench/peers)")
    parser.add_argument("--ort", required=True, help="the script ort_worker.js (NODE_PATH must have onnxruntime-node) or ort_worker.py")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tolerance", type=float, default=1e-3, help="of a sum over the first output")
    parser.add_argument("--json", help="a file for the numbers")
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    results = []
    print(f"{'model':24} {'cold':>10} {'warm':>10} {'ORT':>10} {'ORT / warm':>11}")
    for model in arguments.models:
        r = measure(model, arguments)
        results.append(r)
        print(f"{r['model']:24} {r['cold_ms']:7.1f} ms {r['warm_ms']:7.1f} ms {r['ort_ms']:7.1f} ms {r['ratio']:11.2f}",
              flush=True)
    ratios = [r["ratio"] for r in results]
    print(f"{'geometric mean':24} {'':32} {statistics.geometric_mean(ratios):11.2f}   (least {min(ratios):.2f})")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
