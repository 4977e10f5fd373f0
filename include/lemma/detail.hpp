// SPDX-License-Identifier: Apache-2.0
// lemma/detail.hpp — the bodies of lemma.hpp. Include that header instead.
#pragma once

#include <cstring>

#include "lemma/lemma.hpp"

namespace lemma {

namespace detail {

// Takes the report over.
inline void fill(Outcome& outcome, int status, lemma_report* report) {
    outcome.status = static_cast<Status>(status);
    const std::size_t count = lemma_report_count(report);
    for (std::size_t i = 0; i < count; ++i) {
        const lemma_diagnostic* const from = lemma_report_at(report, i);
        Problem problem;
        problem.severity = static_cast<Severity>(from->severity);
        problem.kind = from->kind;
        problem.message = from->message;
        problem.file = from->file;
        problem.line = from->line;
        problem.column = from->column;
        problem.end_line = from->end_line;
        problem.end_column = from->end_column;
        problem.path = from->path;
        problem.text = from->text;
        outcome.problems.push_back(std::move(problem));
    }
    lemma_report_free(report);
}

inline Outcome outcome(int status, lemma_report* report) {
    Outcome made;
    fill(made, status, report);
    return made;
}

inline Outcome refusal(const std::string& message) {
    Outcome made;
    made.status = Status::Unusable;
    Problem problem;
    problem.message = message;
    problem.text = "lemma: " + message + "\n";
    made.problems.push_back(std::move(problem));
    return made;
}

// Exceptions of the caller's function must not cross the library.
inline int progress(void* user, const char* stage, std::uint64_t done, std::uint64_t total) {
    try {
        return static_cast<const Control*>(user)->progress(stage, done, total) ? 0 : 1;
    } catch (...) {
        return 1;
    }
}

inline lemma_control control_of(const Control& given) {
    lemma_control control = {};
    control.struct_size = sizeof control;
    if (given.stop) control.stop = given.stop->get();
    control.seconds = given.seconds;
    if (given.progress) control.progress = progress;
    control.user = const_cast<Control*>(&given);
    return control;
}

inline lemma_tensor view_of(const TensorView& view) {
    lemma_tensor tensor = {};
    tensor.type = static_cast<int>(view.type);
    tensor.rank = view.shape.size();
    tensor.shape = view.shape.data();
    tensor.data = view.data;
    tensor.size = view.size;
    return tensor;
}

inline TensorView view_of(const lemma_tensor& tensor) {
    TensorView view;
    view.type = static_cast<DataType>(tensor.type);
    if (tensor.rank > 0) view.shape.assign(tensor.shape, tensor.shape + tensor.rank);
    view.data = tensor.data;
    view.size = tensor.size;
    return view;
}

// `texts` gets the pointers to strings, and must outlive the view.
inline lemma_tensor view_of(const Tensor& from, std::vector<const char*>& texts) {
    lemma_tensor tensor = {};
    tensor.type = static_cast<int>(from.type);
    tensor.rank = from.shape.size();
    tensor.shape = from.shape.data();
    if (from.type == DataType::Str) {
        for (const std::string& text : from.strings) texts.push_back(text.c_str());
        tensor.data = texts.data();
        tensor.size = texts.size() * sizeof(char*);
    } else {
        tensor.data = const_cast<std::byte*>(from.bytes.data());
        tensor.size = from.bytes.size();
    }
    return tensor;
}

inline Tensor copy_of(const lemma_tensor& from) {
    Tensor tensor;
    tensor.type = static_cast<DataType>(from.type);
    if (from.rank > 0) tensor.shape.assign(from.shape, from.shape + from.rank);
    if (from.size == 0) return tensor;
    if (from.type == LEMMA_STR) {
        const auto* const texts = static_cast<const char* const*>(from.data);
        tensor.strings.assign(texts, texts + from.size / sizeof(char*));
    } else {
        const auto* const bytes = static_cast<const std::byte*>(from.data);
        tensor.bytes.assign(bytes, bytes + from.size);
    }
    return tensor;
}

inline std::vector<TensorInfo> infos_of(const lemma_model* model, int group) {
    std::vector<TensorInfo> infos;
    for (std::size_t i = 0; i < lemma_count(model, group); ++i) {
        const lemma_tensor_info* const from = lemma_info(model, group, i);
        TensorInfo info;
        info.name = from->name;
        info.type = static_cast<DataType>(from->type);
        info.shape.assign(from->shape, from->shape + from->rank);
        info.bounds.assign(from->bounds, from->bounds + from->rank);
        info.extents.assign(from->extents, from->extents + from->rank);
        info.optional = from->optional != 0;
        info.updated = from->updated != 0;
        infos.push_back(std::move(info));
    }
    return infos;
}

// The options of the C interface, with the pointers that they need.
class CLoadOptions {
public:
    explicit CLoadOptions(const LoadOptions& from) : control_(control_of(from.control)) {
        for (const std::string& text : from.attributes) attributes_.push_back(text.c_str());
        for (const std::string& text : from.extra_outputs) extra_.push_back(text.c_str());
        texts_.resize(from.values.size());
        for (const auto& [name, tensor] : from.values) {
            values_.push_back({name.c_str(), view_of(tensor, texts_[values_.size()])});
        }
        options_.struct_size = sizeof options_;
        options_.graph = from.graph.c_str();
        options_.attributes = attributes_.data();
        options_.attribute_count = attributes_.size();
        options_.real = static_cast<int>(from.real);
        options_.quantize = from.quantize ? 1 : 0;
        options_.random_weights = from.random_weights ? 1 : 0;
        options_.weights_seed = from.random_weights.value_or(0);
        options_.weights = from.weights.c_str();
        options_.extra_outputs = extra_.data();
        options_.extra_output_count = extra_.size();
        options_.values = values_.data();
        options_.value_count = values_.size();
        options_.engine = static_cast<int>(from.engine);
        options_.numerics = static_cast<int>(from.numerics);
        options_.accumulate_f32 = from.accumulate_f32 ? 1 : 0;
        options_.target = from.target.c_str();
        options_.cache = from.cache ? from.cache->c_str() : nullptr;
        options_.control = &control_;
        options_.device = from.device.empty() ? nullptr : from.device.c_str();
    }
    CLoadOptions(const CLoadOptions&) = delete;
    const lemma_load_options* get() const { return &options_; }

private:
    lemma_control control_;
    std::vector<const char*> attributes_, extra_;
    std::vector<std::vector<const char*>> texts_;
    std::vector<lemma_named_tensor> values_;
    lemma_load_options options_ = {};
};

}  // namespace detail

// ---- Model --------------------------------------------------------------------------------------

inline Model::Model(lemma_model* handle) {
    auto about = std::make_shared<About>();
    about->handle = std::shared_ptr<lemma_model>(handle, lemma_model_free);
    about->name = lemma_model_name(handle);
    about->format = lemma_model_format(handle);
    about->inputs = detail::infos_of(handle, LEMMA_INPUTS);
    about->outputs = detail::infos_of(handle, LEMMA_OUTPUTS);
    about->variables = detail::infos_of(handle, LEMMA_VARIABLES);
    for (std::size_t i = 0; i < lemma_operation_count(handle); ++i) {
        about->operations.push_back(
            {lemma_operation_name(handle, i), lemma_operation_label(handle, i)});
    }
    about_ = std::move(about);
}

inline LoadResult Model::finish(int status, lemma_model* model, lemma_report* report) {
    LoadResult result;
    detail::fill(result, status, report);
    if (model) result.model = Model(model);
    return result;
}

inline LoadResult Model::load(const std::string& path, const LoadOptions& options) {
    const detail::CLoadOptions given(options);
    lemma_model* model = nullptr;
    lemma_report* report = nullptr;
    const int status = lemma_load(path.c_str(), given.get(), &model, &report);
    return finish(status, model, report);
}

inline LoadResult Model::load(const std::vector<File>& files, const LoadOptions& options) {
    const detail::CLoadOptions given(options);
    std::vector<lemma_file> list;
    for (const File& file : files) list.push_back({file.name.c_str(), file.data, file.size});
    lemma_model* model = nullptr;
    lemma_report* report = nullptr;
    const int status = lemma_load_memory(list.data(), list.size(), given.get(), &model, &report);
    return finish(status, model, report);
}

inline SessionResult Model::session(const SessionOptions& options) const {
    lemma_session_options given = {};
    given.struct_size = sizeof given;
    given.threads = options.threads;
    given.seed = options.seed;
    lemma_session* session = nullptr;
    lemma_report* report = nullptr;
    const int status = lemma_session_create(get(), &given, &session, &report);
    SessionResult result;
    detail::fill(result, status, report);
    if (session) result.session = Session(*this, session);
    return result;
}

// ---- Session ------------------------------------------------------------------------------------

inline Outcome Session::run(const std::vector<lemma_tensor>& inputs,
                            std::vector<lemma_tensor>& outputs,
                            const Control& control) {
    const lemma_control given = detail::control_of(control);
    lemma_report* report = nullptr;
    const int status = lemma_run(
        get(), inputs.data(), inputs.size(), outputs.data(), outputs.size(), &given, &report);
    return detail::outcome(status, report);
}

inline Outcome Session::run(const std::vector<TensorView>& inputs,
                            std::vector<TensorView>& outputs,
                            const Control& control,
                            void* stream) {
    std::vector<lemma_tensor> given, wanted(model_.outputs().size());
    std::vector<unsigned char> given_there, wanted_there(wanted.size());
    for (const TensorView& input : inputs) {
        given.push_back(detail::view_of(input));
        given_there.push_back(input.on_device ? 1 : 0);
    }
    if (!outputs.empty()) {
        wanted.clear();
        wanted_there.clear();
        for (const TensorView& output : outputs) {
            wanted.push_back(detail::view_of(output));
            wanted_there.push_back(output.on_device ? 1 : 0);
        }
    }
    const lemma_control limits = detail::control_of(control);
    lemma_run_options options = {};
    options.struct_size = sizeof options;
    options.control = &limits;
    options.device_inputs = given_there.data();
    options.device_outputs = wanted_there.data();
    options.stream = stream;
    lemma_report* report = nullptr;
    const int status = lemma_run_with(
        get(), given.data(), given.size(), wanted.data(), wanted.size(), &options, &report);
    Outcome done = detail::outcome(status, report);
    if (!done.ok()) return done;
    outputs.clear();
    for (const lemma_tensor& made : wanted) outputs.push_back(detail::view_of(made));
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].on_device = wanted_there[i] != 0;
    return done;
}

inline RunResult Session::run(const Tensors& inputs, const Control& control) {
    RunResult result;
    const auto refuse = [&](const std::string& message) {
        static_cast<Outcome&>(result) = detail::refusal(message);
        return result;
    };
    std::vector<lemma_tensor> given(model_.inputs().size());
    std::vector<std::vector<const char*>> texts(given.size());
    for (const auto& [name, tensor] : inputs) {
        const std::size_t index = lemma_find(model_.get(), LEMMA_INPUTS, name.c_str());
        if (index >= given.size()) {
            std::string known;
            for (const TensorInfo& info : model_.inputs()) known += " `" + info.name + "`";
            return refuse("there is no input `" + name + "`; the inputs are" + known);
        }
        given[index] = detail::view_of(tensor, texts[index]);
    }
    std::vector<lemma_tensor> outputs(model_.outputs().size());
    static_cast<Outcome&>(result) = run(given, outputs, control);
    for (std::size_t i = 0; i < outputs.size() && result.ok(); ++i) {
        if (outputs[i].type == LEMMA_NO_TYPE) continue;
        result.outputs[model_.outputs()[i].name] = detail::copy_of(outputs[i]);
    }
    return result;
}

inline Outcome Session::prepare(const std::vector<TensorView>& inputs, const Control& control) {
    const lemma_control given = detail::control_of(control);
    std::vector<lemma_tensor> views;
    for (const TensorView& input : inputs) views.push_back(detail::view_of(input));
    lemma_report* report = nullptr;
    const int status = lemma_prepare(get(), views.data(), views.size(), &given, &report);
    return detail::outcome(status, report);
}

inline std::optional<Tensor> Session::variable(const std::string& name) const {
    lemma_tensor tensor = {};
    const int status = lemma_get_variable(get(), name.c_str(), &tensor, nullptr);
    if (status != LEMMA_GOOD) return std::nullopt;
    return detail::copy_of(tensor);
}

inline Outcome Session::set_variable(const std::string& name, const Tensor& value) {
    std::vector<const char*> texts;
    const lemma_tensor given = detail::view_of(value, texts);
    lemma_report* report = nullptr;
    const int status = lemma_set_variable(get(), name.c_str(), &given, &report);
    return detail::outcome(status, report);
}

inline Outcome Session::carry(const std::string& output, const std::string& input) {
    lemma_report* report = nullptr;
    const int status = lemma_carry(get(), output.c_str(), input.c_str(), &report);
    return detail::outcome(status, report);
}

inline Outcome Session::reset() {
    lemma_report* report = nullptr;
    const int status = lemma_reset(get(), &report);
    return detail::outcome(status, report);
}

inline Outcome Session::save_variables(const std::string& path) const {
    lemma_report* report = nullptr;
    const int status = lemma_save_variables(get(), path.c_str(), &report);
    return detail::outcome(status, report);
}

}  // namespace lemma
