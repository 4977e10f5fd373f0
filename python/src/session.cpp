// SPDX-License-Identifier: Apache-2.0
#include "device_tensor.h"
#include "model.h"
#include "options.h"
#include "report.h"

namespace lemma::python {

namespace {

std::vector<TensorPlan> plans_of(const lemma_model* model, int group) {
    std::vector<TensorPlan> plans;
    for (size_t i = 0; i < lemma_count(model, group); ++i) {
        const lemma_tensor_info& info = *lemma_info(model, group, i);
        TensorPlan plan = {py::str(info.name), info.type, info.optional != 0, py::object()};
        bool fixed = !plan.optional;
        for (size_t axis = 0; axis < info.rank; ++axis) fixed &= info.shape[axis] >= 0;
        if (fixed) plan.shape = shape_tuple(info.shape, info.rank);
        plans.push_back(std::move(plan));
    }
    return plans;
}

// The inputs of one call.
struct Inputs {
    explicit Inputs(size_t count) : tensors(count), there(count), arrays(count), others(count) {}

    void take(size_t i, PyObject* value, const Loaded& loaded) {
        const TensorPlan& plan = loaded.inputs[i];
        if (plan.type != LEMMA_STR && arrays[i].take_buffer(value)) {
            tensors[i] = arrays[i].tensor();
        } else if (others[i].take(value, plan, loaded.device)) {
            tensors[i] = others[i].tensor();
            there[i] = 1;
        } else {
            arrays[i].take(value, plan);
            tensors[i] = arrays[i].tensor();
        }
    }

    std::vector<lemma_tensor> tensors;
    std::vector<unsigned char> there;  // on the device
    std::vector<InputArray> arrays;
    std::vector<DlpackInput> others;
};

}  // namespace

Loaded::Loaded(lemma_model* model) : handle(model) {
    inputs = plans_of(model, LEMMA_INPUTS);
    outputs = plans_of(model, LEMMA_OUTPUTS);
    for (size_t i = 0; i < inputs.size(); ++i) input_index[inputs[i].name] = i;
    device = lemma_model_device_number(model);
}

const Loaded& ZeroedMemory::checked(const std::shared_ptr<Loaded>& loaded) {
    if (!loaded) throw_usage("this object was not loaded");
    return *loaded;
}

// ---- Sessions ----

Session::Session(std::shared_ptr<Loaded> loaded, int threads, uint64_t seed)
    : loaded_(std::move(loaded)) {
    lemma_session_options options = {};
    options.struct_size = sizeof options;
    options.threads = threads;
    options.seed = seed;
    Report report;
    int status = LEMMA_GOOD;
    {
        const py::gil_scoped_release release;
        status = lemma_session_create(loaded_->handle, &options, &handle_, report.place());
    }
    if (status != LEMMA_GOOD) throw_failure(status, report.get(), false);
}

Session::~Session() { lemma_session_free(handle_); }

std::unique_lock<std::mutex> Session::lock() {
    loaded();
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) {
        const py::gil_scoped_release release;
        lock.lock();
    }
    return lock;
}

std::vector<py::object> Session::run(const std::vector<py::object>& inputs,
                                     const RunLimits& limits) {
    // Conversions may call the caller's code: before the lock.
    if (limits.on_device && loaded_->device < 0) {
        throw_usage("the model has no device on which outputs can stay");
    }
    Inputs given(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i]) given.take(i, inputs[i].ptr(), *loaded_);  // else it has no type
    }
    const size_t count = loaded_->outputs.size();
    std::vector<OutputArray> results(count);
    std::vector<std::shared_ptr<DeviceTensor>> kept(count);
    std::vector<lemma_tensor> made(count);
    std::vector<unsigned char> there(count);
    for (size_t i = 0; i < count; ++i) {
        if (limits.on_device) kept[i] = make_device_output(loaded_->handle, loaded_->outputs[i]);
        if (!kept[i]) {
            results[i].prepare(loaded_->outputs[i], made[i]);
            continue;
        }
        there[i] = 1;
        made[i].data = kept[i]->data();
        made[i].size = kept[i]->size();
    }
    const std::unique_lock<std::mutex> guard = lock();

    lemma_control control = {};
    control.struct_size = sizeof control;
    control.seconds = seconds_of(limits.time_limit);
    control.stop = limits.stop ? limits.stop->get() : stop_.get();
    stop_.reset();
    Report report;
    int status = LEMMA_GOOD;
    {
        const py::gil_scoped_release release;
        const InterruptGuard interrupts(control.stop);
        lemma_run_options options = {};
        options.struct_size = sizeof options;
        options.control = &control;
        options.device_inputs = given.there.data();
        options.device_outputs = there.data();
        status = lemma_run_with(handle_,
                                given.tensors.data(),
                                given.tensors.size(),
                                made.data(),
                                count,
                                &options,
                                report.place());
    }
    if (status != LEMMA_GOOD) throw_failure(status, report.get(), true);
    diagnostics_ = report.get() ? diagnostics_of(report.get()) : py::list();

    std::vector<py::object> outputs(count);
    for (size_t i = 0; i < count; ++i) {
        outputs[i] = kept[i] ? py::cast(kept[i]) : results[i].finish(made[i]);
    }
    return outputs;
}

py::object Session::variable(const std::string& name) {
    const std::unique_lock<std::mutex> guard = lock();
    Report report;
    lemma_tensor tensor = {};
    const int status = lemma_get_variable(handle_, plain(name).c_str(), &tensor, report.place());
    if (status != LEMMA_GOOD) throw_failure(status, report.get(), true);
    return copy_array(tensor);
}

void Session::set_variable(const std::string& name, const py::object& value) {
    TensorPlan plan = {py::str(name), LEMMA_F32, false, py::object()};
    const lemma_model* const model = loaded().handle;
    const size_t index = lemma_find(model, LEMMA_VARIABLES, plain(name).c_str());
    if (const auto* const info = lemma_info(model, LEMMA_VARIABLES, index)) {
        plan.type = info->type;
    }
    InputArray array;
    array.take(value.ptr(), plan);
    const std::unique_lock<std::mutex> guard = lock();
    Report report;
    const int status = lemma_set_variable(handle_, name.c_str(), &array.tensor(), report.place());
    if (status != LEMMA_GOOD) throw_failure(status, report.get(), true);
}

void Session::save_variables(const std::string& path) {
    const std::string plain_path = plain(path);
    const std::unique_lock<std::mutex> guard = lock();
    Report report;
    int status = LEMMA_GOOD;
    {
        const py::gil_scoped_release release;
        status = lemma_save_variables(handle_, plain_path.c_str(), report.place());
    }
    if (status != LEMMA_GOOD) throw_failure(status, report.get(), true);
}

void Session::reset() {
    const std::unique_lock<std::mutex> guard = lock();
    Report report;
    const int status = lemma_reset(handle_, report.place());
    if (status != LEMMA_GOOD) throw_failure(status, report.get(), true);
}

py::tuple Session::engine() {
    const std::unique_lock<std::mutex> guard = lock();
    const bool compiled = lemma_session_engine(handle_) == LEMMA_COMPILE;
    return py::make_tuple(compiled ? "compile" : "interpret",
                          lemma_model_target(loaded_->handle),
                          lemma_session_engine_reason(handle_));
}

// ---- Models ----

constexpr size_t kIdleSessions = 16;  // kept for calls that run at the same time

Model::Model(std::shared_ptr<Loaded> loaded, int threads, uint64_t seed, py::list diagnostics)
    : loaded_(std::move(loaded)),
      threads_(threads),
      seed_(seed),
      diagnostics_(std::move(diagnostics)) {
    for (size_t i = 0; i < lemma_count(loaded_->handle, LEMMA_VARIABLES); ++i) {
        has_state_ |= lemma_info(loaded_->handle, LEMMA_VARIABLES, i)->updated != 0;
    }
}

Session& Model::first_session() {
    loaded();
    if (!first_) {
        // Making a session releases the GIL: another thread may have been faster.
        auto made = std::make_shared<Session>(loaded_, threads_, seed_);
        if (!first_) {
            first_ = std::move(made);
            if (!has_state_) idle_.push_back(first_);
        }
    }
    return *first_;
}

std::shared_ptr<Session> Model::take() {
    if (has_state_ || !first_) first_session();
    if (has_state_) return first_;
    if (idle_.empty()) return std::make_shared<Session>(loaded_, threads_, seed_);
    std::shared_ptr<Session> session = std::move(idle_.back());
    idle_.pop_back();
    return session;
}

std::vector<py::object> Model::run(const std::vector<py::object>& inputs, const RunLimits& limits) {
    // Gives the session back, whatever happens. The GIL is held where this runs.
    struct Lease {
        Model& model;
        std::shared_ptr<Session> session;
        ~Lease() {
            const bool keep = !model.has_state_ && model.idle_.size() < kIdleSessions;
            if (keep) model.idle_.push_back(std::move(session));
        }
    };
    const Lease lease = {*this, take()};
    return lease.session->run(inputs, limits);
}

}  // namespace lemma::python
