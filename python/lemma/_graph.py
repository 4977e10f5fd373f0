# SPDX-License-Identifier: Apache-2.0
"""The graph of a model as Python values. docs/graph-json.md describes the document behind it."""
from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Value:
    """A tensor as an operation or a graph sees it."""

    name: str  #: of the parameter
    tensor: str  #: the name of the tensor in the graph
    role: str  #: "input", "intermediate", "constant" or "variable"
    type: str  #: such as "f32"
    shape: tuple[int | str | None, ...]  #: a runtime extent is text

    def __str__(self) -> str:
        return f"{self.tensor or self.name}: {self.type}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class Operation:
    """A call in the graph."""

    name: str  #: the operator, such as "nn.conv"
    label: str  #: the path of labels in the model
    kind: str  #: "primitive", "compound", "intrinsic" or "control"
    attributes: dict[str, Any]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    parts: tuple[Operation, ...] = ()  #: the calls of a compound, or in the bodies of control flow
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  #: all fields

    def __str__(self) -> str:
        results = ", ".join(value.tensor for value in self.outputs)
        arguments = ", ".join(value.tensor or value.name for value in self.inputs)
        return f"{results} = {self.name}({arguments})"


@dataclass(frozen=True)
class Graph:
    """The tensors and operations of a model.

    >>> import lemma
    >>> model = lemma.model("import math; graph G { @input { x: real[2]; } @output { y: real[2]; }"
    ...                     "                      @compose { y = math.exp(x); } }")
    >>> [str(operation) for operation in model.graph.operations]
    ['y = math.exp(x)']
    >>> str(model.graph.outputs[0])
    'y: f32[2]'
    """

    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    variables: tuple[Value, ...]
    operations: tuple[Operation, ...]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  #: the document

    @staticmethod
    def from_json(text: str) -> Graph:
        """The graph in a document of `lemma show --json`."""
        document = json.loads(text)
        return Graph(
            name=document.get("graph", ""),
            inputs=_values(document.get("inputs", ())),
            outputs=_values(document.get("outputs", ())),
            variables=_values(document.get("variables", ())),
            operations=_operations(document.get("operations", ())),
            raw=document,
        )

    def walk(self) -> Iterator[Operation]:
        """All operations with their parts, each before its parts."""
        pending = list(reversed(self.operations))
        while pending:
            operation = pending.pop()
            yield operation
            pending.extend(reversed(operation.parts))

    def __len__(self) -> int:
        return len(self.operations)

    def __repr__(self) -> str:
        return f"<lemma.Graph {self.name} with {len(self.operations)} operations>"


def _flat(items: Any) -> Iterator[dict[str, Any]]:
    """The tensors of ports: of a pack all of them, of a missing argument none."""
    for item in items:
        if isinstance(item, list):
            yield from _flat(item)
        elif isinstance(item, dict) and isinstance(item.get("pack"), list):
            yield from _flat(item["pack"])
        elif isinstance(item, dict) and not item.get("null"):
            yield item


def _values(items: Any) -> tuple[Value, ...]:
    return tuple(
        Value(
            name=item.get("name", ""),
            tensor=item.get("tensor", ""),
            role=item.get("role", ""),
            type=item.get("dtype", ""),
            shape=tuple(item.get("shape") or ()),
        )
        for item in _flat(items)
    )


def _in_bodies(bodies: Any) -> list[Any]:
    return [operation for body in bodies for operation in body.get("operations", ())]


def _operations(items: Any) -> tuple[Operation, ...]:
    return tuple(
        Operation(
            name=item.get("operation", ""),
            label=item.get("label", ""),
            kind=item.get("kind", ""),
            attributes=item.get("attributes", {}),
            inputs=_values(item.get("inputs", ())),
            outputs=_values(item.get("outputs", ())),
            parts=_operations(item.get("parts") or _in_bodies(item.get("bodies", ()))),
            raw=item,
        )
        for item in items
    )
