// SPDX-License-Identifier: Apache-2.0
// control.h — stopping long calls: a time limit, `lemma.Stop`, Ctrl-C and progress callbacks.
#pragma once

#include <lemma/lemma.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <optional>

namespace lemma::python {

namespace py = pybind11;

// `lemma.Stop`: stops the calls that got it, from any thread.
class Stop {
public:
    Stop() : stop_(lemma_stop_create()) {
        if (!stop_) throw std::bad_alloc();
    }
    Stop(const Stop&) = delete;
    Stop& operator=(const Stop&) = delete;
    ~Stop() { lemma_stop_free(stop_); }

    void now() { lemma_stop_now(stop_); }
    void reset() { lemma_stop_reset(stop_); }
    lemma_stop* get() const { return stop_; }

private:
    lemma_stop* stop_;
};

// While it lives, Ctrl-C also stops the call with this `stop`. It works in the main thread, which
// alone gets Python's KeyboardInterrupt, and if Python handles the signal.
class InterruptGuard {
public:
    explicit InterruptGuard(lemma_stop* stop);
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

private:
    bool active_ = false;
};

// The control of one call. It lives while the call runs.
class Control {
public:
    Control(std::optional<double> time_limit, Stop& stop, py::object progress);

    const lemma_control* get() const { return &control_; }
    // Throws what the progress callback threw.
    void rethrow();

private:
    static int report_progress(void* user, const char* stage, uint64_t done, uint64_t total);

    lemma_control control_ = {};
    py::object progress_;
    std::unique_ptr<py::error_already_set> thrown_;
};

// Seconds of a time limit, checked; 0 for none.
double seconds_of(std::optional<double> time_limit);

}  // namespace lemma::python
