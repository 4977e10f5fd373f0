// SPDX-License-Identifier: Apache-2.0
// The initialisers of ONNX models.
#include <fmt/format.h>

#include "model/onnx/model.h"

namespace lemma::model {

// With ONNX's names of the fields. Entries of lists are `opset_import/DOMAIN` and
// `metadata_props/KEY`. Empty fields are left out.
Metadata metadata_of(const onnx::Model& model) {
    Metadata found;
    const auto add = [&](const std::string& name, const std::string& value) {
        if (!value.empty()) found.emplace_back(name, value);
    };
    add("ir_version", std::to_string(model.ir_version));
    add("producer_name", model.producer);
    add("producer_version", model.producer_version);
    add("model_version", std::to_string(model.version));
    add("doc_string", model.doc);
    add("graph_name", model.graphs[model.main].name);
    for (const onnx::OperatorSet& set : model.opsets) {
        const bool standard = onnx::is_default_domain(set.domain);
        add("opset_import/" + (standard ? "ai.onnx" : set.domain), std::to_string(set.version));
    }
    for (const onnx::Property& property : model.metadata) {
        add("metadata_props/" + property.key, property.value);
    }
    return found;
}

LoadedModel with_data(const ModelFile& file, const OnnxFile& onnx, OnnxModel model) {
    LoadedModel loaded =
        with_data(file, onnx, std::move(*model.imported.program), std::move(model.imported.data));
    loaded.source = model.file;
    loaded.metadata = metadata_of(model.model);
    loaded.package = std::move(model.package);
    loaded.deciding = std::move(model.imported.deciding);
    loaded.aliases = std::move(model.imported.aliases);
    return loaded;
}

LoadedModel with_data(const ModelFile& file,
                      const OnnxFile& onnx,
                      ir::Program program,
                      std::vector<onnx::VariableData> data) {
    LoadedModel loaded{.file = file};
    loaded.program = std::move(program);
    const auto weights = std::make_shared<std::map<std::string, onnx::VariableData>>();
    for (onnx::VariableData& variable : data) {
        weights->emplace(loaded.program.tensors[variable.tensor].name, std::move(variable));
    }
    loaded.data = [weights, bytes = onnx.bytes, external = onnx.read_external](
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
