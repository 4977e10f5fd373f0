#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the scripts that judge `lemma compile`: each kind of fault in the C must be noticed. A program
that stands in for `lemma` writes C by hand, with one fault or none."""
import contextlib
import io
import json
import pathlib
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import compile as judge  # noqa: E402
import networks  # noqa: E402
import tensors  # noqa: E402

STAND_IN = r'''#!/usr/bin/env python3
import json, pathlib, sys
fault = pathlib.Path(sys.argv[2]).joinpath("fault").read_text()
if fault == "refused":
    sys.exit(print(json.dumps({"diagnostics": [
        {"severity": "warning", "message": "odd"},
        {"severity": "error", "message": "`y` is dynamic"}]})) or 1)
if fault == "crash":
    sys.exit(3)
out = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
out.mkdir(parents=True)
shape = [4] if fault == "shape" else [3]
ports = {"inputs": [{"name": "x", "c_name": "t_x", "dtype": "f32", "shape": [3]}],
         "outputs": [{"name": "y", "c_name": "t_y", "dtype": "f32", "shape": shape}]}
(out / "model.json").write_text(json.dumps(ports))
value = {"wrong": "3.0f * x[i]", "state": "(sum += x[i])"}.get(fault, "2.0f * x[i]")
(out / "main.c").write_text(f"""
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{{
    float x[3], y[3], sum = 0.0f;
    char path[500];
    {"int unused;" if fault == "warning" else ""}
    if (argc != 5 || {int(fault == "exit")}) return 7;
    sprintf(path, "%s/t_x.bin", argv[2]);
    FILE *from = fopen(path, "rb");
    sprintf(path, "%s/t_y.bin", argv[4]);
    FILE *to = fopen(path, "wb");
    while (fread(x, sizeof x, 1, from) == 1) {{
        for (int i = 0; i < 3; i++) y[i] = {value};
        fwrite(y, sizeof y, 1, to);
    }}
    (void)sum;
    return fclose(to) != 0;
}}
""")
'''


def floats(*values: float) -> tensors.Tensor:
    return tensors.Tensor("", "f32", [len(values)], struct.pack(f"<{len(values)}f", *values))


class Verdicts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.lemma = self.folder / "lemma"
        self.lemma.write_text(STAND_IN)
        self.lemma.chmod(0o755)

    def write_case(self, fault: str, steps: int = 0) -> pathlib.Path:
        case = self.folder / "suite" / fault
        (case / "model").mkdir(parents=True)
        (case / "model" / "fault").write_text(fault)
        (case / "case.json").write_text(json.dumps({"rtol": 1e-4, "atol": 0} | ({"steps": steps} if steps else {})))
        total = 0.0
        for step in range(max(steps, 1)):
            inside = case / "steps" / str(step) if steps else case
            for part in ("inputs", "outputs"):
                (inside / part).mkdir(parents=True)
            given = [step + 1.0, 2.0, 0.5]
            tensors.write_npy(inside / "inputs" / "x.npy", floats(*given))
            sums = [total := total + value for value in given]
            tensors.write_npy(inside / "outputs" / "y.npy", floats(*(sums if steps else [2 * v for v in given])))
        return case

    def verdict(self, case: pathlib.Path) -> tuple[str, str]:
        sys.argv = ["compile.py", "--lemma", str(self.lemma), "--work", str(self.folder / "work"), str(case)]
        return judge.Suite(judge.arguments()).judge(case)

    def test_good_c_passes(self):
        self.assertEqual(self.verdict(self.write_case("none")), ("passed", ""))

    def test_steps_share_the_state(self):
        self.assertEqual(self.verdict(self.write_case("state", steps=3)), ("passed", ""))

    def test_each_fault_fails(self):
        for fault, reason in [("wrong", "element 1 of y is 6.0, expected 4.0; 3 of 3 elements differ"),
                              ("shape", "y has the shape [4], expected [3]"),
                              ("warning", "unused variable"),
                              ("crash", "lemma compile ended with 3"),
                              ("exit", "the program ended with 7")]:
            with self.subTest(fault):
                verdict, told = self.verdict(self.write_case(fault))
                self.assertEqual(verdict, "failed")
                self.assertIn(reason, told)

    def test_a_refusal_has_its_reason(self):
        self.assertEqual(self.verdict(self.write_case("refused")),
                         ("refused", "`y` is dynamic"))

    def test_refusals_and_passes_against_the_list_are_surprises(self):
        results = [(pathlib.Path("a"), ("passed", "")), (pathlib.Path("b"), ("refused", "why")),
                   (pathlib.Path("c"), ("failed", "why"))]
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(judge.report("suite", results, {"b"}, False), (1, 1))
            self.assertEqual(judge.report("suite", results, set(), False), (1, 2))
            self.assertEqual(judge.report("suite", results, {"a", "b"}, False), (1, 2))


class Tensors(unittest.TestCase):
    def test_values_agree_within_the_tolerance_only(self):
        want = floats(1.0, -2.0)
        self.assertEqual(tensors.difference(floats(1.0005, -2.0), want, 1e-3, 0), "")
        self.assertIn("element 0", tensors.difference(floats(1.01, -2.0), want, 1e-3, 0))
        self.assertIn("element 1", tensors.difference(floats(1.0, float("nan")), want, 1e-3, 0))
        self.assertIn("element 0", tensors.difference(floats(1.0), floats(float("inf")), 1e-3, 0))

    def test_types_and_shapes_are_compared(self):
        count = tensors.Tensor("", "i32", [1], struct.pack("<i", 1))
        self.assertIn("type", tensors.difference(count, floats(1.0), 1, 1))
        self.assertIn("shape", tensors.difference(floats(1.0, 2.0), floats(1.0), 1, 1))

    def test_brain_floats_are_read(self):
        self.assertEqual(tensors.Tensor("", "bf16", [2], b"\x80\x3f\x00\xc0").values(), [1.0, -2.0])

    def test_bits_are_compared_and_nan_is_a_class(self):
        def different(left: int, right: int) -> list[int]:
            return networks.different("f32", struct.pack("<I", left), struct.pack("<I", right))
        self.assertEqual(different(0x7FC00000, 0xFFC00001), [])
        self.assertEqual(different(0x00000000, 0x80000000), [0])
        self.assertEqual(different(0x7F800000, 0x7FC00000), [0])


if __name__ == "__main__":
    result = unittest.TextTestRunner(verbosity=1).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(bool(bad))
