#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads that share one model: weights and code are loaded once.

    examples/python/threads.py examples/digits
"""
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import lemma


def main(path: str) -> None:
    model = lemma.load(path)
    pictures = np.random.default_rng(0).random((1000, *model.inputs[0].shape), np.float32)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(model, pictures))
    alone = [model(picture) for picture in pictures]
    same = all(np.array_equal(a, b) for a, b in zip(results, alone))
    print(len(results), "results,", "the same as one by one" if same else "different ones")


if __name__ == "__main__":
    main(*sys.argv[1:])
