// NNEF 1.0 models.
#include <fmt/format.h>

#include "model/load.h"
#include "model/nnef1/labels.h"
#include "model/nnef1/model.h"
#include "model/nnef1/quantizers.h"

namespace lemma::model {

namespace {

// Variables by the names of their tensors.
using Variables = std::map<std::string, nnef1::StoredVariable>;

}  // namespace

Result<std::optional<LoadedModel>> load_nnef1(const ModelFile& file,
                                              const LoadOptions& options,
                                              Finding& finding) {
    LEMMA_TRY(auto owned, check_nnef1(file, options.check, finding.sources, finding.diag));
    const std::shared_ptr<const Nnef1Model> checked = std::move(owned);
    if (finding.diag.has_errors()) return std::nullopt;
    nnef1::Imported imported;
    Nnef1Library library(checked->document, options.check, finding.sources, finding.diag);
    Composed composed = compose_nnef1(*checked, library, options.check, finding.diag, imported);
    if (!composed.program) {
        finding.status = composed.bad_usage ? kUnusable : kWrong;
        return std::nullopt;
    }
    const auto files = std::make_shared<LabelFiles>(file, options.check.dialect);
    CheckOptions data = options.check;
    data.data = options.data;
    if (options.data != DataMode::Ignore) {
        imported.program = std::move(composed.program);
        files->check(imported, data, std::nullopt, finding.diag);  // items are read by the run
        composed.program = std::move(imported.program);
    }
    if (finding.diag.has_errors()) return std::nullopt;
    const auto variables = std::make_shared<Variables>();
    for (const nnef1::StoredVariable& variable : imported.variables) {
        (*variables)[composed.program->tensors[variable.tensor].name] = variable;
    }

    LoadedModel model{.file = file, .source = checked->file};
    model.package = std::move(library).take();
    model.program = std::move(*composed.program);
    model.data = [files, variables, limits = options.source](const ir::Tensor& variable) {
        return files->read(variables->at(variable.name), variable, limits);
    };
    model.data_name = [variables](const ir::Tensor& variable) {
        return label_file(variables->at(variable.name).label);
    };
    model.quantizers = [checked, check = options.check](const LoadedModel& loaded, Finding& found) {
        return nnef1_quantizers(*checked, loaded.program, check, found);
    };
    return model;
}

Result<void> check_nnef1_model(const ModelFile& file,
                               const LoadOptions& options,
                               Finding& finding) {
    const CheckOptions& check = options.check;
    LEMMA_TRY(const auto model, check_nnef1(file, check, finding.sources, finding.diag));
    if (check.syntax_only || check.types_only || finding.diag.has_errors()) return {};
    const Nnef1Library library(model->document, check, finding.sources, finding.diag);
    if (finding.diag.has_errors()) return {};
    const nnef1::Imported imported = import_nnef1(*model, library, check, finding.diag);
    // What does not fit is reported.
    if (imported.program) nnef1_quantizers(*model, *imported.program, check, finding);
    if (imported.custom.valid()) {
        finding.remarks.push_back({imported.custom,
                                   fmt::format("`{}` has no body: shapes behind it are not checked",
                                               imported.custom_name)});
    }
    const bool required = check.data == DataMode::Require;
    LabelFiles(model->model, check.dialect)
        .check(
            imported, check, required ? std::optional(options.source) : std::nullopt, finding.diag);
    return {};
}

}  // namespace lemma::model
