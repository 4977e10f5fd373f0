#!/usr/bin/env python3
"""Proves the reference operators: `./dev prove` runs it.

Each model of tests/sonnx/cases.h is written as C by `lemma reference`; Frama-C's WP has to prove every goal of
it: the contracts, the absence of run-time errors, termination. Then the C is broken on purpose, one fault at a
time, and each of these mutants has to be refuted: a proof that also accepts wrong programs is worth nothing."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

FLAGS = [
    "-wp", "-wp-rte", "-warn-special-float", "none",  # NaN and infinity are ordinary values
    "-wp-model", "Typed+real",  # contracts have no real arithmetic, only functions such as sx_add
    "-wp-prover", "z3,cvc4", "-wp-par", "1", "-wp-cache", "none",
    "-wp-no-simplify-is-cint",  # otherwise goals are lost if an extent is 1 or 2
    "-wp-no-init-const",  # the proof does not depend on the elements of constants
]

# Defects by case: a description, the text of the code (a regular expression), and its replacement.
LAST = r"(for \(int {0} = 0; {0} < )(\d+)"  # the end of a loop


def shorter(index):
    return (LAST.format(index), lambda match: match[1] + str(int(match[2]) - 1))


MUTANTS = {
    "conv_standard": [
        ("padding with the wrong sign", r"(const int ih = .*) - (\d+);", r"\1 + \2;"),
        ("rows and columns of the kernel swapped", r"\[kh\]\[kw\]", "[kw][kh]"),
        ("the last input channel left out", *shorter("c")),
        ("bias added for each tap", r"acc = sx_add\(acc, ", "acc = sx_add(sx_add(acc, (double)t_b[m]), "),
        ("no bias", r"double acc = .*;", "double acc = 0.0;"),
    ],
    "conv_strided": [
        ("stride left out", r"\(oh \* 2\)", "oh"),
        ("strides of rows and columns swapped", r"\(ow \* 3\)", "(ow * 2)"),
        ("the last column of the output left out", *shorter("ow")),
    ],
    "conv_dilated": [
        ("dilation left out", r"\(kh \* 3\)", "kh"),
        ("the guard takes the last column for padding", r"\(iw < 8\)", "(iw < 7)"),
        ("the sum begins with another number", r"double acc = 0\.0;", "double acc = 1.0;"),
    ],
    "conv_depthwise": [
        ("all channels read the first one", r"t_x\[n\]\[m\]", "t_x[n][0]"),
        ("the first kernel for all channels", r"t_w\[m\]\[0\]", "t_w[0][0]"),
        ("the last row of the kernel left out", *shorter("kh")),
    ],
    "conv_grouped": [
        ("groups that are too small", r"\(m / 3\)", "(m / 2)"),
        ("all groups read the first one", r"\(\(m / 3\) \* 2\) \+ c", "c"),
    ],
    "concat_rank2": [
        ("intervals closed at both ends", r"if \(i1 < 3\)", "if (i1 <= 3)"),
        ("the offset forgets an input", r"\[i1 - 5\]", "[i1 - 3]"),
        ("inputs swapped", r"t_b\[i0\]\[i1 - 3\]", "t_c[i0][i1 - 3]"),
    ],
    "concat_rank4": [
        ("the second input begins too early", r"if \(i1 < 2\)", "if (i1 < 1)"),
        ("joined along another axis", r"t_b\[i0\]\[i1 - 2\]\[i2\]", "t_b[i0][i2][i1 - 2]"),
        ("the last batch left out", *shorter("i0")),
    ],
    "broadcast_add": [
        ("an axis of one element is read behind it", r"t_b\[i1\]\[0\]", "t_b[i1][i2]"),
        ("axes aligned at the front", r"t_b\[i1\]\[0\]", "t_b[i0][0]"),
        ("operands swapped", r"sx_add\((.*), (.*)\)\)", r"sx_add(\2, \1))"),
    ],
    "expand": [
        ("one element for a whole axis", r"t_x\[i1\]\[0\]\[i3\]", "t_x[i1][0][0]"),
        ("the last column left out", *shorter("i3")),
    ],
    "graph": [
        ("a node left out", r"    n1_mul\(\);\n", ""),
        ("nodes in the wrong order", r"    n1_mul\(\);\n    n2_concat\(\);", "    n2_concat();\n    n1_mul();"),
    ],
}


def is_code(line, inside):
    """Whether the line is no part of an annotation, and whether the next one is inside of a comment."""
    if inside:
        return False, "*/" not in line
    if line.lstrip().startswith("/*"):
        return False, "*/" not in line
    return True, False


def mutated(text, pattern, replacement):
    """The text with the fault, in code alone, and the function that has it; None where there is nothing to break."""
    blocks, inside = [], False
    for line in text.splitlines(keepends=True):
        code, inside = is_code(line, inside)
        if not blocks or blocks[-1][0] != code:
            blocks.append([code, ""])
        blocks[-1][1] += line
    function = None
    for block in blocks:
        if not block[0]:
            continue
        if head := re.search(r"^(?:static )?(?:void|double) (\w+)\(.*\)$", block[1], re.MULTILINE):
            function = head[1]
        changed, count = re.subn(pattern, replacement, block[1], count=1)
        if count and changed != block[1]:
            block[1] = changed
            return "".join(part for _, part in blocks), function
    return None


class Run:
    """What Frama-C said about one file."""

    def __init__(self, path, timeout, function=None):
        """With a function: its goals alone, until one of them fails. Contracts keep functions apart, so the goals
        of the others are those of the original."""
        began = time.monotonic()
        command = ["frama-c", *FLAGS, "-wp-timeout", str(timeout), str(path)]
        if function:
            command += ["-wp-fct", function]
        self.proved = self.goals = 0
        self.failed = []
        self.provers = {}
        self.lines = []
        with subprocess.Popen(command, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as process:
            for line in process.stdout:
                self.read(line.rstrip())
                if function and self.failed:
                    process.terminate()
                    break
        self.seconds = time.monotonic() - began
        self.complete = process.returncode == 0

    def read(self, line):
        self.lines.append(line)
        if match := re.match(r"\[wp\] \[.*?\] Goal (\S+)(?: : (\w+))?", line):
            if match[2] != "Valid":
                self.failed.append(re.sub("^typed_real_", "", match[1]))
        elif match := re.match(r"\[wp\] Proved goals:\s+(\d+) / (\d+)", line):
            self.proved, self.goals = int(match[1]), int(match[2])
        elif match := re.match(r"  (Qed|Z3|CVC4)\b[^:]*:\s+(\d+)", line):
            self.provers[match[1]] = int(match[2])

    @property
    def good(self):
        return self.complete and self.goals > 0 and self.proved == self.goals and not self.failed


def command_good(*command):
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"prove: {' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def write_cases(options):
    models = options.work / "models"
    command_good(options.cases, models)
    names = [name for name in MUTANTS if not options.only or name in options.only]
    found = sorted(path.stem for path in models.glob("*.onnx"))
    if found != sorted(MUTANTS):
        sys.exit(f"prove: the models are {found}, but there are mutants of {sorted(MUTANTS)}")
    for name in names:
        command_good(options.lemma, "reference", models / f"{name}.onnx", "-o", options.work / name)
    return names


def write_mutant(folder, number, fault):
    _, pattern, replacement = fault
    broken = mutated((folder / "model.c").read_text(), pattern, replacement)
    if broken is None:
        return None
    path = folder / f"mutant{number}.c"
    path.write_text(broken[0])
    return path, broken[1]


def prove_all(pool, options, names):
    """Prints a row for each case; the number of those that are not proved."""
    print(f"{'program':16} {'goals':>9} {'Qed':>5} {'Z3':>5} {'CVC4':>5} {'seconds':>8}")
    runs = {name: pool.submit(Run, options.work / name / "model.c", options.timeout) for name in names}
    wrong = goals = 0
    for name, future in runs.items():
        run = future.result()
        goals += run.proved
        count = f"{run.proved}/{run.goals}"
        provers = " ".join(f"{run.provers.get(each, 0):5}" for each in ("Qed", "Z3", "CVC4"))
        print(f"{name:16} {count:>9} {provers} {run.seconds:8.1f}{'' if run.good else '  NOT PROVED'}", flush=True)
        (options.work / name / "wp.log").write_text("\n".join(run.lines) + "\n")
        if not run.good:
            wrong += 1
            print("    " + "\n    ".join(run.failed or run.lines[-10:]))
    print(f"{goals} goals proved\n")
    return wrong


def refute_all(pool, options, names):
    """Prints a row for each mutant; the number of those that live, or that nothing was broken for."""
    runs = []
    for name in names:
        for number, fault in enumerate(MUTANTS[name]):
            mutant = write_mutant(options.work / name, number, fault)
            run = pool.submit(Run, mutant[0], options.timeout, mutant[1]) if mutant else None
            runs.append((name, fault[0], run))
    print(f"{'mutant of':16} {'fault':42} refuted by")
    wrong = 0
    for name, fault, future in runs:
        if future is None:
            verdict, bad = "NOTHING TO BREAK", True
        else:
            run = future.result()
            # A mutant that is not valid C proves nothing.
            bad = not run.failed
            verdict = run.failed[0] if run.failed else "LIVES" if run.goals else "NO GOALS"
        wrong += bad
        print(f"{name:16} {fault:42} {verdict}", flush=True)
    print(f"{len(runs)} mutants, {len(runs) - wrong} refuted\n")
    return wrong, len(runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lemma", type=pathlib.Path, required=True)
    parser.add_argument("--cases", type=pathlib.Path, required=True, help="the program sonnx_cases")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--timeout", type=int, default=20, help="seconds for one goal and prover")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("only", nargs="*", metavar="CASE")
    options = parser.parse_args()
    for name in ("lemma", "cases", "work"):
        setattr(options, name, getattr(options, name).resolve())
    if unknown := [name for name in options.only if name not in MUTANTS]:
        sys.exit(f"prove: no case `{unknown[0]}`; there are: {', '.join(MUTANTS)}")
    options.work.mkdir(parents=True, exist_ok=True)
    os.environ["WHY3CONFIG"] = str(options.work / "why3.conf")  # instead of the user's own file
    command_good("why3", "config", "detect")
    began = time.monotonic()
    names = write_cases(options)
    print("Frama-C", command_good("frama-c", "-version").strip() + ";", command_good("z3", "--version").strip() + ";",
          command_good("cvc4", "--version").splitlines()[0], "\n")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        unproved = prove_all(pool, options, names)
        living, mutants = refute_all(pool, options, names)
    print(f"{time.monotonic() - began:.0f} seconds")
    failed = unproved + living
    print(f"{len(names) + mutants - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
