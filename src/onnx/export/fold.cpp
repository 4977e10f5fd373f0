// SPDX-License-Identifier: Apache-2.0
// Reshaped or repeated data needs no node: it is written as an initialiser.
#include <algorithm>

#include "onnx/export/exporter.h"

namespace lemma::onnx {

namespace {

// A file stores every repetition of a number, so only short ones are written.
constexpr int64_t kMaxRepeated = 4096;

bool is_view(const std::string& name) {
    return name == "Reshape" || name == "Flatten" || name == "Squeeze" || name == "Unsqueeze";
}

}  // namespace

// A reshaped variable becomes an initialiser of that shape; a repeated number becomes one with all
// its repetitions.
bool Exporter::fold(const ir::Operation& op, const std::string& name) {
    if (op.inputs.empty() || op.inputs[0].operand.items.size() != 1) return false;
    if (op.outputs.size() != 1 || op.outputs[0].operand.items.size() != 1) return false;
    const ir::TensorId from = op.inputs[0].operand.items[0];
    const ir::TensorId to = op.outputs[0].operand.items[0];
    if (wanted_.contains(to)) return false;  // an output is made by a node
    tensor::Shape shape;
    for (const ir::SymId extent : program_.tensors[to].shape) {
        const auto number = program_.symbols.as_int(extent);
        if (!number) return false;
        shape.push_back(*number);
    }
    const ir::Tensor& source = program_.tensors[from];
    if (has_data_ && is_view(name) && source.role == ir::TensorRole::Variable) {
        variables_.push_back({unique(program_.tensors[to].name), from, std::move(shape)});
        names_[to] = variables_.back().name;
        return true;
    }
    const bool number = source.role == ir::TensorRole::Constant && source.items.size() == 1 &&
                        !std::holds_alternative<ir::SymId>(source.items[0]);
    const auto volume = tensor::volume(shape);
    if (!number || (name != "Expand" && !is_view(name))) return false;
    if (!volume || *volume > kMaxRepeated) return false;
    names_[to] = initializer(source.items, source.dtype, std::move(shape));
    return true;
}

// The same elements in another shape.
tensor::Tensor reshaped(tensor::Tensor data, tensor::Shape shape) {
    auto made = tensor::Tensor::zeros(data.dtype(), std::move(shape));
    if (!made || made->size() != data.size()) return data;  // readers report the mismatch
    std::ranges::copy(data.bytes(), made->bytes().begin());
    made->strings() = std::move(data.strings());
    return std::move(*made);
}

}  // namespace lemma::onnx
