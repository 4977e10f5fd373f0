#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks check_spdx.py on small repositories: what it reports, and what --fix writes."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "check_spdx.py"
LINE = "SPDX-License-Identifier: Apache-2.0"


class CheckSpdx(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)

    def write(self, name: str, text: str, mode: int = 0o644) -> pathlib.Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def check(self, *options: str) -> tuple[int, list[str]]:
        ended = subprocess.run([sys.executable, str(TOOL), "--root", str(self.root), *options],
                               capture_output=True, text=True)
        self.assertEqual(ended.stderr, "")
        return ended.returncode, ended.stdout.splitlines()

    def test_a_file_without_a_line_is_reported(self):
        self.write("good.cpp", f"// {LINE}\nint x;\n")
        self.write("src/bad.cpp", "int x;\n")
        status, lines = self.check()
        self.assertEqual(status, 1)
        self.assertEqual(lines, [f"src/bad.cpp: has no line `// {LINE}`; --fix writes it"])

    def test_fix_writes_the_line_of_each_kind_of_file(self):
        expected = {
            "a.h": ("#pragma once\n", f"// {LINE}\n#pragma once\n"),
            "a.py": ("#!/usr/bin/env python3\n\"\"\"Doc.\"\"\"\n",
                     f"#!/usr/bin/env python3\n# {LINE}\n\"\"\"Doc.\"\"\"\n"),
            "b.py": ("import sys\n", f"# {LINE}\nimport sys\n"),
            "a.map": ("{};\n", f"/* {LINE} */\n{{}};\n"),
            "CMakeLists.txt": ("project(a)\n", f"# {LINE}\nproject(a)\n"),
            "script": ("#!/bin/sh\ntrue\n", f"#!/bin/sh\n# {LINE}\ntrue\n"),
            "empty.c": ("", f"// {LINE}\n"),
        }
        for name, (before, _) in expected.items():
            self.write(name, before, 0o755)
        self.assertEqual(self.check("--fix"), (0, []))
        for name, (_, after) in expected.items():
            self.assertEqual((self.root / name).read_text(), after)
            self.assertEqual((self.root / name).stat().st_mode & 0o777, 0o755)
        self.assertEqual(self.check("--fix"), (0, []))
        self.assertEqual((self.root / "a.h").read_text(), expected["a.h"][1])
        self.assertEqual(self.check(), (0, []))

    def test_a_file_that_cannot_have_a_line_needs_an_entry(self):
        self.write("data/model.bin", "\x01")
        (self.root / "picture.png").write_bytes(b"\x89PNG\xff")
        status, lines = self.check("--fix")
        self.assertEqual(status, 1)
        self.assertEqual(lines, ["data/model.bin: has no licence; name it in REUSE.toml",
                                 "picture.png: a binary file; name it in REUSE.toml"])
        self.write("REUSE.toml", f"# {LINE}\n[[annotations]]\npath = [\"data/**\", \"*.png\"]\n"
                   "SPDX-License-Identifier = \"Apache-2.0\"\n")
        self.assertEqual(self.check(), (0, []))

    def test_a_star_stays_inside_of_a_folder(self):
        self.write("REUSE.toml", f"# {LINE}\n[[annotations]]\npath = \"data/*.h\"\n"
                   "SPDX-License-Identifier = \"Apache-2.0\"\n")
        self.write("data/a.h", "")
        self.write("data/deep/b.h", "")
        self.assertEqual([line.split(":")[0] for line in self.check()[1]], ["data/deep/b.h"])

    def test_another_licence_is_reported(self):
        self.write("a.c", "// SPDX-License-Identifier: MIT\n")
        self.write("b.map", "/* SPDX-License-Identifier: MIT */\n")
        self.write("data.txt", "")
        self.write("REUSE.toml", f"# {LINE}\n[[annotations]]\npath = \"*.txt\"\n"
                   "SPDX-License-Identifier = \"MIT\"\n")
        self.assertEqual(self.check("--fix"), (1, [
            "a.c: has the licence `MIT`, not Apache-2.0",
            "b.map: has the licence `MIT`, not Apache-2.0",
            "data.txt: REUSE.toml says `MIT`, not Apache-2.0"]))

    def test_a_line_far_below_does_not_count(self):
        self.write("a.c", "\n" * 5 + f"// {LINE}\n")
        self.assertEqual(self.check()[0], 1)

    def test_ignored_files_do_not_count(self):
        self.write(".gitignore", f"# {LINE}\nbuild/\n")
        self.write("build/a.c", "")
        self.assertEqual(self.check(), (0, []))


if __name__ == "__main__":
    result = unittest.TextTestRunner(verbosity=1).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(bool(bad))
