# SPDX-License-Identifier: Apache-2.0
"""Diagnostics, and the exceptions that carry them."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Diagnostic:
    """One finding about a model or a call.

    >>> import lemma
    >>> try:
    ...     lemma.model("graph Net { @compose { y = nn.relu(x); } }")
    ... except lemma.ModelError as error:
    ...     found = error.diagnostics[0]
    >>> found.severity, found.line, found.column
    ('error', 1, 28)
    """

    severity: str  #: "error", "warning" or "note"
    kind: str  #: its page in docs/errors, such as "extent-mismatch"; may be empty
    message: str  #: one sentence
    file: str  #: empty if there is no place
    line: int  #: from 1; 0 if there is no place in a text
    column: int  #: from 1, in characters
    end_line: int
    end_column: int  #: one past the last character
    path: str  #: the place in a binary model, such as "graph/node[3]:Relu"
    text: str  #: as the program `lemma` prints it, with excerpt, notes and suggestions

    def __str__(self) -> str:
        has_place = bool(self.file or self.path)
        return self.text.rstrip("\n") if has_place and self.text else self.message


class Error(Exception):
    """The base of all exceptions of Lemma. Raised itself, it reports a defect of Lemma.

    `diagnostics` has the findings; it may be empty.
    """

    def __init__(self, message: str = "", diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics: list[Diagnostic] = list(diagnostics)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.diagnostics)


class ModelError(Error):
    """The model is wrong, or has a part that Lemma does not support."""


class RunError(Error):
    """The model fails on these inputs."""


class UsageError(Error, ValueError):
    """An unreadable file, or arguments that do not fit."""


class Stopped(Error):
    """The call was stopped: by a `lemma.Stop`, or because its time limit is over."""


#: What a caller in Python can do about a kind of error.
_HINTS = {
    "missing-data": "`random_weights=True` makes values for variables without data; "
    "`weights=FILE` reads them from a .safetensors file",
}
_FAULT = "a defect of Lemma; please report it"


def failure(status: int, diagnostics: list[Diagnostic], running: bool) -> Error:
    """The exception of a call that returned `status` (enum lemma_status)."""
    kinds: dict[int, tuple[type[Error], str]] = {
        1: (RunError, "the model failed") if running else (ModelError, "the model is wrong"),
        2: (UsageError, "the arguments do not fit"),
        4: (Stopped, "the call was stopped"),
    }
    kind, message = kinds.get(status, (Error, _FAULT))
    errors = [found for found in diagnostics if found.severity == "error"]
    hints = {_HINTS[found.kind] for found in errors if found.kind in _HINTS}
    lines = [*map(str, errors), *(f"hint: {hint}" for hint in sorted(hints))]
    return kind("\n".join(lines) or message, diagnostics)
