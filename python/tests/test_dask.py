# SPDX-License-Identifier: Apache-2.0
"""Tests of lemma.dask with the schedulers of one process. test_dask_cluster.py has a cluster."""
from __future__ import annotations

import pickle
import threading

import dask.array as da
import numpy as np
import pytest

import lemma
import lemma.dask

DENSE = """
import math, nn;
graph Dense {
    @input { x: real[n|1000, 4]; }
    @output { y: real[n, 2]; top: real[n, 1]; }
    @constant { w: real[2, 4] = [0.5, -1.0, 2.0, 0.25, 1.0, 0.125, -0.5, 3.0]; }
    @compose {
        y = nn.linear(x, w);
        top = math.max_reduce{axes=[1]}(y);
    }
}
"""
ROW = """
import math;
graph Row {
    @input { x: real[3]; }
    @output { y: real[3]; }
    @compose { y = math.exp(x); }
}
"""
PAIR = """
import math;
graph Pair {
    @input { x: real[n|5, m|64]; y: int[n]; scale: real[]; }
    @output { z: real[n, m]; w: int[n]; }
    @compose { z = math.mul(x, scale); w = math.add(y, 1); }
}
"""
FIXED = """
import math;
graph Fixed {
    @input { x: real[4, 2]; }
    @output { y: real[4, 2]; }
    @compose { y = math.neg(x); }
}
"""
MIXED = """
import linalg;
graph Mixed {
    @input { x: real[n|1000, 4]; }
    @output { y: real[n, n]; }
    @compose { y = linalg.matmul{transB=true}(x, x); }
}
"""
SUM = """
import math;
graph Sum {
    @input { x: real[n|1000, 4]; }
    @output { y: real[1, 4]; }
    @compose { y = math.sum_reduce{axes=[0]}(x); }
}
"""


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).normal(size=shape).astype(np.float32)


def test_scores_chunks_as_one_call_does(write):
    path = write(DENSE)
    rows = numbers(100, 4)
    expected = lemma.load(path)(rows)
    for chunks in [(7, 4), (100, 2), ((50, 0, 50), 4), (1, 1)]:
        y, top = lemma.dask.predict(da.from_array(rows, chunks=chunks), path)
        assert y.shape == (100, 2) and top.shape == (100, 1)
        assert y.dtype == np.float32
        np.testing.assert_array_equal(y.compute(), expected[0])
        np.testing.assert_array_equal(top.compute(), expected[1])


def test_the_chunks_of_rows_stay(write):
    y, _ = lemma.dask.predict(da.from_array(numbers(10, 4), chunks=(3, 2)), write(DENSE))
    assert y.chunks == ((3, 3, 3, 1), (2,))


def test_calls_have_at_most_the_rows_of_a_batch(write):
    rows = numbers(9, 4)
    path = write(DENSE)
    expected = lemma.load(path)(rows)[0]
    y, _ = lemma.dask.predict(da.from_array(rows, chunks=(9, 4)), path, batch=2)
    np.testing.assert_array_equal(y.compute(), expected)


def test_a_model_without_rows_gets_one_row_at_a_time(write):
    rows = numbers(5, 3)
    y = lemma.dask.predict(da.from_array(rows, chunks=(2, 3)), write(ROW))
    assert y.shape == (5, 3)
    np.testing.assert_allclose(y.compute(), np.exp(rows), rtol=1e-6)


def test_several_inputs_by_name_with_a_value_for_all_rows(write):
    x, y = numbers(12, 6), np.arange(12)
    z, w = lemma.dask.predict(
        {
            "y": da.from_array(y, chunks=5),
            "scale": np.float32(3),
            "x": da.from_array(x, chunks=(4, 3)),
        },
        write(PAIR),
    )
    assert z.shape == (12, 6) and z.chunks[0] == (4, 4, 4)
    np.testing.assert_array_equal(z.compute(), x * np.float32(3))
    np.testing.assert_array_equal(w.compute(), y + 1)


def test_calls_keep_the_upper_bound_of_the_rows(write):
    x, y = numbers(12, 2), np.arange(12)  # the model takes 5 rows at most
    z, _ = lemma.dask.predict(
        [da.from_array(x, chunks=12), da.from_array(y, chunks=12), np.float32(2)], write(PAIR)
    )
    np.testing.assert_array_equal(z.compute(), x * 2)


def test_a_fixed_number_of_rows_decides_the_chunks(write):
    path = write(FIXED)
    rows = numbers(20, 2)
    y = lemma.dask.predict(da.from_array(rows, chunks=(6, 2)), path)
    assert all(chunk % 4 == 0 for chunk in y.chunks[0]) and sum(y.chunks[0]) == 20
    np.testing.assert_array_equal(y.compute(), -rows)
    with pytest.raises(lemma.UsageError, match="no multiple"):
        lemma.dask.predict(da.from_array(numbers(6, 2)), path)


def test_no_rows_give_no_rows(write):
    y, _ = lemma.dask.predict(da.from_array(numbers(0, 4)), write(DENSE))
    assert y.compute().shape == (0, 2)
    z = lemma.dask.predict(da.from_array(numbers(0, 3)), write(ROW))
    assert z.compute().shape == (0, 3)


def test_a_loaded_model_and_options(write):
    rows = numbers(4, 4)
    path = write(DENSE)
    array = da.from_array(rows, chunks=(2, 4))
    expected = lemma.load(path)(rows)[0]
    by_model, _ = lemma.dask.predict(array, lemma.load(path))
    np.testing.assert_array_equal(by_model.compute(), expected)
    by_option, _ = lemma.dask.predict(array, path, real="f64")
    assert by_option.dtype == np.float64
    with pytest.raises(lemma.UsageError, match="`real` is an option of loading"):
        lemma.dask.predict(array, lemma.load(path), real="f64")


def test_bytes_travel_to_the_workers(write):
    rows = numbers(6, 4)
    path = write(DENSE)
    y, _ = lemma.dask.predict(da.from_array(rows, chunks=(2, 4)), path.read_bytes())
    path.unlink()
    expected = lemma.load(DENSE.encode())(rows)[0]
    np.testing.assert_array_equal(y.compute(scheduler="processes", num_workers=1), expected)


@pytest.mark.parametrize(
    ("text", "array", "message"),
    [
        (DENSE, lambda: numbers(4, 4), "must be a Dask array"),
        (DENSE, lambda: da.from_array(numbers(4, 3)), "axis 1 .* has extent 3, expected 4"),
        (DENSE, lambda: da.from_array(numbers(4)), "has 1 axes"),
        (DENSE, lambda: [da.from_array(numbers(4, 4))] * 2, "has 1 inputs"),
        (DENSE, lambda: {"z": da.from_array(numbers(4, 4))}, "no input `z`"),
        (DENSE, lambda: {}, "`x` is missing"),
        (MIXED, lambda: da.from_array(numbers(4, 4)), "relates rows"),
        (SUM, lambda: da.from_array(numbers(4, 4)), "no row for each row"),
        (
            PAIR,
            lambda: [da.from_array(numbers(4, 4)), da.from_array(np.arange(3)), np.float32(1)],
            "`y` has 3 rows, but `x` has 4",
        ),
    ],
    ids=range(9),
)
def test_arrays_that_do_not_fit(write, text, array, message):
    with pytest.raises(lemma.UsageError, match=message):
        lemma.dask.predict(array(), write(text))


def test_refuses_state(write):
    from conftest import COUNTER

    with pytest.raises(lemma.UsageError, match="keeps state"):
        lemma.dask.predict(da.from_array(numbers(4, 1)), write(COUNTER), random_weights=0)


def test_refuses_unknown_numbers_of_rows_and_bad_batches(write):
    array = da.from_array(numbers(8, 4), chunks=(4, 4))
    path = write(DENSE)
    with pytest.raises(lemma.UsageError, match="compute_chunk_sizes"):
        lemma.dask.predict(array[array[:, 0] > 0], path)
    with pytest.raises(lemma.UsageError, match="`batch`"):
        lemma.dask.predict(array, path, batch=0)
    with pytest.raises(lemma.UsageError):
        lemma.dask.predict(array, path.parent / "missing.onnx")


def test_a_worker_refuses_another_model_at_the_same_path(write):
    path = write(DENSE)
    recipe = lemma.dask._recipe(lemma.load(path))
    write(ROW)
    with pytest.raises(lemma.UsageError, match="another model"):
        pickle.loads(pickle.dumps(recipe)).make()


def test_threads_of_a_process_load_a_model_once(write, monkeypatch):
    recipe = lemma.dask._recipe(lemma.load(write(DENSE)))
    models, loads = lemma.dask._Models(), []
    make = lemma.dask._Recipe.make

    def counted(self):
        loads.append(1)
        return make(self)

    monkeypatch.setattr(lemma.dask._Recipe, "make", counted)
    threads = [threading.Thread(target=models.get, args=(recipe,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1


def test_a_process_keeps_the_models_used_last(write):
    models = lemma.dask._Models()
    recipes = [
        lemma.dask._recipe(lemma.load(write(DENSE), real=real))
        for real in ("f16", "bf16", "f32", "f64")
    ]
    loaded = [models.get(recipe) for recipe in recipes]
    assert models.get(recipes[0]) is loaded[0]
    models.get(lemma.dask._recipe(lemma.load(write(DENSE), seed=5)))
    assert models.get(recipes[0]) is loaded[0]  # used last
    assert models.get(recipes[1]) is not loaded[1]  # dropped
