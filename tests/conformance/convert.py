#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts the models of recorded cases and verifies the results: what `lemma convert` writes, `lemma verify`
reads back to the recorded numbers. What the other format cannot say is counted by the operator that is refused.

Folders hold cases of the ONNX layout (model.onnx beside its data sets) or of the other suites (a folder `model`
beside case.json). With `--checker`, ONNX's own checker looks at every .onnx file that is written, if its operator
set is one that the installed checker knows. Fails when a converted model computes something else, or is not
accepted."""
import argparse
import collections
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

TIMEOUT = 600


def outputs_of(lemma: str, model: pathlib.Path, inputs: list[str], options: list[str], out: pathlib.Path) -> list[bytes]:
    """What a run writes, as files in the order of the outputs."""
    shown = subprocess.run([lemma, "show", "--json", str(model), *inputs], capture_output=True, text=True,
                           check=False)
    done = subprocess.run([lemma, "run", str(model), *inputs, *options, "-o", str(out)], capture_output=True,
                          text=True, timeout=TIMEOUT, check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr[:300])
    names = [o["name"] for o in json.loads(shown.stdout)["outputs"]] if shown.returncode == 0 else []
    files = [out / (re.sub(r"[^A-Za-z0-9._-]", "_", name) + ".npy") for name in names]
    if not files or not all(f.exists() for f in files):
        files = sorted(out.glob("*.npy"), key=lambda f: f.stat().st_mtime_ns)
    return [f.read_bytes() for f in files]


def numbers_of(npy: bytes) -> tuple[str, list[float]]:
    """The shape and the elements of an .npy file."""
    size = int.from_bytes(npy[8:10], "little")
    header = npy[10:10 + size].decode("latin1")
    kind = re.search(r"'descr': '.(..?)'", header).group(1)
    shape = re.search(r"'shape': (\([^)]*\))", header).group(1)
    code = {"f4": "f", "f8": "d", "i8": "q", "i4": "i", "b1": "b", "u1": "B", "i1": "b", "f2": "e",
            "u2": "H", "u4": "I", "u8": "Q", "i2": "h"}[kind]
    data = npy[10 + size:]
    return shape, [float(v[0]) for v in struct.iter_unpack("<" + code, data)]


def difference(want: bytes, got: bytes) -> str:
    shape, expected = numbers_of(want)
    other, values = numbers_of(got)
    if shape != other:
        return f"the shape is {other}, expected {shape}"
    scale = max((abs(v) for v in expected if math.isfinite(v)), default=0.0)
    for e, v in zip(expected, values, strict=True):
        near = math.isfinite(e) and abs(e - v) <= 1e-3 * abs(e) + 1e-5 * max(scale, 1)
        if not (e == v or near or (math.isnan(e) and math.isnan(v))):
            return f"{v}, expected {e}"
    return ""


def compare_runs(lemma: str, case: pathlib.Path, converted: pathlib.Path, options: list[str],
                 precision: list[str], work: pathlib.Path) -> dict:
    """A model of the ONNX layout in another format, run on the recorded inputs beside the original; `precision` is
    the option that the conversion asked for."""
    inputs = arguments_of(case)[1:]
    failures = []
    try:
        want = outputs_of(lemma, case / "model.onnx", inputs, options, work / "want" / case.name)
        got = outputs_of(lemma, converted, inputs, options + precision, work / "got" / case.name)
        if len(want) != len(got):
            failures.append(f"{len(got)} outputs, expected {len(want)}")
        failures += [d for d in map(difference, want, got) if d]
    except (ValueError, KeyError, AttributeError, subprocess.TimeoutExpired) as error:
        failures.append(str(error))
    return {"case": str(case), "passed": not failures, "failures": failures}


def is_quantized(file: pathlib.Path) -> bool:
    """A case about what graph.quant says, which other formats do not."""
    return file.name == "case.json" and json.loads(file.read_text()).get("quant", False)


def cases_below(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted({p.parent for p in [*folder.glob("**/model.onnx"), *folder.glob("**/case.json")]
                   if p.parent.name != "model" and not is_quantized(p)})


def arguments_of(case: pathlib.Path) -> list[str]:
    """The model of a case, with the graph and the attributes that case.json names."""
    if not (case / "case.json").exists():
        # Values of inputs may decide shapes: they are taken as recorded.
        files = sorted((case / "test_data_set_0").glob("input_*.pb"), key=lambda p: int(p.stem[6:]))
        return [str(case / "model.onnx"), *(f"-i{file}" for file in files)]
    described = json.loads((case / "case.json").read_text())
    arguments = [str(case / "model")]
    for name, value in described.get("attribs", {}).items():
        arguments += ["-a", f"{name}={json.dumps(value)}"]
    if "graph" in described:
        arguments.append(f"--graph={described['graph']}")
    return arguments


def copy_case(case: pathlib.Path, copy: pathlib.Path, to: str) -> pathlib.Path:
    """The case without its model; where the converted model belongs."""
    copy.mkdir(parents=True)
    for item in case.iterdir():
        if item.name not in ("model", "model.onnx", "case.json"):
            (copy / item.name).symlink_to(item.resolve())
    if (case / "case.json").exists():
        described = json.loads((case / "case.json").read_text())
        for name in ("attribs", "graph"):
            described.pop(name, None)
        (copy / "case.json").write_text(json.dumps(described))
    if to != "onnx":
        return copy / "model"
    if not (case / "case.json").exists():
        return copy / "model.onnx"
    (copy / "model").mkdir()
    return copy / "model" / "model.onnx"


def reason_of(errors: str) -> str:
    """What a refusal is about, without the place."""
    line = next((e for e in errors.splitlines() if re.search(r"(^|: )error: ", e)),
                errors.strip().split("\n")[-1])
    text = re.sub(r"^(.*?: )?error: ", "", line)
    return re.sub(r" \[[a-z-]+\]$", "", text)[:160]


class Checker:
    """ONNX's own, in the Python that has it."""

    SCRIPT = ("import onnx, sys\n"
              "for path in sys.argv[1:]:\n"
              "    model = onnx.load(path)\n"
              "    known = all(o.version <= (3 if o.domain else onnx.defs.onnx_opset_version()) "
              "for o in model.opset_import)\n"
              "    try:\n"
              "        if known: onnx.checker.check_model(path, full_check=True)\n"
              "        print('good' if known else 'new', path)\n"
              "    except Exception as error:\n"
              "        print('bad', path, str(error).replace('\\n', ' ')[:300])\n")

    def __init__(self, python: str):
        self.python = python
        done = subprocess.run([python, "-c", "import onnx; print(onnx.__version__)"], capture_output=True,
                              text=True, check=False)
        self.version = done.stdout.strip() if done.returncode == 0 else ""

    def look(self, files: list[pathlib.Path]) -> list[str]:
        answers = []
        for begin in range(0, len(files), 100):
            done = subprocess.run([self.python, "-c", self.SCRIPT, *map(str, files[begin:begin + 100])],
                                  capture_output=True, text=True, check=False)
            answers += done.stdout.splitlines()
            if done.returncode != 0:
                answers.append(f"bad {files[begin]} {done.stderr[-300:]}")
        return answers


def verify(lemma: str, folder: pathlib.Path, options: list[str]) -> list[dict]:
    done = subprocess.run([lemma, "verify", "--json", *options, str(folder)], capture_output=True,
                          text=True, check=False)
    try:
        return json.loads(done.stdout)["cases"]
    except (ValueError, KeyError):
        return [{"case": str(folder), "passed": False, "failures": [done.stderr[:500]]}]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lemma", required=True, help="the program")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where converted cases go")
    parser.add_argument("--to", choices=["onnx", "sknd", "nnef1"], default="onnx")
    parser.add_argument("--option", action="append", default=[], help="passed to lemma verify")
    parser.add_argument("--every", type=int, default=1, help="take every n-th case")
    parser.add_argument("--known", type=pathlib.Path, help="names of cases that fail as they are")
    parser.add_argument("--checker", default="", help="a Python that has the module onnx")
    parser.add_argument("--table", action="store_true", help="a line for each case")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    args = parser.parse_args()

    lemma = os.path.abspath(args.lemma)
    known = set(args.known.read_text().split()) if args.known else set()
    shutil.rmtree(args.work, ignore_errors=True)
    refused: collections.Counter[str] = collections.Counter()
    precision: dict[str, list[str]] = {}
    total = 0
    cases = [c for folder in args.folders for c in cases_below(folder) if c.name not in known]
    for case in cases[::args.every]:
        total += 1
        copy = args.work / case.name
        out = copy_case(case, copy, args.to)
        done = subprocess.run([lemma, "convert", *arguments_of(case), str(out), "--brief", "--force", f"--to={args.to}"],
                              capture_output=True, text=True, timeout=TIMEOUT, check=False)
        asked = re.search(r"run it with `(--real=\w+)`", done.stderr)
        precision[case.name] = [asked.group(1)] if asked else []
        if done.returncode == 0:
            continue
        reason = reason_of(done.stderr)
        if args.table:
            print(f"    refused: {case.name}: {reason}")
        if done.returncode not in (1, 2):
            reason = f"CRASH {done.returncode}: {case.name}"
        refused[reason] += 1
        shutil.rmtree(copy)

    foreign = [c for c in cases[::args.every] if not (c / "case.json").exists() and args.to != "onnx"]
    results = [compare_runs(lemma, c, args.work / c.name / "model", args.option, precision[c.name],
                            args.work.with_suffix(".runs"))
               for c in foreign if (args.work / c.name).exists()]
    if len(foreign) < total:
        results += verify(lemma, args.work, args.option)
    failures = [r for r in results if not r["passed"]]
    for failure in failures:
        print(f"    FAILS: {pathlib.Path(failure['case']).name}")
        for line in failure["failures"][:2]:
            print(f"        {line[:300]}")
    crashes = sum(count for reason, count in refused.items() if reason.startswith("CRASH"))
    for reason, count in refused.most_common():
        print(f"    refused {count:4}: {reason}")
    bad = []
    if args.checker and args.to == "onnx":
        checker = Checker(args.checker)
        if checker.version:
            answers = checker.look(sorted(args.work.glob("**/model.onnx")))
            bad = [a for a in answers if a.startswith("bad")]
            good = sum(a.startswith("good") for a in answers)
            print(f"  the checker of onnx {checker.version} accepts {good} of {good + len(bad)}, "
                  f"{len(answers) - good - len(bad)} have newer operator sets")
            for answer in bad:
                print(f"    {answer}")
        else:
            print("  no module onnx: its checker is left out")
    print(f"  {total} cases to {args.to}: {len(results) - len(failures)} the same numbers, "
          f"{sum(refused.values())} refused, {len(failures)} differ")
    if not total:
        print("  no cases")
    failed = len(failures) + crashes + len(bad) + (not total)
    print(f"{len(results) - len(failures)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
