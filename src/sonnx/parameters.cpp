// SPDX-License-Identifier: Apache-2.0
#include "sonnx/parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/sha256.h"
#include "onnx/import.h"

namespace lemma::sonnx {

std::optional<std::string> parameters_hash(const onnx::Graph& graph) {
    std::string content;
    for (const onnx::TensorData& data : graph.initializers) {
        const auto tensor = onnx::decode_tensor(data, {});
        if (!tensor) return std::nullopt;
        content += fmt::format("{} {} {}\n",
                               data.proto.name,
                               tensor::dtype_name(tensor->dtype()),
                               fmt::join(data.proto.shape, "x"));
        if (tensor->dtype() == tensor::DType::Str) {
            for (const std::string& text : tensor->strings()) content += text + "\n";
            continue;
        }
        for (const std::byte byte : tensor->bytes()) content += static_cast<char>(byte);
    }
    return sha256(content);
}

}  // namespace lemma::sonnx
