# SPDX-License-Identifier: Apache-2.0
"""What a model takes as an array."""
from __future__ import annotations

import array

import numpy as np
import pytest
from conftest import ADD

import lemma

X = np.arange(6, dtype=np.float32).reshape(2, 3)


class Exporter:
    """An object that has nothing but DLPack."""

    def __init__(self, values):
        self._values = values

    def __dlpack__(self, stream=None):
        return self._values.__dlpack__()

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


class Elsewhere(Exporter):
    def __dlpack__(self, stream=None):
        raise BufferError("the array lies on another device")


@pytest.fixture
def add(write):
    return lemma.load(write(ADD))


@pytest.mark.parametrize(
    "given",
    [
        X,
        X.astype(np.float64),
        X.astype(np.float16),
        X.astype(">f4"),
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        X.tolist(),
        tuple(map(tuple, X.astype(int).tolist())),
        memoryview(X),
        Exporter(X),
        Exporter(np.repeat(X, 2, axis=0)[::2]),
    ],
)
def test_arrays_of_any_layout_and_width(add, given):
    result = add(given, np.zeros((2, 3), np.float32))
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, X)


def test_a_read_only_array_stays_as_it_is(add):
    frozen = X.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(add(frozen, frozen), 2 * X)
    np.testing.assert_array_equal(frozen, X)


def test_buffers_of_other_types(write):
    model = lemma.load(write("graph Same { @input { x: real[4]; } @output { y: real[4]; } @compose { y = x; } }"))
    np.testing.assert_array_equal(model(array.array("f", [1, 2, 3, 4])), [1, 2, 3, 4])


def test_dlpack_elsewhere_is_a_usage_error(add):
    with pytest.raises(lemma.UsageError, match="another device"):
        add(Elsewhere(X), X)


def test_outputs_belong_to_the_caller(add):
    first = add(X, X)
    kept = first.copy()
    second = add(X, X + 1)
    np.testing.assert_array_equal(first, kept)
    assert not np.shares_memory(first, second)
    assert first.flags.writeable and first.flags.owndata
    np.testing.assert_array_equal(np.from_dlpack(second), second)  # outputs export DLPack


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("int", np.array([[-1, 2], [3, 4]], np.int64)),
        ("int", np.array([[-1, 2], [3, 4]], np.int8)),
        ("bool", np.array([[True, False], [False, True]])),
        ("str", np.array([["a", "β"], ["", "long text"]], dtype=object)),
        ("str", np.array([["a", "b"], ["c", "d"]])),
    ],
)
def test_other_types_pass_through(write, kind, values):
    model = lemma.load(
        write(f"graph Same {{ @input {{ x: {kind}[2, 2]; }} @output {{ y: {kind}[2, 2]; }} @compose {{ y = x; }} }}")
    )
    result = model(values)
    np.testing.assert_array_equal(result, values)
    assert result.dtype == model.outputs[0].dtype


def test_an_integer_input_takes_no_reals(write):
    model = lemma.load(write("graph Same { @input { x: int[2]; } @output { y: int[2]; } @compose { y = x; } }"))
    np.testing.assert_array_equal(model([1, 2]), [1, 2])
    with pytest.raises(lemma.UsageError, match="`x`"):
        model([1.5, 2.0])


def test_strings_without_a_text_are_usage_errors(write):
    model = lemma.load(write("graph Same { @input { x: str[2]; } @output { y: str[2]; } @compose { y = x; } }"))
    with pytest.raises(lemma.UsageError, match="NUL"):
        model(["a\0b", "c"])
    with pytest.raises(lemma.UsageError, match="int"):
        model([1, 2])
    with pytest.raises(lemma.UsageError, match="NoneType"):
        model(["a", None])


def test_empty_tensors(write):
    model = lemma.load(write("graph Same { @input { x: real[0, 3]; } @output { y: real[0, 3]; } @compose { y = x; } }"))
    assert model(np.zeros((0, 3), np.float32)).shape == (0, 3)


def test_packs(write):
    model = lemma.load(
        write(
            "import layout;\ngraph Join { @input { xs: real[2]..(3); } @output { y: real[6]; } "
            "@compose { y = layout.concat{axis=0}(xs); } }"
        )
    )
    assert [item.name for item in model.inputs] == ["xs.0", "xs.1", "xs.2"]
    parts = [np.full(2, value, np.float32) for value in (1, 2, 3)]
    for result in (model(xs=parts), model(*parts), model(**{"xs.0": parts[0], "xs.1": parts[1], "xs.2": parts[2]})):
        np.testing.assert_array_equal(result, [1, 1, 2, 2, 3, 3])
    with pytest.raises(lemma.UsageError, match="pack"):
        model(xs=1.0)
