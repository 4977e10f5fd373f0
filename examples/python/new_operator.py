#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A new operator in four lines of SkriptND, as a function on numpy arrays.

    examples/python/new_operator.py
"""
import numpy as np

import lemma

distances = lemma.operator("""
operator distances {
    @input { x: real[n, d]; y: real[m, d]; }
    @output { z: real[n, m]; }
    @lower { z[i, j] += (x[i, k] - y[j, k]) ** 2.0, i < n, j < m, k < d; }
}
""")

numbers = np.random.default_rng(0)
x, y = numbers.random((5, 3), np.float32), numbers.random((4, 3), np.float32)
z = distances(x, y)
expected = ((x[:, None] - y[None]) ** 2).sum(axis=2)
print(z.shape, "equal" if np.allclose(z, expected) else "different")
