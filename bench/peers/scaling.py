#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Lemma with ONNX Runtime for several numbers of threads, in one process.

    scaling.py --library liblemma.so [--threads 1,4,8,16] [--rounds N] [--json FILE] MODEL...

A MODEL is a .onnx file, or a folder with model.onnx and test_data_set_0/input_K.pb. Both programs
stay loaded and take turns, with a pause in between: idle threads of ONNX Runtime spin for tens of
milliseconds. It needs the Python packages numpy, onnx and onnxruntime, but neither
node nor LLVM on the machine, if lemma_jit.so is beside the library.

A ratio is the median over the rounds of ONNX Runtime's time divided by Lemma's: above 1, Lemma is
faster. `first` is the time of loading and the first run; Lemma's cache is $LEMMA_CACHE."""
import argparse
import ctypes
import json
import pathlib
import statistics
import sys
import time

import numpy
import onnx
import onnxruntime
from onnx import numpy_helper

ENGINE_COMPILE = 2
TYPES = {"float16": 1, "float32": 3, "float64": 4, "int8": 5, "int16": 6, "int32": 7, "int64": 8,
         "uint8": 9, "uint16": 10, "uint32": 11, "uint64": 12, "bool": 13}
NUMPY_TYPES = {number: numpy.dtype(name) for name, number in TYPES.items()}
NUMERICS = {"default": 0, "strict": 1, "fast": 2}


class Tensor(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("rank", ctypes.c_size_t),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p),
                ("size", ctypes.c_size_t)]


class LoadOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("graph", ctypes.c_char_p),
                ("attributes", ctypes.c_void_p), ("attribute_count", ctypes.c_size_t),
                ("real", ctypes.c_int), ("quantize", ctypes.c_int),
                ("random_weights", ctypes.c_int), ("weights_seed", ctypes.c_uint64),
                ("weights", ctypes.c_char_p), ("extra_outputs", ctypes.c_void_p),
                ("extra_output_count", ctypes.c_size_t), ("values", ctypes.c_void_p),
                ("value_count", ctypes.c_size_t), ("engine", ctypes.c_int),
                ("numerics", ctypes.c_int), ("accumulate_f32", ctypes.c_int),
                ("target", ctypes.c_char_p), ("cache", ctypes.c_char_p),
                ("control", ctypes.c_void_p)]


class SessionOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("threads", ctypes.c_int),
                ("seed", ctypes.c_uint64)]


class Library:
    """The functions of lemma.h that the comparison needs."""

    def __init__(self, path: str):
        self.calls = ctypes.CDLL(path)
        self.calls.lemma_count.restype = ctypes.c_size_t
        self.calls.lemma_report_text.restype = ctypes.c_char_p

    def check(self, status: int, report: ctypes.c_void_p) -> None:
        if status == 0:
            return
        raise RuntimeError(self.calls.lemma_report_text(report).decode().strip())


class LemmaModel:
    def __init__(self, library: Library, path: str, inputs: dict, threads: int, numerics: str):
        begin = time.perf_counter()
        self.library, self.calls = library, library.calls
        self.model, self.session = ctypes.c_void_p(), ctypes.c_void_p()
        report = ctypes.c_void_p()
        options = LoadOptions(struct_size=ctypes.sizeof(LoadOptions), engine=ENGINE_COMPILE,
                              numerics=NUMERICS[numerics])
        library.check(self.calls.lemma_load(path.encode(), ctypes.byref(options),
                                            ctypes.byref(self.model), ctypes.byref(report)), report)
        own = SessionOptions(struct_size=ctypes.sizeof(SessionOptions), threads=threads)
        library.check(self.calls.lemma_session_create(self.model, ctypes.byref(own),
                                                      ctypes.byref(self.session),
                                                      ctypes.byref(report)), report)
        # `ascontiguousarray` gives a number an axis.
        self.arrays = [numpy.require(array, requirements="C") for array in inputs.values()]
        self.inputs = (Tensor * len(self.arrays))()
        self.shapes = []
        for tensor, array in zip(self.inputs, self.arrays):
            self.shapes.append((ctypes.c_int64 * max(1, array.ndim))(*array.shape))
            tensor.type, tensor.rank = TYPES[array.dtype.name], array.ndim
            tensor.shape = ctypes.cast(self.shapes[-1], ctypes.POINTER(ctypes.c_int64))
            tensor.data, tensor.size = array.ctypes.data, array.nbytes
        self.count = self.calls.lemma_count(self.model, 1)
        self.outputs = (Tensor * self.count)()
        self.run()
        self.first = time.perf_counter() - begin

    def run(self) -> None:
        for output in self.outputs:
            output.data = None
        report = ctypes.c_void_p()
        status = self.calls.lemma_run(self.session, self.inputs, ctypes.c_size_t(len(self.inputs)),
                                      self.outputs, ctypes.c_size_t(self.count), None,
                                      ctypes.byref(report))
        self.library.check(status, report)

    def results(self) -> list:
        arrays = []
        for output in self.outputs:
            bytes_ = ctypes.string_at(output.data, output.size)
            arrays.append(numpy.frombuffer(bytes_, dtype=NUMPY_TYPES[output.type]).astype("float64"))
        return arrays

    def close(self) -> None:
        self.calls.lemma_session_free(self.session)
        self.calls.lemma_model_free(self.model)


class OrtModel:
    def __init__(self, path: str, inputs: dict, threads: int):
        begin = time.perf_counter()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.session = onnxruntime.InferenceSession(path, options,
                                                    providers=["CPUExecutionProvider"])
        self.inputs = inputs
        self.run()
        self.first = time.perf_counter() - begin

    def run(self) -> None:
        self.made = self.session.run(None, self.inputs)

    def results(self) -> list:
        return [numpy.asarray(array).astype("float64").ravel() for array in self.made]

    def close(self) -> None:
        del self.session


def inputs_of(model: pathlib.Path) -> tuple[str, dict]:
    """The file of the model and its inputs: recorded ones, or ramps."""
    file = model / "model.onnx" if model.is_dir() else model
    graph = onnx.load(file, load_external_data=False).graph
    constants = {constant.name for constant in graph.initializer}
    inputs = {}
    for declared in graph.input:
        if declared.name in constants:
            continue
        recorded = file.parent / "test_data_set_0" / f"input_{len(inputs)}.pb"
        if recorded.exists():
            tensor = onnx.TensorProto()
            tensor.ParseFromString(recorded.read_bytes())
            inputs[declared.name] = numpy_helper.to_array(tensor)
            continue
        shape = [axis.dim_value or 1 for axis in declared.type.tensor_type.shape.dim]
        count = int(numpy.prod(shape))
        dtype = onnx.helper.tensor_dtype_to_np_dtype(declared.type.tensor_type.elem_type)
        inputs[declared.name] = (numpy.arange(count) / count).astype(dtype).reshape(shape)
    return str(file), inputs


def error_of(lemma: list, ort: list) -> float:
    """The largest difference, relative to the largest number of its tensor."""
    worst = 0.0
    for ours, theirs in zip(lemma, ort):
        if ours.shape != theirs.shape:
            return float("inf")
        if theirs.size:
            scale = max(float(numpy.max(numpy.abs(theirs))), 1e-30)
            worst = max(worst, float(numpy.max(numpy.abs(ours - theirs))) / scale)
    return worst


def burst(program, count: int) -> list[float]:
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        program.run()
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def compare(library: Library, model: pathlib.Path, threads: int, arguments) -> dict:
    path, inputs = inputs_of(model)
    programs = (LemmaModel(library, path, inputs, threads, arguments.numerics),
                OrtModel(path, inputs, threads))
    error = error_of(*(program.results() for program in programs))
    counts = [max(1, round(1e3 * arguments.burst / min(burst(program, 3)))) for program in programs]
    least, ratios = [float("inf")] * 2, []
    for _ in range(arguments.rounds):
        medians = []
        for i, program in enumerate(programs):
            times = burst(program, counts[i])
            least[i] = min(least[i], *times)
            medians.append(statistics.median(times))
            time.sleep(arguments.pause)
        ratios.append(medians[1] / medians[0])
    firsts = [program.first for program in programs]
    for program in programs:
        program.close()
    return {"model": model.name if model.is_dir() else model.stem, "threads": threads,
            "lemma_ms": round(least[0], 3), "ort_ms": round(least[1], 3),
            "ratio": round(statistics.median(ratios), 3), "error": float(f"{error:.2g}"),
            "lemma_first_s": round(firsts[0], 3), "ort_first_s": round(firsts[1], 3)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="liblemma.so")
    parser.add_argument("--threads", default="1,4,8,16")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--burst", type=float, default=0.1, help="seconds of a round")
    parser.add_argument("--pause", type=float, default=0.2,
                        help="seconds between rounds: the threads of ONNX Runtime spin for a while")
    parser.add_argument("--numerics", default="default", choices=NUMERICS)
    parser.add_argument("--json", help="a file for the numbers, one line each")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    library = Library(arguments.library)
    results, failed = [], 0
    print(f"{'model':24} threads {'Lemma':>10} {'ORT':>10}  ratio   error   first: Lemma     ORT")
    for model in arguments.models:
        for threads in map(int, arguments.threads.split(",")):
            try:
                r = compare(library, model, threads, arguments)
            except Exception as failure:  # the other models count all the same
                print(f"{model.name:24} {threads:7} failed: {failure}", flush=True)
                failed += 1
                continue
            results.append(r)
            print(f"{r['model']:24} {threads:7} {r['lemma_ms']:7.2f} ms {r['ort_ms']:7.2f} ms"
                  f" {r['ratio']:6.2f} {r['error']:7.1e} {r['lemma_first_s']:10.2f} s"
                  f" {r['ort_first_s']:5.2f} s", flush=True)
            if arguments.json:
                with open(arguments.json, "a") as file:
                    file.write(json.dumps(r) + "\n")
    for threads in sorted({r["threads"] for r in results}):
        ratios = [r["ratio"] for r in results if r["threads"] == threads]
        print(f"{'geometric mean':24} {threads:7} {'':21} {statistics.geometric_mean(ratios):8.2f}"
              f"   (least {min(ratios):.2f}, {len(ratios)} models)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
