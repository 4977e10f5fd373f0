# SPDX-License-Identifier: Apache-2.0
"""The shapes of the two decoders, and their random weights."""
import array
import math
import random
from dataclasses import dataclass


@dataclass
class Shape:
    layers: int
    width: int
    heads: int
    key_heads: int  # of keys and values; fewer than `heads`: grouped-query attention
    inner: int      # of the feed-forward network
    words: int      # of the vocabulary
    room: int       # tokens that the model can see

    @property
    def head(self):
        return self.width // self.heads


SHAPES = {
    "gpt2": Shape(12, 768, 12, 12, 3072, 50257, 1024),
    "llama": Shape(16, 1024, 16, 4, 2816, 32000, 2048),
    "gpt2-tiny": Shape(2, 32, 4, 4, 64, 61, 16),
    "llama-tiny": Shape(2, 32, 4, 2, 64, 61, 16),
}


class Weights:
    """Normal numbers from a pool that repeats, so that no package is needed. Each tensor begins
    elsewhere in the pool."""

    def __init__(self, seed, period=1048573):  # a prime, so that the rows of a matrix differ
        source = random.Random(seed)
        self.period = period
        self.pool = array.array("f", (source.gauss(0, 1) for _ in range(period)))
        self.source = source
        self.scaled = {}

    def normal(self, shape, deviation):
        count = math.prod(shape)
        if deviation not in self.scaled:
            self.scaled[deviation] = array.array("f", (x * deviation for x in self.pool))
        begin = self.source.randrange(self.period)
        copies = (begin + count) // self.period + 1
        return (self.scaled[deviation] * copies)[begin:begin + count].tobytes()

    def bits(self, count):
        """Random bytes."""
        return self.source.randbytes(count)

    def same(self, shape, value):
        return array.array("f", [value]) * math.prod(shape)

    def ones(self, shape):
        return self.same(shape, 1.0)

    def zeros(self, shape):
        return self.same(shape, 0.0)
