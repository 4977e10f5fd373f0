# SPDX-License-Identifier: Apache-2.0
"""Prints the public names of the Python package as JSON: signatures and docstrings, read from the
sources without importing them. `python_api.py FOLDER`, the folder of the package."""
from __future__ import annotations

import ast
import json
import pathlib
import sys
from typing import Any

MODULES = ("lemma", "lemma.dask", "lemma.backend")
HIDDEN = {"staticmethod", "classmethod", "property", "cached_property"}


def signature(node: ast.FunctionDef, name: str, method: bool) -> str:
    arguments = node.args
    if method and arguments.args and not any(_name(d) == "staticmethod" for d in node.decorator_list):
        arguments = ast.arguments(**{**{f: getattr(arguments, f) for f in arguments._fields},
                                     "args": arguments.args[1:]})
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{name}({ast.unparse(arguments)}){result}"
    if len(line) <= 88:
        return line
    parts = split_arguments(ast.unparse(arguments))
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){result}"


def split_arguments(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def remark_of(lines: list[str], node: ast.stmt) -> str:
    """The comment `#: …` behind a field."""
    _, mark, remark = lines[node.lineno - 1].partition("#:")
    return remark.strip() if mark else ""


def member_of(node: ast.stmt, lines: list[str]) -> dict[str, Any] | None:
    if isinstance(node, ast.FunctionDef):
        if node.name.startswith("_") and node.name != "__call__":
            return None
        kinds = {_name(d) for d in node.decorator_list}
        if kinds & {"setter", "overload"}:
            return None
        doc = ast.get_docstring(node) or ""
        if kinds & {"property", "cached_property"}:
            kind = f": {ast.unparse(node.returns)}" if node.returns else ""
            return {"name": node.name, "kind": "property", "signature": node.name + kind, "doc": doc}
        shown = "model" if node.name == "__call__" else node.name
        return {"name": node.name, "kind": "method", "signature": signature(node, shown, True), "doc": doc}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        if node.target.id.startswith("_"):
            return None
        value = f" = {ast.unparse(node.value)}" if node.value else ""
        return {"name": node.target.id, "kind": "field",
                "signature": f"{node.target.id}: {ast.unparse(node.annotation)}{value}",
                "doc": remark_of(lines, node)}
    return None


class Package:
    def __init__(self, folder: pathlib.Path):
        self.lines: dict[str, list[str]] = {}
        self.trees: dict[str, ast.Module] = {}
        for file in [*sorted(folder.glob("*.py")), folder / "_lemma.pyi"]:
            text = file.read_text()
            self.trees[file.stem] = ast.parse(text)
            self.lines[file.stem] = text.split("\n")

    def defined(self, module: str, name: str) -> tuple[str, ast.ClassDef | ast.FunctionDef] | None:
        # From the end: the body of an overloaded function comes last.
        for node in reversed(self.trees[module].body):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
                return module, node
            if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
                if any((alias.asname or alias.name) == name for alias in node.names):
                    return self.defined(node.module, name)
        return None

    def members(self, module: str, node: ast.ClassDef) -> list[dict[str, Any]]:
        """Own members, and those of base classes of this package."""
        found = [member for child in node.body if (member := member_of(child, self.lines[module]))]
        for base in node.bases:
            text = ast.unparse(base)
            where, _, name = text.rpartition(".")
            inner = self.defined(where if where in self.trees else module, name)
            if inner and isinstance(inner[1], ast.ClassDef):
                known = {member["name"] for member in found}
                found += [m for m in self.members(*inner) if m["name"] not in known]
        return found

    def describe(self, module: str, name: str) -> dict[str, Any]:
        found = self.defined(module, name)
        if not found:
            raise SystemExit(f"{name} of {module} is not defined")
        where, node = found
        doc = ast.get_docstring(node) or ""
        if isinstance(node, ast.FunctionDef):
            return {"name": name, "kind": "function", "signature": signature(node, name, False),
                    "doc": doc, "members": []}
        bases = [ast.unparse(base) for base in node.bases if not ast.unparse(base).startswith("_lemma.")]
        return {"name": name, "kind": "class", "signature": f"class {name}" + (f"({', '.join(bases)})" if bases else ""),
                "doc": doc, "members": self.members(where, node)}

    def exported(self, stem: str) -> list[str]:
        for node in self.trees[stem].body:
            if isinstance(node, ast.Assign) and _name(node.targets[0]) == "__all__":
                return [str(name) for name in ast.literal_eval(node.value)]
        raise SystemExit(f"{stem} has no __all__")


def main() -> None:
    package = Package(pathlib.Path(sys.argv[1]))
    modules = []
    for module in MODULES:
        stem = "__init__" if module == "lemma" else module.rpartition(".")[2]
        items = [package.describe(stem, name) for name in package.exported(stem)
                 if package.defined(stem, name)]
        modules.append({"name": module, "doc": ast.get_docstring(package.trees[stem]) or "",
                        "items": items})
    json.dump(modules, sys.stdout)


if __name__ == "__main__":
    main()
