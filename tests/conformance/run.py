#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `lemma` over the SkriptND or the NNEF 1.0 conformance suite and prints counts by part and
stage.

Fails when a good program is refused, when a composed output shape differs from the expected one, when
the text of a composed program does not read back, when a converted model computes something else,
when a program with a defect is accepted, or when
too few of these are reported at the listed line."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

MIN_AT_LINE = 0.95
BATCH = 64


def unpack(archive: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    """The unpacked suite; unpacked again only when the archive is newer."""
    stamp = work / (archive.name + ".stamp")
    if not stamp.exists() or stamp.stat().st_mtime < archive.stat().st_mtime:
        work.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as tar:
            tar.extractall(work)
        stamp.touch()
    return work / archive.name.split("-")[0]


def graph_attributes(model: pathlib.Path) -> list[str]:
    """The options that give a case its graph attributes."""
    for folder in (model.parent, model.parent.parent):
        if (case := folder / "case.json").exists():
            attribs = json.loads(case.read_text()).get("attribs", {})
            return [word for name, value in attribs.items()
                    for word in ("-a", f"{name}={json.dumps(value)}")]
    return []


class Lemma:
    """`lemma check --json` on many files: which are refused, and which lines are named."""

    def __init__(self, program: str):
        self.program = program

    def check(self, files: list[pathlib.Path]) -> dict[pathlib.Path, "Answer"]:
        answers: dict[pathlib.Path, Answer] = {}
        needy = {f: given for f in files if (given := graph_attributes(f))}
        for file, given in needy.items():
            answers |= self.run([file], given) or {file: Answer.crash(file)}
        files = [f for f in files if f not in needy]
        for begin in range(0, len(files), BATCH):
            batch = files[begin:begin + BATCH]
            if (found := self.run(batch)) is not None:
                answers |= found
                continue
            for file in batch:  # a crash spoils the batch: find out whose it is
                answers |= self.run([file]) or {file: Answer.crash(file)}
        return answers

    def run(self, files: list[pathlib.Path],
            options: list[str] | None = None) -> dict[pathlib.Path, "Answer"] | None:
        command = [self.program, "check", "--json", *(options or []), *map(str, files)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=120, check=False)
            document = json.loads(done.stdout)
        except (subprocess.TimeoutExpired, ValueError):
            return None
        if done.returncode not in (0, 1):
            return None
        return {f: Answer(f, m, document["diagnostics"])
                for f, m in zip(files, document["models"], strict=True)}


class Answer:
    def __init__(self, file: pathlib.Path, model: dict, diagnostics: list[dict]):
        self.file = str(file)
        self.refused = model["status"] == 1
        self.crashed = False
        self.errors = [d for d in diagnostics
                       if d["severity"] == "error" and d["model"] == self.file]

    @staticmethod
    def crash(file: pathlib.Path) -> "Answer":
        answer = Answer(file, {"status": 3}, [])
        answer.crashed = True
        return answer

    def lines(self) -> list[int]:
        """The lines of the file that an error or one of its notes points to."""
        places = [p for d in self.errors for p in [d, *d.get("notes", [])]]
        return [p["line"] for p in places if pathlib.Path(self.file) in
                [pathlib.Path(p.get("file", "")), pathlib.Path(p.get("file", "")).parent]]

    def first(self) -> str:
        if self.crashed:
            return "crashed"
        if not self.errors:
            return "accepted"
        d = self.errors[0]
        return f"{d.get('line')}:{d.get('column')}: {d['message']} [{d['kind']}]"


class Tally:
    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self.misses: list[str] = []

    def count(self, good: bool, miss: str = "") -> None:
        self.passed += good
        self.failed += not good
        if not good and miss:
            self.misses.append(miss)


def check_good(lemma: Lemma, title: str, files: list[pathlib.Path], tally: Tally) -> None:
    answers = lemma.check(files)
    refused = [f for f in files if answers[f].refused or answers[f].crashed]
    print(f"  {title:<18} {len(files) - len(refused):4} of {len(files):4} accepted")
    for file in files:
        name = file.name
        if file.name in ("main.sknd", "model"):
            name = file.parent.name if file.name == "model" else file.parent.parent.name
        tally.count(file not in refused, f"{title} {name}: {answers[file].first()}")


def check_bad(lemma: Lemma, folder: pathlib.Path, tally: Tally) -> None:
    entries = json.loads((folder / "index.json").read_text())
    answers = lemma.check([folder / e["file"] for e in entries])
    total = at_line = 0
    for stage in dict.fromkeys(e["stage"] for e in entries):
        rows = [(e, answers[folder / e["file"]]) for e in entries if e["stage"] == stage]
        refused = [r for r in rows if r[1].refused]
        placed = [r for r in refused if r[0]["line"] in r[1].lines()]
        print(f"  invalid, {stage:<9} {len(refused):4} of {len(rows):4} refused, "
              f"{len(placed):4} at the listed line")
        for entry, answer in rows:
            tally.count(answer.refused, f"{stage} {entry['file']}:{entry['line']}: "
                        f"{answer.first()} ({entry['rule']})")
        total += len(rows)
        at_line += len(placed)
        for entry, answer in refused:
            if (entry, answer) not in placed:
                print(f"    elsewhere: {entry['file']}, listed line {entry['line']}: "
                      f"{answer.first()}")
    print(f"  at the listed line {at_line} of {total} ({at_line / max(total, 1):.1%})")
    tally.count(at_line >= MIN_AT_LINE * total, f"fewer than {MIN_AT_LINE:.0%} at the listed line")


def attribute(value: object) -> str:
    """A value of case.json as `-a NAME=VALUE` takes it."""
    if isinstance(value, list):
        return "[" + ",".join(attribute(v) for v in value) + "]"
    return json.dumps(value)


def same_extents(got: dict, want: list) -> bool:
    """Extents that only a run tells are compared with their upper bounds."""
    bounds = got.get("bounds", got["shape"])
    return len(got["shape"]) == len(want) and all(
        w == g if isinstance(g, int) else w <= b
        for g, b, w in zip(got["shape"], bounds, want))


def case_arguments(case: pathlib.Path, expected: dict) -> list[str]:
    """The model of a case as `lemma show` takes it."""
    arguments = [str(case / "model")]
    for name, value in expected.get("attribs", {}).items():
        arguments += ["-a", f"{name}={attribute(value)}"]
    if "graph" in expected:
        arguments.append(f"--graph={expected['graph']}")
    return arguments


def check_shapes(lemma: Lemma, cases: list[pathlib.Path], tally: Tally) -> None:
    """The shapes of the outputs of every case, composed, against case.json."""
    good = 0
    for case in cases:
        expected = json.loads((case / "case.json").read_text())
        command = [lemma.program, "show", "--json", *case_arguments(case, expected)]
        done = subprocess.run(command, capture_output=True, timeout=120, check=False)
        try:
            outputs = {o["name"]: o for o in json.loads(done.stdout)["outputs"]}
        except (ValueError, KeyError):
            tally.count(False, f"shapes of {case.name}: not composed")
            continue
        fits = True
        for name, shape in expected["shapes"].items():
            output = outputs.get(name, {})
            if "pack" in output:
                fits &= len(output["pack"]) >= len(shape) and all(
                    same_extents(o, s) for o, s in zip(output["pack"], shape))
            else:
                fits &= "shape" in output and same_extents(output, shape)
        good += fits
        tally.count(fits, f"shapes of {case.name}: {json.dumps(list(outputs.values()))[:200]}")
    print(f"  {'shapes':<18} {good:4} of {len(cases):4} as expected")


def check_round_trip(lemma: Lemma, models: list[tuple[str, list[str]]], work: pathlib.Path,
                     tally: Tally) -> None:
    """The text of a composed program reads back as the same program."""
    good = 0
    copy = work / "round_trip.ir"
    for name, command in models:
        text = subprocess.run([lemma.program, "show", "--text", *command],
                              capture_output=True, timeout=120, check=False).stdout
        copy.write_bytes(text)
        again = subprocess.run([lemma.program, "show", "--text", "--brief", str(copy)],
                               capture_output=True, timeout=120, check=False)
        same = bool(text) and again.stdout == text
        good += same
        tally.count(same, f"round trip of {name}: {again.stderr.decode()[:200]}")
    print(f"  {'round trip':<18} {good:4} of {len(models):4} the same")


def convert_cases(lemma: Lemma, cases: list[pathlib.Path], options: list[str],
                  folder: pathlib.Path) -> list[str]:
    """The cases with converted models, in a folder of their own; what could not be converted."""
    shutil.rmtree(folder, ignore_errors=True)
    misses = []
    for case in cases:
        copy = folder / case.name
        copy.mkdir(parents=True)
        for item in case.iterdir():
            if item.name != "model":
                (copy / item.name).symlink_to(item.resolve())
        command = [lemma.program, "convert", str(case / "model"), str(copy / "model"), "--brief", "--force",
                   *options]
        done = subprocess.run(command, capture_output=True, timeout=120, check=False)
        if done.returncode != 0:
            misses.append(f"{case.name}: {done.stderr.decode().strip()[:200]}")
            shutil.rmtree(copy)
    return misses


def check_converted(lemma: Lemma, cases: list[pathlib.Path], work: pathlib.Path,
                    tally: Tally) -> None:
    """Converted models compute what the originals do."""
    for title, options in [("as NNEF 1.0", ["--to=nnef1"]),
                           ("as flat NNEF 1.0", ["--to=nnef1", "--flat"]),
                           ("as SkriptND", ["--to=sknd"])]:
        folder = work / "converted" / title.replace(" ", "_")
        misses = convert_cases(lemma, cases, options, folder)
        done = subprocess.run([lemma.program, "verify", str(folder)], capture_output=True,
                              timeout=600, check=False)
        lines = done.stdout.decode().strip().splitlines()
        if counts := re.fullmatch(r"(\d+) passed, (\d+) failed", lines[-1] if lines else ""):
            passed, failed = map(int, counts.groups())
        else:
            passed, failed = 0, len(cases) - len(misses)
        if failed:
            misses += [line for line in lines[:-1] if line.strip()][:20]
        print(f"  {title:<18} {passed:4} of {len(cases):4} the same numbers")
        tally.passed += passed
        tally.failed += len(cases) - passed
        tally.misses += [f"{title}, {miss}" for miss in misses]


def run_sknd(lemma: Lemma, suite: pathlib.Path, work: pathlib.Path, tally: Tally) -> None:
    print("conformance, SkriptND:")
    valid = sorted((suite / "valid").glob("*.sknd"))
    cases = sorted((suite / "cases").iterdir())
    check_good(lemma, "valid", valid, tally)
    check_good(lemma, "cases", sorted((suite / "cases").glob("*/model/main.sknd")), tally)
    check_shapes(lemma, cases, tally)
    models = [(file.name, [str(file)]) for file in valid]
    models += [(case.name, case_arguments(case, json.loads((case / "case.json").read_text())))
               for case in cases]
    check_round_trip(lemma, models, work, tally)
    check_bad(lemma, suite / "invalid", tally)


def run_nnef1(lemma: Lemma, suite: pathlib.Path, work: pathlib.Path, tally: Tally) -> None:
    print("conformance, NNEF 1.0:")
    valid = sorted((suite / "valid").glob("*.nnef"))
    cases = sorted([*(suite / "numeric").iterdir(), *(suite / "networks").iterdir()])
    check_good(lemma, "valid", valid, tally)
    check_good(lemma, "cases", [case / "model" for case in cases], tally)
    check_round_trip(lemma, [(case.name, [str(case / "model")]) for case in cases], work, tally)
    check_converted(lemma, cases, work, tally)
    check_bad(lemma, suite / "invalid", tally)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lemma", required=True, help="the program")
    parser.add_argument("--archive", type=pathlib.Path, required=True, help="sknd-open.tar.xz or nnef1-open.tar.xz")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where to unpack")
    args = parser.parse_args()

    suite = unpack(args.archive, args.work)
    lemma = Lemma(os.path.abspath(args.lemma))
    tally = Tally()
    if suite.name == "nnef1":
        run_nnef1(lemma, suite, args.work, tally)
    else:
        run_sknd(lemma, suite, args.work, tally)
    if not tally.passed:
        tally.failed += 1
        print("    no case passed")
    for miss in tally.misses:
        print(f"    MISS {miss}")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
