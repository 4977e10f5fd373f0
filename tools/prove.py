#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves a set of programs and refutes mutants of them: `./dev prove` runs it.

`lemma prove` has to prove every goal of each program: the seeds (models of tests/sonnx/cases.h, for the operators
that SONNX defines, and of tests/prove, for each kind of contract) and networks of examples/certified. Then functions
are broken on purpose, one fault at a time, and each of these mutants has to be refuted: a proof that also accepts
wrong programs is worth nothing."""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
NETWORKS = ["acas_xu", "tanh_mlp", "lenet5"]  # of the default set
MORE_NETWORKS = ["resnet8", "mobilenet_v1", "yolo_head", "lstm"]

LAST = r"(for \(int32_t {0} = 0; {0} < )(\d+)"  # the end of a loop


def shorter(index):
    return LAST.format(index), lambda match: match[1] + str(int(match[2]) - 1)


# A fault in the code of one function: its text (a regular expression) and the replacement. Names are those of the
# files that `lemma prove` writes: tensors are numbered in the order in which the contract mentions them.
Mutant = collections.namedtuple("Mutant", "kind program function fault pattern replacement")


def mutants_of(kind, program, function, faults):
    return [Mutant(kind, program, function, *fault) for fault in faults]


MUTANTS = [
    *mutants_of("map", "map", "n0_mul", [
        ("an axis of one element is read behind it", r"(t\d+)\[0\]\[i1\]\[0\]", r"\1[0][i1][i2]"),
        ("axes aligned at the front", r"(t\d+)\[0\]\[i1\]\[0\]", r"\1[0][i0][0]"),
        ("operands swapped", r"sx_mul\((.*), (.*)\)\)", r"sx_mul(\2, \1))"),
        ("the last column left out", *shorter("i2")),
    ]),
    *mutants_of("map", "map", "n1_exp", [
        ("the function left out", r"sx_exp\((.*)\)\);", r"\1);"),
        ("no rounding to float", r"sx_float\((sx_exp\(.*\))\);", r"(float)\1;"),
    ]),
    *mutants_of("map", "map", "n4_select", [
        ("the other choice", r"!= 0U\)", "== 0U)"),
    ]),
    *mutants_of("map", "expand", "n0_expand", [
        ("one element for a whole axis", r"\[i3\]\)?;", "[0];"),
    ]),
    *mutants_of("reduction", "reduction", "n0_point", [
        ("the last element left out", *shorter("k0")),
        ("the sum begins with another number", r"double acc = 0\.0;", "double acc = 1.0;"),
        ("another axis", r"\[i0\]\[k0\]\[i1\]", "[k0][i0][i1]"),
    ]),
    *mutants_of("reduction", "reduction", "n1_point", [
        ("columns before rows", r"\[k0\]\[k1\]", "[k1][k0]"),
    ]),
    *mutants_of("reduction", "reduction", "n3_point", [
        ("a transposed matrix", r"\[k0\]\[i1\]", "[i1][k0]"),
        ("a product instead of the sum", r"acc = sx_add\(acc, ", "acc = sx_mul(acc, "),
        ("added in another order", r"sx_add\(acc, (sx_mul\(.*\))\);", r"sx_add(\1, acc);"),
    ]),
    *mutants_of("reduction", "reduction", "n4_point", [
        ("the last element instead of the largest", r"sx_max\(acc, (.*)\);", r"\1;"),
    ]),
    *mutants_of("window", "conv_standard", "n0_point", [
        ("padding with the wrong sign", r"\(-1 \+ i1\)", "(1 + i1)"),
        ("rows and columns of the kernel swapped", r"\[k1\]\[k2\]", "[k2][k1]"),
        ("the last input channel left out", *shorter("k0")),
        ("bias added for each tap", r"acc = sx_add\(acc, ", "acc = sx_add(sx_add(acc, 1.0), "),
        ("no bias", r"double acc = .*;", "double acc = 0.0;"),
    ]),
    *mutants_of("window", "conv_strided", "n0_point", [
        ("stride left out", r"\(2 \* i\d\)", "i2"),
        ("strides of rows and columns swapped", r"\(3 \* i", "(2 * i"),
    ]),
    *mutants_of("window", "conv_strided", "n0_conv", [
        ("the last column of the output left out", *shorter("i3")),
    ]),
    *mutants_of("window", "conv_dilated", "n0_point", [
        ("dilation left out", r"\(3 \* k(\d)\)", r"k\1"),
        ("the guard takes the last column for padding", r"< 8\)", "< 7)"),
    ]),
    *mutants_of("window", "conv_depthwise", "n0_point", [
        ("all channels read the first one", r"(\(double\)t\d+\[0\])\[i0\]", r"\1[0]"),
        ("the first kernel for all channels", r"(\(double\)t\d+)\[i0\]\[0\]", r"\1[0][0]"),
    ]),
    *mutants_of("window", "window", "n2_point", [
        ("padding counts as zero", r"if \(\(v0 >= 0\)", "acc = sx_max(acc, 0.0);\n if ((v0 >= 0)"),
        ("the guard forgets the columns", r"\(v0 >= 0\) && \(v1 >= 0\)", "(v0 >= 0)"),
        ("windows overlap", r"\(-1 \+ \(2 \* i1\)\)", "(-1 + i1)"),
    ]),
    *mutants_of("layout", "layouts", "n2_transpose", [
        ("another permutation", r"t\d+\[i2\]\[i0\]\[i1\] = ", "t0[i0][i1][i2] = "),
        ("the last row left out", *shorter("i1")),
        ("one row is written for all", r"(t\d+\[i2\]\[i0\])\[i1\] = ", r"\1[0] = "),
    ]),
    *mutants_of("layout", "layouts", "n3_slice", [
        ("the slice begins at the front", r"\[1 \+ \(2 \* i1\)\]", "[2 * i1]"),
        ("no stride", r"\[1 \+ \(2 \* i1\)\]", "[1 + i1]"),
    ]),
    *mutants_of("layout", "layouts", "n1_unflatten", [
        ("rows of another length", r"\(9 \* i0\)", "(8 * i0)"),
    ]),
    *mutants_of("softmax", "softmax", "n1_sub", [
        ("the peak is not subtracted", r"sx_sub\((.*), .*\);", r"(\1);"),
        ("the peak of another column", r"\[i0\]\[0\]\[i2\]", "[i0][0][0]"),
    ]),
    *mutants_of("softmax", "softmax", "n3_point", [
        ("the sum lacks an element", *shorter("k0")),
        ("the sum along another axis", r"\[i0\]\[k0\]\[i1\]", "[i0][i1][k0]"),
    ]),
    *mutants_of("softmax", "softmax", "n4_div", [
        ("the quotient upside down", r"sx_div\((.*), (.*)\)\)", r"sx_div(\2, \1))"),
        ("the sum of another column", r"\[i0\]\[0\]\[i2\]", "[i0][0][0]"),
    ]),
    *mutants_of("concat", "concat", "n0_concat_3", [
        ("the offset forgets an input", r"\[4 \+ i1\]", "[3 + i1]"),
        ("the part has another order", r"\[4 \+ i1\]", "[5 - i1]"),
        ("the last batch left out", *shorter("i0")),
    ]),
    *mutants_of("concat", "concat", "n0_concat_2", [
        ("the part lies in the next one", r"\[i0\]\[3\]", "[i0][4]"),
    ]),
    *mutants_of("concat", "concat", "n0_concat", [
        ("an input left out", r"    n\d_concat_2\(\);\n", ""),
    ]),
    *mutants_of("composition", "composition", "model_block0_0", [
        ("a node left out", r"    n\d_exp\(\);\n", ""),
        ("nodes in the wrong order", r"(    n\d_add\(\);\n)(    n\d_exp\(\);\n)", r"\2\1"),
        ("another node instead", r"    (n\d)_mul\(\);\n    (n\d)_sub", r"    \1_mul();\n    \1_mul"),
    ]),
    *mutants_of("composition", "composition", "model_compute", [
        ("a block left out", r"    m\d\(\);\n    (m\d)\(\);", r"    \1();"),
        ("blocks in the wrong order", r"(    m\d\(\);\n)(    m\d\(\);\n)", r"\2\1"),
    ]),
    *mutants_of("composition", "graph", "model_compute", [
        ("a node left out", r"    n\d_mul\(\);\n", ""),
        ("nodes in the wrong order", r"(    n\d_mul\(\);\n)(    n\d_concat\(\);\n)", r"\2\1"),
    ]),
]


def code_lines(text):
    """The lines of a file, each with whether it is part of the code of the last function."""
    lines = text.splitlines(keepends=True)
    begin = max(number for number, line in enumerate(lines) if line == "{\n")
    inside = False
    for number, line in enumerate(lines):
        comment = inside or line.lstrip().startswith("/*")
        inside = comment and "*/" not in line
        yield line, number >= begin and not comment


def mutated(text, mutant):
    """The text with the fault; None where there is nothing to break."""
    blocks = []
    for line, code in code_lines(text):
        if not blocks or blocks[-1][0] != code:
            blocks.append([code, ""])
        blocks[-1][1] += line
    for block in blocks:
        changed = re.sub(mutant.pattern, mutant.replacement, block[1], count=1) if block[0] else block[1]
        if changed != block[1]:
            block[1] = changed
            return "".join(part for _, part in blocks)
    return None


def refutation(command, path):
    """The first goal of the file that is not proved, or an explanation in capital letters."""
    goals = 0
    with subprocess.Popen([*command, str(path)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        for line in process.stdout:
            if "implicit-function-declaration" in line:
                process.terminate()
                return "NOT VALID C", False
            if match := re.match(r"\[wp\] \[.*?\] Goal (\S+)(?: : (\w+))?", line):
                goals += 1
                if match[2] != "Valid":
                    process.terminate()
                    return re.sub("^typed_real_", "", match[1]), True
    # A mutant that is not valid C proves nothing.
    return ("LIVES" if goals and process.returncode == 0 else "NO GOALS"), False


def good(*command, statuses=(0,)):
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode not in statuses:
        sys.exit(f"prove: {' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def write_programs(options):
    """The files of all programs, by name."""
    models = options.work / "models"
    good(options.cases, models)
    programs = {path.stem: path for path in sorted(models.glob("*.onnx"))}
    programs |= {path.stem: path for path in sorted((ROOT / "tests/prove").glob("*.sknd"))}
    networks, explicit = options.work / "networks", options.work / "explicit"
    explicit.mkdir(exist_ok=True)
    for name in NETWORKS + (MORE_NETWORKS if options.all or options.only else []):
        programs[name] = explicit / f"{name}.onnx"
        if options.only and name not in options.only:
            continue
        good(sys.executable, ROOT / "examples/certified/make_models.py", networks, name)
        # The explicit form conforms to the profile; the status is about the form that it had before.
        good(options.lemma, "check", "--profile=sonnx", f"--fix={programs[name]}", networks / f"{name}.onnx",
             statuses=(0, 1))
    return programs


def prove_all(options, programs):
    """Prints a row for each program; returns the reports of those that have one, and how many are not proved."""
    print(f"{'program':16} {'functions':>9} {'goals':>11} {'WP':>6} {'CVC4':>6} {'Z3':>6} {'slowest':>8} {'seconds':>8}")
    reports, wrong, goals = {}, 0, 0
    for name, path in programs.items():
        began = time.monotonic()
        profile = ["--profile=sonnx"] if name in NETWORKS + MORE_NETWORKS else ["--random-weights=1"]
        done = subprocess.run([options.lemma, "prove", path, "-o", options.work / name, "--json", *profile,
                               "--cache", options.work / "cache", f"--jobs={options.jobs}",
                               f"--timeout={options.timeout}"], text=True, capture_output=True)
        try:
            report = reports[name] = json.loads(done.stdout)
            functions, total = report["functions"], report["goals"]
        except (ValueError, KeyError):
            sys.exit(f"prove: no report of {name}:\n{done.stdout}{done.stderr}")
        goals += total["proved"]
        solvers = [total["by"].get(each, 0) for each in ("CVC4", "Z3")]
        by = " ".join(f"{each:6}" for each in [total["proved"] - sum(solvers), *solvers])  # WP: Qed and control flow
        count = f"{total['proved']}/{total['all']}"
        slowest = max(each["slowest"] for each in functions)
        proved = done.returncode == 0 and report["proved"]
        print(f"{name:16} {len(functions):9} {count:>11} {by} {slowest:8.1f} {time.monotonic() - began:8.1f}"
              f"{'' if proved else '  NOT PROVED'}", flush=True)
        for each in functions:
            for goal in each["unproved"] + ([each["trouble"]] if "trouble" in each else []):
                print(f"    {goal}")
        wrong += not proved
    print(f"{goals} goals proved\n")
    return reports, wrong


def refute_all(options, reports):
    """Prints a row for each mutant; the number of those that live, and of all."""
    mutants = [mutant for mutant in MUTANTS if mutant.program in reports]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = []
        for number, mutant in enumerate(mutants):
            path = options.work / mutant.program / "proof" / f"{mutant.function}.c"
            broken = mutated(path.read_text(), mutant) if path.exists() else None
            if broken is None:
                runs.append(None)
                continue
            mutant_path = options.work / "mutants" / f"{number}_{mutant.function}.c"
            mutant_path.parent.mkdir(exist_ok=True)
            mutant_path.write_text(broken)
            runs.append(pool.submit(refutation, reports[mutant.program]["command"], mutant_path))
        print(f"{'kind':12} {'mutant of':30} {'fault':42} refuted by")
        wrong = 0
        for mutant, run in zip(mutants, runs):
            verdict, refuted = run.result() if run else ("NOTHING TO BREAK", False)
            wrong += not refuted
            print(f"{mutant.kind:12} {mutant.program + '/' + mutant.function:30} {mutant.fault:42} {verdict}",
                  flush=True)
    print(f"{len(mutants)} mutants, {len(mutants) - wrong} refuted\n")
    return wrong, len(mutants)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lemma", type=pathlib.Path, required=True)
    parser.add_argument("--cases", type=pathlib.Path, required=True, help="the program sonnx_cases")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder; work/cache has the kept proofs")
    parser.add_argument("--timeout", type=int, default=20, help="seconds for one goal and prover")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true", help="all networks of examples/certified")
    parser.add_argument("only", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    for name in ("lemma", "cases", "work"):
        setattr(options, name, getattr(options, name).resolve())
    options.work.mkdir(parents=True, exist_ok=True)
    os.environ["WHY3CONFIG"] = str(options.work / "why3.conf")  # instead of the user's own file
    good("why3", "config", "detect")
    began = time.monotonic()
    programs = write_programs(options)
    if unknown := [name for name in options.only if name not in programs]:
        sys.exit(f"prove: no program `{unknown[0]}`; there are: {', '.join(programs)}")
    if options.only:
        programs = {name: path for name, path in programs.items() if name in options.only}
    reports, unproved = prove_all(options, programs)
    living, mutants = refute_all(options, reports)
    print(f"{'; '.join(next(iter(reports.values()))['tools'])}\n{time.monotonic() - began:.0f} seconds")
    failed = unproved + living
    print(f"{len(programs) + mutants - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
