# SPDX-License-Identifier: Apache-2.0
"""Models on a driver without a GPU (tests/device/fake_cuda.cpp). Its kernels copy their first
buffer to their last one."""
from __future__ import annotations

import ctypes
import pathlib

import numpy as np
import pytest

import lemma

FAKE = pathlib.Path(lemma.__file__).parents[2] / "tests/fake_cuda/usual/libcuda.so.1"
TEXT = """import math;
graph G {
    @input { x: real[2, 2]; }
    @output { y: real[2, 2]; }
    @compose { y = math.abs(x); }
}"""
X = np.array([[1, 2], [3, 4]], np.float32)


@pytest.fixture(scope="module")
def model():
    ctypes.CDLL(str(FAKE))  # the library that is loaded already is the driver
    return lemma.model(TEXT, engine="compile", device="cuda", cache="")


def test_the_device_is_an_option(model):
    assert model.device == "Fake GPU"
    assert (model(X) == X).all()
    with pytest.raises(lemma.UsageError, match="no device `gpu`"):
        lemma.model(TEXT, device="gpu")
    with pytest.raises(lemma.UsageError, match="no GPU `cuda:7`"):
        lemma.model(TEXT, device="cuda:7")


def test_outputs_stay_on_the_device(model):
    first = model.run(X, on_device=True)["y"]
    assert isinstance(first, lemma.DeviceTensor)
    assert first.shape == (2, 2) and first.type == "f32"
    assert first.__dlpack_device__() == (2, 0)
    assert (first.numpy() == X).all()
    for _ in range(3):
        first = model.run({"x": first}, on_device=True)["y"]
    assert (model(first) == X).all()  # to main memory at last


def test_dlpack_hands_the_memory_over(model):
    tensor = model.run(X, on_device=True)["y"]
    capsule = tensor.__dlpack__(stream=1, max_version=(1, 0), dl_device=(2, 0), copy=False)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = ctypes.cast(get(capsule, b"dltensor"), ctypes.POINTER(ctypes.c_void_p))[0]
    del tensor  # the capsule keeps the memory
    assert list((ctypes.c_float * 4).from_address(address)) == [1, 2, 3, 4]
    del capsule
    tensor = model.run(X, on_device=True)["y"]
    for wrong in ({"copy": True}, {"dl_device": (1, 0)}):
        with pytest.raises(BufferError, match="stays where it is"):
            tensor.__dlpack__(**wrong)


class OnAnotherGpu:
    def __dlpack_device__(self):
        return 2, 1


def test_tensors_of_other_places_are_refused(model):
    with pytest.raises(lemma.UsageError, match="is on the GPU 1, and the model runs on 0"):
        model(OnAnotherGpu())
    processor = lemma.model(TEXT)
    with pytest.raises(lemma.UsageError, match="no device on which outputs can stay"):
        processor.run(X, on_device=True)
