# SPDX-License-Identifier: Apache-2.0
"""InferenceSession: the call shape of ONNX Runtime."""
from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import lemma
import lemma as ort  # the one changed import


def relu_model(shape=("batch", 4)):
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("Neg", ["h"], ["y"])],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, shape),
            helper.make_tensor_value_info("h", TensorProto.FLOAT, shape),
        ],
        doc_string="a graph",
    )
    model = helper.make_model(
        graph, producer_name="tests", producer_version="1", domain="here", model_version=7,
        doc_string="a model", opset_imports=[helper.make_opsetid("", 13)],
    )  # fmt: skip
    helper.set_model_props(model, {"key": "value"})
    return model


def reshape_model():
    """The values of an input decide the shape of the output."""
    graph = helper.make_graph(
        [helper.make_node("Reshape", ["x", "shape"], ["y"])],
        "reshape",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [6]),
            helper.make_tensor_value_info("shape", TensorProto.INT64, [2]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a", "b"])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


X = np.array([[-1, 2, -3, 4]], np.float32)


def test_a_script_for_onnx_runtime(tmp_path):
    path = tmp_path / "net.onnx"
    onnx.save(relu_model(), path)
    for source in (str(path), path, path.read_bytes()):
        session = ort.InferenceSession(source, providers=["CPUExecutionProvider"])
        [x] = session.get_inputs()
        assert (x.name, x.shape, x.type) == ("x", ["batch", 4], "tensor(float)")
        assert [output.name for output in session.get_outputs()] == ["y", "h"]
        y, h = session.run(None, {x.name: X})
        np.testing.assert_array_equal(h, [[0, 2, 0, 4]])
        np.testing.assert_array_equal(y, -h)
        [again] = session.run(["h"], {"x": X})
        np.testing.assert_array_equal(again, h)
        assert session.model is not None and session.model.format == "onnx"
    assert repr(x) == "NodeArg(name='x', type='tensor(float)', shape=['batch', 4])"
    assert isinstance(x, lemma.NodeArg)
    assert repr(session) == "<lemma.InferenceSession (x) -> y, h>"


def test_metadata():
    meta = ort.InferenceSession(relu_model().SerializeToString()).get_modelmeta()
    assert isinstance(meta, lemma.ModelMetadata)
    assert (meta.producer_name, meta.graph_name, meta.domain) == ("tests", "net", "here")
    assert (meta.description, meta.graph_description, meta.version) == ("a model", "a graph", 7)
    assert meta.custom_metadata_map == {"key": "value"}
    other = ort.InferenceSession("examples/digits").get_modelmeta()
    assert other.graph_name == "Digits" and other.producer_name == ""


def test_options(tmp_path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    session = ort.InferenceSession(relu_model().SerializeToString(), options)
    assert session.get_session_options() is options
    assert session.run(["y"], {"x": X})[0].shape == (1, 4)
    with pytest.raises(AttributeError, match="intra_op_threads"):
        options.intra_op_threads = 2
    for name, value in (("enable_profiling", True), ("optimized_model_filepath", "x.onnx")):
        with pytest.raises(lemma.UsageError, match=name):
            setattr(options, name, value)
    with pytest.raises(lemma.UsageError, match="SkriptND"):
        options.register_custom_ops_library("x.so")
    with pytest.raises(lemma.UsageError, match="each run"):
        options.add_free_dimension_override_by_name("batch", 1)
    with pytest.raises(lemma.UsageError, match="no entry"):
        options.get_session_config_entry("none")


def test_providers():
    content = relu_model().SerializeToString()
    with pytest.warns(UserWarning, match="CUDAExecutionProvider"):
        session = ort.InferenceSession(
            content, providers=[("CUDAExecutionProvider", {}), "CPUExecutionProvider"]
        )
    assert session.get_providers() == ort.get_available_providers()
    assert session.get_provider_options() == {"CPUExecutionProvider": {}}
    session.set_providers(["CPUExecutionProvider"])
    session.enable_fallback()
    session.disable_fallback()
    assert session.get_overridable_initializers() == []
    with pytest.raises(lemma.UsageError, match="bench"):
        session.end_profiling()


def test_wrong_calls():
    content = relu_model().SerializeToString()
    session = ort.InferenceSession(content)
    with pytest.raises(lemma.UsageError, match="no output `z`; the model has `y`, `h`"):
        session.run(["z"], {"x": X})
    with pytest.raises(lemma.UsageError, match="no input `z`"):
        session.run(None, {"z": X})
    with pytest.raises(lemma.UsageError, match="no argument `device`"):
        ort.InferenceSession(content, device="cpu")
    with pytest.raises(lemma.Error):
        ort.InferenceSession(b"\x08\x07no model")


def test_inputs_that_decide_shapes():
    session = ort.InferenceSession(reshape_model().SerializeToString())
    assert [port.name for port in session.get_inputs()] == ["x", "shape"]
    assert session.get_inputs()[1].type == "tensor(int64)"
    assert session.get_outputs()[0].shape == ["a", "b"]
    x = np.arange(6, dtype=np.float32)
    for shape in ([2, 3], [3, 2], [2, 3], [1, -1]):
        [y] = session.run(None, {"x": x, "shape": np.array(shape, np.int64)})
        np.testing.assert_array_equal(y, x.reshape(shape))
    assert session.model is None


def test_models_are_kept_by_the_inputs_that_decide(monkeypatch):
    loads = []
    import lemma._inference as inference

    original = inference.load
    monkeypatch.setattr(inference, "load", lambda *a, **k: loads.append(1) or original(*a, **k))
    session = ort.InferenceSession(reshape_model().SerializeToString())
    before = len(loads)
    for step in range(5):
        x = np.full(6, step, np.float32)
        [y] = session.run(None, {"x": x, "shape": np.array([2, 3], np.int64)})
        np.testing.assert_array_equal(y, x.reshape(2, 3))
    assert len(loads) == before + 1


def test_the_header_reader_survives_any_bytes():
    from lemma._onnx_header import read_header

    content = relu_model().SerializeToString()
    numbers = np.random.default_rng(0)
    for end in range(len(content)):
        try:
            read_header(content[:end])
        except ValueError:
            pass
        broken = bytearray(content)
        broken[end] = numbers.integers(256)
        try:
            read_header(broken)
        except ValueError:
            pass
    assert read_header(content).graph_name == "net"
