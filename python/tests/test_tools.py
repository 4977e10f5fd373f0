# SPDX-License-Identifier: Apache-2.0
"""Checks, conversions, C code, layout."""
from __future__ import annotations

import ctypes
import json

import numpy as np
import pytest
from conftest import ADD, STATS

import lemma

WRONG = b"import nn;\ngraph G {\n    @input { x: real[2]; }\n    @output { y: real[2]; }\n" \
        b"    @compose { y = nn.rely(x); }\n}\n"  # fmt: skip


def test_a_check_reports_what_is_wrong(write):
    report = lemma.check(write(WRONG.decode()))
    assert not report and not report.ok and len(report) == 1
    [found] = report.errors
    assert (found.kind, found.line) == ("no-operator", 5)
    assert "no operator `nn.rely`" in str(report)
    assert repr(report) == "<lemma.Report: 1 errors, 0 warnings>"
    html = report._repr_html_()
    assert "nn.rely" in html and '<pre class="error">' in html
    assert lemma.check(write(ADD)).ok
    assert "no problems" in lemma.check(write(ADD))._repr_html_()


def test_a_check_takes_bytes():
    assert [found.kind for found in lemma.check(WRONG)] == ["no-operator"]
    assert lemma.check(ADD.encode()).ok
    with pytest.raises(lemma.UsageError, match="format"):
        lemma.check(ADD.encode(), format="doc")


def test_a_missing_file_cannot_be_checked(tmp_path):
    with pytest.raises(lemma.UsageError, match="no such file"):
        lemma.check(tmp_path / "none.onnx")


def test_warnings_can_be_errors(write):
    unused = write(ADD.replace("y: real[2, 3]; }", "y: real[2, 3]; z: real[1]; }", 1))
    report = lemma.check(unused)
    assert report.ok
    if report.warnings:
        assert not lemma.check(unused, werror=True).ok


def test_the_profile_finds_more(write, tmp_path):
    path = write(ADD)
    lemma.convert(path, tmp_path / "add.onnx")
    report = lemma.check(tmp_path / "add.onnx", profile="sonnx", report=tmp_path / "report.md")
    assert any("sonnx" in found.kind for found in report)
    assert (tmp_path / "report.md").read_text().startswith("#")


@pytest.mark.parametrize("output", ["add.onnx", "add.nnef.tgz", "folder"])
def test_a_converted_model_computes_the_same(write, tmp_path, output):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    report = lemma.convert(write(ADD), tmp_path / output, to=None if "." in output else "sknd")
    assert isinstance(report, lemma.Report) and report.ok
    model = lemma.load(tmp_path / output)
    assert model.format == {"add.onnx": "onnx", "add.nnef.tgz": "nnef1"}.get(output, "sknd")
    np.testing.assert_array_equal(model(x, x), 2 * x)


def test_a_conversion_does_not_overwrite(write, tmp_path):
    path = write(ADD)
    lemma.convert(path, tmp_path / "add.onnx")
    with pytest.raises(lemma.UsageError, match="add.onnx"):
        lemma.convert(path, tmp_path / "add.onnx")
    lemma.convert(path, tmp_path / "add.onnx", overwrite=True)


def test_a_model_becomes_machine_code(write, tmp_path):
    lemma.compile(write(ADD), tmp_path / "add.so", name="add")
    assert "add" in (tmp_path / "add.h").read_text()
    assert ctypes.CDLL(str(tmp_path / "add.so"))


def test_a_model_becomes_c(write, tmp_path):
    lemma.compile(write(ADD), tmp_path / "code", form="certified", name="add")
    assert list((tmp_path / "code").glob("*.c"))
    lemma.compile(write(STATS), tmp_path / "more", form="fast", target="generic", shapes={"x": [4]})
    assert list((tmp_path / "more").glob("*.c"))


def test_layout():
    messy = "graph   G{@input{x:real[2];}@output{y:real[2];}@compose{y=x;}}"
    text = lemma.fmt(messy)
    assert text.startswith("graph G {\n    @input {\n        x: real[2];\n")
    assert lemma.fmt(text) == text
    assert lemma.fmt(messy.encode()) == text.encode()
    nnef = "version 1.0;\ngraph g(x)->(y){x=external(shape=[2]);y=copy(x);}"
    assert "external(shape = [2])" in lemma.fmt(nnef)
    with pytest.raises(lemma.ModelError) as caught:
        lemma.fmt("graph {", language="sknd")
    assert caught.value.diagnostics[0].line == 1


def test_the_graph_of_a_model(write):
    graph = lemma.load(write(STATS)).graph
    assert repr(graph) == "<lemma.Graph Stats with 2 operations>" and len(graph) == 2
    low, doubled = graph.operations
    assert isinstance(low, lemma.Operation) and isinstance(low.inputs[0], lemma.Value)
    assert lemma.Graph.from_json(json.dumps(graph.raw)) == graph
    assert (low.name, low.label, low.attributes["axes"]) == ("math.min_reduce", "low", [0])
    assert str(doubled) == "doubled = math.add(x, x)"
    assert [str(value) for value in doubled.inputs] == ["x: f32[n]", "x: f32[n]"]
    assert graph.inputs[0].shape == ("n",) and graph.outputs[1].tensor == "doubled"
    assert graph.raw["schema"] == 1 and len(list(graph.walk())) >= 2
