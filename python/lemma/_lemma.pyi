# SPDX-License-Identifier: Apache-2.0
from typing import Any

from ._errors import Diagnostic

INPUTS: int
OUTPUTS: int
VARIABLES: int

_Info = tuple[
    str, str, tuple[int | None, ...], tuple[int | None, ...], tuple[str, ...], bool, bool
]

class Stop:
    """A request to stop. Any number of calls and threads may share one: `model.run(x, stop=stop)`
    raises `Stopped` soon after `stop.now()`."""

    def __init__(self) -> None: ...
    def now(self) -> None:
        """Stops the calls that have this request, from any thread."""

    def reset(self) -> None:
        """Takes the request back, for the next call."""

    @property
    def requested(self) -> bool:
        """Whether it was stopped."""

class DeviceTensor:
    """An output that stays on the device of its model. Other libraries take it by DLPack, such as
    `torch.from_dlpack(tensor)`, without a copy."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def type(self) -> str: ...
    def numpy(self) -> Any:
        """A copy in main memory."""

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: Any = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

class _Runner:
    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Runs the model on these inputs, by position or by name. Returns the output, or a tuple if
        the model has several."""

    def run(
        self,
        inputs: Any,
        *,
        time_limit: float | None = None,
        stop: Stop | None = None,
        on_device: bool = False,
    ) -> dict[str, Any]:
        """Runs the model. `inputs` is a dictionary by name, a list in the order of the model, or the
        only input. Returns a dictionary of all outputs. `time_limit` is in seconds. With
        `on_device`, outputs stay on the device of the model, as `lemma.DeviceTensor`; those with
        runtime extents are arrays in any case."""

    def variable(self, name: str) -> Any:
        """The current value of a variable, as an array."""

    def set_variable(self, name: str, value: Any) -> None:
        """Sets a variable; the value is copied."""

    def save_variables(self, path: str) -> None:
        """Writes a .dat file for each variable into a folder, or one .safetensors file."""

    def reset(self) -> None:
        """Gives all variables the values that they had when the model was loaded."""

    def _infos(self, group: int) -> list[_Info]: ...
    def _names(self) -> tuple[str, str, str]: ...
    def _diagnostics(self) -> list[Diagnostic]: ...
    def _engine(self) -> tuple[str, str, str]: ...

class Model(_Runner):
    def __init__(self, source: str | list[tuple[str, Any]], options: dict[str, Any]) -> None: ...
    def _graph_json(self) -> str: ...

class Session(_Runner):
    def __init__(self, model: Model, threads: int | None, seed: int | None) -> None: ...

def version() -> str: ...
def check(source: str | list[tuple[str, Any]], options: dict[str, Any]) -> list[Diagnostic]: ...
def convert(source: str, output: str, options: dict[str, Any]) -> list[Diagnostic]: ...
def compile(source: str, output: str, options: dict[str, Any]) -> list[Diagnostic]: ...
def format(text: bytes, options: dict[str, Any]) -> bytes: ...
def operators_json(name: str) -> str: ...
def definitions_json(text: bytes) -> str: ...
