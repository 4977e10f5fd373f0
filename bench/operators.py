#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""New operators of a few lines against the library's own kernels of their class: both graphs of each model
in examples/new_operators take turns. `bench/operators.py LEMMA [ROUNDS] [OPTION…]`, with options of
`lemma bench` as `--numerics=fast`; told are the least times, and the median over the rounds of the ratio of
neighbouring medians (New / Library)."""
import json
import pathlib
import statistics
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples" / "new_operators"


def measure(lemma: str, model: pathlib.Path, graph: str, options: list[str]) -> dict:
    command = [lemma, "bench", "--json", "--runs=300", f"--graph={graph}", *options, str(model)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    print(f"{'operator':14} {'new':>10} {'library':>10}  ratio")
    for model in sorted(EXAMPLES.glob("*.sknd")):
        least = {"New": float("inf"), "Library": float("inf")}
        ratios = []
        for _ in range(rounds):
            medians = {}
            for graph in least:
                told = measure(sys.argv[1], model, graph, sys.argv[3:])
                least[graph] = min(least[graph], told["min_ms"])
                medians[graph] = told["median_ms"]
            ratios.append(medians["New"] / medians["Library"])
        print(f"{model.stem:14} {least['New']:7.3f} ms {least['Library']:7.3f} ms  {statistics.median(ratios):5.2f}")


if __name__ == "__main__":
    main()
