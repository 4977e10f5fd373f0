#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Lemma with ONNX Runtime on random shapes: draws models from a seed, compares the results
element by element, and measures both programs in turns. One process of each stays loaded.

    sweep.py --lemma PROGRAM --ort SCRIPT [--count N] [--seed N] [--only REGEX] [--threads N]
             [--seconds S] [--part K/N] [--json FILE] [--models FOLDER]

The ratio of a model is the median over the rounds of ONNX Runtime's time / Lemma's time, each the
least of a burst: above 1 Lemma is faster. Results may differ by 2e-3 of the largest element."""
import argparse
import json
import pathlib
import re
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from shapes import draw_models
from worker import Worker, interpreter  # bench/worker.py

TOLERANCE = 2e-3
ROUNDS = 5


class Difference(Exception):
    pass


def asked(worker: Worker, line: str):
    answer = worker.ask(line)
    if isinstance(answer, dict) and "error" in answer:
        raise Difference(f"{pathlib.Path(worker.process.args[0]).name}: {answer['error'][:200]}")
    return answer


def check(path: pathlib.Path, lemma: Worker, ort: Worker) -> None:
    """Loads the model in both programs and compares their first outputs."""
    asked(ort, f"load {path}")
    expected = path.with_suffix(".out")
    asked(ort, f"save {expected}")
    asked(lemma, f"load {path}")
    result = asked(lemma, f"compare {expected}")
    expected.unlink()
    if result["difference"] > TOLERANCE * max(result["largest"], 1e-3):
        raise Difference(f"the results differ by {result['difference']:.3g} of {result['largest']:.3g}")


def measure(lemma: Worker, ort: Worker, seconds: float) -> dict:
    workers = (lemma, ort)
    counts = [max(2, min(500, round(seconds * 1e3 / ROUNDS / 2 / min(w.run(2))))) for w in workers]
    bursts: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for worker, count, least in zip(workers, counts, bursts):
            least.append(min(worker.run(count)))
    return {
        "lemma_ms": min(bursts[0]),
        "ort_ms": min(bursts[1]),
        "ratio": statistics.median(o / l for l, o in zip(*bursts)),
    }


def report(results: list[dict], failures: list[str]) -> None:
    ratios = [r["ratio"] for r in results]
    print(f"\n{'class':18} count   mean  least")
    by_class: dict[str, list[float]] = {}
    for r in results:
        by_class.setdefault(re.match(r"[a-z_0-9]*?(?=\d+ )", r["model"])[0], []).append(r["ratio"])
    for name, own in by_class.items():
        print(f"{name:18} {len(own):5} {statistics.geometric_mean(own):6.2f} {min(own):6.2f}")
    print("\nthe slowest")
    for r in sorted(results, key=lambda r: r["ratio"])[:20]:
        print(f"{r['ratio']:6.2f} {r['lemma_ms']:9.3f} {r['ort_ms']:9.3f}  {r['model']}")
    below = {limit: sum(ratio < limit for ratio in ratios) for limit in (1.0, 0.9, 0.7)}
    print(f"\n{len(ratios)} models: geometric mean {statistics.geometric_mean(ratios):.2f}, "
          + ", ".join(f"{count} below {limit}" for limit, count in below.items()))
    for failure in failures:
        print(f"failed: {failure}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lemma", required=True, help="the program lemma_worker")
    parser.add_argument("--ort", required=True, help="the script ort_worker.js (NODE_PATH must have onnxruntime-node) or ort_worker.py")
    parser.add_argument("--count", type=int, default=500, help="number of models that are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only models whose name matches the regular expression")
    parser.add_argument("--part", default="0/1", metavar="K/N", help="of N parts, the models of part K")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.2, help="time of all runs of a model")
    parser.add_argument("--json", help="a file for the numbers")
    parser.add_argument("--models", help="a folder that keeps the models")
    arguments = parser.parse_args()
    lemma = Worker([arguments.lemma, "-", arguments.threads], ready=False)
    ort = Worker([*interpreter(arguments.ort), arguments.ort, "-", arguments.threads], ready=False)
    results, failures = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(arguments.models or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print(f" ratio  Lemma ms    ORT ms  model ({arguments.threads} threads)")
        part, parts = map(int, arguments.part.split("/"))
        for number, (name, model) in enumerate(draw_models(arguments.seed, arguments.count)):
            if number % parts != part or not re.search(arguments.only, name):
                continue
            path = folder / (re.sub(r"[^a-zA-Z0-9_.,-]", "_", name) + ".onnx")
            path.write_bytes(model.SerializeToString())
            try:
                check(path, lemma, ort)
                result = {"model": name, **measure(lemma, ort, arguments.seconds)}
            except Difference as why:
                failures.append(f"{name}: {why}")
                print(f"failed: {failures[-1]}", flush=True)
                continue
            finally:
                if not arguments.models:
                    path.unlink()
            results.append(result)
            print(f"{result['ratio']:6.2f} {result['lemma_ms']:9.3f} {result['ort_ms']:9.3f}  {name}", flush=True)
    for worker in (lemma, ort):
        worker.close()
    if results:
        report(results, failures)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps({"results": results, "failures": failures}, indent=1) + "\n")
    sys.exit(1 if failures or not results else 0)


if __name__ == "__main__":
    main()
