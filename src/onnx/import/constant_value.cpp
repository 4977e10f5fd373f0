// SPDX-License-Identifier: Apache-2.0
#include "onnx/import/constant_value.h"

#include "base/match.h"

namespace lemma::onnx {

ConstantValue constant_ints(std::vector<Scalar> items) {
    ConstantValue known;
    known.shape = {static_cast<int64_t>(items.size())};
    known.items = std::move(items);
    return known;
}

ConstantValue constant_of(const tensor::Tensor& tensor) {
    ConstantValue known{.dtype = tensor.dtype(), .shape = tensor.shape(), .items = {}};
    known.items.reserve(static_cast<size_t>(tensor.size()));
    for (int64_t i = 0; i < tensor.size(); ++i) {
        if (known.dtype == DType::Str) {
            known.items.emplace_back(tensor.strings()[static_cast<size_t>(i)]);
        } else if (known.dtype == DType::Bool) {
            known.items.emplace_back(tensor.integer(i) != 0);
        } else if (tensor::is_real(known.dtype)) {
            known.items.emplace_back(tensor.real(i));
        } else {
            known.items.emplace_back(tensor.integer(i));
        }
    }
    return known;
}

Scalar to_scalar(ir::SymId id, const ir::SymbolPool& symbols) {
    if (!symbols.is_constant(id)) return id;
    switch (symbols.type(id)) {
        case ir::ScalarType::Int:
            return *symbols.as_int(id);
        case ir::ScalarType::Real:
            return *symbols.as_real(id);
        case ir::ScalarType::Bool:
            return *symbols.as_bool(id);
        default:
            return *symbols.as_string(id);
    }
}

ir::SymId to_symbol(const Scalar& scalar, ir::SymbolPool& symbols) {
    return match(
        scalar,
        [&](int64_t value) { return symbols.integer(value); },
        [&](double value) { return symbols.real(value); },
        [&](bool value) { return symbols.boolean(value); },
        [&](const std::string& value) { return symbols.string(value); },
        [](ir::SymId id) { return id; });
}

std::optional<int64_t> as_int(const Scalar& scalar) {
    const auto* const value = std::get_if<int64_t>(&scalar);
    return value ? std::optional(*value) : std::nullopt;
}

std::optional<double> as_real(const Scalar& scalar) {
    if (const auto* const value = std::get_if<double>(&scalar)) return *value;
    if (const auto* const value = std::get_if<int64_t>(&scalar)) return static_cast<double>(*value);
    return std::nullopt;
}

std::optional<bool> as_bool(const Scalar& scalar) {
    const auto* const value = std::get_if<bool>(&scalar);
    return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::vector<int64_t>> as_ints(const std::vector<Scalar>& items) {
    std::vector<int64_t> values;
    for (const Scalar& item : items) {
        const auto value = as_int(item);
        if (!value) return std::nullopt;
        values.push_back(*value);
    }
    return values;
}

std::vector<int64_t> strides_of(const Shape& shape) {
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i > 1; --i) strides[i - 2] = strides[i - 1] * shape[i - 1];
    return strides;
}

}  // namespace lemma::onnx
