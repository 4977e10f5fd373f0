// SkriptND models.
#include "model/dump.h"
#include "model/sknd/quantizers.h"
#include "model/stored_data.h"
#include "sknd/types/unused.h"

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

Result<std::optional<LoadedModel>> load_sknd(const ModelFile& file,
                                             const LoadOptions& options,
                                             Finding& finding) {
    LEMMA_TRY(CheckedModel checked, check_sknd(file, options.check, finding.sources, finding.diag));
    if (finding.diag.has_errors()) return std::nullopt;
    Composed composed = compose_graph(checked, options.check, finding.sources, finding.diag);
    if (!composed.program) {
        finding.status = composed.bad_usage ? kUnusable : kWrong;
        return std::nullopt;
    }
    DataCheck data(file, checked.package, options.data, finding.diag);
    if (options.data != DataMode::Ignore) data.check(*composed.program);
    if (finding.diag.has_errors()) return std::nullopt;
    LoadedModel model{.file = file, .source = checked.file};
    const NameOf name_of =
        [module = file.name,
         graph = composed.program->name,
         roots = root_graphs(checked.package, *composed.program)](const ir::Tensor& variable) {
            return variable_name(module, graph, roots, variable.name);
        };
    model.data = data_reader(file, name_of, options.source);
    model.data_name = [name_of](const ir::Tensor& variable) {
        return data_names(name_of(variable))[0];
    };
    model.quantizers = [text = std::string(finding.sources.text(checked.file)) + "\n",
                        check = options.check](const LoadedModel& loaded, Finding& found) {
        return sknd_quantizers(loaded, text, check, found);
    };
    model.package = std::move(checked.package);
    model.program = std::move(*composed.program);
    return model;
}

Result<void> check_sknd_model(const ModelFile& file, const LoadOptions& options, Finding& finding) {
    const CheckOptions& check = options.check;
    LEMMA_TRY(const CheckedModel checked, check_sknd(file, check, finding.sources, finding.diag));
    if (!check.syntax_only && !check.types_only && !finding.diag.has_errors()) {
        ComposeCheck result = check_graphs(checked, check, finding.sources, finding.diag);
        finding.remarks = std::move(result.remarks);
        if (result.bad_usage) finding.status = kUnusable;
    }
    if (!check.syntax_only && !finding.diag.has_errors())
        sknd::report_unused(checked.package, finding.diag);
    finding.dump = dump(check.dump, finding.sources, checked);
    return {};
}

}  // namespace lemma::model
