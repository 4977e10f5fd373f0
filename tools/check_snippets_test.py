#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks check_snippets.py on small pages, with a program in the place of `lemma` that accepts every
file without the word `wrong`."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "check_snippets.py"
LEMMA = """#!/usr/bin/env python3
import pathlib, sys
file = pathlib.Path(sys.argv[-1])
if sys.argv[1] == "check":
    text = file.read_text()
    for word in text.split():
        if word.startswith('"<'):
            print(f"{file}:1:1: error: " + word.strip('";').replace("{value_0}", "3"))
            sys.exit(1)
    if "wrong" in text or ("--module" in sys.argv) == ("graph" in text):
        print(f"{file}:1:1: error: wrong [bad]")
        sys.exit(1)
    if "-v" in sys.argv:
        print(f"{file}: ok")
elif sys.argv[1] == "time":
    print("took 12.5 ms, 3 runs")
else:
    print("first", "second", "third", sep="\\n")
"""


class CheckSnippets(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.lemma = self.root / "build/lemma"
        self.lemma.parent.mkdir()
        self.lemma.write_text(LEMMA)
        self.lemma.chmod(0o755)

    def check(self, text: str, *options: str) -> tuple[int, list[str]]:
        (self.root / "page.md").write_text(text)
        ended = subprocess.run([sys.executable, str(TOOL), "--root", str(self.root), "--lemma",
                                str(self.lemma), *options, "page.md"],
                               capture_output=True, text=True)
        self.assertEqual(ended.stderr, "")
        return ended.returncode, ended.stdout.splitlines()

    def fence(self, info: str, *lines: str) -> str:
        return "\n".join(["", f"```{info}", *lines, "```", ""])

    def passes(self, text: str, count: int) -> None:
        self.assertEqual(self.check(text), (0, [f"{count} passed, 0 failed"]))

    def fails(self, text: str, message: str) -> list[str]:
        status, lines = self.check(text)
        self.assertEqual(status, 1)
        self.assertEqual(lines[0], message)
        self.assertTrue(lines[-1].endswith(" 1 failed"), lines)
        return lines

    def test_files_are_written_and_commands_see_them(self):
        self.passes(self.fence("sknd file=net.sknd", "graph G {}")
                    + self.fence("json file=x.json", "[1]")
                    + self.fence("console", "$ lemma check -v net.sknd", "net.sknd: ok",
                                 "$ cat x.json", "[1]"), 3)

    def test_a_definition_and_a_part_of_one_need_no_name(self):
        self.passes(self.fence("sknd", "operator f {}") + self.fence("sknd", "@input { x; }"), 2)

    def test_a_wrong_file_is_reported_where_it_begins(self):
        self.fails("# A page\n" + self.fence("sknd", "operator wrong {}"),
                   "page.md:3: `lemma check` refuses it")

    def test_other_code_must_say_what_it_is(self):
        self.fails(self.fence("sknd", "y = f(x);"),
                   "page.md:2: say what this is: `file=`, `part=`, `values` or `fails`")

    def test_skriptnd_without_a_mark_is_reported(self):
        self.fails(self.fence("", "operator f {", "}"), "page.md:2: this is SkriptND; mark it as `sknd`")
        self.fails("\n    @input { x: real; }\n", "page.md:1: this is SkriptND; mark it as `sknd`")
        self.passes(self.fence("text", "operator f {", "}"), 0)

    def test_what_must_fail_shows_the_message(self):
        shown = "main.sknd:1:1: error: wrong [bad]"
        self.passes(self.fence("sknd fails", "wrong") + self.fence("text", shown), 1)
        self.fails(self.fence("sknd fails", "operator f {}"),
                   "page.md:2: `lemma check` ends with 0, expected 1")
        self.fails(self.fence("sknd fails", "wrong") + self.fence("text", "another"),
                   "page.md:6: the output differs")

    def test_parts_are_lines_of_files(self):
        file = self.fence("sknd file=a.sknd", "operator f {", "    one;", "    two;", "}")
        self.passes(file + self.fence("sknd part=a.sknd", "two;"), 2)
        self.passes(file + self.fence("sknd part=a.sknd", "operator f {", "…", "two;"), 2)
        self.fails(file + self.fence("sknd part=a.sknd", "three;"),
                   "page.md:9: these lines are not in `a.sknd`")
        self.fails(self.fence("sknd part=b.sknd", "one;"), "page.md:2: there is no `b.sknd`")

    def test_values_are_computed(self):
        self.passes(self.fence("sknd values", "1 + 2  # 3"), 1)
        self.fails(self.fence("sknd values", "1 + 2  # 4"), "page.md:3: the value is 3, not 4")

    def test_outputs_can_be_cut(self):
        self.passes(self.fence("console", "$ lemma list", "first", "…"), 1)
        self.passes(self.fence("console", "$ lemma list", "…", "thi…"), 1)
        self.fails(self.fence("console", "$ lemma list", "first"), "page.md:3: the output differs")

    def test_numbers_may_differ_only_where_the_page_says_so(self):
        self.passes(self.fence("console numbers=any", "$ lemma time", "took 999 µs, 1,000 runs"), 1)
        self.fails(self.fence("console", "$ lemma time", "took 999 ms, 3 runs"),
                   "page.md:3: the output differs")
        self.fails(self.fence("console numbers=any", "$ lemma time", "took 12.5 ms, 3 goes"),
                   "page.md:3: the output differs")

    def test_the_exit_status_counts(self):
        self.passes(self.fence("console fails", "$ true", "$ false"), 2)
        self.fails(self.fence("console", "$ false"), "page.md:3: `false` ends with 1, expected 0")
        self.fails(self.fence("console fails", "$ true"),
                   "page.md:3: `true` ends with 0, expected another than 0")

    def test_indented_and_hidden_commands_run(self):
        self.passes("\n<!-- snippets: echo a > x -->\n\n    lemma list \\\n        x\n", 2)
        self.fails("\n    lemma check missing.sknd\n", "page.md:2: `lemma check missing.sknd` ends "
                   "with 1, expected 0")
        self.passes("\n    first of all, a text\n", 0)

    def test_a_console_has_commands(self):
        self.fails(self.fence("console", "lemma list"),
                   "page.md:2: a console begins with `$ ` and a command")

    def test_other_programs_do_not_run(self):
        for command in ("touch marker", "lemma list && touch marker", "echo | touch marker",
                        "echo $(touch marker)", "apt install lemma"):
            self.fails(self.fence("console", f"$ {command}"), f"page.md:3: `{command}` does not run "
                       "in a test; list it in tools/snippets_not_run.txt")
        self.assertFalse((self.root / "marker").exists())
        self.passes(self.fence("console", "$ echo 'a; b' | sed 's/a;/c/'", "c b"), 1)

    def test_commands_that_are_listed_do_not_run(self):
        (self.root / "tools").mkdir()
        listed = self.root / "tools/snippets_not_run.txt"
        listed.write_text("# Why\npage.md: apt install * -- changes the machine\n")
        self.passes("\n    apt install lemma\n", 0)
        self.fails("\nNothing.\n", "tools/snippets_not_run.txt:2: no page has this command any more")
        listed.write_text("page.md: apt install *\n")
        self.fails("\nNothing.\n",
                   "tools/snippets_not_run.txt:1: expected `page: command -- reason`")

    def test_update_rewrites_outputs_and_values(self):
        page = (self.fence("console", "$ lemma list", "old", "", "$ lemma time")
                + self.fence("sknd values", "1 + 2  # 4"))
        self.assertEqual(self.check(page, "--update")[0], 1)
        after = (self.root / "page.md").read_text()
        self.assertIn("$ lemma list\nfirst\nsecond\nthird\n\n$ lemma time\ntook 12.5 ms", after)
        self.assertRegex(after, r"1 \+ 2 +# 3\n")
        self.passes(after, 3)

    def test_files_stay_in_the_folder_of_the_page(self):
        (self.root / "docs").mkdir()
        for name in ("../x.sknd", "docs/x.sknd"):
            self.fails(self.fence(f"sknd file={name}", "graph G {}"),
                       f"page.md:2: `{name}` is not a file of the page's own folder")

    def test_c_is_compiled_and_called(self):
        self.passes(self.fence("c", "int twice(int x) {", "    return 2 * x;", "}"), 1)
        self.passes(self.fence("c", "#include <math.h>", "", "double root = sqrt(2.0);"), 1)
        self.passes(self.fence("c run", "if (1 + 1 != 2) return 1;"), 1)
        self.assertEqual(self.check(self.fence("c run", "return 1;"))[0], 1)
        status, lines = self.check(self.fence("c", "", "int x = y;"))
        self.assertEqual((status, lines[0]), (1, "page.md:2: it fails"))
        self.assertIn("snippet_program.c:4:9: error: ‘y’ undeclared", "\n".join(lines))

    def test_c_sees_what_the_page_takes_for_granted(self):
        (self.root / "tools/snippets").mkdir(parents=True)
        (self.root / "tools/snippets/page.h").write_text("static int given = 7;\n")
        self.passes(self.fence("c run", "return given - 7;"), 1)
        (self.root / "tools/snippets/page.hpp").write_text("static const int given = 8;\n")
        self.passes(self.fence("cpp run", "auto twice = [](auto x) { return 2 * x; };",
                               "return twice(given) - 16;"), 1)

    def test_python_runs_in_order(self):
        # Without the module, snippets are only compiled.
        self.passes(self.fence("python", "x = 1 / 0"), 1)
        self.assertEqual(self.check(self.fence("python", "x = ("))[0], 1)
        package = self.root / "build/python/lemma"
        package.mkdir(parents=True)
        (package / "_lemma.so").write_text("")
        (package / "__init__.py").write_text("answer = 42\n")
        first = self.fence("python", "import lemma", "x = lemma.answer")
        self.passes(first + self.fence("python", "assert x == 42"), 2)
        status, lines = self.check(first + self.fence("python", "", "x / 0"))
        self.assertEqual((status, lines[0], lines[-1]), (1, "page.md:7: it fails", "1 passed, 1 failed"))
        self.assertIn("ZeroDivisionError: division by zero", "\n".join(lines))

    def test_code_that_is_listed_is_not_compiled(self):
        (self.root / "tools").mkdir()
        listed = self.root / "tools/snippets_not_run.txt"
        listed.write_text("page.md: import torch -- needs PyTorch\n")
        self.passes(self.fence("python", "import torch", "torch.("), 0)


if __name__ == "__main__":
    result = unittest.TextTestRunner(verbosity=1).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(bool(bad))
