"""Compiles a model to C with `lemma compile`, builds the C and runs it on raw files."""
import dataclasses
import json
import pathlib
import subprocess

# The flags of each form, with which its C must build without a warning.
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
FLAGS = {"certified": ["-std=c99", "-O1", "-ffp-contract=off", *WARNINGS],
         "fast": ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"],
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
    shape: list[int]


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

    @staticmethod
    def port(described: dict) -> Port:
        return Port(*(described[key] for key in ("name", "c_name", "dtype", "shape")))

    def build(self, compiler: str = "gcc", flags: list[str] | None = None) -> None:
        flags = FLAGS[self.form] if flags is None else flags
        objects = self.folder.glob("*.o")
        self.compile([compiler, *flags, *self.sources(), *objects, "-lm", "-o", self.program])

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

    def run(self, inputs: pathlib.Path, outputs: pathlib.Path, timeout: int = TIMEOUT,
            runner: list[str] | None = None) -> None:
        outputs.mkdir(parents=True, exist_ok=True)
        words = ["-i", inputs] if self.inputs else []
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
