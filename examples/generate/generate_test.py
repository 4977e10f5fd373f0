#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the decoders and the program: both engines give the same tokens, one token after another is
the same as the whole text at once, and the number of threads does not matter.

    generate_test.py GENERATE"""
import json
import os
import subprocess
import sys
import tempfile

import decoders
import onnx_decoder

PROMPT = [13, 5, 58, 50, 42]


def generate(program, model, words, tokens, *options):
    command = [program, model, "--json", "--tokens=%d" % tokens,
               "--words=" + ",".join(map(str, words)), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s: %s" % (model, done.stderr))
    return json.loads(done.stdout)["tokens"]


def check(name, got, want):
    if got != want:
        sys.exit("%s: got %s, expected %s" % (name, got, want))


# SkriptND decoders, with keys and values as variables.
def check_state(program):
    here = os.path.dirname(os.path.abspath(__file__))
    sizes = ["width=32", "heads=4", "inner=48", "words=97", "room=24"]
    for name, more in (("gpt2", []), ("llama", ["shared=2"])):
        model = os.path.join(here, "sknd", name + ".sknd")
        options = ["--random-weights"]
        for size in sizes + more:
            options += ["-a", size]
        want = generate(program, model, PROMPT, 8, "--interpret", *options)
        check(name + " has other tokens than all the same", len(set(want)) > 1, True)
        check(name, generate(program, model, PROMPT, 8, *options), want)
        for seen in (1, 4):
            words = PROMPT + want[:seen]
            check(name + ", %d tokens at once" % len(words),
                  generate(program, model, words, 1, "--interpret", *options), [want[seen]])
            check(name, generate(program, model, words, 8 - seen, *options), want[seen:])


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        for name, bits in (("gpt2-tiny", 32), ("llama-tiny", 32), ("gpt2-tiny", 8),
                           ("llama-tiny", 4)):
            weights = decoders.Weights(seed=2, period=65521)
            model = os.path.join(folder, "%s%d.onnx" % (name, bits))
            onnx_decoder.write_onnx(name, decoders.SHAPES[name], weights, model, bits)
            want = generate(program, model, PROMPT, 8, "--interpret")
            check(name + " has other tokens than all the same", len(set(want)) > 1, True)
            check(name, generate(program, model, PROMPT, 8), want)
            check(name, generate(program, model, PROMPT, 8, "--threads=2"), want)
            for seen in range(1, 8):
                words = PROMPT + want[:seen]
                check(name + ", %d tokens at once" % len(words),
                      generate(program, model, words, 1, "--interpret"), [want[seen]])
            check(name, generate(program, model, PROMPT + want[:4], 4), want[4:])
    check_state(program)
    print("the tokens agree")


if __name__ == "__main__":
    main()
