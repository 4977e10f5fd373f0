// ONNX models.
#include <fmt/format.h>

#include "model/load.h"
#include "model/onnx/model.h"

namespace lemma::model {

Result<std::optional<LoadedModel>> load_onnx_model(const ModelFile& file,
                                                   const LoadOptions& options,
                                                   Finding& finding) {
    LEMMA_TRY(OnnxModel read,
              load_onnx(file, options.check, options.inputs, finding.sources, finding.diag));
    if (finding.diag.has_errors()) return std::nullopt;
    if (!read.imported.program) {
        return std::unexpected(
            Error{undecided_text(read.imported) + ": give them with `-i NAME=FILE`"});
    }
    LoadedModel model{.file = file, .source = read.file};
    model.package = std::move(read.package);
    model.program = std::move(*read.imported.program);
    model.deciding = std::move(read.imported.deciding);
    const auto weights = std::make_shared<std::map<std::string, onnx::VariableData>>();
    for (onnx::VariableData& variable : read.imported.data) {
        weights->emplace(model.program.tensors[variable.tensor].name, std::move(variable));
    }
    model.data = [weights, bytes = read.imported.bytes, external = read.read_external](
                     const ir::Tensor& variable) -> Result<std::optional<tensor::Tensor>> {
        const auto found = weights->find(variable.name);
        if (found == weights->end()) return std::nullopt;
        auto tensor = onnx::decode_tensor(found->second.data, external, bytes);
        if (tensor) return std::move(*tensor);
        return std::unexpected(Error{
            fmt::format("cannot read the data of `{}`: {}", variable.name, tensor.error().message),
            ErrorKind::Unreadable});
    };
    model.data_name = [](const ir::Tensor& variable) { return variable.name + ".dat"; };
    model.quantizers = [](const LoadedModel&, Finding&) { return Quantizers(); };
    return model;
}

Result<void> check_onnx_model(const ModelFile& file, const LoadOptions& options, Finding& finding) {
    if (options.profile.sonnx) return check_sonnx_model(file, options, finding);
    LEMMA_TRY(ComposeCheck result, check_onnx(file, options.check, finding.sources, finding.diag));
    finding.remarks = std::move(result.remarks);
    return {};
}

}  // namespace lemma::model
