// SPDX-License-Identifier: Apache-2.0
// The data files of SkriptND models, and their quantisers.
#include "model/sknd/model.h"
#include "model/sknd/quantizers.h"
#include "model/stored_data.h"

namespace lemma::model {

namespace {

using NameOf = std::function<VariableName(const ir::Tensor&)>;

DataReader data_reader(const ModelFile& file, NameOf name_of, const tensor::SourceLimits& limits) {
    return [source = file.source, name_of = std::move(name_of), limits](
               const ir::Tensor& variable) -> Result<std::optional<tensor::Tensor>> {
        const auto name = find_data(*source, name_of(variable));
        if (!name) return std::nullopt;
        return read_stored(*source, *name, variable, limits);
    };
}

}  // namespace

LoadedModel with_data(SkndModel model,
                      ir::Program program,
                      const LoadOptions& options,
                      const diag::SourceMap& sources) {
    LoadedModel loaded{.file = model.model, .source = model.file};
    const NameOf name_of = [module = model.model.name,
                            graph = program.name,
                            roots =
                                root_graphs(model.package, program)](const ir::Tensor& variable) {
        return variable_name(module, graph, roots, variable.name);
    };
    loaded.data = data_reader(model.model, name_of, options.source);
    loaded.data_name = [name_of](const ir::Tensor& variable) {
        return data_names(name_of(variable))[0];
    };
    loaded.quantizers = [text = std::string(sources.text(model.file)) + "\n",
                         check = options.check](const LoadedModel& whole, Finding& found) {
        return sknd_quantizers(whole, text, check, found);
    };
    loaded.package = std::move(model.package);
    loaded.program = std::move(program);
    return loaded;
}

}  // namespace lemma::model
