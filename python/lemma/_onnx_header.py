# SPDX-License-Identifier: Apache-2.0
"""Names, types and metadata of an ONNX file, without its weights.

A small reader of the protobuf wire format. It looks only at the few fields that `InferenceSession`
reports, and raises `ValueError` on bytes that are no ONNX model.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Union

Extent = Union[int, str, None]

#: TensorProto.DataType: the name of the type in ONNX Runtime.
TYPE_NAMES = {
    1: "float", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
    8: "string", 9: "bool", 10: "float16", 11: "double", 12: "uint32", 13: "uint64",
    16: "bfloat16",
}  # fmt: skip


@dataclass
class Port:
    name: str = ""
    type: str = ""
    shape: list[Extent] = field(default_factory=list)


@dataclass
class Header:
    producer_name: str = ""
    producer_version: str = ""
    domain: str = ""
    version: int = 0
    description: str = ""
    graph_name: str = ""
    graph_description: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    inputs: list[Port] = field(default_factory=list)  # without those that have a default value
    outputs: list[Port] = field(default_factory=list)


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
    raise ValueError("a number of the ONNX file does not end")


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message: number and value."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        if wire == 2:
            size, at = _varint(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError("the file is no ONNX model")
        if size > len(data) - at:
            raise ValueError("the ONNX file ends too early")
        yield number, data[at : at + size]
        at += size


def _messages(data: memoryview, wanted: int) -> Iterator[memoryview]:
    for number, value in _fields(data):
        if number == wanted and isinstance(value, memoryview):
            yield value


def _text(value: int | memoryview) -> str:
    return bytes(value).decode("utf-8", "replace") if isinstance(value, memoryview) else ""


def _port(data: memoryview) -> Port:
    port = Port()
    for number, value in _fields(data):
        if number == 1:
            port.name = _text(value)
        elif number == 2 and isinstance(value, memoryview):
            for tensor in _messages(value, 1):
                _tensor_type(tensor, port)
    return port


def _tensor_type(data: memoryview, port: Port) -> None:
    for number, value in _fields(data):
        if number == 1 and isinstance(value, int):
            port.type = TYPE_NAMES.get(value, "")
        elif number == 2 and isinstance(value, memoryview):
            for dimension in _messages(value, 1):
                extent: Extent = None
                for kind, content in _fields(dimension):
                    if kind == 1 and isinstance(content, int):
                        extent = content if content < 1 << 63 else None
                    elif kind == 2:
                        extent = _text(content) or None
                port.shape.append(extent)


def _graph(data: memoryview, header: Header) -> None:
    initialized: set[str] = set()
    for number, value in _fields(data):
        if number == 2:
            header.graph_name = _text(value)
        elif number == 10:
            header.graph_description = _text(value)
        elif number == 5 and isinstance(value, memoryview):
            initialized.update(_text(name) for name in _messages(value, 8))
        elif number in (11, 12) and isinstance(value, memoryview):
            (header.inputs if number == 11 else header.outputs).append(_port(value))
    header.inputs = [port for port in header.inputs if port.name not in initialized]


def read_header(content: bytes | bytearray | memoryview) -> Header:
    """The header of an ONNX model."""
    header = Header()
    texts = {2: "producer_name", 3: "producer_version", 4: "domain", 6: "description"}
    for number, value in _fields(memoryview(content).cast("B")):
        if number in texts:
            setattr(header, texts[number], _text(value))
        elif number == 5 and isinstance(value, int):
            header.version = value - (1 << 64) if value >= 1 << 63 else value
        elif number == 7 and isinstance(value, memoryview):
            _graph(value, header)
        elif number == 14 and isinstance(value, memoryview):
            entry = dict(_fields(value))
            header.metadata[_text(entry.get(1, 0))] = _text(entry.get(2, 0))
    return header
