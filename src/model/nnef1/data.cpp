// SPDX-License-Identifier: Apache-2.0
// The data files of NNEF 1.0 models, and their quantisers.
#include "model/nnef1/labels.h"
#include "model/nnef1/model.h"
#include "model/nnef1/quantizers.h"

namespace lemma::model {

namespace {

// Variables by the names of their tensors.
using Variables = std::map<std::string, nnef1::StoredVariable>;

}  // namespace

LoadedModel with_data(std::unique_ptr<Nnef1Model> model,
                      Nnef1Library library,
                      nnef1::Imported imported,
                      LabelFiles files,
                      const LoadOptions& options) {
    const std::shared_ptr<const Nnef1Model> checked = std::move(model);
    const auto variables = std::make_shared<Variables>();
    for (const nnef1::StoredVariable& variable : imported.variables) {
        (*variables)[imported.program->tensors[variable.tensor].name] = variable;
    }
    LoadedModel loaded{.file = checked->model, .source = checked->file};
    loaded.package = std::move(library).take();
    loaded.program = std::move(*imported.program);
    loaded.data = [files = std::make_shared<const LabelFiles>(std::move(files)),
                   variables,
                   limits = options.source](const ir::Tensor& variable) {
        return files->read(variables->at(variable.name), variable, limits);
    };
    loaded.data_name = [variables](const ir::Tensor& variable) {
        return label_file(variables->at(variable.name).label);
    };
    loaded.quantizers = [checked, check = options.check](const LoadedModel& whole, Finding& found) {
        return nnef1_quantizers(*checked, whole.program, check, found);
    };
    return loaded;
}

}  // namespace lemma::model
