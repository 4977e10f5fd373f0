// onnx/import/fold.h — nodes evaluated at compile time, where all inputs are known: the arithmetic
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
    std::optional<DType> type;  // of the result, where the call says it (Cast)
    ir::SymbolPool& symbols;

    const ConstantValue* input(size_t index) const {
        return index < inputs.size() ? inputs[index] : nullptr;
    }
    // What an input says, or an attribute as in older opsets; empty if neither is there.
    std::optional<std::vector<Scalar>> items(size_t index, const std::string& attribute) const;
    std::optional<std::vector<int64_t>> ints(size_t index, const std::string& attribute) const;
};

using Folded = std::optional<std::vector<ConstantValue>>;

// Whether nodes of the operator can be folded at all.
bool can_fold(const std::string& op);
// Whether a function for the operator does it.
bool has_fold_code(const std::string& op);
// Empty where the node has to run: an operator that is not folded, elements that are not constant
// where they must be, or too many of them.
Folded fold(const FoldCall& call);

// Its parts: functions by the name of the operator, or null.
using FoldFunction = Folded (*)(const FoldCall&);
FoldFunction find_elementwise_fold(const std::string& op);
FoldFunction find_movement_fold(const std::string& op);
// Reduces axes by the element-wise operator of that name.
Folded fold_reduction(const FoldCall& call, std::string_view by);

// An axis counted from the front; empty if it is out of range.
std::optional<size_t> front_axis(int64_t axis, size_t rank);
// The shape that numpy-style broadcasting gives; empty if the shapes do not fit.
std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);
// Where the element with the number `index` of `shape` comes from in an array of `from`.
int64_t broadcast_index(int64_t index, const Shape& shape, const Shape& from);
// A number in a dtype, rounded or wrapped as the dtype wants; empty for what cannot be cast.
std::optional<Scalar> cast_scalar(const Scalar& scalar, DType dtype, ir::SymbolPool& symbols);

}  // namespace lemma::onnx
