#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the decoding of tokens with ONNX Runtime on one ONNX file. The programs take turns.

    compare.py --generate PROGRAM [--ort SCRIPT] [--threads 1,2] [--prompts 32,128,512] [--tokens N]
        [--rounds N] [--numerics fast] MODEL.onnx

PROGRAM is examples/generate. SCRIPT is ort_decoder.js (the default; NODE_PATH must have
onnxruntime-node) or ort_decoder.py. A time is that of one token: the best and the median of all
rounds. The script compares the tokens first. With fast numerics, a later token may be another one:
the table has the number of tokens before that."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from worker import interpreter  # bench/worker.py


def lemma(arguments, threads, prompt):
    command = [arguments.generate, arguments.model, f"--threads={threads}", f"--prompt={prompt}",
               f"--tokens={arguments.tokens}", "--json"]
    if arguments.numerics == "fast":
        command.append("--numerics=fast")
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def ort(arguments, threads, prompt):
    script = arguments.ort
    command = [*interpreter(script), script, arguments.model, threads, prompt, arguments.tokens]
    command = [str(word) for word in command]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def equal_tokens(first, second):
    """The number of tokens before the first different one."""
    different = (i for i, pair in enumerate(zip(first, second)) if pair[0] != pair[1])
    return next(different, len(first))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("--generate", required=True)
    parser.add_argument("--ort", default=str(HERE / "ort_decoder.js"))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--prompts", default="32,128,512")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--numerics", choices=["default", "fast"], default="default", help="of Lemma")
    arguments = parser.parse_args()
    fast = arguments.numerics == "fast"
    print("threads  prompt  Lemma best  median  ORT best  median   ratio of medians"
          + ("  equal tokens" if fast else ""))
    for threads in arguments.threads.split(","):
        for prompt in arguments.prompts.split(","):
            times = {lemma: [], ort: []}
            for _ in range(arguments.rounds):
                made = [run(arguments, threads, prompt) for run in times]
                equal = equal_tokens(made[0]["tokens"], made[1]["tokens"])
                if equal < (1 if fast else arguments.tokens):
                    sys.exit(f"the tokens differ: {made[0]['tokens']} and {made[1]['tokens']}")
                # The first two runs are the prompt and, in Lemma, code for one token.
                for all_times, one in zip(times.values(), made):
                    all_times.extend(one["ms"][2:])
            ours, theirs = times.values()
            ratio = statistics.median(theirs) / statistics.median(ours)
            print(f"{threads:>7}  {prompt:>6}  {min(ours):>10.2f}  {statistics.median(ours):>6.2f}"
                  f"  {min(theirs):>8.2f}  {statistics.median(theirs):>6.2f}  {ratio:>6.2f}"
                  + (f"  {equal:>23}" if fast else ""), flush=True)


if __name__ == "__main__":
    main()
