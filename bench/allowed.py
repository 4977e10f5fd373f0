# SPDX-License-Identifier: Apache-2.0
"""How far results may be from those of ONNX Runtime."""
import array
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "conformance"))
from quantized import Graph  # tests/conformance

TOLERANCE = 1e-3
STEPS = 2


def allowed(model: str, expected: pathlib.Path) -> float:
    """How far an element of the first output may be: 1e-3 of the largest element. In a quantised model,
    it may be two steps of the output's scale; behind dynamic quantisation, a step is the range of the
    output by 255."""
    graph = Graph(pathlib.Path(model).read_bytes())
    values = array.array("f", expected.read_bytes())
    scale = graph.scale(graph.outputs[0])
    if scale:
        return STEPS * scale
    if any(op == "DynamicQuantizeLinear" for op, _ in graph.makers.values()):
        return STEPS * (max(values) - min(values)) / 255
    return TOLERANCE * max(map(abs, values))
