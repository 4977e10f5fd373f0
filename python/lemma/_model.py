# SPDX-License-Identifier: Apache-2.0
"""Models and sessions."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Union

from . import _lemma, _show
from ._arrays import DTYPES
from ._errors import Diagnostic, UsageError
from ._graph import Graph
from ._literals import literal

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview]
Progress = Callable[[str, int, "int | None"], object]


@dataclass(frozen=True)
class TensorInfo:
    """The declaration of an input, an output or a variable."""

    name: str
    type: str  #: such as "f32", "i64", "bool" or "str"
    shape: tuple[int | None, ...]  #: None is a runtime extent
    bounds: tuple[int | None, ...]  #: the upper bound of each extent, or None
    extents: tuple[str, ...]  #: each extent as text, such as "224" or "2*n"
    optional: bool = False  #: an item of a pack with a runtime length
    updated: bool = False  #: a variable that runs change

    @property
    def dtype(self) -> Any:
        """The type of the elements in numpy. bf16 is float32 there, strings are objects."""
        return DTYPES[self.type]

    def __str__(self) -> str:
        return f"{self.name}: {self.type}[{','.join(self.extents)}]"


class Engine(NamedTuple):
    """The engine that runs a model."""

    name: str  #: "interpret" or "compile"
    target: str  #: the processor of compiled code, such as "avx512"; empty for the interpreter
    reason: str  #: why this engine, in one sentence

    def __str__(self) -> str:
        return f"{self.name} {self.target}".strip()


def _infos(of: _lemma.Model | _lemma.Session, group: int) -> list[TensorInfo]:
    return [TensorInfo(*fields) for fields in of._infos(group)]


class Model(_lemma.Model):
    """A loaded model. `lemma.load` and `lemma.model` make one.

    Call it with its inputs, by position or by name. Threads may call it at the same time: each
    call that runs has a session of its own. A model with state, whose runs change variables, has
    one session, and callers take turns; `session()` makes further ones.

    >>> import lemma, numpy
    >>> double = lemma.model('''
    ... import math;
    ... graph Double {
    ...     @input { x: real[3]; }
    ...     @output { y: real[3]; }
    ...     @compose { y = math.add(x, x); }
    ... }''')
    >>> double([1, 2, 3])
    array([2., 4., 6.], dtype=float32)
    >>> double(x=numpy.ones(3, numpy.float32))
    array([2., 2., 2.], dtype=float32)
    >>> double.run({"x": [0, 0, 1]})
    {'y': array([0., 0., 2.], dtype=float32)}
    """

    def __init__(self, source: Any, options: dict[str, Any]) -> None:
        super().__init__(source, options)
        self._made_from = source, {
            name: value for name, value in options.items() if name not in ("stop", "progress")
        }

    def __reduce__(self) -> tuple[object, ...]:
        return Model, self._made_from

    @property
    def name(self) -> str:
        """The name of the graph."""
        return self._names()[0]

    @property
    def format(self) -> str:
        """"onnx", "sknd" or "nnef1"."""
        return self._names()[1]

    @property
    def device(self) -> str:
        """The name of the device that runs kernels, such as "NVIDIA H200"; empty: none."""
        return self._names()[2]

    @cached_property
    def inputs(self) -> list[TensorInfo]:
        """The inputs, in the order of positional arguments."""
        return _infos(self, _lemma.INPUTS)

    @cached_property
    def outputs(self) -> list[TensorInfo]:
        """The outputs, in the order of results."""
        return _infos(self, _lemma.OUTPUTS)

    @cached_property
    def variables(self) -> list[TensorInfo]:
        """The variables: weights, and state that runs change."""
        return _infos(self, _lemma.VARIABLES)

    @cached_property
    def graph(self) -> Graph:
        """The tensors and operations of the graph."""
        return Graph.from_json(self._graph_json())

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was found when the model was loaded: warnings and notes."""
        return self._diagnostics()

    @property
    def engine(self) -> Engine:
        """The engine of the runs, and the reason for it."""
        return Engine(*self._engine())

    def session(self, *, threads: int | None = None, seed: int | None = None) -> Session:
        """A session with memory and variables of its own; it shares weights and code."""
        return Session(self, threads=threads, seed=seed)

    def __repr__(self) -> str:
        return _show.model_text(self)

    def _repr_html_(self) -> str:
        return _show.model_html(self)


class Session(_lemma.Session):
    """The memory and the variables of runs of one model.

    It is called as a model is. Threads that share a session take turns.

    >>> import lemma
    >>> counter = lemma.model('''
    ... import math;
    ... graph Counter {
    ...     @input { x: real[1]; }
    ...     @output { y: real[1]; }
    ...     @variable { sum: real[1]; }
    ...     @compose { y = math.add(sum, x); }
    ...     @update { sum = y; }
    ... }''', random_weights=True)
    >>> session = counter.session()
    >>> session.set_variable("sum", [40])
    >>> session([1]), session([1])
    (array([41.], dtype=float32), array([42.], dtype=float32))
    >>> session.variable("sum")
    array([42.], dtype=float32)
    """

    def __init__(
        self, model: Model, *, threads: int | None = None, seed: int | None = None
    ) -> None:
        if threads is not None:
            _in_range("threads", threads, 1, 1 << 16)
        if seed is not None:
            _in_range("seed", seed, 0, 1 << 64)
        super().__init__(model, threads, seed)
        self._model = model

    @property
    def model(self) -> Model:
        """The model of this session."""
        return self._model

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The remarks of the last run, for example why the interpreter ran it."""
        return self._diagnostics()

    @property
    def engine(self) -> Engine:
        """The engine of the last run, and the reason for it."""
        return Engine(*self._engine())

    def __repr__(self) -> str:
        return f"<lemma.Session of {self._names()[0]}>"


# ---- Loading ----

_ENGINES = {"auto": 0, "interpret": 1, "compile": 2}
_NUMERICS = {"default": 0, "strict": 1, "fast": 2}
_REALS = {"f16": 1, "bf16": 2, "f32": 3, "f64": 4}
_NAMES = {
    "onnx": "model.onnx", "sknd": "main.sknd", "nnef": "graph.nnef",
    "tgz": "model.tgz", "tar": "model.tar", "zip": "model.zip",
}  # fmt: skip


def _chosen(what: str, value: str, values: dict[str, int]) -> int:
    if value not in values:
        raise UsageError(f"`{what}` is one of {', '.join(values)}; got {value!r}")
    return values[value]


def _in_range(what: str, value: int, first: int, end: int) -> None:
    if not isinstance(value, int) or not first <= value < end:
        raise UsageError(f"`{what}` is an integer from {first} to {end - 1}; got {value!r}")


def format_of(content: bytes) -> str:
    """The format of a model in memory: one of the names that `format` takes."""
    for name, start in (("zip", b"PK\x03\x04"), ("tgz", b"\x1f\x8b")):
        if content.startswith(start):
            return name
    if content[257:262] == b"ustar":
        return "tar"
    if not content or min(content[:4096]) < ord("\t"):  # texts have no such control characters
        return "onnx"
    words = [line.split() for line in content[:65536].splitlines() if not line.startswith(b"#")]
    first = next((line[0] for line in words if line), b"")
    return "nnef" if first == b"version" else "sknd"


def memory_files(
    content: Source, format: str | None, files: Mapping[str, bytes] | None
) -> list[tuple[str, Any]]:
    """The files of a model in memory as the extension module takes them."""
    assert isinstance(content, (bytes, bytearray, memoryview))
    content = bytes(content)
    format = format or format_of(content)
    if format not in _NAMES:
        raise UsageError(f"`format` is one of {', '.join(_NAMES)}; got {format!r}")
    return [(_NAMES[format], content), *(files or {}).items()]


def load_options(
    *,
    graph: str | None = None,
    attributes: Mapping[str, object] | None = None,
    real: str = "f32",
    quantize: bool = False,
    random_weights: int | bool | None = None,
    weights: str | os.PathLike[str] | None = None,
    extra_outputs: Iterable[str] = (),
    values: Mapping[str, Any] | None = None,
    engine: str = "auto",
    numerics: str = "default",
    accumulate: str = "f64",
    target: str | None = None,
    device: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    threads: int = 1,
    seed: int = 0,
    time_limit: float | None = None,
    stop: _lemma.Stop | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """The options of `load` as the extension module takes them."""
    _in_range("threads", threads, 1, 1 << 16)
    _in_range("seed", seed, 0, 1 << 64)
    if isinstance(extra_outputs, str):
        extra_outputs = [extra_outputs]
    options: dict[str, Any] = {
        "graph": graph,
        "attributes": [f"{name}={literal(value)}" for name, value in (attributes or {}).items()],
        "real": _chosen("real", real, _REALS),
        "quantize": int(quantize),
        "weights": None if weights is None else os.fspath(weights),
        "extra_outputs": list(extra_outputs),
        "values": dict(values) if values else None,
        "engine": _chosen("engine", engine, _ENGINES),
        "numerics": _chosen("numerics", numerics, _NUMERICS),
        "accumulate_f32": _chosen("accumulate", accumulate, {"f64": 0, "f32": 1}),
        "target": target,
        "device": device,
        "cache": None if cache is None else os.fspath(cache),
        "threads": threads,
        "seed": seed,
        "time_limit": time_limit,
        "stop": stop,
        "progress": progress,
    }
    if random_weights is not None and random_weights is not False:
        options["random_weights"] = 0 if random_weights is True else random_weights
        _in_range("random_weights", options["random_weights"], 0, 1 << 64)
    return {name: value for name, value in options.items() if value is not None}


def load(
    source: Source,
    *,
    graph: str | None = None,
    attributes: Mapping[str, object] | None = None,
    real: str = "f32",
    quantize: bool = False,
    random_weights: int | bool | None = None,
    weights: str | os.PathLike[str] | None = None,
    extra_outputs: Iterable[str] = (),
    values: Mapping[str, Any] | None = None,
    files: Mapping[str, bytes] | None = None,
    format: str | None = None,
    engine: str = "auto",
    numerics: str = "default",
    accumulate: str = "f64",
    target: str | None = None,
    device: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    threads: int = 1,
    seed: int = 0,
    time_limit: float | None = None,
    stop: _lemma.Stop | None = None,
    progress: Progress | None = None,
) -> Model:
    """Loads a model: SkriptND, NNEF 1.0 or ONNX.

    `source` is the path of a file, a folder or an archive, or the bytes of a file. For bytes,
    `files` has the further files of the model by name, and `format` is onnx, sknd, nnef, tgz, tar
    or zip; without it, Lemma looks at the bytes.

    - graph: the graph to load; without it the first.
    - attributes: graph attributes by name.
    - real: the type of `real`: f16, bf16, f32 or f64.
    - quantize: apply the quantisation of the model.
    - random_weights: a seed (or True) for variables without data.
    - weights: a .safetensors file that replaces the data of the model.
    - extra_outputs: names of inner tensors that become outputs after those of the model; "*": all.
    - values: values of ONNX inputs that decide shapes.
    - engine: auto, interpret or compile.
    - numerics: strict, default or fast; accumulate: f32 or f64 (docs/numerics.md).
    - target: the processor of compiled code; cache: the folder of compiled kernels, "" for none.
    - device: cpu, cuda, cuda:N or auto; without it that of LEMMA_DEVICE, or cpu.
    - threads: threads of compiled code; seed: the seed of random operators.
    - time_limit: seconds; stop: a `lemma.Stop`; progress: called with stage, done and total.

    Raises `ModelError` if the model is wrong and `UsageError` if it cannot be read.

    >>> import lemma
    >>> model = lemma.load("examples/digits", engine="interpret")
    >>> model.inputs[0].name, model.inputs[0].shape
    ('picture', (7, 5))
    >>> str(model.engine)
    'interpret'
    """
    options = load_options(
        graph=graph, attributes=attributes, real=real, quantize=quantize,
        random_weights=random_weights, weights=weights, extra_outputs=extra_outputs, values=values,
        engine=engine, numerics=numerics, accumulate=accumulate, target=target,
        device=device, cache=cache, threads=threads, seed=seed, time_limit=time_limit, stop=stop, progress=progress,
    )  # fmt: skip
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Model(memory_files(source, format, files), options)
    if files is not None or format is not None:
        raise UsageError("`files` and `format` belong to a model given as bytes")
    return Model(os.fspath(source), options)


def model(text: str, **options: Any) -> Model:
    """A model from SkriptND text. The options are those of `load`.

    >>> import lemma
    >>> relu = lemma.model('''
    ... import nn;
    ... graph Net {
    ...     @input { x: real[n|8]; }
    ...     @output { y: real[n]; }
    ...     @compose { y = nn.relu(x); }
    ... }''')
    >>> relu([-1, 0, 2])
    array([0., 0., 2.], dtype=float32)
    """
    return load(text.encode("utf-8"), format="sknd", **options)
