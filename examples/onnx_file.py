# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX files without any package: the few messages of the protobuf format that the examples
need. Each function returns the bytes of one message."""
import struct

FLOAT, UINT8, INT8, INT64, FLOAT16 = 1, 2, 3, 7, 10


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    if isinstance(value, str):
        body = text(4, value) + number(20, 3)
    elif isinstance(value, int):
        body = number(3, value) + number(20, 2)
    elif isinstance(value, float):
        body = varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    else:
        body = text(8, b"".join(varint(item) for item in value)) + number(20, 7)
    return text(1, name) + body


def node(op, inputs, outputs, domain=None, **attributes):
    """The node is named after its first output. An input without a name is left out."""
    outputs = [outputs] if isinstance(outputs, str) else outputs
    body = b"".join(text(1, name) for name in inputs)
    body += b"".join(text(2, name) for name in outputs)
    body += text(3, outputs[0]) + text(4, op)
    if domain:
        body += text(7, domain)
    return body + b"".join(text(5, attribute(*item)) for item in attributes.items())


def value(name, shape, doc, kind=FLOAT):
    """An extent is a number or the name of a runtime extent."""
    dims = b"".join(
        text(1, text(2, extent) if isinstance(extent, str) else number(1, extent))
        for extent in shape)
    tensor = number(1, kind) + text(2, dims)
    return text(1, name) + text(2, text(1, tensor)) + text(3, doc)


def tensor(name, shape, kind, items):
    form = "<%d%s" % (len(items), "f" if kind == FLOAT else "q")
    return raw_tensor(name, shape, kind, struct.pack(form, *items))


def raw_tensor(name, shape, kind, data):
    body = b"".join(number(1, extent) for extent in shape) + number(2, kind)
    return body + text(8, name) + text(9, data)


def model(graph, producer, metadata):
    """A model of IR version 8 and operator set 17. `graph` is the fields of its graph."""
    out = number(1, 8) + text(2, producer) + text(3, "1") + number(5, 1)
    out += text(7, b"".join(graph)) + text(8, number(2, 17))
    for key, content in metadata:
        out += text(14, text(1, key) + text(2, content))
    return out
