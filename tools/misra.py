#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the MISRA C:2012 rules that cppcheck reports for the certified C of a model.

Every rule that is reported must have a row in the table of deviations in docs/assurance.md, and every
row must still be needed. `main.c` is an example for users and not part of the certified code; its
rules are counted apart."""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "assurance.md"
HEADING = "## MISRA C"


def justified(page: str) -> set[str]:
    """The rules in the table below the heading."""
    if HEADING not in page:
        return set()
    section = page.split(HEADING, 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"^\| (\d+\.\d+) \|", section, re.MULTILINE))


def findings(files: list[pathlib.Path]) -> collections.Counter:
    """Rules by file, from one run over all files, so that uses in other files count."""
    done = subprocess.run(["cppcheck", "--std=c99", "--addon=misra", "--enable=style", "--quiet",
                           "--template={file}\t{line}\t{id}\t{message}", *map(str, files)],
                          capture_output=True, text=True, timeout=1800, check=True)
    found: collections.Counter = collections.Counter()
    for line in done.stderr.splitlines():
        file, _, kind, message = (line.split("\t") + [""] * 3)[:4]
        rule = kind.removeprefix("misra-c2012-") if kind.startswith("misra-") else f"{kind}: {message}"
        found[(pathlib.Path(file).name, rule)] += 1
    return found


def by_number(rule: str) -> tuple:
    return tuple(int(part) if part.isdigit() else 99 for part in rule.split("."))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lemma", required=True, help="the program")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where the C is written")
    parser.add_argument("--option", action="append", default=[], help="passed to lemma compile")
    parser.add_argument("model", help="the model to compile")
    args = parser.parse_args()

    subprocess.run([args.lemma, "compile", args.model, "-o", args.work, *args.option], check=True)
    files = sorted(args.work.glob("*.c"))
    found = findings(files)
    code: collections.Counter = collections.Counter()
    example: collections.Counter = collections.Counter()
    for (file, rule), count in found.items():
        (example if file == "main.c" else code)[rule] += count
    for rule in sorted(code, key=by_number):
        places = ", ".join(f"{name} {n}" for (name, r), n in sorted(found.items())
                           if r == rule and name != "main.c")
        print(f"  {rule:<6} {code[rule]:4}  {places}")
    print(f"  main.c, the example: {', '.join(f'{r} {n}' for r, n in sorted(example.items())) or 'none'}")
    reasons = justified(PAGE.read_text())
    missing = [rule for rule in code if rule not in reasons]
    stale = [rule for rule in reasons if rule not in code]
    for rule in sorted(missing, key=by_number):
        print(f"    {rule} has no reason in docs/assurance.md")
    for rule in sorted(stale, key=by_number):
        print(f"    {rule} has a reason in docs/assurance.md, but is not reported any more")
    checked = [file for file in files if file.name != "main.c"]
    faulty = {file for (file, rule) in found if rule in missing}
    bad = len(missing) + len(stale) + (not checked)
    print(f"  {len(checked)} files, {sum(code.values())} findings")
    print(f"{sum(file.name not in faulty for file in checked)} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
