"""Files of numbers: collects cases and writes them as tests/support/number_file.h reads them."""

import math
import textwrap

WIDTH = 100


def number_text(value, dtype):
    if dtype == "bool":
        return "true" if value else "false"
    if dtype == "int":
        return str(int(value))
    if dtype == "str":
        return value
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return format(value + 0.0 if value else 0.0, ".9g")


def tensor_text(keyword, name, tensor):
    """The line of a tensor, or several: a row each, blank lines between matrices."""
    head = f"{keyword} {name}: {tensor.dtype}[{','.join(map(str, tensor.shape))}] ="
    words = [number_text(value, tensor.dtype) for value in tensor.values]
    flat = " ".join([head] + words)
    if len(flat) <= WIDTH and (tensor.rank <= 1 or len(words) <= 1):
        return flat
    if tensor.rank <= 1:
        return head + "\n" + textwrap.fill(" ".join(words), WIDTH, initial_indent="    ",
                                           subsequent_indent="    ")
    row = max(tensor.shape[-1], 1)
    matrix = row * max(tensor.shape[-2], 1)
    width = max(map(len, words), default=0)
    lines = [head]
    for start in range(0, len(words), row):
        if start and start % matrix == 0:
            lines.append("")
        lines.append("    " + " ".join(word.rjust(width) for word in words[start:start + row]))
    return "\n".join(lines)


def literal(value):
    """A Python value as SkriptND writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, str):
        return f"'{value}'"
    return str(value)


def attributes(**given):
    """The attributes of a call; those that are None are left out, and so are the braces then."""
    inside = ", ".join(f"{name}={literal(value)}" for name, value in given.items()
                       if value is not None)
    return f"{{{inside}}}" if inside else ""


class Numbers:
    """The cases of one operator, such as `math.add`."""

    files = {}

    def __init__(self, operator, about):
        self.operator = operator
        self.about = about
        self.blocks = []
        if operator in Numbers.files:
            raise ValueError(f"{operator} is there twice")
        Numbers.files[operator] = self

    def case(self, name, compose, inputs, outputs, **more):
        """One run. `compose` is one statement; `more`: see `steps`."""
        self.steps(name, compose, [(inputs, outputs)], **more)

    def fails(self, name, compose, inputs, error, declare):
        self.steps(name, compose, [(inputs, {})], declare=declare, error=error)

    def steps(self, name, compose, runs, variables=None, declare=None, tolerance=None, note=None,
              samples=(), error=None):
        """A case of several runs, each (inputs, outputs) or (inputs, outputs, variables after)."""
        lines = []
        if note:
            lines.append(textwrap.fill(note, WIDTH, initial_indent="# ", subsequent_indent="# "))
        lines.append(f"case {name}")
        for statement in [compose] if isinstance(compose, str) else compose:
            lines.append(f"compose {statement}")
        lines += [f"declare {key}: {value}" for key, value in (declare or {}).items()]
        if tolerance:
            lines.append(f"tolerance {tolerance[0]:g} {tolerance[1]:g}")
        lines += [tensor_text("variable", *item) for item in (variables or {}).items()]
        for position, (inputs, outputs, *after) in enumerate(runs):
            if position:
                lines.append("step")
            lines += [tensor_text("input", *item) for item in inputs.items()]
            lines += [tensor_text("output", *item) for item in outputs.items()]
            lines += [tensor_text("after", *item) for values in after for item in values.items()]
        lines += [f"sample {sample}" for sample in samples]
        if error:
            lines.append(f"error {error}")
        self.blocks.append("\n".join(lines) + "\n")

    def text(self):
        about = textwrap.fill(f"{self.operator}: {self.about}", WIDTH, initial_indent="# ",
                              subsequent_indent="# ")
        origin = "# Written by tests/stdlib/reference/generate.py, which computes it in Python."
        return "\n".join([about + "\n" + origin + "\n"] + self.blocks)
