# SPDX-License-Identifier: Apache-2.0
"""Values of callers as contiguous numpy arrays. Contiguous arrays of numbers never come here."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import UsageError

#: The numpy types of Lemma's types. numpy has no bf16: its values are exact in float32.
DTYPES: dict[str, Any] = {
    "f16": np.dtype(np.float16), "bf16": np.dtype(np.float32), "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64), "i8": np.dtype(np.int8), "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32), "i64": np.dtype(np.int64), "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16), "u32": np.dtype(np.uint32), "u64": np.dtype(np.uint64),
    "bool": np.dtype(np.bool_), "str": np.dtype(object),
}  # fmt: skip


def _numpy(value: Any, name: str) -> Any:
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack__"):
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError) as trouble:
            raise UsageError(
                f"the input `{name}` cannot be taken over by DLPack: {trouble}; "
                "give an array of numbers in main memory"
            ) from trouble
    try:
        return np.asarray(value)
    except ValueError as trouble:
        raise UsageError(f"the input `{name}` is no array: {trouble}") from trouble


def as_array(value: Any, type_name: str, name: str) -> tuple[Any, bool]:
    """A contiguous array with native byte order, and whether its 16 bits are bf16."""
    array = _numpy(value, name)
    if array.dtype.name == "bfloat16":
        array = array.view(np.uint16)
        return (array if array.flags.c_contiguous else array.copy(order="C")), True
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise UsageError(
            f"the input `{name}` has elements of type {array.dtype}; Lemma takes numbers of up to "
            "64 bits, bool and str"
        )
    # Numbers of Python have no width: `model([1, 2])` fits an input of reals.
    is_real = type_name in ("f16", "bf16", "f32", "f64")
    if is_real and array.dtype.kind in "iu" and not isinstance(value, np.ndarray):
        array = array.astype(np.float64)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return (array if array.flags.c_contiguous else array.copy(order="C")), False


def string_array(value: Any, name: str) -> Any:
    """An array of str objects."""
    array = np.asarray(value)
    if array.dtype.kind not in "OUS":
        raise UsageError(f"the input `{name}` takes strings; it got elements of type {array.dtype}")
    result = np.empty(array.shape, dtype=object)
    for index, item in np.ndenumerate(array):
        text = item.decode("utf-8") if isinstance(item, bytes) else item
        if not isinstance(text, str):
            raise UsageError(
                f"the input `{name}` takes strings; it got an item of type {type(item).__name__}"
            )
        result[index] = text
    return result


def strings(texts: list[str], shape: tuple[int, ...]) -> Any:
    """Strings in row-major order as an array of objects."""
    result = np.empty(len(texts), dtype=object)
    result[:] = texts
    return result.reshape(shape)
