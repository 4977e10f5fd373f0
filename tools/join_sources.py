#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints groups of sources that can be compiled as one (CMake's unity builds), one group a line, paths separated by `|`.

Files that share a group share their unnamed namespaces. So two files stay apart if one of them defines a name there
that the other, or a header of the other, uses.
"""

import argparse
import functools
import pathlib
import re

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
# Calls of members and qualified names cannot mean a name of an unnamed namespace.
WORD = re.compile(r"(?<![\w.])(?<!->)(?<!::)[A-Za-z_]\w*")
TYPE = re.compile(r"^(?:template\b.*)?(?:struct|class|enum class|enum|union|concept)\s+(\w+)|^using (\w+) =")
VALUE = re.compile(r"^(?!using )(?:[\w:<>,*& ]+[ *&>])(\w+)()\s*(?:\[[^\]]*\])?\s*(?:=|\{|;|$)")
FUNCTION = re.compile(r"^(?!using )[^=(]*?(?<![\w:~])(\w*[a-z]\w*)()\(")  # not a member, not a macro
MACRO = re.compile(r"^#define\s+(\w+)")
USING = re.compile(r"^using ((?:\w+::)+)(\w+);", re.M)
INCLUDED = re.compile(r'^#include "([^"]+)"', re.M)
DECLARED = re.compile(r"^(?:struct|class|enum class|enum|union|using)\s+(\w+)|^[A-Za-z_][^\n=(]*?\b(\w+)\(", re.M)
HEADERS = pathlib.Path(__file__).parent.parent / "src"


def defined_names(text):
    """What a file defines for itself: in unnamed namespaces, as static, as macros. Declarations begin at the left edge."""
    names = set()
    inside = False
    for line in text.split("\n"):
        macro = MACRO.match(line)
        if macro:
            names.add(macro[1])
        elif line.startswith("namespace {"):
            inside = True
        elif line.startswith("}  // namespace") and not line[15:].strip():
            inside = False
        elif (inside or line.startswith("static ")) and re.match(r"(?!namespace )[A-Za-z_]", line):
            for form in (TYPE, FUNCTION, VALUE):
                found = form.match(line)
                if found:
                    names.add(found[1] or found[2])
                    break
    return names


@functools.cache
def headers_below(header):
    """The header and all that it includes, as far as they are ours."""
    path = HEADERS / header
    if not path.is_file():
        return frozenset()
    found = {header}
    for included in INCLUDED.findall(path.read_text(encoding="utf-8")):
        found |= headers_below(included)
    return frozenset(found)


@functools.cache
def declared_names(header):
    found = DECLARED.findall((HEADERS / header).read_text(encoding="utf-8"))
    return frozenset(kind or function for kind, function in found)


class Source:
    def __init__(self, path):
        self.path = path
        text = pathlib.Path(path).read_text(encoding="utf-8")
        code = NOT_CODE.sub(lambda found: " " if found[0].startswith("/") else '""', text)
        self.names = defined_names(text)
        self.opens_namespace = re.search(r"^using namespace ", text, re.M) is not None
        self.usings = {name: scope for scope, name in USING.findall(text)}
        self.words = set(WORD.findall(code)) | self.names
        for included in INCLUDED.findall(text):
            for header in headers_below(included):
                self.words |= declared_names(header)

    def fits(self, other):
        return self.leaves_alone(other) and other.leaves_alone(self)

    def leaves_alone(self, other):
        if self.names & other.words or self.opens_namespace:
            return False
        return all(name not in other.words or other.usings.get(name) == scope for name, scope in self.usings.items())


def groups(sources, most):
    """First fit: a source joins the first group with room whose members it fits."""
    made = []
    for source in sources:
        for group in made:
            if len(group) < most and all(source.fits(other) for other in group):
                group.append(source)
                break
        else:
            made.append([source])
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=8, help="sources in a group")
    parser.add_argument("sources", nargs="*")
    arguments = parser.parse_args()
    for group in groups([Source(path) for path in arguments.sources], arguments.most):
        if len(group) > 1:
            print("|".join(source.path for source in group))


main()
