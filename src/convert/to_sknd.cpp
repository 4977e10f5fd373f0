// SPDX-License-Identifier: Apache-2.0
// To SkriptND: main.sknd, and a .dat file for each variable.
#include <algorithm>

#include "convert/written.h"
#include "sknd/export/export.h"

namespace lemma::convert {

namespace {

// The paths of the variables in the written model. Composing decides the labels inside control
// flow. The text uses each label of a call once, so the end of a path identifies it.
Result<std::optional<std::vector<std::string>>> paths_of(const sknd::ExportedModel& exported,
                                                         model::Finding& finding) {
    std::vector<std::string> paths;
    for (const auto& variable : exported.variables) paths.push_back(variable.name);
    if (std::ranges::none_of(exported.variables,
                             [](const auto& variable) { return variable.in_region; }))
        return paths;
    LEMMA_TRY(Output draft, Output::draft());
    LEMMA_TRY(draft.write("main.sknd", exported.text));
    const Written written = load_written(draft.model(), false, finding);
    if (!written.model) return std::nullopt;
    for (size_t i = 0; i < paths.size(); ++i) {
        if (!exported.variables[i].in_region) continue;
        const std::string end = "." + paths[i];
        for (const ir::Tensor& tensor : written.model->program.tensors) {
            if (tensor.role == ir::TensorRole::Variable && ("." + tensor.name).ends_with(end))
                paths[i] = tensor.name;
        }
    }
    return paths;
}

}  // namespace

Result<void> write_sknd_model(const model::LoadedModel& model,
                              const std::string& out,
                              const ConvertOptions& options,
                              model::Finding& finding) {
    const auto exported = sknd::export_sknd(model.program, model.package, finding.diag);
    if (!exported) {
        finding.status = model::kWrong;
        return {};
    }
    LEMMA_TRY(
        Output output,
        Output::create(out, {.kind = folder_or_archive(out), .overwrite = options.overwrite}));
    LEMMA_TRY(output.write("main.sknd", exported->text));
    if (options.data) {
        LEMMA_TRY(const auto paths, paths_of(*exported, finding));
        if (!paths) return {};
        for (size_t i = 0; i < paths->size(); ++i) {
            const ir::Tensor& variable = model.program.tensors[exported->variables[i].tensor];
            LEMMA_TRY(const tensor::Tensor data, variable_data(model, variable));
            const auto names = model::data_names({"main", exported->graph, (*paths)[i]});
            LEMMA_TRY(output.write_tensor(names[0], data));
        }
    }
    return finish_output(model, options, std::move(output), finding);
}

}  // namespace lemma::convert
