#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Lemma with ONNX Runtime on models: both stay loaded and take turns, so that a machine that
is slower for a while is slower for both.

    compare.py --lemma PROGRAM --ort PROGRAM [--threads 1,2] [--rounds N] [--numerics fast] [--json FILE]
        MODEL.onnx...

Told are the medians of the times, and the median over the rounds of the ratio of neighbouring bursts
(ONNX Runtime / Lemma: above 1 Lemma is faster)."""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from allowed import allowed  # bench/allowed.py
from worker import Worker, interpreter  # bench/worker.py

BURST_SECONDS = 0.25


def check(model: str, lemma: Worker, ort: Worker) -> None:
    """Compares the first results element by element."""
    with tempfile.TemporaryDirectory() as folder:
        expected = pathlib.Path(folder) / "expected"
        ort.ask(f"save {expected}")
        result = lemma.ask(f"compare {expected}")
        if "error" in result:
            sys.exit(f"{model}: {result['error']}")
        most = allowed(model, expected)
        if not result["difference"] <= most:
            sys.exit(f"{model}: the results differ by {result['difference']:.3g}, allowed are {most:.3g}")


def compare(model: str, threads: int, arguments) -> dict:
    fast = ["fast"] if arguments.numerics == "fast" else []
    lemma = Worker([arguments.lemma, model, str(threads), *fast])
    ort = Worker([*interpreter(arguments.ort), arguments.ort, model, str(threads)])
    workers = (lemma, ort)
    check(model, lemma, ort)
    counts = [max(1, round(BURST_SECONDS * 1e3 / min(worker.run(3)))) for worker in workers]
    times: tuple[list[float], list[float]] = ([], [])
    ratios = []
    for _ in range(arguments.rounds):
        medians = []
        for worker, count, all_times in zip(workers, counts, times):
            burst = worker.run(count)
            all_times.extend(burst)
            medians.append(statistics.median(burst))
            time.sleep(0.01)
        ratios.append(medians[1] / medians[0])
    for worker in workers:
        worker.close()
    return {
        "model": pathlib.Path(model).stem,
        "threads": threads,
        "lemma_ms": statistics.median(times[0]),
        "ort_ms": statistics.median(times[1]),
        "lemma_min_ms": min(times[0]),
        "ort_min_ms": min(times[1]),
        "ratio": statistics.median(ratios),
        "lemma_load_ms": lemma.ready["load_ms"] + lemma.ready["first_ms"],
        "ort_load_ms": ort.ready["load_ms"] + ort.ready["first_ms"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lemma", required=True, help="the program lemma_worker")
    parser.add_argument("--ort", required=True, help="the script ort_worker.js; NODE_PATH must have onnxruntime-node")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--numerics", choices=["default", "fast"], default="default", help="of Lemma")
    parser.add_argument("--json", help="a file for the numbers")
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    results = []
    print(f"{'model':20} threads  {'Lemma':>9} {'ORT':>9}   ratio   least: {'Lemma':>8} {'ORT':>8}")
    for threads in map(int, arguments.threads.split(",")):
        for model in arguments.models:
            r = compare(model, threads, arguments)
            results.append(r)
            print(f"{r['model']:20} {threads:7}  {r['lemma_ms']:6.2f} ms {r['ort_ms']:6.2f} ms  {r['ratio']:6.2f}"
                  f"          {r['lemma_min_ms']:8.2f} {r['ort_min_ms']:8.2f}", flush=True)
        ratios = [r["ratio"] for r in results if r["threads"] == threads]
        print(f"{'geometric mean':20} {threads:7}  {'':22} {statistics.geometric_mean(ratios):6.2f}"
              f"   (least {min(ratios):.2f})", flush=True)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
