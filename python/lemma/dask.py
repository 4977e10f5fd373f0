# SPDX-License-Identifier: Apache-2.0
"""Scores Dask arrays with a model: in this process, or on a cluster.

>>> import dask.array, lemma.dask
>>> rows = dask.array.ones((6, 3), chunks=(2, 3), dtype="float32")
>>> scores = lemma.dask.predict(rows, b'''
...     import math;
...     graph Sum {
...         @input { x: real[n|1000, 3]; }
...         @output { y: real[n, 1]; }
...         @compose { y = math.sum_reduce{axes=[1]}(x); }
...     }''')
>>> scores
dask.array<lemma-predict, shape=(6, 1), dtype=float32, chunksize=(2, 1), chunktype=numpy.ndarray>
>>> scores.sum().compute()
18.0
"""
from __future__ import annotations

import hashlib
import operator
import os
import pickle
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from dask.array.core import Array
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from ._errors import UsageError
from ._model import Model, TensorInfo, load

__all__ = ["predict"]

ModelSource = Union[str, "os.PathLike[str]", bytes, Model]

#: Models that a worker process keeps loaded; the one used longest ago goes first.
_KEPT_MODELS = 4


# ---- Models on workers ----


@dataclass(frozen=True)
class _Recipe:
    """How a worker gets the model."""

    key: str  # a hash of the content and of the options
    pickled: bytes  # the arguments of `Model`
    path: str = ""  # of the model, if every worker reads it from there
    digest: str = ""  # of the files at this path

    def make(self) -> Model:
        if self.path and _digest(self.path) != self.digest:
            raise UsageError(
                f"`{self.path}` on this worker is another model than the one that `predict` got; "
                "copy the model to all workers, or give `predict` its bytes"
            )
        return Model(*pickle.loads(self.pickled))


def _digest(path: str) -> str:
    """A hash of a file, or of all files below a folder with their names."""
    digest = hashlib.sha256()
    if not os.path.isdir(path):
        _add_file(path, digest)
        return digest.hexdigest()
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            file = os.path.join(folder, name)
            digest.update(os.path.relpath(file, path).encode() + b"\0")
            _add_file(file, digest)
    return digest.hexdigest()


def _add_file(path: str, digest: Any) -> None:
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as trouble:
        raise UsageError(f"cannot read the model `{path}`: {trouble.strerror}") from trouble


def _recipe(model: Model) -> _Recipe:
    source, options = model._made_from
    if not isinstance(source, str):
        pickled = pickle.dumps((source, options))
        return _Recipe(hashlib.sha256(pickled).hexdigest(), pickled)
    path = os.path.abspath(source)
    digest, pickled = _digest(path), pickle.dumps((path, options))
    key = hashlib.sha256(digest.encode() + pickled).hexdigest()
    return _Recipe(key, pickled, path, digest)


class _Models:
    """The models of this process. Threads that want the same model wait for one load."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loading: dict[str, threading.Lock] = {}
        self._models: OrderedDict[str, Model] = OrderedDict()

    def get(self, recipe: _Recipe, loaded: Model | None = None) -> Model:
        """The model of a recipe, which may be loaded already."""
        with self._lock:
            loading = self._loading.setdefault(recipe.key, threading.Lock())
        with loading:
            with self._lock:
                if recipe.key in self._models:
                    self._models.move_to_end(recipe.key)
                    return self._models[recipe.key]
            model = loaded or recipe.make()
            with self._lock:
                self._models[recipe.key] = model
                while len(self._models) > _KEPT_MODELS:
                    self._models.popitem(last=False)
            return model


_models = _Models()


# ---- Rows ----


@dataclass(frozen=True)
class _Plan:
    """How the rows of a chunk become calls of the model."""

    row_inputs: tuple[int, ...]  # positions of the inputs that have a row for each row
    whole: tuple[tuple[int, Any], ...]  # the other inputs, the same in every call
    rows: int  # rows of a call; 0: single rows, without the axis
    exact: bool  # every call has this number of rows


@dataclass(frozen=True, eq=False)
class _Work:
    """What every task of a prediction shares."""

    recipe: _Recipe
    plan: _Plan


def _inputs_of(arrays: Any, model: Model) -> list[Any]:
    """The arguments in the order of the model's inputs."""
    names = [info.name for info in model.inputs]
    if isinstance(arrays, Mapping):
        for name in arrays:
            if name not in names:
                raise UsageError(f"there is no input `{name}`; the inputs are {', '.join(names)}")
        for name in names:
            if name not in arrays:
                raise UsageError(f"the input `{name}` is missing")
        return [arrays[name] for name in names]
    given = list(arrays) if isinstance(arrays, (list, tuple)) else [arrays]
    if len(given) != len(names):
        raise UsageError(f"the model has {len(names)} inputs ({', '.join(names)}), not {len(given)}")
    return given


def _plan(model: Model, given: Sequence[Any], batch: int) -> _Plan:
    """Checks the arrays against the inputs, and the outputs against the rows."""
    rowwise = [i for i, value in enumerate(given) if isinstance(value, Array)]
    if not rowwise:
        raise UsageError("one of the inputs must be a Dask array; `lemma.load` scores other arrays")
    changing = [info.name for info in model.variables if info.updated]
    if changing:
        raise UsageError(
            f"the model keeps state from run to run (`{changing[0]}`), so its rows depend on each other"
        )
    for i in rowwise:
        if np.isnan(given[i].shape[0]):
            raise UsageError(
                f"the number of rows of `{model.inputs[i].name}` is not known; call its method "
                "compute_chunk_sizes() first"
            )
    single = [given[i].ndim == len(model.inputs[i].shape) + 1 for i in rowwise]
    for i, one_row in zip(rowwise, single):
        _check_rank(model.inputs[i], given[i], one_row)
    whole = tuple((i, value) for i, value in enumerate(given) if i not in rowwise)
    if any(single):
        if not all(single):
            raise UsageError("some arrays have an axis for the rows that the inputs lack, others do not")
        return _Plan(tuple(rowwise), whole, rows=0, exact=True)
    infos = [model.inputs[i] for i in rowwise]
    extent = infos[0].extents[0]
    for info in infos[1:] + list(model.outputs):
        if not info.shape or info.extents[0] != extent:
            what = "has no axis" if not info.shape else f"has the first extent `{info.extents[0]}`"
            raise UsageError(
                f"`{info.name}` {what}, but `{infos[0].name}` begins with `{extent}`: there is no row "
                "for each row"
            )
    fixed = infos[0].shape[0]
    for info in model.outputs if fixed is None else ():
        if extent in info.extents[1:]:
            raise UsageError(f"`{info.name}` relates rows to each other: its extents are "
                             f"{','.join(info.extents)}")  # fmt: skip
    if fixed is not None:
        return _Plan(tuple(rowwise), whole, rows=fixed, exact=True)
    bound = infos[0].bounds[0]
    return _Plan(tuple(rowwise), whole, rows=min(batch, bound or batch), exact=False)


def _check_rank(info: TensorInfo, array: Any, one_row: bool) -> None:
    if array.ndim != len(info.shape) + one_row or array.ndim == 0:
        raise UsageError(
            f"the array for `{info.name}` has {array.ndim} axes, but the input is "
            f"{info.type}[{','.join(info.extents)}]; give an axis for the rows, then those of the input"
        )
    extents = info.shape if one_row else info.shape[1:]
    for axis, (extent, wanted) in enumerate(zip(array.shape[1:], extents), 1):
        if wanted is not None and not np.isnan(extent) and extent != wanted:
            raise UsageError(
                f"axis {axis} of the array for `{info.name}` has extent {extent}, expected {wanted}"
            )


def _score(work: _Work, *blocks: Any) -> tuple[Any, ...]:
    """The outputs for the rows of one chunk."""
    model, plan = _models.get(work.recipe), work.plan
    count = blocks[0].shape[0]
    if count == 0:
        known = _known_extents(model, _arguments(plan, blocks), plan)
        shapes = [_rest(info, plan, known) for info in model.outputs]
        return tuple(
            np.empty([0, *(0 if np.isnan(extent) else extent for extent in shape)], info.dtype)
            for info, shape in zip(model.outputs, shapes)
        )
    if plan.rows == 0:
        calls = [_call(model, plan, [block[at] for block in blocks]) for at in range(count)]
        return tuple(np.stack(items) for items in zip(*calls))
    step = plan.rows
    calls = [
        _call(model, plan, [block[at : at + step] for block in blocks])
        for at in range(0, count, step)
    ]
    return calls[0] if len(calls) == 1 else tuple(np.concatenate(items) for items in zip(*calls))


def _arguments(plan: _Plan, rows: Sequence[Any]) -> list[Any]:
    """Values of all inputs, in the order of the model."""
    arguments: list[Any] = [None] * (len(plan.whole) + len(plan.row_inputs))
    for i, value in [*plan.whole, *zip(plan.row_inputs, rows)]:
        arguments[i] = value
    return arguments


def _call(model: Model, plan: _Plan, rows: Sequence[Any]) -> tuple[Any, ...]:
    result = model(*_arguments(plan, [np.ascontiguousarray(row) for row in rows]))
    return result if isinstance(result, tuple) else (result,)


# ---- Shapes of the result ----


def _known_extents(model: Model, given: Sequence[Any], plan: _Plan) -> dict[str, int]:
    """The values of runtime extents that the arrays decide, by their texts."""
    known = {}
    for i, (info, value) in enumerate(zip(model.inputs, given)):
        shape = value.shape if isinstance(value, Array) else np.shape(value)
        extents = info.extents
        if i in plan.row_inputs:  # without the rows
            shape, extents = shape[1:], extents if plan.rows == 0 else extents[1:]
        for text, extent in zip(extents, shape):
            if not np.isnan(extent):
                known[text] = int(extent)
    return known


def _rest(info: TensorInfo, plan: _Plan, known: Mapping[str, int]) -> tuple[Any, ...]:
    """The extents of an output after the axis of the rows; nan if only a run tells one."""
    first = 0 if plan.rows == 0 else 1
    extents = zip(info.shape[first:], info.extents[first:])
    return tuple(known.get(text, np.nan) if extent is None else extent for extent, text in extents)


def _row_chunks(rows: int, chunks: tuple[int, ...], plan: _Plan, name: str) -> tuple[int, ...]:
    """The chunks of the rows; those of a model with a fixed number of rows are multiples of it."""
    if not plan.exact or plan.rows <= 1:
        return chunks
    if rows % plan.rows:
        raise UsageError(
            f"the model takes {plan.rows} rows at a time, and {rows} rows of `{name}` are no multiple "
            "of that; pad the array, or give the model a runtime extent there"
        )
    ends = sorted({end - end % plan.rows for end in np.cumsum(chunks).tolist()} - {0})
    return tuple(np.diff([0, *ends]).tolist())


def predict(
    arrays: Any, model: ModelSource, *, batch: int = 32, **options: Any
) -> Any:
    """The outputs of a model for each row of Dask arrays, as Dask arrays. Nothing runs yet.

    `arrays` is one Dask array, a list in the order of the model's inputs, or a dict by their names.
    The first axis of a Dask array counts the rows. It may have any chunks; each chunk is one task.
    Lemma joins the chunks of the other axes. An input that is no Dask array has the same value for
    all rows.

    `model` is a path that every worker can read, the bytes of a model, or a loaded model. Each
    worker process loads it once. `options` are those of `lemma.load`.

    The model decides how its inputs meet the rows:

    - A runtime extent in front, such as `x: real[n|1000, 3]`: calls with up to `batch` rows.
    - A fixed extent in front, such as `x: real[8, 3]`: calls with 8 rows. The number of rows must be
      a multiple of it.
    - No axis for the rows, such as `x: real[3]`: a call for each row.

    Returns a Dask array, or a tuple of them if the model has several outputs.

    >>> import dask.array, lemma.dask
    >>> rows = dask.array.arange(4, dtype="float32").reshape(2, 2)
    >>> model = lemma.model('''
    ... import math;
    ... graph Double {
    ...     @input { x: real[2]; }
    ...     @output { y: real[2]; }
    ...     @compose { y = math.add(x, x); }
    ... }''')
    >>> lemma.dask.predict(rows, model).compute()
    array([[0., 2.],
           [4., 6.]], dtype=float32)
    """
    if batch < 1:
        raise UsageError("`batch` is a positive number of rows")
    if isinstance(model, Model) and options:
        raise UsageError(f"`{next(iter(options))}` is an option of loading; the model is loaded")
    loaded = model if isinstance(model, Model) else load(model, **options)
    recipe = _recipe(loaded)
    _models.get(recipe, loaded)
    given = _inputs_of(arrays, loaded)
    plan = _plan(loaded, given, batch)
    first = given[plan.row_inputs[0]]
    name = loaded.inputs[plan.row_inputs[0]].name
    rows = _row_chunks(int(first.shape[0]), first.chunks[0], plan, name)
    blocks = []
    for i in plan.row_inputs:
        if given[i].shape[0] != first.shape[0]:
            raise UsageError(
                f"`{loaded.inputs[i].name}` has {given[i].shape[0]} rows, but `{name}` has "
                f"{first.shape[0]}"
            )
        chunks: dict[int, Any] = {axis: -1 for axis in range(1, given[i].ndim)}
        blocks.append(given[i].rechunk({0: rows, **chunks}))
    known = _known_extents(loaded, given, plan)
    results = _arrays(recipe, plan, blocks, rows, [
        (info.dtype, _rest(info, plan, known)) for info in loaded.outputs
    ])  # fmt: skip
    return results[0] if len(results) == 1 else tuple(results)


def _arrays(
    recipe: _Recipe,
    plan: _Plan,
    blocks: Sequence[Any],
    rows: tuple[int, ...],
    outputs: Sequence[tuple[Any, tuple[Any, ...]]],
) -> list[Any]:
    """A task for each chunk, which makes all outputs, and a task that picks each output."""
    token = tokenize(recipe.key, plan, *(block.name for block in blocks))
    shared, scores = f"lemma-model-{token}", f"lemma-scores-{token}"
    layer: dict[Any, Any] = {shared: _Work(recipe, plan)}
    for i in range(len(rows)):
        parts = [(block.name, i, *(0 for _ in range(1, block.ndim))) for block in blocks]
        layer[(scores, i)] = (_score, shared, *parts)
    graph = HighLevelGraph.from_collections(scores, layer, dependencies=list(blocks))
    results = []
    for number, (dtype, rest) in enumerate(outputs):
        name = f"lemma-predict-{tokenize(token, number)}"
        picks = {
            (name, i, *(0 for _ in rest)): (operator.getitem, (scores, i), number)
            for i in range(len(rows))
        }
        whole = HighLevelGraph(
            {**graph.layers, name: picks}, {**graph.dependencies, name: {scores}}
        )
        chunks = (rows, *((extent,) for extent in rest))
        results.append(Array(whole, name, chunks, dtype=dtype))
    return results
