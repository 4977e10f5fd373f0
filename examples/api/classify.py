#!/usr/bin/env python3
"""Reads the digit in a picture of 5 x 7 dots, by the C library through ctypes.

    ./dev build release lemma_shared
    examples/api/classify.py build/release/liblemma.so examples/digits
"""
import ctypes as c
import sys

INPUTS, OUTPUTS, F32 = 0, 1, 3  # of lemma.h
SEVEN = "11111 00001 00010 00100 00100 01000 01000"


class Tensor(c.Structure):
    _fields_ = [("type", c.c_int), ("rank", c.c_size_t), ("shape", c.POINTER(c.c_int64)),
                ("data", c.c_void_p), ("size", c.c_size_t)]


def load_library(path):
    lemma = c.CDLL(path)
    model, text = c.c_void_p, c.c_char_p
    lemma.lemma_load.argtypes = [text, c.c_void_p, c.POINTER(model)]
    lemma.lemma_free.argtypes = [model]
    lemma.lemma_error.argtypes, lemma.lemma_error.restype = [model], text
    lemma.lemma_name.argtypes, lemma.lemma_name.restype = [model, c.c_int, c.c_size_t], text
    lemma.lemma_set_input.argtypes = [model, text, c.POINTER(Tensor)]
    lemma.lemma_run.argtypes = [model]
    lemma.lemma_get_output.argtypes = [model, text, c.POINTER(Tensor)]
    return lemma


def main(library, path):
    lemma, model = load_library(library), c.c_void_p()

    def check(status):
        if status != 0:
            sys.stderr.write(lemma.lemma_error(model).decode())
            sys.exit(status)

    check(lemma.lemma_load(path.encode(), None, c.byref(model)))
    dots = (c.c_float * 35)(*[float(dot) for dot in SEVEN.replace(" ", "")])
    picture = Tensor(F32, 2, (c.c_int64 * 2)(7, 5), c.cast(dots, c.c_void_p), c.sizeof(dots))
    check(lemma.lemma_set_input(model, lemma.lemma_name(model, INPUTS, 0), c.byref(picture)))
    check(lemma.lemma_run(model))
    output = Tensor()
    check(lemma.lemma_get_output(model, lemma.lemma_name(model, OUTPUTS, 0), c.byref(output)))
    scores = list((c.c_float * (output.size // 4)).from_address(output.data))
    best = scores.index(max(scores))
    print(f"class {best}, probability {scores[best]:.3f}")
    lemma.lemma_free(model)


if __name__ == "__main__":
    main(*sys.argv[1:])
