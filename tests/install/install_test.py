#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs a build into a temporary folder and uses it as others would: the program by its name, C and
C++ programs through find_package and through pkg-config, all of it once more after the folder moved."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
DIGITS = SOURCE / "examples/digits"
ARGUMENTS = argparse.Namespace()


def run(*command: str | pathlib.Path, environment: dict[str, str] | None = None) -> str:
    """What the command prints; it must succeed."""
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                           env={**os.environ, **(environment or {})})
    if ended.returncode != 0:
        raise AssertionError(f"{command}: status {ended.returncode}\n{ended.stdout}{ended.stderr}")
    return ended.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="lemma-install-"))
        first = cls.work / "first"
        run("cmake", "--install", ARGUMENTS.build, "--prefix", first)
        # What is installed may be moved: nothing in it knows where it was.
        cls.prefix = cls.work / "moved/here"
        cls.prefix.parent.mkdir()
        first.rename(cls.prefix)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work)

    def one(self, pattern: str) -> pathlib.Path:
        found = sorted(self.prefix.glob(pattern))
        self.assertEqual(len(found), 1, f"{pattern}: {found}")
        return found[0]

    def library_folder(self) -> pathlib.Path:
        return self.one("**/liblemma.so").parent

    def expect_seven(self, program: pathlib.Path):
        said = run(program, DIGITS, environment={"LD_LIBRARY_PATH": str(self.library_folder())})
        self.assertIn("class 7, ", said)

    def test_the_files_are_where_they_are_expected(self):
        library = self.library_folder()
        version = run(self.prefix / "bin/lemma", "--version").split()[1]
        self.assertTrue((library / f"liblemma.so.{version}").is_file())
        self.assertEqual(os.readlink(library / "liblemma.so.0"), f"liblemma.so.{version}")
        self.assertEqual(os.readlink(library / "liblemma.so"), "liblemma.so.0")
        self.assertTrue((library / "lemma/lemma_jit.so").is_file())
        self.assertTrue((self.prefix / "include/lemma/lemma.h").is_file())
        self.assertTrue((self.prefix / "share/doc/lemma/LICENSE").is_file())
        self.assertTrue((self.prefix / "share/doc/lemma/examples/digits/main.sknd").is_file())
        for name in ("man/man1/lemma.1", "man/man1/lemma-run.1", "zsh/site-functions/_lemma",
                     "bash-completion/completions/lemma", "fish/vendor_completions.d/lemma.fish"):
            self.assertTrue((self.prefix / "share" / name).is_file(), name)

    def test_the_python_module_finds_the_library(self):
        if not ARGUMENTS.python:
            return  # it was not built
        module = self.one("lib/python*/*-packages/lemma/__init__.py")
        said = run(ARGUMENTS.python, "-c", "import lemma; print(lemma.__file__, lemma.load("
                   f"{str(DIGITS)!r}).inputs)",
                   environment={"PYTHONPATH": str(module.parent.parent)})
        self.assertIn(str(module), said)
        self.assertIn("picture", said)

    def test_no_installed_file_names_a_folder_of_the_build(self):
        for path in self.prefix.rglob("*"):
            if path.suffix not in (".pc", ".cmake", ".h", ".hpp"):
                continue
            text = path.read_text()
            for folder in (ARGUMENTS.build, self.work):
                self.assertNotIn(str(folder), text, path)
        for path in (self.prefix / "bin/lemma", self.one("**/liblemma.so"),
                     self.one("**/lemma_jit.so")):
            dynamic = run("readelf", "-d", path)
            self.assertNotRegex(dynamic, "(?i)r(un)?path.*" + str(ARGUMENTS.build), path)

    def test_the_program_compiles_kernels_from_where_it_is(self):
        said = run("lemma", "run", DIGITS, "-i", DIGITS / "seven.json", "--top=1", "--engine=jit",
                   "--no-cache", environment={"PATH": f"{self.prefix}/bin:{os.environ['PATH']}"})
        self.assertIn("class 7", said)

    def test_find_package_builds_programs(self):
        build = self.work / "by_cmake"
        run("cmake", "-S", SOURCE / "examples/api", "-B", build,
            f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_C_COMPILER={ARGUMENTS.cc}",
            f"-DCMAKE_CXX_COMPILER={ARGUMENTS.cxx}")
        run("cmake", "--build", build)
        for program in ("classify_c", "classify_cpp"):
            self.expect_seven(build / program)

    def test_find_package_refuses_another_minor_version(self):
        folder = self.work / "version"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES NONE)\n"
            "find_package(Lemma ${WANTED} REQUIRED)\n")
        major, minor, _ = run(self.prefix / "bin/lemma", "--version").split()[1].split(".")
        for wanted, good in ((f"{major}.{minor}", True), (f"{major}.{int(minor) + 1}", False)):
            ended = subprocess.run(["cmake", "-S", folder, "-B", folder / wanted,
                                    f"-DWANTED={wanted}", f"-DCMAKE_PREFIX_PATH={self.prefix}"],
                                   capture_output=True, text=True)
            self.assertEqual(ended.returncode == 0, good, ended.stderr)

    def test_pkg_config_builds_programs(self):
        environment = {"PKG_CONFIG_PATH": str(self.library_folder() / "pkgconfig")}
        words = run("pkg-config", "--cflags", "--libs", "lemma", environment=environment).split()
        self.assertIn("-llemma", words)
        version = run("pkg-config", "--modversion", "lemma", environment=environment).strip()
        self.assertEqual(f"lemma {version}", run(self.prefix / "bin/lemma", "--version").strip())
        for compiler, standard, source in ((ARGUMENTS.cc, "-std=c99", "classify.c"),
                                           (ARGUMENTS.cxx, "-std=c++17", "classify.cpp")):
            program = self.work / source.replace(".", "_")
            run(compiler, standard, "-Wall", "-Wextra", "-Werror", "-pedantic",
                SOURCE / "examples/api" / source, *words, "-o", program)
            self.expect_seven(program)

    def test_destdir_is_honoured(self):
        stage = self.work / "stage"
        run("cmake", "--install", ARGUMENTS.build, "--prefix", "/opt/lemma", "--component",
            "program", environment={"DESTDIR": str(stage)})
        self.assertTrue((stage / "opt/lemma/bin/lemma").is_file())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--python", help="the Python of the module, if that was built")
    ARGUMENTS = parser.parse_args()
    result = unittest.TextTestRunner(verbosity=1).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(bool(bad))
