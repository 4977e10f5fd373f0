# SPDX-License-Identifier: Apache-2.0
"""Models: loading, calling, inspecting."""
from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest
from conftest import ADD, COUNTER, STATS

import lemma

ONES = np.ones((2, 3), np.float32)


def test_inputs_go_by_position_and_by_name(write):
    model = lemma.load(write(ADD))
    expected = np.full((2, 3), 3, np.float32)
    for result in (
        model(ONES, 2 * ONES),
        model(ONES, y=2 * ONES),
        model(y=2 * ONES, x=ONES),
        model({"x": ONES, "y": 2 * ONES}),
        model.run({"x": ONES, "y": 2 * ONES})["sum"],
        model.run([ONES, 2 * ONES])["sum"],
    ):
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m(ONES), "the input `y` is missing"),
        (lambda m: m(ONES, ONES, ONES), "too many inputs; the model has 2: `x`, `y`"),
        (lambda m: m(ONES, z=ONES), "no input `z`; the model has `x`, `y`"),
        (lambda m: m(ONES, x=ONES), "the input `x` is given twice"),
        (lambda m: m(ONES, ONES[0]), "`y`"),
        (lambda m: m(ONES, ONES.astype(complex)), "complex128"),
        (lambda m: m(ONES, [["a", "b", "c"]] * 2), "<U1"),
        (lambda m: m(ONES, [[1, 2], [3]]), "`y`"),
    ],
)
def test_wrong_inputs_are_usage_errors(write, call, message):
    model = lemma.load(write(ADD))
    with pytest.raises(lemma.UsageError) as caught:
        call(model)
    assert message in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_several_outputs_are_a_tuple(write):
    model = lemma.load(write(STATS))
    low, doubled = model(np.array([3, 1, 2], np.float32))
    assert low == 1 and low.shape == ()
    np.testing.assert_array_equal(doubled, [6, 2, 4])
    low, doubled = model(np.array([5, 4], np.float32))  # another extent
    assert low == 4 and doubled.shape == (2,)


def test_a_request_to_stop():
    stop = lemma.Stop()
    assert not stop.requested
    stop.now()
    assert stop.requested
    stop.reset()
    assert not stop.requested
    assert issubclass(lemma.Stopped, lemma.Error)


def test_the_package_describes_a_model(write):
    model = lemma.load(write(STATS))
    assert isinstance(model.inputs[0], lemma.TensorInfo)
    assert isinstance(model.engine, lemma.Engine)
    assert (model.name, model.format) == ("Stats", "sknd")
    [x] = model.inputs
    assert (x.name, x.type, x.shape, x.bounds, x.extents) == ("x", "f32", (None,), (8,), ("n",))
    assert x.dtype == np.float32 and not x.optional
    assert [str(output) for output in model.outputs] == ["low: f32[]", "doubled: f32[n]"]
    assert model.variables == []
    assert model.engine.name in ("interpret", "compile") and model.engine.reason
    assert repr(model) == "<lemma.Model Stats(x: f32[n]) -> low: f32[], doubled: f32[n]>"
    html = model._repr_html_()
    assert "<b>Stats</b>" in html and "up to 8" in html


@pytest.mark.parametrize("engine", ["interpret", "compile"])
def test_the_engine_can_be_chosen(write, engine):
    model = lemma.load(write(ADD), engine=engine)
    np.testing.assert_array_equal(model(ONES, ONES), 2 * ONES)
    assert model.engine.name == engine


def test_the_type_of_real_can_be_chosen(write):
    model = lemma.load(write(ADD), real="f64")
    assert model(ONES, ONES).dtype == np.float64
    model = lemma.load(write(ADD), real="f16")
    assert model(ONES, ONES).dtype == np.float16
    model = lemma.load(write(ADD), real="bf16")
    assert model.outputs[0].type == "bf16"
    result = model(1.00390625 * ONES, 0 * ONES)  # 1 + 2^-8 rounds to 1
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, ONES)


@pytest.mark.parametrize("option", [{"engine": "jit"}, {"real": "f8"}, {"numerics": ""},
                                    {"accumulate": "f16"}, {"threads": 0}])  # fmt: skip
def test_wrong_options_are_usage_errors(write, option):
    with pytest.raises(lemma.UsageError, match=next(iter(option))):
        lemma.load(write(ADD), **option)


@pytest.mark.parametrize("option", [{"seed": -1}, {"random_weights": -1}, {"seed": 1 << 64}])
def test_seeds_have_a_range(write, option):
    with pytest.raises(lemma.UsageError, match=next(iter(option))):
        lemma.load(write(COUNTER), **{"random_weights": True, **option})
    with pytest.raises(lemma.UsageError, match="seed"):
        lemma.load(write(ADD)).session(seed=-1)


def test_paths_with_nul_are_refused(write, tmp_path):
    model = lemma.load(write(COUNTER), random_weights=True)
    for call in (
        lambda: lemma.load("examples/digits\0x"),
        lambda: lemma.check("examples/digits\0x"),
        lambda: lemma.convert("examples/digits\0x", tmp_path / "x.onnx"),
        lambda: lemma.compile("examples/digits", str(tmp_path / "x\0y")),
        lambda: model.variable("sum\0x"),
        lambda: model.set_variable("sum\0x", [1]),
        lambda: model.save_variables(str(tmp_path / "x\0y")),
    ):
        with pytest.raises(lemma.UsageError, match="NUL"):
            call()


def test_a_missing_file_is_a_usage_error(tmp_path):
    with pytest.raises(lemma.UsageError, match="there is no such file") as caught:
        lemma.load(tmp_path / "none.onnx")
    assert caught.value.diagnostics[0].kind == "unreadable-file"


def test_a_wrong_model_carries_its_diagnostics(write):
    path = write("import nn;\ngraph G {\n    @input { x: real[2]; }\n    @output { y: real[2]; }\n"
                 "    @compose { y = nn.rely(x); }\n}\n")  # fmt: skip
    with pytest.raises(lemma.ModelError) as caught:
        lemma.load(path)
    [found] = caught.value.diagnostics
    assert isinstance(found, lemma.Diagnostic)
    assert (found.severity, found.kind, found.line, found.column) == ("error", "no-operator", 5, 20)
    assert found.message == "no operator `nn.rely`"
    assert found.file.endswith("main.sknd") and "^~~~~~~" in found.text
    assert str(caught.value) == str(found)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is lemma.ModelError and again.diagnostics == [found]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"# text\n\nversion 1.0;\ngraph G", "nnef"),
        (b"import math;\n", "sknd"),
        ("# ünïcode\ngraph G".encode(), "sknd"),
        (b"\x08\x07\x12\x04text", "onnx"),
        (b"", "onnx"),
        (b"PK\x03\x04...", "zip"),
        (b"\x1f\x8b\x08", "tgz"),
        (bytes(257) + b"ustar", "tar"),
    ],
)
def test_the_format_of_bytes(content, name):
    from lemma._model import format_of

    assert format_of(content) == name


def test_extra_outputs_follow_the_outputs(write):
    text = STATS.replace("doubled = math.add(x, x);", "four = math.add(x, x); doubled = math.add(four, x);")
    model = lemma.load(write(text), extra_outputs=["four"])
    assert [output.name for output in model.outputs] == ["low", "doubled", "four"]
    np.testing.assert_array_equal(model(np.ones(2, np.float32))[2], [2, 2])


def test_a_model_can_be_pickled(write):
    model = pickle.loads(pickle.dumps(lemma.load(write(ADD), real="f64")))
    assert model(ONES, ONES).dtype == np.float64
    assert copy.copy(model)(ONES, ONES).dtype == np.float64


def test_an_object_that_was_not_loaded_is_a_usage_error(write):
    session = lemma.Session.__new__(lemma.Session)
    for attribute in ("inputs", "engine", "diagnostics", "name", "graph"):
        with pytest.raises(lemma.UsageError, match="not loaded"):
            getattr(lemma.Model.__new__(lemma.Model), attribute)
    for call in (
        lambda: lemma.Model.__new__(lemma.Model)(1),
        lambda: lemma.Model.__new__(lemma.Model).session(),
        lambda: lemma.Model.__new__(lemma.Model).variable("x"),
        lambda: session.run(1),
        lambda: session.diagnostics,
        lambda: session.reset(),
        lambda: session.set_variable("x", [1]),
        lambda: repr(session),
    ):
        with pytest.raises(lemma.UsageError, match="not loaded"):
            call()


def test_a_run_that_fails_is_a_run_error(write):
    model = lemma.load(
        write(
            "import layout;\ngraph Pick { @input { x: real[4]; i: int[1]; } @output { y: real[1]; } "
            "@compose { y = layout.gather{axis=0}(x, i); } }"
        )
    )
    x = np.arange(4, dtype=np.float32)
    assert model(x, [3]) == [3]
    with pytest.raises(lemma.RunError) as caught:
        model(x, [7])
    assert caught.value.diagnostics[0].severity == "error"
    assert model(x, [1]) == [1]


def test_missing_data_has_a_way_out(write):
    with pytest.raises(lemma.ModelError, match="hint: `random_weights=True`") as caught:
        lemma.load(write(COUNTER))
    assert caught.value.diagnostics[0].kind == "missing-data"


# ---- State ----


def test_a_model_with_state_keeps_it(write):
    model = lemma.load(write(COUNTER), random_weights=True)
    assert model.variables[0].updated
    model.set_variable("sum", [10])
    assert [float(model([1])) for _ in range(3)] == [11, 12, 13]
    assert model.variable("sum") == [13]
    one, two = model.session(), model.session()
    one.set_variable("sum", np.zeros(1, np.float32))
    two.set_variable("sum", np.zeros(1, np.float32))
    assert (float(one([1])), float(two([5])), float(one([1]))) == (1, 5, 2)
    with pytest.raises(lemma.UsageError, match="none"):
        one.variable("none")


def test_variables_can_be_saved(write, tmp_path):
    model = lemma.load(write(COUNTER), random_weights=True)
    model.set_variable("sum", [7])
    model.save_variables(str(tmp_path / "saved"))
    [saved] = (tmp_path / "saved").rglob("*.dat")
    assert np.frombuffer(saved.read_bytes()[-4:], np.float32) == 7


def test_callers_of_a_model_with_state_take_turns(write):
    model = lemma.load(write(COUNTER), random_weights=True)
    model.set_variable("sum", [0])
    results: list[float] = []
    threads = [
        threading.Thread(target=lambda: results.extend(float(model([1])) for _ in range(50)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(1, 201))


@pytest.mark.parametrize("engine", ["interpret", "compile"])
def test_threads_may_share_a_model(write, engine):
    model = lemma.load(write(STATS), engine=engine)
    failures: list[object] = []

    def work(seed: int) -> None:
        numbers = np.random.default_rng(seed)
        for _ in range(50):
            x = numbers.random(numbers.integers(1, 9), np.float32)
            low, doubled = model(x)
            if low != x.min() or not np.array_equal(doubled, x + x):
                failures.append((x, low, doubled))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# ---- Memory ----


def test_a_model_of_bytes_with_its_files(write, tmp_path):
    model = lemma.load(write(COUNTER), random_weights=True)
    model.set_variable("sum", [7])
    model.save_variables(str(tmp_path / "saved"))
    [saved] = (tmp_path / "saved").rglob("*.dat")
    name = str(saved.relative_to(tmp_path / "saved"))
    again = lemma.load(COUNTER.encode(), format="sknd", files={name: saved.read_bytes()})
    assert again([1]) == [8]
    with pytest.raises(lemma.UsageError, match="belong to a model given as bytes"):
        lemma.load(write(COUNTER), files={name: b""})


def test_bytes_name_no_file_of_this_machine():
    with pytest.raises(lemma.ModelError) as caught:
        lemma.model("graph G { @compose { y = x; } }")
    assert caught.value.diagnostics[0].file == "main.sknd"


def test_outputs_of_threads_are_those_of_single_runs(write):
    model = lemma.load(write(ADD), engine="compile")
    numbers = np.random.default_rng(0)
    pairs = [numbers.random((2, 2, 3), np.float32) for _ in range(64)]
    alone = [model(*pair) for pair in pairs]
    results: list[object] = [None] * len(pairs)

    def work(first: int) -> None:
        for index in range(first, len(pairs), 4):
            results[index] = model(*pairs[index])

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result, expected in zip(results, alone):
        np.testing.assert_array_equal(result, expected)


def test_reset_gives_the_values_of_the_load(write, tmp_path):
    model = lemma.load(write(COUNTER), random_weights=3)
    start = model.variable("sum")
    model([1])
    assert model.variable("sum") != start
    model.reset()
    assert model.variable("sum") == start
    session = model.session()
    session([2])
    session.reset()
    assert session.variable("sum") == start
