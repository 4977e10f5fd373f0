# SPDX-License-Identifier: Apache-2.0
"""Every public name of the package has a docstring, and a test or a doctest."""
from __future__ import annotations

import doctest
import enum
import inspect
import pathlib
import re

import pytest

import lemma
import lemma.backend
import lemma.dask

MODULES = [lemma, lemma.backend, lemma.dask]

TESTS = "".join(
    path.read_text()
    for path in pathlib.Path(__file__).parent.glob("test_*.py")
    if path.name != "test_public.py"
)
DOCTESTS = "".join(
    example.source
    for module in MODULES
    for name in module.__all__
    for found in doctest.DocTestFinder(recurse=True).find(getattr(module, name), name)
    for example in found.examples
)
USES = TESTS + DOCTESTS


def members():
    for module in MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            yield f"{module.__name__}.{name}", name, value
            if not inspect.isclass(value) or issubclass(value, (enum.Enum, BaseException)):
                continue
            for attribute in dir(value):
                if attribute.startswith("_") or attribute in dir(tuple) + dir(object):
                    continue
                yield f"{module.__name__}.{name}.{attribute}", attribute, getattr(value, attribute)


@pytest.mark.parametrize(("path", "name", "value"), [pytest.param(*m, id=m[0]) for m in members()])
def test_every_public_name_is_documented_and_tested(path, name, value):
    is_code = inspect.isclass(value) or inspect.isroutine(value) or isinstance(value, property)
    if is_code:
        assert (inspect.getdoc(value) or "").strip(), f"{path} has no docstring"
    assert re.search(rf"\b{re.escape(name)}\b", USES), f"{path} has no test or doctest"
