#!/usr/bin/env python3
"""Writes tests/stdlib/*/*.numbers from the reference implementations beside this file.

    generate.py            writes the files that changed
    generate.py --check    writes nothing; says which files are not up to date
"""

import importlib
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def texts():
    """What each file is to hold, by its path."""
    for module in sorted(HERE.glob("*_cases.py")):
        importlib.import_module(module.stem)
    from cases import Numbers

    found = {}
    for operator, numbers in Numbers.files.items():
        module, name = operator.split(".")
        found[HERE.parent / module / f"{name}.numbers"] = numbers.text()
    return found


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    wanted = texts()
    stale = [path for path, text in wanted.items()
             if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in sorted(stale):
        print(("stale: " if arguments else "wrote: ") + str(path.relative_to(HERE.parent)))
        if not arguments:
            path.write_text(wanted[path], encoding="utf-8")
    print(f"{len(wanted)} files, {len(stale)} {'not up to date' if arguments else 'written'}")
    return 1 if arguments and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
