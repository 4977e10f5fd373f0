# SPDX-License-Identifier: Apache-2.0
"""Lemma as a backend of ONNX: the interface of `onnx.backend.base`, which ONNX's tests use.

    import lemma.backend
    outputs = lemma.backend.run_model(onnx.load("model.onnx"), [x])
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict

from ._errors import Error, UsageError
from ._inference import InferenceSession

__all__ = ["LemmaBackend", "LemmaRep", "is_compatible", "prepare", "run_model", "run_node",
           "supports_device"]  # fmt: skip


def _widened(value: Any) -> Any:
    """Values of bf16 as float32. ONNX's tests give them as the bits in uint16."""
    array = np.asarray(value)
    if array.dtype != np.uint16:
        return value
    return (array.astype(np.uint32) << 16).view(np.float32)


class LemmaRep(BackendRep):
    """A model that is ready to run. `LemmaBackend.prepare` makes one."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._session = InferenceSession(model.SerializeToString())
        ports = self._session.get_inputs()
        self._inputs = [port.name for port in ports]
        self._bf16 = {port.name for port in ports if port.type == "tensor(bfloat16)"}

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs as a named tuple; `inputs` is a list, a dictionary or one array."""
        if kwargs:
            raise UsageError(f"no such argument: {', '.join(kwargs)}")
        if isinstance(inputs, Mapping):
            feed = dict(inputs)
        else:
            given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
            if len(given) > len(self._inputs):
                raise UsageError(f"the model has {len(self._inputs)} inputs; got {len(given)}")
            feed = dict(zip(self._inputs, given))
        for name in self._bf16.intersection(feed):
            feed[name] = _widened(feed[name])
        names = [port.name for port in self._session.get_outputs()]
        outputs = self._session.run(names, feed)
        result: tuple[Any, ...] = namedtupledict("Outputs", names)(*outputs)
        return result


class LemmaBackend(Backend):
    """The backend, for `onnx.backend.test.BackendTest(LemmaBackend)`."""

    @classmethod
    def is_compatible(cls, model: Any, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether Lemma can load the model."""
        try:
            cls.prepare(model, device, **kwargs)
        except Error:
            return False
        return True

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> LemmaRep:
        """Loads a model. Raises `lemma.ModelError` if it is wrong or not supported."""
        if not cls.supports_device(device):
            raise UsageError(f"Lemma runs on the CPU; got the device `{device}`")
        return LemmaRep(model)

    @classmethod
    def run_model(
        cls, model: Any, inputs: Any, device: str = "CPU", **kwargs: Any
    ) -> tuple[Any, ...]:
        """Loads and runs a model."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: Any,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Runs one node on a list of arrays; `opset_version` selects the operator set."""
        super().run_node(node, inputs, device, outputs_info, **kwargs)  # checks the node
        names = [name for name in node.input if name]
        arrays = [np.asarray(value) for value in inputs]
        if len(names) != len(arrays):
            raise UsageError(f"the node has {len(names)} inputs; got {len(arrays)}")
        types = [onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype] for array in arrays]
        graph = helper.make_graph(
            [node],
            "node",
            [
                helper.make_tensor_value_info(name, kind, array.shape)
                for name, kind, array in zip(names, types, arrays)
            ],
            [onnx.ValueInfoProto(name=name) for name in node.output if name],
        )
        version = kwargs.get("opset_version") or onnx.defs.onnx_opset_version()
        opset = helper.make_opsetid(node.domain, version)
        return cls.run_model(helper.make_model(graph, opset_imports=[opset]), arrays, device)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether Lemma runs there: only on the CPU."""
        return bool(Device(device).type == DeviceType.CPU)


is_compatible = LemmaBackend.is_compatible
prepare = LemmaBackend.prepare
run_model = LemmaBackend.run_model
run_node = LemmaBackend.run_node
supports_device = LemmaBackend.supports_device
