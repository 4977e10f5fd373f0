# SPDX-License-Identifier: Apache-2.0
"""Checks, conversions, C code and layout: what the program `lemma` does."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, overload

from . import _lemma, _show
from ._errors import Diagnostic, UsageError
from ._literals import literal
from ._model import _NUMERICS, _REALS, Source, _chosen, _in_range, memory_files


class Report(tuple[Diagnostic, ...]):
    """The diagnostics of a check. It is true if there are no errors.

    >>> import lemma
    >>> report = lemma.check(b"graph G { @input { x: real[2]; } }")
    >>> bool(report), len(report.errors)
    (False, 1)
    """

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return not self.errors

    @property
    def errors(self) -> list[Diagnostic]:
        """The errors."""
        return [found for found in self if found.severity == "error"]

    @property
    def warnings(self) -> list[Diagnostic]:
        """The warnings."""
        return [found for found in self if found.severity == "warning"]

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def __repr__(self) -> str:
        return f"<lemma.Report: {len(self.errors)} errors, {len(self.warnings)} warnings>"

    def _repr_html_(self) -> str:
        return _show.report_html(self)


def _attributes(attributes: Mapping[str, object] | None) -> list[str]:
    return [f"{name}={literal(value)}" for name, value in (attributes or {}).items()]


def _given(**options: Any) -> dict[str, Any]:
    return {
        name: os.fspath(value) if isinstance(value, os.PathLike) else value
        for name, value in options.items()
        if value is not None
    }


def check(
    source: Source,
    *,
    graph: str | None = None,
    attributes: Mapping[str, object] | None = None,
    profile: str | None = None,
    dialect: str | None = None,
    data: str | None = None,
    werror: bool = False,
    max_errors: int = 0,
    relax_broadcast: bool = False,
    report: str | os.PathLike[str] | None = None,
    trace: str | os.PathLike[str] | None = None,
    fix: str | os.PathLike[str] | None = None,
    files: Mapping[str, bytes] | None = None,
    format: str | None = None,
) -> Report:
    """Checks a model against every rule of its format, as `lemma check`.

    `source` is a path or bytes, as for `load`. `profile` may be "sonnx". Then `report`, `trace` and
    `fix` name files to write: the conformity report (.md, .html, .json), the trace (.json, .csv)
    and the model in explicit form (.onnx). Raises `UsageError` if the model cannot be read.

    >>> import lemma
    >>> lemma.check("examples/digits").ok
    True
    """
    options = _given(
        graph=graph, attributes=_attributes(attributes), profile=profile, dialect=dialect,
        data=data, werror=int(werror), max_errors=max_errors, report=report, trace=trace, fix=fix,
        relax_broadcast=int(relax_broadcast),
    )  # fmt: skip
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Report(_lemma.check(memory_files(source, format, files), options))
    return Report(_lemma.check(os.fspath(source), options))


def convert(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    to: str | None = None,
    graph: str | None = None,
    attributes: Mapping[str, object] | None = None,
    inputs: Iterable[str] = (),
    real: str = "f32",
    dialect: str | None = None,
    flat: bool = False,
    keep: Iterable[str] = (),
    opset: int = 0,
    external_data: bool = False,
    no_data: bool = False,
    overwrite: bool = False,
) -> Report:
    """Writes a model in another format, as `lemma convert`.

    `to` is "sknd", "nnef1" or "onnx"; without it the name of the output decides. `inputs` are the
    values of ONNX inputs that decide shapes, each "NAME=FILE". Returns the remarks; raises
    `ModelError` if the model is wrong or the format cannot express it.
    """
    options = _given(
        to=to, graph=graph, attributes=_attributes(attributes), inputs=list(inputs),
        real=_chosen("real", real, _REALS), dialect=dialect, flat=int(flat), keep=list(keep), opset=opset,
        external_data=int(external_data), no_data=int(no_data), overwrite=int(overwrite),
    )  # fmt: skip
    return Report(_lemma.convert(os.fspath(source), os.fspath(output), options))


def compile(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    form: str | None = None,
    name: str | None = None,
    target: str | None = None,
    numerics: str = "default",
    accumulate: str = "f64",
    profile: str | None = None,
    shapes: Mapping[str, Iterable[int]] | None = None,
    inputs: Iterable[str] = (),
    graph: str | None = None,
    attributes: Mapping[str, object] | None = None,
    real: str = "f32",
    quantize: bool = False,
    random_weights: int | bool | None = None,
    weights: str | os.PathLike[str] | None = None,
    dialect: str | None = None,
) -> Report:
    """Writes a model as C code into a folder, or as machine code into FILE.o or FILE.so.

    As `lemma compile`: `form` is "certified" or "fast". `shapes` has the extents of inputs with
    runtime extents. Returns the remarks; raises `ModelError` if the model cannot be compiled.
    """
    options = _given(
        form=form, name=name, target=target, numerics=_chosen("numerics", numerics, _NUMERICS),
        accumulate_f32=_chosen("accumulate", accumulate, {"f64": 0, "f32": 1}), profile=profile,
        shapes=[f"{key}={'x'.join(map(str, shape))}" for key, shape in (shapes or {}).items()],
        inputs=list(inputs), graph=graph, attributes=_attributes(attributes),
        real=_chosen("real", real, _REALS), quantize=int(quantize), weights=weights,
        dialect=dialect,
    )  # fmt: skip
    if random_weights is not None and random_weights is not False:
        options["random_weights"] = 0 if random_weights is True else random_weights
        _in_range("random_weights", options["random_weights"], 0, 1 << 64)
    return Report(_lemma.compile(os.fspath(source), os.fspath(output), options))


@overload
def fmt(text: str, *, language: str | None = ..., dialect: str | None = ...) -> str: ...
@overload
def fmt(text: bytes, *, language: str | None = ..., dialect: str | None = ...) -> bytes: ...
def fmt(
    text: str | bytes, *, language: str | None = None, dialect: str | None = None
) -> str | bytes:
    """A SkriptND or NNEF 1.0 text in the canonical layout, as `lemma fmt`.

    `language` is "sknd" or "nnef1"; without it the first word of the text decides. `dialect` is
    the spelling to write: "spec", "khronos" or "tract". Raises `ModelError` on wrong syntax.

    >>> import lemma
    >>> print(lemma.fmt("graph G{@input{x:real[2];}@output{y:real[2];}@compose{y=x;}}"), end="")
    graph G {
        @input {
            x: real[2];
        }
        @output {
            y: real[2];
        }
        @compose {
            y = x;
        }
    }
    """
    content = text.encode("utf-8") if isinstance(text, str) else text
    result = _lemma.format(content, _given(language=language, dialect=dialect))
    return result.decode("utf-8") if isinstance(text, str) else result
