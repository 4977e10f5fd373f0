// The initialisers of ONNX models.
#include <fmt/format.h>

#include "model/onnx/model.h"

namespace lemma::model {

LoadedModel with_data(const ModelFile& file, OnnxModel model) {
    LoadedModel loaded{.file = file, .source = model.file};
    loaded.package = std::move(model.package);
    loaded.program = std::move(*model.imported.program);
    loaded.deciding = std::move(model.imported.deciding);
    const auto weights = std::make_shared<std::map<std::string, onnx::VariableData>>();
    for (onnx::VariableData& variable : model.imported.data) {
        weights->emplace(loaded.program.tensors[variable.tensor].name, std::move(variable));
    }
    loaded.data = [weights, bytes = model.imported.bytes, external = model.read_external](
                      const ir::Tensor& variable) -> Result<std::optional<tensor::Tensor>> {
        const auto found = weights->find(variable.name);
        if (found == weights->end()) return std::nullopt;
        auto tensor = onnx::decode_tensor(found->second.data, external, bytes);
        if (tensor) return std::move(*tensor);
        return std::unexpected(Error{
            fmt::format("cannot read the data of `{}`: {}", variable.name, tensor.error().message),
            ErrorKind::Unreadable});
    };
    loaded.data_name = [](const ir::Tensor& variable) { return variable.name + ".dat"; };
    loaded.quantizers = [](const LoadedModel&, Finding&) { return Quantizers(); };
    return loaded;
}

}  // namespace lemma::model
