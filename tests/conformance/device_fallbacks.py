#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the operations that run on the processor with `--device=cuda`, and why: over the models of recorded
cases, by reason and operator.

    device_fallbacks.py --lemma PROGRAM [--device cuda] [--jobs N] FOLDER…

A case is a folder inside of the given ones, at any depth, as `lemma verify` finds them. The last lines count the
steps, and the models that do not start."""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

from device import cases_of

SECONDS = 60  # of a model


def model_of(case: pathlib.Path) -> pathlib.Path:
    """The model of a recorded case: a file, or the folder itself."""
    if (case / "case.json").exists():
        told = json.loads((case / "case.json").read_text()).get("model", "model")
        return case / told
    return next(iter(sorted(case.glob("*.onnx"))), case)


def profile(arguments, case: pathlib.Path) -> list[dict] | None:
    command = [arguments.lemma, "bench", str(model_of(case)), f"--device={arguments.device}", "--json", "--profile",
               "--runs=1", "--random-weights", "--threads=1"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout).get("profile", []) if done.returncode == 0 else None


def reason(step: dict) -> str:
    if step["interpreted"]:
        return step.get("why", "the interpreter runs it")
    return step["schedule"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lemma", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    cases = [case for folder in arguments.folders for case in cases_of(folder)]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        profiles = list(pool.map(lambda case: profile(arguments, case), cases))
    found: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    there = here = 0
    for steps in profiles:
        for step in steps or []:
            there += step["on_device"]
            here += not step["on_device"]
            if not step["on_device"]:
                found[reason(step)][step["operation"]] += 1
    for why, operations in sorted(found.items()):
        print(f"{why}:")
        for operation, count in sorted(operations.items()):
            print(f"    {operation:<36} {count}")
    print(f"{there} steps on the device, {here} on the processor")
    print(f"{sum(steps is None for steps in profiles)} of {len(cases)} models do not start")
    return 0


if __name__ == "__main__":
    sys.exit(main())
