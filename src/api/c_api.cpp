// The C functions, in terms of the C++ ones. The handle owns every returned pointer.
#include <lemma/lemma.h>

#include <algorithm>
#include <lemma/lemma.hpp>
#include <string>

#include "api/report.h"
#include "tensor/shape.h"

using lemma::DataType;
using lemma::Model;
using lemma::Outcome;
using lemma::Problem;
using lemma::Tensor;
using lemma::TensorInfo;

// Storage of a returned tensor.
struct Lent {
    Tensor tensor;
    std::vector<const char*> texts;  // pointers to strings
};

struct lemma_model {
    std::optional<Model> model;  // empty if loading failed
    Outcome last;                // problems of the last call
    std::string error;
    lemma::Tensors inputs;
    std::map<std::string, Lent> outputs;
    std::map<std::string, Lent> variables;
};

namespace {

static_assert(LEMMA_F16 == static_cast<int>(DataType::F16) &&
              LEMMA_F64 == static_cast<int>(DataType::F64) &&
              LEMMA_I64 == static_cast<int>(DataType::I64) &&
              LEMMA_U64 == static_cast<int>(DataType::U64) &&
              LEMMA_BOOL == static_cast<int>(DataType::Bool) &&
              LEMMA_STR == static_cast<int>(DataType::Str));

void refuse(const std::string& message, Outcome& outcome) {
    lemma::api::report_unusable({message}, outcome);
}

std::string text_of(const char* text) { return text ? text : ""; }

// Runs a step on a loaded model and keeps its outcome for lemma_error.
template <class Step>
int call(lemma_model* handle, Step step) {
    if (!handle) return LEMMA_UNUSABLE;
    Outcome outcome;
    lemma::api::guarded(outcome, [&] {
        if (!handle->model) return refuse("the model was not loaded", outcome);
        step(*handle->model, outcome);
    });
    handle->error = outcome.ok() ? "" : outcome.text();
    handle->last = std::move(outcome);
    return static_cast<int>(handle->last.status);
}

// The problem with the pointers and counts of a caller; empty if there is none.
std::string fault_of(const lemma_options& given) {
    if (given.attribute_count > 0 && !given.attributes)
        return "the options have a number of attributes, but none: `attributes` is NULL";
    for (size_t i = 0; i < given.attribute_count; ++i) {
        if (!given.attributes[i])
            return "the attribute " + std::to_string(i) + " of the options is NULL";
    }
    return {};
}

std::string fault_of(const lemma_tensor& given, const std::string& name) {
    const std::string whose = "the tensor for `" + name + "` ";
    if (given.rank > lemma::tensor::kMaxRank)
        return whose + "has more than " + std::to_string(lemma::tensor::kMaxRank) + " axes";
    if (given.rank > 0 && !given.shape) return whose + "has axes, but its `shape` is NULL";
    if (given.size > 0 && !given.data) return whose + "has a size, but its `data` is NULL";
    if (given.type != LEMMA_STR) return {};
    if (given.size % sizeof(char*) != 0)
        return whose + "has a size that is no number of pointers to strings";
    const auto* const texts = static_cast<const char* const*>(given.data);
    for (size_t i = 0; i < given.size / sizeof(char*); ++i) {
        if (!texts[i]) return whose + "has NULL for the string " + std::to_string(i);
    }
    return {};
}

lemma::LoadOptions load_options(const lemma_options& given) {
    lemma::LoadOptions options;
    options.graph = text_of(given.graph);
    for (size_t i = 0; i < given.attribute_count; ++i) {
        options.attributes.emplace_back(given.attributes[i]);
    }
    if (given.real != LEMMA_NO_TYPE) options.real = static_cast<DataType>(given.real);
    options.quantize = given.quantize != 0;
    if (given.random_weights != 0) options.random_weights = given.weights_seed;
    options.seed = given.seed;
    options.weights = text_of(given.weights);
    options.engine = static_cast<lemma::EngineChoice>(given.engine);
    if (given.threads != 0) options.threads = given.threads;
    return options;
}

Tensor copied(const lemma_tensor& given) {
    Tensor tensor;
    tensor.type = static_cast<DataType>(given.type);
    if (given.rank > 0) tensor.shape.assign(given.shape, given.shape + given.rank);
    if (given.size == 0) return tensor;
    if (tensor.type == DataType::Str) {
        const auto* const texts = static_cast<const char* const*>(given.data);
        tensor.strings.assign(texts, texts + given.size / sizeof(char*));
    } else {
        const auto* const bytes = static_cast<const std::byte*>(given.data);
        tensor.bytes.assign(bytes, bytes + given.size);
    }
    return tensor;
}

Lent lent(Tensor tensor) {
    Lent result{std::move(tensor), {}};
    for (const std::string& text : result.tensor.strings) result.texts.push_back(text.c_str());
    return result;
}

lemma_tensor view(const Lent& lent) {
    const bool strings = lent.tensor.type == DataType::Str;
    lemma_tensor tensor = {};
    tensor.type = static_cast<int>(lent.tensor.type);
    tensor.rank = lent.tensor.shape.size();
    tensor.shape = lent.tensor.shape.data();
    tensor.data = strings ? static_cast<const void*>(lent.texts.data()) : lent.tensor.bytes.data();
    tensor.size = strings ? lent.texts.size() * sizeof(char*) : lent.tensor.bytes.size();
    return tensor;
}

const std::vector<TensorInfo>* infos(const lemma_model* handle, int group) {
    if (!handle || !handle->model) return nullptr;
    switch (group) {
        case LEMMA_INPUTS:
            return &handle->model->inputs();
        case LEMMA_OUTPUTS:
            return &handle->model->outputs();
        case LEMMA_VARIABLES:
            return &handle->model->variables();
        default:
            return nullptr;
    }
}

bool has(const std::vector<TensorInfo>& infos, const std::string& name) {
    return std::any_of(
        infos.begin(), infos.end(), [&](const TensorInfo& info) { return info.name == name; });
}

const TensorInfo* info(const lemma_model* handle, int group, size_t index) {
    const auto* const all = infos(handle, group);
    return all && index < all->size() ? &(*all)[index] : nullptr;
}

const lemma::Operation* operation(const lemma_model* handle, size_t index) {
    if (index >= lemma_operation_count(handle)) return nullptr;
    return &handle->model->operations()[index];
}

const Problem* problem(const lemma_model* handle, size_t index) {
    return index < lemma_problem_count(handle) ? &handle->last.problems[index] : nullptr;
}

}  // namespace

const char* lemma_version(void) { return lemma::version(); }

// ---- Model --------------------------------------------------------------------------------------

int lemma_load(const char* path, const lemma_options* options, lemma_model** model) {
    if (!model) return LEMMA_UNUSABLE;
    *model = new (std::nothrow) lemma_model;
    if (!*model) return LEMMA_UNUSABLE;
    lemma_model& handle = **model;
    lemma::api::guarded(handle.last, [&] {
        if (!path) return refuse("no path is given", handle.last);
        if (const std::string fault = options ? fault_of(*options) : ""; !fault.empty())
            return refuse(fault, handle.last);
        auto loaded = Model::load(path, options ? load_options(*options) : lemma::LoadOptions());
        handle.model = std::move(loaded.model);
        handle.last = std::move(loaded);
    });
    if (!handle.last.ok()) handle.error = handle.last.text();
    return static_cast<int>(handle.last.status);
}

void lemma_free(lemma_model* model) { delete model; }

const char* lemma_error(const lemma_model* model) { return model ? model->error.c_str() : ""; }

size_t lemma_problem_count(const lemma_model* model) {
    return model ? model->last.problems.size() : 0;
}

const char* lemma_problem_text(const lemma_model* model, size_t index) {
    const Problem* const found = problem(model, index);
    return found ? found->text.c_str() : "";
}

const char* lemma_problem_kind(const lemma_model* model, size_t index) {
    const Problem* const found = problem(model, index);
    return found ? found->kind.c_str() : "";
}

// ---- Inspection ---------------------------------------------------------------------------------

size_t lemma_count(const lemma_model* model, int group) {
    const auto* const all = infos(model, group);
    return all ? all->size() : 0;
}

const char* lemma_name(const lemma_model* model, int group, size_t index) {
    const TensorInfo* const found = info(model, group, index);
    return found ? found->name.c_str() : "";
}

int lemma_type_of(const lemma_model* model, int group, size_t index) {
    const TensorInfo* const found = info(model, group, index);
    return found ? static_cast<int>(found->type) : LEMMA_NO_TYPE;
}

size_t lemma_rank(const lemma_model* model, int group, size_t index) {
    const TensorInfo* const found = info(model, group, index);
    return found ? found->shape.size() : 0;
}

const int64_t* lemma_shape(const lemma_model* model, int group, size_t index) {
    const TensorInfo* const found = info(model, group, index);
    return found ? found->shape.data() : nullptr;
}

const int64_t* lemma_bounds(const lemma_model* model, int group, size_t index) {
    const TensorInfo* const found = info(model, group, index);
    return found ? found->bounds.data() : nullptr;
}

size_t lemma_operation_count(const lemma_model* model) {
    return model && model->model ? model->model->operations().size() : 0;
}

const char* lemma_operation_name(const lemma_model* model, size_t index) {
    const lemma::Operation* const found = operation(model, index);
    return found ? found->name.c_str() : "";
}

const char* lemma_operation_label(const lemma_model* model, size_t index) {
    const lemma::Operation* const found = operation(model, index);
    return found ? found->label.c_str() : "";
}

// ---- Runs ---------------------------------------------------------------------------------------

int lemma_set_input(lemma_model* model, const char* name, const lemma_tensor* tensor) {
    return call(model, [&](Model& loaded, Outcome& outcome) {
        const std::string key = text_of(name);
        if (!has(loaded.inputs(), key)) return refuse("there is no input `" + key + "`", outcome);
        if (!tensor) {
            model->inputs.erase(key);
            return;
        }
        const std::string fault = fault_of(*tensor, key);
        if (!fault.empty()) return refuse(fault, outcome);
        model->inputs[key] = copied(*tensor);
    });
}

int lemma_run(lemma_model* model) {
    return call(model, [&](Model& loaded, Outcome& outcome) {
        model->outputs.clear();
        auto result = loaded.run(model->inputs);
        for (auto& [name, tensor] : result.outputs) model->outputs[name] = lent(std::move(tensor));
        outcome = std::move(result);
    });
}

int lemma_get_output(lemma_model* model, const char* name, lemma_tensor* tensor) {
    return call(model, [&](Model&, Outcome& outcome) {
        const std::string key = text_of(name);
        const auto found = model->outputs.find(key);
        if (found == model->outputs.end()) {
            return refuse("the last run has no output `" + key + "`", outcome);
        }
        if (tensor) *tensor = view(found->second);
    });
}

int lemma_get_variable(lemma_model* model, const char* name, lemma_tensor* tensor) {
    return call(model, [&](Model& loaded, Outcome& outcome) {
        const std::string key = text_of(name);
        auto value = loaded.variable(key);
        if (!value) return refuse("there is no variable `" + key + "` with a value", outcome);
        Lent& kept = model->variables[key];
        kept = lent(std::move(*value));
        if (tensor) *tensor = view(kept);
    });
}

int lemma_set_variable(lemma_model* model, const char* name, const lemma_tensor* tensor) {
    return call(model, [&](Model& loaded, Outcome& outcome) {
        const std::string key = text_of(name);
        if (!tensor) return refuse("no value is given for the variable `" + key + "`", outcome);
        const std::string fault = fault_of(*tensor, key);
        if (!fault.empty()) return refuse(fault, outcome);
        outcome = loaded.set_variable(key, copied(*tensor));
    });
}

int lemma_save_variables(lemma_model* model, const char* folder) {
    return call(model, [&](Model& loaded, Outcome& outcome) {
        if (!folder) return refuse("no folder is given", outcome);
        outcome = loaded.save_variables(folder);
    });
}
