// SPDX-License-Identifier: Apache-2.0
#include "load.h"

#include "options.h"
#include "report.h"

namespace lemma::python {

namespace {

// The options of a load, and what they point to.
class LoadOptions {
public:
    explicit LoadOptions(const py::dict& given) : given_(given) {
        options_.struct_size = sizeof options_;
        given_.set_graph(options_);
        given_.set_weights(options_);
        options_.target = given_.text("target");
        options_.cache = given_.text("cache");
        options_.device = given_.text("device");
        options_.extra_outputs = given_.texts("extra_outputs", options_.extra_output_count);
        options_.engine = given_.number("engine");
        options_.numerics = given_.number("numerics");
        options_.accumulate_f32 = given_.number("accumulate_f32");
        if (given_.has("values")) set_values(given_.get("values"));
    }

    lemma_load_options& get() { return options_; }

private:
    void set_values(const py::dict& values) {
        for (const auto& [name, value] : values) {
            const TensorPlan plan = {py::str(name), LEMMA_NO_TYPE, false, py::object()};
            arrays_.emplace_back().take(value.ptr(), plan);
            values_.push_back({given_.keep(name), arrays_.back().tensor()});
        }
        options_.values = values_.data();
        options_.value_count = values_.size();
    }

    Options given_;
    lemma_load_options options_ = {};
    std::deque<InputArray> arrays_;
    std::vector<lemma_named_tensor> values_;
};

}  // namespace

std::unique_ptr<Model> load_model(const py::object& source, const py::dict& dictionary) {
    const Options given(dictionary);
    LoadOptions options(dictionary);
    Stop own;
    const py::object stop = given.get("stop");
    Stop& used = stop.is_none() ? own : stop.cast<Stop&>();
    std::optional<double> limit;
    if (given.has("time_limit")) limit = given.get("time_limit").cast<double>();
    Control control(limit, used, given.get("progress"));
    options.get().control = control.get();

    Report report;
    lemma_model* model = nullptr;
    int status = LEMMA_GOOD;
    if (py::isinstance<py::str>(source)) {
        const std::string path = plain(source.cast<std::string>());
        const py::gil_scoped_release release;
        const InterruptGuard interrupts(used.get());
        status = lemma_load(path.c_str(), &options.get(), &model, report.place());
    } else {
        const Files files(source);
        const py::gil_scoped_release release;
        const InterruptGuard interrupts(used.get());
        status =
            lemma_load_memory(files.data(), files.size(), &options.get(), &model, report.place());
    }
    auto loaded = std::make_shared<Loaded>(model);
    control.rethrow();
    if (status != LEMMA_GOOD) throw_failure(status, report.get(), false);
    return std::make_unique<Model>(std::move(loaded),
                                   given.number("threads"),
                                   given.seed("seed"),
                                   diagnostics_of(report.get()));
}

}  // namespace lemma::python
