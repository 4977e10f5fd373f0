# SPDX-License-Identifier: Apache-2.0
"""Operators of SkriptND as functions on arrays."""
from __future__ import annotations

import json
import re
from collections import OrderedDict
from typing import Any

import numpy as np

from . import _lemma
from ._arrays import _numpy
from ._errors import UsageError
from ._literals import literal
from ._model import Model, model

_CALL = "lemma_call"  # the graph around the operator
_BASES = {"f": "real", "i": "int", "u": "int", "b": "bool", "O": "str", "U": "str", "S": "str"}
_KEPT = 64  # models for different shapes and attributes


def _definitions(text: str, name: str | None) -> tuple[str, str, dict[str, Any]]:
    """The text before the call, the name in the call, and the description of the operator."""
    if re.fullmatch(r"\s*[A-Za-z_]\w*(\.\w+)*\s*", text):
        wanted = text.strip()
        found = _operators(_lemma.operators_json(wanted))
        exact = [entry for entry in found if entry["name"] == wanted]
        found = exact or found
        if len(found) != 1:
            names = ", ".join(f"`{entry['name']}`" for entry in found)
            raise UsageError(f"`{wanted}` is no single operator; there are {names or 'none'}")
        full = found[0]["name"]
        return f"import {full.rpartition('.')[0]};\n", full, found[0]
    found = _operators(_lemma.definitions_json(text.encode("utf-8")))
    found = [entry for entry in found if entry.get("kind", "operator") == "operator"]
    if name is not None:
        found = [entry for entry in found if entry["name"].rpartition(".")[2] == name]
    if len(found) != 1:
        what = f"`{name}`" if name is not None else "an operator"
        trouble = "defines several operators: give `name`" if found else f"does not define {what}"
        raise UsageError(f"the text {trouble}")
    return text + "\n", found[0]["name"].rpartition(".")[2], found[0]


def _operators(document: str) -> list[dict[str, Any]]:
    return [entry for module in json.loads(document)["modules"] for entry in module["operators"]]


def _base(declared: str) -> str:
    """`real` of `optional real[n]`."""
    match = re.match(r"(?:optional\s+)?([A-Za-z_]\w*)", declared)
    return match.group(1) if match else "real"


class Operator:
    """An operator as a function on arrays. `lemma.operator` makes one."""

    def __init__(self, text: str, name: str | None = None) -> None:
        self._text, self._call, self._described = _definitions(text, name)
        if self._described.get("variables"):
            raise UsageError(f"`{self._call}` has variables of its own: use it in a graph")
        self._models: OrderedDict[object, Model] = OrderedDict()

    @property
    def name(self) -> str:
        """The name of the operator."""
        return self._call

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs."""
        return [entry["name"] for entry in self._described["inputs"]]

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs."""
        return [entry["name"] for entry in self._described["outputs"]]

    @property
    def attributes(self) -> list[str]:
        """The names of the attributes."""
        return [entry["name"] for entry in self._described["attributes"]]

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Computes the operator; attributes and inputs may be given by name."""
        values = list(inputs)
        known = self.inputs
        if len(values) > len(known):
            raise UsageError(f"`{self._call}` has {len(known)} inputs; got {len(values)}")
        for name in known[len(values) :]:
            if name not in named:
                break
            values.append(named.pop(name))
        for name in named:
            if name in known:
                raise UsageError(f"the input `{name}` is given twice, or one before it is missing")
            if name not in self.attributes:
                raise UsageError(f"`{self._call}` has no attribute or input `{name}`")
        return self._run(self._arrays(values), {key: literal(v) for key, v in named.items()})

    def _arrays(self, values: list[Any]) -> list[Any]:
        """An array for each input, a list of arrays for a pack."""
        arrays = []
        for entry, value in zip(self._described["inputs"], values):
            if entry.get("packed") and isinstance(value, (list, tuple)):
                arrays.append([self._array(entry, item) for item in value])
            elif entry.get("packed"):
                raise UsageError(f"the input `{entry['name']}` is a pack: give it a list of arrays")
            else:
                arrays.append(self._array(entry, value))
        return arrays

    def _array(self, entry: dict[str, Any], value: Any) -> Any:
        array = _numpy(value, entry["name"])
        if array.dtype.kind not in _BASES or (array.dtype.kind in "fiu" and array.dtype.itemsize > 8):
            raise UsageError(f"the input `{entry['name']}` has elements of type {array.dtype}")
        if isinstance(value, np.ndarray) or hasattr(value, "__dlpack__"):
            return array
        # Numbers of Python take the type that the operator declares.
        is_real = array.dtype.kind == "f" or _base(entry["type"]) == "real"
        if is_real and array.dtype.kind in "fiu":
            return array.astype(np.float32)
        return array

    def _run(self, arrays: list[Any], attributes: dict[str, str]) -> Any:
        packs = [value if isinstance(value, list) else [value] for value in arrays]
        flat = [item for items in packs for item in items]
        kinds = {item.dtype for item in flat if item.dtype.kind == "f"}
        real = {2: "f16", 4: "f32", 8: "f64"}[max((kind.itemsize for kind in kinds), default=4)]
        key = (
            real,
            tuple(attributes.items()),
            tuple(len(value) if isinstance(value, list) else -1 for value in arrays),
            tuple((item.shape, _BASES[item.dtype.kind]) for item in flat),
        )
        found = self._models.pop(key, None)
        if found is None:
            text = self._graph(arrays, attributes)
            found = model(text, graph=_CALL, real=real)
        self._models[key] = found
        while len(self._models) > _KEPT:
            self._models.popitem(last=False)
        return self._results(found.run(flat))

    def _graph(self, arrays: list[Any], attributes: dict[str, str]) -> str:
        declared: list[str] = []
        arguments: list[str] = []
        bases: dict[str, str] = {}  # what the type parameters of the operator are here

        def declare(array: Any) -> str:
            name = f"x{len(declared)}"
            extents = ", ".join(map(str, array.shape))
            declared.append(f"{name}: {_BASES[array.dtype.kind]}[{extents}];")
            return name

        for entry, value in zip(self._described["inputs"], arrays):
            items = value if isinstance(value, list) else [value]
            names = [declare(item) for item in items]
            arguments.append(f"[{', '.join(names)}]" if isinstance(value, list) else names[0])
            if items:
                bases[_base(entry["type"])] = _BASES[items[0].dtype.kind]
        results = []
        for index, entry in enumerate(self._described["outputs"]):
            base = _base(entry["type"])
            known = base if base in ("real", "int", "bool", "str") else bases.get(base, "real")
            results.append(f"y{index}: {known}{'..' if entry.get('packed') else ''};")
        settings = ", ".join(f"{name}={value}" for name, value in attributes.items())
        outputs = ", ".join(f"y{index}" for index in range(len(results)))
        return (
            f"{self._text}graph {_CALL} {{\n    @input {{ {' '.join(declared)} }}\n"
            f"    @output {{ {' '.join(results)} }}\n    @compose {{\n        {outputs} = "
            f"{self._call}{'{' + settings + '}' if settings else ''}({', '.join(arguments)});\n"
            "    }\n}\n"
        )

    def _results(self, outputs: dict[str, Any]) -> Any:
        results: list[Any] = []
        for index, entry in enumerate(self._described["outputs"]):
            if entry.get("packed"):
                results.append(
                    [value for name, value in outputs.items() if name.startswith(f"y{index}.")]
                )
            else:
                results.append(outputs[f"y{index}"])
        return results[0] if len(results) == 1 else tuple(results)

    def __repr__(self) -> str:
        return f"<lemma.Operator {self._call}({', '.join(self.inputs)})>"


def operator(text: str, name: str | None = None) -> Operator:
    """An operator as a function on arrays: from SkriptND text, or a standard one by its name.

    If the text defines several operators, `name` selects one. Reals are computed in the widest
    type of the inputs; numbers of Python count as float32.

    >>> import lemma
    >>> gate = lemma.operator('''
    ... operator gate {
    ...     @input { x: real[2 * n]; }
    ...     @output { y: real[n]; }
    ...     @lower { y[i,] = x[i,] * x[n + i,], i < n; }
    ... }''')
    >>> gate([1, 2, 3, 4])
    array([3., 8.], dtype=float32)
    >>> relu = lemma.operator("nn.relu")
    >>> relu([-4.0, 4.0], alpha=0.25)
    array([-1.,  4.], dtype=float32)
    """
    return Operator(text, name)
