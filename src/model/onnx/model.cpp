// SPDX-License-Identifier: Apache-2.0
#include "model/onnx/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

#include "model/input_names.h"
#include "model/onnx/external.h"
#include "onnx/read.h"
#include "onnx/validate.h"
#include "sknd/compose/calls.h"
#include "tensor/files/file_io.h"

namespace lemma::model {

namespace {

// The inputs that a run needs, in order; initialisers are only defaults of inputs.
std::vector<std::string> input_names(const onnx::Model& model) {
    const onnx::Graph& graph = model.graphs[model.main];
    std::unordered_set<std::string_view> defaults;
    for (const onnx::TensorData& data : graph.initializers) defaults.insert(data.proto.name);
    std::vector<std::string> names;
    for (const onnx::ValueInfo& input : graph.inputs) {
        if (!defaults.contains(input.name)) names.push_back(input.name);
    }
    return names;
}

// The run reports inputs that are missing or too many.
Result<std::map<std::string, tensor::Tensor>> deciding_inputs(const onnx::Model& model,
                                                              const GivenFiles& files) {
    LEMMA_TRY(auto inputs, read_given(input_names(model), files, GivenWhen::BeforeTheRun));
    std::map<std::string, tensor::Tensor> given;
    for (GivenInput& input : inputs) given[input.name] = std::move(input.tensor);
    return given;
}

Result<void> add_values(const onnx::Model& model,
                        const std::map<std::string, tensor::Tensor>& values,
                        std::map<std::string, tensor::Tensor>& given) {
    const std::vector<std::string> names = input_names(model);
    for (const auto& [name, value] : values) {
        if (std::ranges::find(names, name) == names.end())
            return std::unexpected(no_such_input(name, names));
        given[name] = value;
    }
    return {};
}

void import_over(const CheckOptions& options,
                 const onnx::ImportOptions& import,
                 OnnxModel& result,
                 Diagnostics& diag) {
    if (diag.has_errors()) return;
    sknd::ComposeOptions compose = options.graph.compose;
    compose.limits = options.eval;
    const auto builder = sknd::make_call_builder(result.package, compose, diag);
    result.imported = onnx::import_model(result.model, result.file, *builder, import, diag);
}

// Whether operators were missing: the whole library may have them, or similar names.
bool lacks_operators(const Diagnostics& diag) {
    return std::ranges::any_of(diag.items(), [](const diag::Diagnostic& item) {
        return item.kind == DiagKind::NoOperator || item.kind == DiagKind::NotSupported;
    });
}

}  // namespace

Result<OnnxFile> open_onnx(const ModelFile& model) {
    const bool in_memory = !model.main.empty();
    OnnxFile file;
    LEMMA_TRY(
        file.bytes,
        in_memory ? model.source->share_all(model.main) : tensor::map_file(model.path, model.kind));
    LEMMA_TRY(file.parts, onnx::hold_model(file.bytes));
    file.read_external = in_memory ? external_reader(model.source) : external_reader(model.path);
    return file;
}

Result<OnnxModel> load_onnx(const ModelFile& model,
                            const OnnxFile& file,
                            const CheckOptions& options,
                            const GivenFiles& inputs,
                            const std::map<std::string, tensor::Tensor>& values,
                            diag::SourceMap& sources,
                            Diagnostics& diag) {
    auto read = onnx::read_model(file.bytes);
    if (!read) return tensor::cannot_read(model.path, read.error().message);
    OnnxModel result;
    result.model = std::move(*read);
    result.file = sources.add_paths(model.path, result.model.paths);
    result.read_external = file.read_external;
    onnx::validate(result.model, result.file, diag);
    if (diag.has_errors()) return result;

    onnx::ImportOptions import;
    LEMMA_TRY(import.inputs, deciding_inputs(result.model, inputs));
    LEMMA_TRY(add_values(result.model, values, import.inputs));
    import.read_external = result.read_external;
    const std::vector<std::string> called = onnx::called_operators(result.model);
    const Diagnostics before = diag;
    if (!called.empty()) {
        result.package = sknd::load_library(sources, "onnx", called, diag);
        import_over(options, import, result, diag);
    }
    if (called.empty() || lacks_operators(diag)) {
        diag = before;
        result.package = sknd::load_library(sources, "onnx", diag);
        import_over(options, import, result, diag);
    }
    return result;
}

std::string undecided_text(const onnx::Imported& imported) {
    return fmt::format("the values of the input{} `{}` decide shapes",
                       imported.undecided.size() == 1 ? "" : "s",
                       fmt::join(imported.undecided, "`, `"));
}

void check_onnx_data(const OnnxModel& loaded, Diagnostics& diag) {
    for (const onnx::VariableData& variable : loaded.imported.data) {
        const auto good = onnx::check_tensor(variable.data, loaded.read_external);
        if (good) continue;
        const onnx::PathSpan place = variable.data.place;
        diag.error({loaded.file, place.begin, place.end}, DiagKind::BadData, good.error().message);
    }
}

}  // namespace lemma::model
