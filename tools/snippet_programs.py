# SPDX-License-Identifier: Apache-2.0
"""The C, C++ and Python snippets of a page, for check_snippets.py.

The Python snippets of a page run one after the other, with the names of those before. C and C++
snippets are compiled and linked with the library. Lines outside of a function become the body of
one. tools/snippets/PAGE.h or PAGE.hpp declares what the page takes for granted. A snippet with the
word `run` is called as well and must return 0; one with a `main` runs as it is. One with the word
`object` is not linked."""
import pathlib
import re
import shutil

FLAGS = {"c": ["cc", "-std=c11"], "cpp": ["c++", "-std=c++17"]}
ENDING = {"c": ".h", "cpp": ".hpp"}
# A definition at the beginning of a line: `static int f(`.
TOP_LEVEL = re.compile(r"^(static |int |void |struct |class |template)[^;=]*\(", re.MULTILINE)
RUNNER = """import sys, traceback
names = {"__name__": "__main__"}
for file in sys.argv[2:]:
    try:
        code = compile(open(file).read(), file, "exec")
        if sys.argv[1] == "run":
            exec(code, names)
    except BaseException:
        print("FAILED", file)
        traceback.print_exc(file=sys.stdout)
"""


class Programs:
    """`run(command)` gives the status and the lines of a command in the page's folder."""

    def __init__(self, page, root: pathlib.Path, build: pathlib.Path, python: str, run):
        self.stem, self.root, self.build, self.python, self.run = page, root, build, python, run
        self.found = {"c": [], "cpp": [], "python": []}

    def takes(self, language: str) -> bool:
        return language in self.found

    def add(self, snippet) -> None:
        self.found[snippet.language].append(snippet)

    def check(self, folder: pathlib.Path, judge) -> None:
        """`judge(line, fault)` gets one call for each snippet."""
        for language in ("c", "cpp"):
            for snippet in self.found[language]:
                judge(snippet.first - 1, self.check_compiled(folder, language, snippet))
        if self.found["python"]:
            self.check_python(folder, judge)

    # ---- C and C++

    def context(self, language: str) -> pathlib.Path:
        return self.root / "tools/snippets" / (self.stem + ENDING[language])

    def whole_text(self, language: str, snippet) -> str:
        context = self.context(language)
        return (context.read_text() if context.is_file() else "") + snippet.text

    def source(self, language: str, snippet) -> str:
        context = self.context(language)
        text = f'#include "{context}"\n' if context.is_file() else ""
        lines = [(number, line) for number, line in enumerate(snippet.lines, snippet.first + 1)]
        includes = [line for line in lines if line[1].startswith("#include")]
        text += "".join(f"#line {number}\n{line}\n" for number, line in includes)
        body = "".join(line + "\n" for line in
                       ("" if line.startswith("#include") else line for _, line in lines))
        place = f"#line {snippet.first + 1}\n"
        if TOP_LEVEL.search(snippet.text):
            return text + place + body
        unused = "__attribute__((unused)) "
        return f"{text}{unused}static int snippet(void) {{\n{place}{body}return 0;\n}}\n"

    def check_compiled(self, folder: pathlib.Path, language: str, snippet) -> str | None:
        whole = re.search(r"\bint main\(", snippet.text)
        runs = "run" in snippet.words
        source = self.source(language, snippet)
        if not whole:
            source += f"int main(void) {{ return {'snippet()' if runs else '0'}; }}\n"
        name = "snippet_program" + (".c" if language == "c" else ".cpp")
        (folder / name).write_text(source)
        compiler, standard = FLAGS[language]
        if shutil.which(compiler) is None:
            return f"there is no `{compiler}`"
        objects = " ".join(snippet.words.get("with", "").split(","))
        uses_library = "lemma/lemma.h" in self.whole_text(language, snippet)
        library = f"-L{self.build} -llemma -Wl,-rpath,{self.build}" if uses_library else ""
        built = (self.build / "liblemma.so").exists()  # an option of the build
        links = "object" not in snippet.words and (built or not uses_library)
        status, output = self.run(
            f"{compiler} {standard} -O0 -Wall -Wextra -Werror -Wno-unknown-pragmas "
            "-Wno-unused-function -Wno-unused-parameter -Wno-unused-variable "
            f"-Wno-unused-but-set-variable -I{self.root / 'include'} -I. {name} {objects} "
            + (f"-o snippet_program {library} -lm" if links else "-c -o snippet_program.o"))
        if status == 0 and links and (runs or whole):
            status, output = self.run("./snippet_program")
        return None if status == 0 else "it fails\n    " + "\n    ".join(output[:20])

    # ---- Python

    def check_python(self, folder: pathlib.Path, judge) -> None:
        (folder / "snippet_runner.py").write_text(RUNNER)
        files = []
        for number, snippet in enumerate(self.found["python"]):
            files.append(f"snippet_{number}.py")
            (folder / files[-1]).write_text(snippet.text)
        built = any((self.build / "python/lemma").glob("_lemma*.so"))  # an option of the build
        _, output = self.run(f"PYTHONPATH={self.build / 'python'} {self.python} snippet_runner.py "
                             f"{'run' if built else 'compile'} {' '.join(files)}")
        failed = {}
        for line in output:
            if line.startswith("FAILED "):
                failed[line.split()[1]] = []
            elif failed and line.strip():
                failed[list(failed)[-1]].append(line)
        for file, snippet in zip(files, self.found["python"]):
            lines = failed.get(file)
            judge(snippet.first - 1,
                  None if lines is None else "it fails\n    " + "\n    ".join(lines[-8:]))
