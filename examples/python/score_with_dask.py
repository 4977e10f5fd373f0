#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores an array that is larger than the memory of a worker, on a Dask cluster of two processes.

In the middle it kills one of the workers. Dask starts another one and repeats the lost work. At the
end the example compares the scores with those of one call in this process.

    python3 examples/python/score_with_dask.py [--rows 1000000] [--memory 400MB]

It needs python3-dask and python3-distributed.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import signal
import sys
import tempfile
import time

import dask.array as da
import lemma
import lemma.dask
import numpy as np
from dask.utils import parse_bytes
from distributed import Client, LocalCluster, futures_of, wait

FEATURES = 256
MODEL = f"""
import layer, nn;
graph Scorer {{
    @input {{ x: real[n|100000000, {FEATURES}]; }}
    @output {{ scores: real[n, 8]; }}
    @compose {{
        first = layer.linear{{channels=64}}(x);
        hidden = nn.relu(first);
        second = layer.linear{{channels=8}}(hidden);
        scores = nn.softmax(second);
    }}
}}
"""


def kill_a_worker(client: Client, futures: list) -> None:
    """Waits until a quarter of the chunks is done, then kills a worker process."""
    while sum(future.done() for future in futures) < len(futures) / 4:
        time.sleep(0.02)
    pids = sorted(client.run(os.getpid).values())
    os.kill(pids[0], signal.SIGKILL)
    print(f"killed the worker process {pids[0]} of {pids}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--chunk", type=int, default=10_000, help="rows of a chunk")
    parser.add_argument("--memory", default="400MB", help="memory limit of a worker")
    options = parser.parse_args()

    rows = da.random.RandomState(7).standard_normal(
        (options.rows, FEATURES), chunks=(options.chunk, FEATURES)
    ).astype(np.float32)  # fmt: skip
    limit = parse_bytes(options.memory)
    print(f"{rows.nbytes / 1e6:.0f} MB of rows, two workers with {limit / 1e6:.0f} MB each")
    if rows.nbytes <= limit:
        print("the rows fit into the memory of a worker: give more --rows or less --memory")
        return 2

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "scorer.sknd"
        path.write_text(MODEL)
        with LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=options.memory, dashboard_address=None
        ) as cluster, Client(cluster) as client:  # fmt: skip
            start = time.perf_counter()
            scores = lemma.dask.predict(rows, path, random_weights=1).persist()
            kill_a_worker(client, futures_of(scores))
            wait(scores)
            found = scores.compute()
            print(f"scored {len(found)} rows in {time.perf_counter() - start:.1f} s")
        model = lemma.load(path, random_weights=1)
        expected = model(rows.compute(scheduler="threads"))
    equal = int((found == expected).all(axis=1).sum())
    largest = float(np.abs(found - expected).max())
    print(f"{equal} of {len(found)} rows have the same bits as one call; largest difference {largest}")
    return 0 if equal == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
