# SPDX-License-Identifier: Apache-2.0
"""Values of Python as SkriptND text."""
from __future__ import annotations

import math

from ._errors import UsageError


def literal(value: object) -> str:
    """A number, bool, string, or list of them as SkriptND writes it.

    >>> literal([1, 2.0, True, 'a"b'])
    '[1, 2.0, true, "a\\\\"b"]'
    """
    if hasattr(value, "tolist"):
        value = value.tolist()  # arrays and numbers of numpy
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            raise UsageError("an attribute cannot be NaN")
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return repr(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    raise UsageError(f"an attribute cannot be a {type(value).__name__}")
