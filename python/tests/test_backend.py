# SPDX-License-Identifier: Apache-2.0
"""lemma.backend: Lemma behind ONNX's own interface of backends."""
from __future__ import annotations

import numpy as np
import pytest
from onnx import helper
from test_inference import X, relu_model, reshape_model

import lemma
from lemma import backend


def test_models():
    assert backend.supports_device("CPU") and not backend.supports_device("CUDA")
    prepared = backend.prepare(relu_model())
    assert isinstance(prepared, backend.LemmaRep)
    for inputs in ([X], X, {"x": X}):
        outputs = prepared.run(inputs)
        assert outputs._fields == ("y", "h")
        np.testing.assert_array_equal(outputs.h, [[0, 2, 0, 4]])
        np.testing.assert_array_equal(outputs["y"], -outputs[1])
    [y] = backend.run_model(reshape_model(), [np.ones(6, np.float32), np.array([3, 2])])
    assert y.shape == (3, 2)


def test_nodes():
    node = helper.make_node("Add", ["a", "b"], ["c"])
    [c] = backend.run_node(node, [np.ones((2, 1), np.float32), np.ones(3, np.float32)])
    assert c.shape == (2, 3) and (c == 2).all()
    node = helper.make_node("Clip", ["x"], ["y"], min=0.0)
    [y] = backend.LemmaBackend.run_node(node, [X], opset_version=6)
    assert y.min() == 0
    with pytest.raises(lemma.UsageError, match="1 inputs; got 0"):
        backend.run_node(node, [], opset_version=6)


def test_what_does_not_fit():
    model = relu_model()
    assert backend.is_compatible(model)
    with pytest.raises(lemma.UsageError, match="1 inputs; got 2"):
        backend.prepare(model).run([X, X])
    with pytest.raises(lemma.UsageError, match="CPU"):
        backend.prepare(model, "CUDA:0")
    with pytest.raises(lemma.UsageError, match="no such argument: speed"):
        backend.prepare(model).run(X, speed=1)
    model.graph.node[0].op_type = "NoSuchOperator"
    assert not backend.is_compatible(model)
    with pytest.raises(lemma.ModelError):
        backend.prepare(model)
