#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel from a build, and tests it in a fresh virtual environment without network.

    ./dev wheel                # builds what this needs, then calls it

The wheel has the package, liblemma and the compiler with LLVM linked in. Its tag follows from the
versions of the C library that these need.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
# What every Linux with this version of the C library has.
SYSTEM_LIBRARIES = {
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libstdc++.so.6",
    "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
}  # fmt: skip
TRIAL = """
import lemma, numpy, pathlib, sys
assert pathlib.Path(lemma.__file__).is_relative_to(sys.prefix), lemma.__file__
model = lemma.model('''
import math;
graph Double { @input { x: real[n|64]; } @output { y: real[n]; } @compose { y = math.add(x, x); } }
''', engine="compile")
assert list(model(numpy.ones(3, numpy.float32))) == [2, 2, 2]
assert model.engine.name == "compile", model.engine
print("lemma", lemma.__version__, "runs compiled code for", model.engine.target)
"""


def read_elf(path: pathlib.Path, option: str) -> str:
    command = ["readelf", "--wide", option, str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def platform_tag(files: list[pathlib.Path]) -> str:
    """The tag of the oldest C library that is new enough; ends if a library is not allowed."""
    newest = (2, 17)
    names = {file.name for file in files}
    for file in files:
        for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", read_elf(file, "-d")):
            if needed not in SYSTEM_LIBRARIES and needed not in names:
                sys.exit(f"{file.name} needs {needed}, which the wheel does not have")
        for version in re.findall(r"GLIBC_(\d+)\.(\d+)", read_elf(file, "-V")):
            newest = max(newest, (int(version[0]), int(version[1])))
    return f"manylinux_{newest[0]}_{newest[1]}_{os.uname().machine}"


def run_path(path: pathlib.Path) -> str:
    found = re.search(r"\(R(?:UN)?PATH\).*\[(.*)\]", read_elf(path, "-d"))
    return found.group(1) if found else ""


def set_run_path(path: pathlib.Path, wanted: str) -> None:
    """Shortens the run path in place; the build's has folders that the wheel does not have."""
    old, content = run_path(path).encode() + b"\0", path.read_bytes()
    if content.count(old) != 1 or len(wanted) >= len(old):
        sys.exit(f"cannot change the run path of {path.name}")
    path.write_bytes(content.replace(old, wanted.encode().ljust(len(old), b"\0")))
    if run_path(path) != wanted:
        sys.exit(f"the run path of {path.name} is {run_path(path)}")


def stage(build: pathlib.Path, folder: pathlib.Path) -> list[pathlib.Path]:
    """Copies the files of the wheel; returns the libraries."""
    package = folder / "lemma"
    package.mkdir(parents=True)
    for name in ("pyproject.toml", "setup.py", "README.md"):
        shutil.copy(FOLDER / name, folder)
    for pattern in ("*.py", "*.pyi", "py.typed"):
        for file in (FOLDER / "lemma").glob(pattern):
            shutil.copy(file, package)
    modules = list((build / "python/lemma").glob("_lemma.*.so"))
    libraries = [*modules, build / "liblemma.so.0", build / "static/lemma_jit.so"]
    copies = []
    for library in libraries:
        if not library.exists():
            sys.exit(f"{library} is not there: run ./dev wheel")
        copies.append(package / library.name)
        subprocess.run(["strip", "--strip-unneeded", "-o", copies[-1], library], check=True)
        copies[-1].chmod(0o644)
        if run_path(copies[-1]):
            set_run_path(copies[-1], "$ORIGIN")
    return copies


def make(build: pathlib.Path, output: pathlib.Path, version: str) -> pathlib.Path:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tag = platform_tag(stage(build, folder))
        shutil.copy(FOLDER.parent / "LICENSE", folder)
        environment = {**os.environ, "LEMMA_WHEEL_TAG": tag, "LEMMA_VERSION": version}
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", str(folder)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        [wheel] = (folder / "dist").glob("*.whl")
        output.mkdir(parents=True, exist_ok=True)
        for old in output.glob("lemma-*.whl"):
            old.unlink()
        return pathlib.Path(shutil.copy(wheel, output))


def test(wheel: pathlib.Path) -> None:
    """Installs the wheel without network; numpy comes from the system."""
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name) / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", place], check=True)
        python = place / "bin/python"
        install = [python, "-m", "pip", "install", "--quiet", "--no-index", wheel.resolve()]
        subprocess.run(install, check=True)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        subprocess.run([python, "-c", TRIAL], check=True, cwd=name, env=environment)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the folder of the build")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the folder for the wheel")
    parser.add_argument("--no-test", action="store_true", help="do not install it for a trial")
    options = parser.parse_args()
    root = (FOLDER.parent / "CMakeLists.txt").read_text()
    found = re.search(r"project\(lemma VERSION ([0-9.]+)", root)
    if not found:
        sys.exit("CMakeLists.txt has no version")
    wheel = make(options.build, options.output, found.group(1))
    print(f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)")
    if not options.no_test:
        test(wheel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
