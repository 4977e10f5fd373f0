# SPDX-License-Identifier: Apache-2.0
"""Operators as functions."""
from __future__ import annotations

import numpy as np
import pytest

import lemma

GATE = """
operator gate {
    @input { x: real[b, 2 * c]; }
    @output { y: real[b, c]; }
    @lower { y[i, j] = x[i, j] * x[i, c + j], i < b, j < c; }
}
"""
SCALE = """
operator scale {
    @attrib { factor: real = 2.0; times: int = 1; }
    @input { x: real[s..]; }
    @output { y: real[s..]; }
    @lower { y[i..] = factor * real(times) * x[i..], i < s; }
}
"""


def test_an_operator_of_a_text():
    gate = lemma.operator(GATE)
    assert (gate.name, gate.inputs, gate.outputs, gate.attributes) == ("gate", ["x"], ["y"], [])
    assert repr(gate) == "<lemma.Operator gate(x)>"
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.testing.assert_array_equal(gate(x), [[0, 3], [24, 35]])
    np.testing.assert_array_equal(gate(x=x[:1]), [[0, 3]])
    with pytest.raises(lemma.ModelError):
        gate(x[:, :3])  # an odd number of columns


def test_attributes_are_keywords():
    scale = lemma.operator(SCALE)
    assert scale.attributes == ["factor", "times"]
    assert list(scale([1, 2])) == [2, 4]
    assert list(scale([1, 2], factor=0.5, times=3)) == [1.5, 3]
    with pytest.raises(lemma.UsageError, match="no attribute or input `size`"):
        scale([1], size=1)
    with pytest.raises(lemma.UsageError, match="1 inputs; got 2"):
        scale([1], [2])
    with pytest.raises(lemma.UsageError, match="twice"):
        scale([1], x=[1])


def test_the_widest_real_decides():
    scale = lemma.operator(SCALE)
    for kind in (np.float16, np.float32, np.float64):
        assert scale(np.ones(2, kind)).dtype == kind


def test_one_of_several_operators():
    scale = lemma.operator(GATE + SCALE, name="scale")
    assert list(scale([1.0])) == [2]
    with pytest.raises(lemma.UsageError, match="several"):
        lemma.operator(GATE + SCALE)
    with pytest.raises(lemma.UsageError, match="does not define `none`"):
        lemma.operator(GATE, name="none")


def test_standard_operators():
    x = np.random.default_rng(0).random((1, 2, 5), np.float32)
    w = np.random.default_rng(1).random((3, 2, 3), np.float32)
    conv = lemma.operator("nn.conv")
    y = conv(x, w, padding=0)
    expected = sum(
        w[:, :, k] @ x[0, :, k : k + 3] for k in range(3)
    )
    np.testing.assert_allclose(y[0], expected, rtol=1e-5)
    low = lemma.operator("math.select")(np.array([True, False]), np.array([1, 2]), np.array([3, 4]))
    np.testing.assert_array_equal(low, [1, 4])
    assert low.dtype == np.int64
    with pytest.raises(lemma.UsageError):
        lemma.operator("nn.no_such_operator")


def test_packs_are_lists():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    split, concat = lemma.operator("layout.split"), lemma.operator("layout.concat")
    parts = split(x, axis=1, count=3)
    assert [part.shape for part in parts] == [(2, 1)] * 3
    np.testing.assert_array_equal(concat(parts, axis=1), x)
    with pytest.raises(lemma.UsageError, match="pack"):
        concat(x, axis=0)


def test_an_operator_with_variables_belongs_in_a_graph():
    with pytest.raises(lemma.UsageError, match="variables"):
        lemma.operator("layer.conv")


def test_a_graph_beside_the_operator_is_no_trouble():
    graph = "graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = scale(x); } }"
    assert list(lemma.operator(SCALE + graph)([1.0])) == [2]


def test_wide_numbers_are_usage_errors():
    with pytest.raises(lemma.UsageError, match="float128"):
        lemma.operator(SCALE)(np.ones(2, np.longdouble))


def test_wrong_text_is_a_model_error():
    with pytest.raises(lemma.ModelError):
        lemma.operator("operator broken {")


def test_models_of_a_text():
    model = lemma.model(GATE + "graph G { @input { x: real[1, 4]; } @output { y: real[1, 2]; } @compose { y = gate(x); } }")
    np.testing.assert_array_equal(model([[1, 2, 3, 4]]), [[3, 8]])
