# SPDX-License-Identifier: Apache-2.0
"""Time limits, stopping, Ctrl-C and progress."""
from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import ADD, SLOW

import lemma

X = np.ones((1500, 1500), np.float32)


@pytest.fixture
def slow(write):
    return lemma.load(write(SLOW), engine="interpret")


def test_a_time_limit_stops_a_run(slow):
    begin = time.monotonic()
    with pytest.raises(lemma.Stopped):
        slow.run(X, time_limit=0.05)
    assert time.monotonic() - begin < 5


def test_another_thread_stops_a_run(slow):
    stop = lemma.Stop()
    assert not stop.requested
    timer = threading.Timer(0.05, stop.now)
    timer.start()
    begin = time.monotonic()
    with pytest.raises(lemma.Stopped):
        slow.run(X, stop=stop)
    assert time.monotonic() - begin < 5
    timer.join()
    assert stop.requested
    stop.reset()
    assert not stop.requested


def test_a_session_runs_again_after_it_was_stopped(write):
    model = lemma.load(write(ADD), engine="interpret")
    session = model.session()
    stop = lemma.Stop()
    stop.now()
    x = np.ones((2, 3), np.float32)
    with pytest.raises(lemma.Stopped):
        session.run([x, x], stop=stop)
    assert session(x, x)[0, 0] == 2


def test_a_time_limit_is_a_positive_number(write):
    model = lemma.load(write(ADD))
    for wrong in (0, -1, float("inf"), float("nan")):
        with pytest.raises(lemma.UsageError, match="time_limit"):
            model.run([np.ones((2, 3), np.float32)] * 2, time_limit=wrong)


def test_ctrl_c_stops_a_run(write):
    program = textwrap.dedent("""
        import sys, lemma, numpy
        model = lemma.load(sys.argv[1], engine="interpret")
        x = numpy.ones((1500, 1500), numpy.float32)
        print("ready", flush=True)
        try:
            model(x)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        try:
            model(x[:2])
        except lemma.UsageError:
            print("usable", flush=True)
    """)
    child = subprocess.Popen([sys.executable, "-c", program, write(SLOW)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    output, _ = child.communicate(timeout=20)
    assert output == "interrupted\nusable\n"
    assert child.returncode == 0


def test_progress_is_reported(write):
    stages: list[str] = []
    lemma.load(write(ADD), progress=lambda stage, done, total: stages.append(stage))
    assert "load" in stages


def test_an_exception_of_the_callback_comes_through(write):
    def progress(stage: str, done: int, total: int | None) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        lemma.load(write(ADD), progress=progress)


def test_other_threads_run_meanwhile(slow):
    """The GIL is free during a run."""
    steps = 0
    done = threading.Event()

    def work() -> None:
        with pytest.raises(lemma.Stopped):
            slow.run(X, time_limit=0.2)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        steps += 1
        time.sleep(0.001)
    thread.join()
    assert steps > 10


def test_the_examples_of_this_folder_exist():
    assert pathlib.Path("examples/digits").is_dir()  # the doctests run in the root of the project
