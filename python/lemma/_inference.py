# SPDX-License-Identifier: Apache-2.0
"""`InferenceSession` with the call shape of ONNX Runtime: one changed import switches."""
from __future__ import annotations

import mmap
import os
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from . import _lemma
from ._errors import UsageError
from ._model import Model, Source, load
from ._onnx_header import Extent, Header, Port, read_header

_PROVIDER = "CPUExecutionProvider"
_TYPES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float", "f64": "double", "i8": "int8",
    "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "bool": "bool", "str": "string",
}  # fmt: skip


class GraphOptimizationLevel(IntEnum):
    """Accepted; Lemma optimises always, and `numerics` of `lemma.load` decides how far."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_ALL = 99


class ExecutionMode(IntEnum):
    """Accepted; it changes nothing."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class _Settings:
    """Fields that can be set; a name that ONNX Runtime does not have is an error."""

    _fields: dict[str, Any] = {}
    _refused: dict[str, str] = {}

    def __init__(self) -> None:
        for name, value in self._fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._fields:
            raise AttributeError(f"{type(self).__name__} has no field `{name}`")
        if name in self._refused and value != self._fields[name]:
            raise UsageError(f"{type(self).__name__}.{name}: {self._refused[name]}")
        object.__setattr__(self, name, value)


class SessionOptions(_Settings):
    """The options of an `InferenceSession`.

    `intra_op_num_threads` is the number of threads; 0 means one for each processor.
    `enable_profiling`, `optimized_model_filepath` and libraries of operators raise `UsageError`.
    The other fields are accepted and change nothing.

    >>> import lemma
    >>> options = lemma.SessionOptions()
    >>> options.intra_op_num_threads = 2
    >>> options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    >>> options.get_session_config_entry("session.intra_op.allow_spinning")
    '0'
    """

    intra_op_num_threads: int
    inter_op_num_threads: int
    execution_mode: ExecutionMode
    graph_optimization_level: GraphOptimizationLevel
    enable_cpu_mem_arena: bool
    enable_mem_pattern: bool
    enable_mem_reuse: bool
    enable_profiling: bool
    execution_order: int
    log_severity_level: int
    log_verbosity_level: int
    logid: str
    optimized_model_filepath: str
    profile_file_prefix: str
    use_deterministic_compute: bool

    _fields = {
        "intra_op_num_threads": 0, "inter_op_num_threads": 0,
        "execution_mode": ExecutionMode.ORT_SEQUENTIAL,
        "graph_optimization_level": GraphOptimizationLevel.ORT_ENABLE_ALL,
        "enable_cpu_mem_arena": True, "enable_mem_pattern": True, "enable_mem_reuse": True,
        "enable_profiling": False, "execution_order": 0, "log_severity_level": -1,
        "log_verbosity_level": 0, "logid": "", "optimized_model_filepath": "",
        "profile_file_prefix": "", "use_deterministic_compute": False, "_entries": None,
    }  # fmt: skip
    _refused = {
        "enable_profiling": "`lemma bench` measures models",
        "optimized_model_filepath": "`lemma compile` writes compiled models",
    }

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Keeps an entry; it changes nothing."""
        object.__setattr__(self, "_entries", {**(self._entries or {}), key: value})

    def get_session_config_entry(self, key: str) -> str:
        """An entry that was added."""
        entries: dict[str, str] = self._entries or {}
        if key not in entries:
            raise UsageError(f"there is no entry `{key}`")
        return entries[key]

    def register_custom_ops_library(self, path: str) -> None:
        """Always raises: Lemma takes new operators from SkriptND text."""
        raise UsageError("libraries of operators cannot be loaded; SkriptND defines new operators")

    def add_free_dimension_override_by_name(self, name: str, value: int) -> None:
        """Always raises: each run chooses its extents."""
        raise UsageError("extents cannot be overridden; each run chooses its own")

    _entries: Any


class RunOptions(_Settings):
    """The options of one run. Setting `terminate` to True stops the run, from any thread.

    >>> import lemma
    >>> lemma.RunOptions().terminate
    False
    """

    terminate: bool
    log_severity_level: int
    log_verbosity_level: int
    logid: str
    only_execute_path_to_fetches: bool
    _stop: _lemma.Stop

    _fields = {
        "terminate": False, "log_severity_level": -1, "log_verbosity_level": 0, "logid": "",
        "only_execute_path_to_fetches": False, "_stop": None,
    }  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "_stop", _lemma.Stop())

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "terminate":
            (self._stop.now if value else self._stop.reset)()


class NodeArg:
    """The name, the type and the shape of an input or output."""

    def __init__(self, name: str, type: str, shape: list[Extent]) -> None:
        self.name = name
        self.type = type  #: such as "tensor(float)"
        self.shape = shape  #: a runtime extent is its name or None

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape!r})"


class ModelMetadata:
    """The metadata of an ONNX model."""

    def __init__(self, header: Header) -> None:
        self.producer_name = header.producer_name
        self.producer_version = header.producer_version
        self.graph_name = header.graph_name
        self.graph_description = header.graph_description
        self.domain = header.domain
        self.description = header.description
        self.version = header.version
        self.custom_metadata_map = dict(header.metadata)


def get_available_providers() -> list[str]:
    """The processors that Lemma runs on.

    >>> import lemma
    >>> lemma.get_available_providers()
    ['CPUExecutionProvider']
    """
    return [_PROVIDER]


def get_device() -> str:
    """The kind of processor.

    >>> import lemma
    >>> lemma.get_device()
    'CPU'
    """
    return "CPU"


def _check_providers(providers: Sequence[Any] | None) -> None:
    for provider in providers or ():
        name = provider[0] if isinstance(provider, (tuple, list)) else provider
        if name != _PROVIDER:
            warnings.warn(f"Lemma runs on the CPU only: {name} is ignored", stacklevel=3)


def _header(source: Source) -> Header:
    try:
        if isinstance(source, (bytes, bytearray, memoryview)):
            return read_header(source)
        with open(source, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return Header()
            return read_header(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))
    except (OSError, ValueError):
        return Header()  # no ONNX file: a model of another format has no such header


class DecidedModels:
    """An ONNX model with inputs whose values decide shapes: one model for each of their values."""

    _kept = 8

    def __init__(self, source: Source, options: dict[str, Any]) -> None:
        self._source = source
        self._options = options
        self._models: OrderedDict[object, Model] = OrderedDict()
        self._deciding: set[str] | None = None  # known after the first load; None: all inputs

    def run(self, feed: Mapping[str, Any], stop: _lemma.Stop | None = None) -> dict[str, Any]:
        arrays = {name: np.asarray(value) for name, value in feed.items()}
        model = self._models.pop(self._key(arrays), None)
        if model is None:
            numbers = {name: a for name, a in arrays.items() if a.dtype.kind in "fiub"}
            model = load(self._source, values=numbers, **self._options)
            self._deciding = set(model.graph.raw.get("deciding", arrays))
        self._models[self._key(arrays)] = model
        while len(self._models) > self._kept:
            self._models.popitem(last=False)
        known = {info.name for info in model.inputs}
        return model.run({n: a for n, a in arrays.items() if n in known}, stop=stop)

    def _key(self, arrays: dict[str, Any]) -> object:
        return tuple(
            (name, array.shape, array.dtype.str, array.tobytes())
            for name, array in sorted(arrays.items())
            if array.dtype.kind in "fiub" and (self._deciding is None or name in self._deciding)
        )


def needs_values(error: UsageError) -> bool:
    """Whether loading failed because the values of inputs decide shapes."""
    return any("decide shapes" in found.message for found in error.diagnostics)


class InferenceSession:
    """A model with the call shape of ONNX Runtime.

    >>> import lemma
    >>> session = lemma.InferenceSession("examples/digits")
    >>> session.get_inputs()[0].name, session.get_inputs()[0].shape, session.get_inputs()[0].type
    ('picture', [7, 5], 'tensor(float)')
    >>> [scores] = session.run(None, {"picture": [[0] * 5] * 7})
    >>> scores.shape
    (1, 10)
    """

    def __init__(
        self,
        path_or_bytes: Source,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        for name in kwargs:
            if name not in ("disabled_optimizers", "enable_fallback"):
                raise UsageError(f"InferenceSession has no argument `{name}`")
        _check_providers(providers)
        self._options = sess_options or SessionOptions()
        threads = self._options.intra_op_num_threads or len(os.sched_getaffinity(0))
        options: dict[str, Any] = {"threads": threads}
        self._header = _header(path_or_bytes)
        self._model: Model | None = None
        try:
            self._model = load(path_or_bytes, **options)
        except UsageError as error:
            if not needs_values(error):
                raise
            self._decided = DecidedModels(path_or_bytes, options)

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        run_options: RunOptions | None = None,
    ) -> list[Any]:
        """The outputs with these names; all of them for None."""
        stop = run_options._stop if run_options else None
        runner = self._model or self._decided
        outputs = runner.run(input_feed, stop=stop)
        for name in output_names or ():
            if name not in outputs:
                names = ", ".join(f"`{known}`" for known in outputs)
                raise UsageError(f"no output `{name}`; the model has {names}")
        return [outputs[name] for name in output_names or outputs]

    def _args(self, inputs: bool) -> list[NodeArg]:
        ports: dict[str, Port] = {
            port.name: port for port in (self._header.inputs if inputs else self._header.outputs)
        }
        if self._model is None:
            return [NodeArg(p.name, f"tensor({p.type})", p.shape) for p in ports.values()]
        result = []
        for info in self._model.inputs if inputs else self._model.outputs:
            shape: list[Extent] = [
                extent if extent is not None else text
                for extent, text in zip(info.shape, info.extents)
            ]
            if info.name in ports and len(ports[info.name].shape) == len(shape):
                shape = ports[info.name].shape
            result.append(NodeArg(info.name, f"tensor({_TYPES[info.type]})", shape))
        return result

    def get_inputs(self) -> list[NodeArg]:
        """The inputs."""
        return self._args(inputs=True)

    def get_outputs(self) -> list[NodeArg]:
        """The outputs."""
        return self._args(inputs=False)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Initialisers that a run could replace: none."""
        return []

    def get_modelmeta(self) -> ModelMetadata:
        """The metadata of the ONNX file; of another format, the name of the graph."""
        if not self._header.graph_name and self._model is not None:
            self._header.graph_name = self._model.name
        return ModelMetadata(self._header)

    def get_session_options(self) -> SessionOptions:
        """The options of this session."""
        return self._options

    def get_providers(self) -> list[str]:
        """The processors of this session."""
        return [_PROVIDER]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """Their options: none."""
        return {_PROVIDER: {}}

    def set_providers(
        self,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Accepts the CPU; warns about another processor."""
        _check_providers(providers)

    def enable_fallback(self) -> None:
        """Changes nothing: there is one processor."""

    def disable_fallback(self) -> None:
        """Changes nothing: there is one processor."""

    def end_profiling(self) -> str:
        """Always raises: `lemma bench` measures models."""
        raise UsageError("there is no profile; `lemma bench` measures models")

    def __repr__(self) -> str:
        inputs = ", ".join(port.name for port in self.get_inputs())
        outputs = ", ".join(port.name for port in self.get_outputs())
        return f"<lemma.InferenceSession ({inputs}) -> {outputs}>"

    @property
    def model(self) -> Model | None:
        """The model; None if values of inputs decide shapes, so that each run may need its own."""
        return self._model
