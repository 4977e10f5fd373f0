// SPDX-License-Identifier: Apache-2.0
// model.h — `lemma._lemma.Model` and `Session`. A model may be called by many threads: it keeps a
// session for each call that runs at the same time. A model with state has one session, and its
// callers take turns.
#pragma once

#include <lemma/lemma.h>
#include <pybind11/pybind11.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "control.h"

namespace lemma::python {

namespace py = pybind11;

// A loaded model with what every call needs to know about it.
struct Loaded {
    explicit Loaded(lemma_model* model);
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;
    ~Loaded() { lemma_model_free(handle); }

    lemma_model* handle;
    std::vector<TensorPlan> inputs;
    std::vector<TensorPlan> outputs;
    py::dict input_index;  // name: index
    int device = -1;       // its number; -1: the processor alone
};

// How a call runs: `run(…, time_limit=…, stop=…, on_device=…)`.
struct RunLimits {
    std::optional<double> time_limit;
    Stop* stop = nullptr;
    bool on_device = false;  // outputs stay there
};

// pybind11 gives objects whose `__init__` failed memory without a constructor. Zeroed, they have no
// loaded model, which `loaded()` checks.
struct ZeroedMemory {
    static void* operator new(size_t size) {
        void* const memory = std::calloc(1, size);
        if (!memory) throw std::bad_alloc();
        return memory;
    }
    static void* operator new(size_t, void* place) { return place; }
    static void operator delete(void* memory) { std::free(memory); }
    static const Loaded& checked(const std::shared_ptr<Loaded>& loaded);
};

// The memory and the variables of runs. The mutex lets one thread at a time in.
class Session : public ZeroedMemory {
public:
    Session(std::shared_ptr<Loaded> loaded, int threads, uint64_t seed);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session();

    const Loaded& loaded() const { return checked(loaded_); }
    // Runs one step; the outputs in the order of the model.
    std::vector<py::object> run(const std::vector<py::object>& inputs, const RunLimits& limits);
    py::object variable(const std::string& name);
    void set_variable(const std::string& name, const py::object& value);
    void save_variables(const std::string& path);
    void reset();
    // "interpret" or "compile", and why.
    py::tuple engine();
    // The remarks of the last run.
    py::list diagnostics() const { return loaded(), diagnostics_; }

private:
    std::unique_lock<std::mutex> lock();

    std::shared_ptr<Loaded> loaded_;
    lemma_session* handle_ = nullptr;
    Stop stop_;
    std::mutex mutex_;
    py::list diagnostics_;
};

class Model : public ZeroedMemory {
public:
    Model(std::shared_ptr<Loaded> loaded, int threads, uint64_t seed, py::list diagnostics);

    const Loaded& loaded() const { return checked(loaded_); }
    const std::shared_ptr<Loaded>& share() const { return loaded(), loaded_; }
    std::vector<py::object> run(const std::vector<py::object>& inputs, const RunLimits& limits);
    py::list diagnostics() const { return loaded(), diagnostics_; }
    int threads() const { return threads_; }
    uint64_t seed() const { return seed_; }
    // The session that has the state of a model with state; the last one that ran otherwise.
    Session& first_session();
    // From now on all calls use the first session, whose variables the caller changes.
    void keep_state() { has_state_ = true; }
    bool has_run() const { return first_ != nullptr; }

private:
    std::shared_ptr<Session> take();

    std::shared_ptr<Loaded> loaded_;
    int threads_;
    uint64_t seed_;
    py::list diagnostics_;
    bool has_state_ = false;
    // The GIL guards these.
    std::shared_ptr<Session> first_;
    std::vector<std::shared_ptr<Session>> idle_;
};

// The arguments of a call in the order of the inputs; null for an optional input that is missing.
std::vector<py::object> bind_arguments(const Loaded& loaded,
                                       const py::args& positional,
                                       const py::kwargs& named);
std::vector<py::object> bind_feed(const Loaded& loaded, const py::object& inputs);

void bind_models(py::module_& module);

}  // namespace lemma::python
