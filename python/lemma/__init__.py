# SPDX-License-Identifier: Apache-2.0
"""Lemma runs, checks, converts and compiles neural networks: SkriptND, NNEF 1.0 and ONNX.

>>> import lemma, numpy
>>> model = lemma.load("examples/digits")
>>> picture = numpy.zeros((7, 5), numpy.float32)
>>> model(picture).shape
(1, 10)

docs/howto/use-from-python.md explains the package.
"""
from __future__ import annotations

from . import _lemma
from ._errors import Diagnostic, Error, ModelError, RunError, Stopped, UsageError
from ._graph import Graph, Operation, Value
from ._inference import (
    ExecutionMode,
    GraphOptimizationLevel,
    InferenceSession,
    ModelMetadata,
    NodeArg,
    RunOptions,
    SessionOptions,
    get_available_providers,
    get_device,
)
from ._lemma import DeviceTensor, Stop
from ._model import Engine, Model, Session, TensorInfo, load, model
from ._operator import Operator, operator
from ._tools import Report, check, compile, convert, fmt

__version__: str = _lemma.version()

__all__ = [
    "DeviceTensor",
    "Diagnostic",
    "Engine",
    "Error",
    "ExecutionMode",
    "Graph",
    "GraphOptimizationLevel",
    "InferenceSession",
    "Model",
    "ModelError",
    "ModelMetadata",
    "NodeArg",
    "Operation",
    "Operator",
    "Report",
    "RunError",
    "RunOptions",
    "Session",
    "SessionOptions",
    "Stop",
    "Stopped",
    "TensorInfo",
    "UsageError",
    "Value",
    "check",
    "compile",
    "convert",
    "fmt",
    "get_available_providers",
    "get_device",
    "load",
    "model",
    "operator",
]
