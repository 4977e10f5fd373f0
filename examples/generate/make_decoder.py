#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a decoder with random weights.

    make_decoder.py gpt2 gpt2.onnx            # ONNX, with past inputs and present outputs
    make_decoder.py llama llama4.onnx --bits=4  # with weights of 4 bits

The decoders are gpt2 (12 layers of 768, 124 million parameters) and llama (RMS norm, rotary
embedding, grouped-query attention, SwiGLU), and gpt2-tiny and llama-tiny for tests."""
import argparse

import decoders
import onnx_decoder


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("decoder", choices=sorted(decoders.SHAPES))
    parser.add_argument("file", help="a name with .onnx")
    parser.add_argument("--bits", type=int, choices=(4, 8, 32), default=32,
                        help="of the weights of matrix products (32: floats)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    shape = decoders.SHAPES[options.decoder]
    weights = decoders.Weights(options.seed)
    onnx_decoder.write_onnx(options.decoder, shape, weights, options.file, options.bits)


if __name__ == "__main__":
    main()
