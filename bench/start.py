#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The time to the first result, in Lemma and in ONNX Runtime: from the call that loads a model to the
end of its first run. Every start is a new process, and the programs take turns.

    start.py --lemma PROGRAM --ort PROGRAM [--threads N] [--rounds N] [--json FILE] MODEL.onnx…

Lemma starts with an empty cache of compiled kernels (cold) and with the kernels of an earlier start
(warm). Times are medians in milliseconds. A ratio is the median over the rounds of the time of ONNX
Runtime divided by that of the warm start: above 1 Lemma is faster.

The first results of every start are compared element by element (bench/allowed.py)."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from allowed import allowed  # bench/allowed.py
from worker import interpreter  # bench/worker.py

def start(command: list, request: str, cache: str | None = None) -> tuple[dict, dict]:
    """What a worker says after its first run, and its answer to a request."""
    environment = dict(os.environ)
    if cache is not None:
        environment["LEMMA_CACHE"] = cache
    done = subprocess.run(list(map(str, command)), input=request + "\n", stdout=subprocess.PIPE, text=True,
                          env=environment)
    if done.returncode != 0 or not done.stdout:
        sys.exit(f"`{' '.join(map(str, command))}` exits with {done.returncode}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for answer in answers:
        if "error" in answer:
            sys.exit(f"`{' '.join(map(str, command))}`: {answer['error']}")
    return answers[0], answers[1]


def first_result(ready: dict) -> float:
    return ready["load_ms"] + ready["first_ms"]


def name_of(path: str) -> str:
    file = pathlib.Path(path).resolve()
    return file.parent.name if file.stem == "model" else file.stem


def measure(model: str, arguments) -> dict:
    lemma = [arguments.lemma, model, arguments.threads]
    ort = [*interpreter(arguments.ort), arguments.ort, model, arguments.threads]
    cold, warm, other = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        expected = pathlib.Path(folder) / "expected"
        for _ in range(arguments.rounds):
            peer, _ = start(ort, f"save {expected}")
            other.append(first_result(peer))
            most = allowed(model, expected)
            with tempfile.TemporaryDirectory() as cache:
                for times in (cold, warm):
                    ready, result = start(lemma, f"compare {expected}", cache)
                    times.append(first_result(ready))
                    if not result["difference"] <= most:
                        sys.exit(f"{model}: the results differ by {result['difference']:.3g}, allowed are {most:.3g}")
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
