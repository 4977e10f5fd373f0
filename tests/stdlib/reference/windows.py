"""Sliding windows: how they lie over an axis (spec 4.4.1 and 4.4.2)."""

import math


class Window:
    """One axis: extent, window size, and the attributes of a convolution or pooling."""

    def __init__(self, extent, size, stride=1, dilation=1, padding=None, upper=True, ceil=False):
        self.extent, self.size, self.stride, self.dilation = extent, size, stride, dilation
        self.reach = (size - 1) * dilation + 1  # of the dilated window
        divide = (lambda a, b: -(-a // b)) if ceil else (lambda a, b: a // b)
        if padding is None:
            # Automatic: as many windows as strides in the extent, the rest shared by both sides.
            total = (divide(extent, stride) - 1) * stride + self.reach - extent
            self.before = math.floor(total / 2) if upper else math.ceil(total / 2)
        else:
            total = sum(padding)
            self.before = padding[0]
        self.count = divide(extent + total - self.reach, stride) + 1

    def positions(self, number):
        """Where the taps of the window with this number lie; outside of the extent is padding."""
        first = number * self.stride - self.before
        return [first + tap * self.dilation for tap in range(self.size)]


def windows(extents, sizes, stride=None, dilation=None, padding=None, upper=True, ceil=False):
    """A Window per axis; `padding` lists all that goes before, then all that goes after."""
    d = len(extents)
    stride = stride or [1] * d
    dilation = dilation or [1] * d
    pairs = [None] * d if padding is None else list(zip(padding[:d], padding[d:]))
    return [Window(*each, upper, ceil) for each in zip(extents, sizes, stride, dilation, pairs)]
