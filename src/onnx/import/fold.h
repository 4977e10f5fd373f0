// SPDX-License-Identifier: Apache-2.0
// onnx/import/fold.h — evaluates nodes at compile time if all inputs are known: mostly arithmetic
// on shapes that exporters write. Integers may be expressions over extents.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "onnx/import/attributes.h"
#include "onnx/import/constant_value.h"

namespace lemma::onnx {

struct FoldCall {
    std::string op;
    const Attributes& attributes;
    std::vector<const ConstantValue*> inputs;  // null: left out
    size_t outputs = 1;
    std::optional<DType> type;  // type of the result, if the call states it (Cast)
    ir::SymbolPool& symbols;

    const ConstantValue* input(size_t index) const {
        return index < inputs.size() ? inputs[index] : nullptr;
    }
    // The items of an input, or of an attribute as in older opsets; empty if both are missing.
    std::optional<std::vector<Scalar>> items(size_t index, const std::string& attribute) const;
    std::optional<std::vector<int64_t>> ints(size_t index, const std::string& attribute) const;
};

using Folded = std::optional<std::vector<ConstantValue>>;

// Whether nodes of the operator can be folded at all.
bool can_fold(const std::string& op);
// Whether the operator has its own fold function; reductions share one.
bool has_fold_code(const std::string& op);
// Empty if the node must run: the operator is not folded, elements are not constant but must be, or
// there are too many.
Folded fold(const FoldCall& call);

// The function for an operator, from each family; null if it has none.
using FoldFunction = Folded (*)(const FoldCall&);
FoldFunction find_elementwise_fold(const std::string& op);
FoldFunction find_movement_fold(const std::string& op);
// Reduces axes by the element-wise operator of that name.
Folded fold_reduction(const FoldCall& call, std::string_view by);

// The axis counted from the front; empty if it is out of range.
std::optional<size_t> front_axis(int64_t axis, size_t rank);
// The shape after numpy-style broadcasting; empty if the shapes do not fit.
std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);
// The index in an array of shape `from` that element `index` of `shape` is broadcast from.
int64_t broadcast_index(int64_t index, const Shape& shape, const Shape& from);
// A number in a dtype, rounded or wrapped as the dtype requires; empty if it cannot be cast.
std::optional<Scalar> cast_scalar(const Scalar& scalar, DType dtype, ir::SymbolPool& symbols);

}  // namespace lemma::onnx
