#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the digit in a picture of 5 x 7 dots, by the C library through ctypes.

    ./dev build release lemma_shared
    examples/api/classify.py build/release/liblemma.so examples/digits
"""
import ctypes as c
import sys

F32 = 3  # of lemma.h
SEVEN = "11111 00001 00010 00100 00100 01000 01000"


class Tensor(c.Structure):
    _fields_ = [("type", c.c_int), ("rank", c.c_size_t), ("shape", c.POINTER(c.c_int64)),
                ("data", c.c_void_p), ("size", c.c_size_t)]


def load_library(path):
    lemma = c.CDLL(path)
    handle, place = c.c_void_p, c.POINTER(c.c_void_p)
    lemma.lemma_load.argtypes = [c.c_char_p, c.c_void_p, place, place]
    lemma.lemma_session_create.argtypes = [handle, c.c_void_p, place, place]
    lemma.lemma_run.argtypes = [handle, c.POINTER(Tensor), c.c_size_t, c.POINTER(Tensor),
                                c.c_size_t, c.c_void_p, place]
    lemma.lemma_report_text.argtypes, lemma.lemma_report_text.restype = [handle], c.c_char_p
    lemma.lemma_report_free.argtypes = [handle]
    lemma.lemma_session_free.argtypes = [handle]
    lemma.lemma_model_free.argtypes = [handle]
    return lemma


def main(library, path):
    lemma = load_library(library)
    model, session, report = c.c_void_p(), c.c_void_p(), c.c_void_p()

    def check(status):
        if status != 0:
            sys.stderr.write(lemma.lemma_report_text(report).decode())
            sys.exit(status)
        lemma.lemma_report_free(report)  # warnings and notes, if any

    check(lemma.lemma_load(path.encode(), None, c.byref(model), c.byref(report)))
    check(lemma.lemma_session_create(model, None, c.byref(session), c.byref(report)))
    dots = (c.c_float * 35)(*[float(dot) for dot in SEVEN.replace(" ", "")])
    picture = Tensor(F32, 2, (c.c_int64 * 2)(7, 5), c.cast(dots, c.c_void_p), c.sizeof(dots))
    output = Tensor()
    check(lemma.lemma_run(session, picture, 1, output, 1, None, c.byref(report)))
    scores = list((c.c_float * (output.size // 4)).from_address(output.data))
    best = scores.index(max(scores))
    print(f"class {best}, probability {scores[best]:.3f}")
    lemma.lemma_session_free(session)
    lemma.lemma_model_free(model)


if __name__ == "__main__":
    main(*sys.argv[1:])
