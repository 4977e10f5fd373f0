# SPDX-License-Identifier: Apache-2.0
"""Compiles a model to C with `lemma compile`, builds the C and runs it on raw files."""
import dataclasses
import json
import pathlib
import subprocess

# The flags of each form, with which its C must build without a warning.
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
FLAGS = {"certified": ["-std=c99", "-O1", "-ffp-contract=off", *WARNINGS],
         "fast": ["-std=gnu11", "-O1", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
                  "-Wno-psabi", "-Wall", "-Wextra", "-Werror"],
         "object": ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"]}
TIMEOUT = 600


class Refused(Exception):
    """Lemma says that it cannot compile the model."""


class Failed(Exception):
    """What is wrong, and at which step."""


@dataclasses.dataclass
class Port:
    """An input or output of the compiled model, as model.json lists it."""
    name: str
    c_name: str
    dtype: str
    shape: list[int]  # upper bounds, if there are axes
    axes: list[str]  # with runtime extents: expressions


@dataclasses.dataclass
class Extent:
    """An extent that each run gives."""
    name: str
    c_name: str
    low: int
    high: int


def run(command: list, what: str, timeout: int = TIMEOUT) -> subprocess.CompletedProcess:
    try:
        return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              errors="replace", timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f"{what} took more than {timeout} s") from None


def refusal(answer: str, errors: str) -> str:
    """The first error of a refusal, without its place."""
    try:
        found = json.loads(answer)["diagnostics"]
        return next(d["message"] for d in found if d["severity"] == "error")[:200]
    except (ValueError, KeyError, StopIteration):
        return (errors.strip().splitlines() or ["no message"])[-1][:200]


class CModel:
    """The C of a model in a folder."""

    def __init__(self, folder: pathlib.Path, form: str):
        self.folder, self.form = folder, form
        self.program = folder / "model"
        described = json.loads((folder / "model.json").read_text())
        self.inputs = [self.port(p) for p in described["inputs"]]
        self.outputs = [self.port(p) for p in described["outputs"]]
        self.extents = [Extent(**e) for e in described.get("extents", [])]

    @staticmethod
    def port(described: dict) -> Port:
        return Port(*(described[key] for key in ("name", "c_name", "dtype", "shape")),
                    described.get("axes", []))

    def build(self, compiler: str = "gcc", flags: list[str] | None = None) -> None:
        flags = [*FLAGS[self.form], *self.machine()] if flags is None else flags
        objects = self.folder.glob("*.o")
        self.compile([compiler, *flags, *self.sources(), *objects, "-lm", "-o", self.program])

    def machine(self) -> list[str]:
        """The flags for the processor of the fast form, from its Makefile."""
        lines = (self.folder / "Makefile").read_text().splitlines() if self.form == "fast" else []
        return next((line.split("=", 1)[1].split() for line in lines if line.startswith("MACHINE")), [])

    def check(self, compiler: str, flags: list[str]) -> None:
        """Builds nothing, but reports what the compiler does not like."""
        self.compile([compiler, *flags, "-fsyntax-only", *self.sources()])

    def sources(self) -> list[pathlib.Path]:
        return sorted(self.folder.glob("*.c"))

    @staticmethod
    def compile(command: list) -> None:
        done = run(command, "building")
        if done.returncode != 0:
            lines = [e for e in done.stderr.splitlines() if "error" in e] or [done.stderr[-300:]]
            raise Failed(f"does not build: {lines[0]}")

    def extents_for(self, shapes: dict[str, list[int]]) -> dict[str, int]:
        """The runtime extents, by their C names, for inputs of these shapes."""
        found: dict[str, int] = {}
        for port in self.inputs:
            for axis, given in zip(port.axes, shapes[port.name]):
                for extent in (e for e in self.extents if e.name == axis):
                    if found.setdefault(extent.c_name, given) != given:
                        raise Failed(f"`{axis}` is {found[extent.c_name]} and {given}")
        return found

    def run(self, inputs: pathlib.Path, outputs: pathlib.Path, timeout: int = TIMEOUT,
            runner: list[str] | None = None, extents: dict[str, int] | None = None) -> None:
        outputs.mkdir(parents=True, exist_ok=True)
        words = ["-i", inputs] if self.inputs else []
        for name, value in (extents or {}).items():
            words += ["-e", f"{name}={value}"]
        done = run([*(runner or []), self.program, *words, "-o", outputs], "running", timeout)
        if done.returncode != 0:
            raise Failed(f"the program ended with {done.returncode}: {done.stderr.strip()[:200]}")


def compile_model(lemma: str, model: pathlib.Path, folder: pathlib.Path, form: str,
                  options: list[str]) -> CModel:
    """The C of the model. Raises Refused if Lemma has an error to report, Failed if it crashes. The
    form `object` is an object file with the example of the fast form."""
    def call(output: pathlib.Path, *words: str) -> None:
        done = run([lemma, "compile", model, "-o", output, *words, "--json", *options],
                   "lemma compile")
        if done.returncode in (1, 2):
            raise Refused(refusal(done.stdout, done.stderr))
        if done.returncode != 0:
            raise Failed(f"lemma compile ended with {done.returncode}: {done.stderr.strip()[:200]}")
    call(folder, f"--form={'fast' if form == 'object' else form}")
    if form == "object":
        for source in folder.glob("*.c"):
            if source.name != "main.c":
                source.unlink()
        call(folder / "model.o")
    return CModel(folder, form)
