#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the digit in a picture of 5 x 7 dots.

    examples/python/classify.py examples/digits
"""
import sys

import numpy as np

import lemma

SEVEN = """
11111
00001
00010
00100
00100
01000
01000
"""


def main(path: str) -> None:
    model = lemma.load(path)
    print(model)
    picture = np.array([[float(dot) for dot in row] for row in SEVEN.split()], np.float32)
    probabilities = model(picture)[0]
    best = int(probabilities.argmax())
    print(f"class {best}, probability {probabilities[best]:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
