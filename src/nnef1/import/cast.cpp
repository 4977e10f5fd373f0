// SPDX-License-Identifier: Apache-2.0
// Casts values to the types of parameters (3.3.1). Numbers for tensor parameters become constant
// tensors.
#include <fmt/format.h>

#include "base/match.h"
#include "nnef1/import/expander.h"

namespace lemma::nnef1 {

ir::DType dtype_of(TypeName name, const ImportOptions& options) {
    switch (name) {
        case TypeName::Integer:
            return options.integer;
        case TypeName::Logical:
            return ir::DType::Bool;
        case TypeName::String:
            return ir::DType::Str;
        default:
            return options.scalar;
    }
}

ir::TensorId Expander::constant_tensor(ir::Scalar value, TypeName type, std::string name) {
    ir::Tensor tensor{.name = std::move(name), .dtype = dtype_of(type, options_)};
    tensor.role = ir::TensorRole::Constant;
    tensor.items = {std::move(value)};
    return builder_.add_tensor(std::move(tensor));
}

Value Expander::cast(const Value& value,
                     const ValueType& type,
                     const std::string& name,
                     Span span) {
    if (type.tensor() && value.items() && options_.dialect == Dialect::Tract) {
        return array_tensor(value, name, span);
    }
    if (const Values* items = value.items()) {
        if (type.items.empty()) return value;
        if (type.tuple() && items->size() != type.items.size()) {
            diag_.error(
                span,
                DiagKind::LengthMismatch,
                fmt::format("an array of {} items, expected `{}`", items->size(), text(type)));
            return {};
        }
        Values result;
        for (size_t i = 0; i < items->size(); ++i) {
            const ValueType& item = type.items[type.tuple() ? i : 0];
            result.push_back(cast((*items)[i], item, fmt::format("{}.{}", name, i), span));
        }
        return type.tuple() ? Value::tuple(std::move(result)) : Value::array(std::move(result));
    }
    const auto* integer = std::get_if<int64_t>(&value.node);
    const bool widened = integer && type.name == TypeName::Scalar;
    const Value number = widened ? Value{static_cast<double>(*integer)} : value;
    if (!type.tensor()) return number;
    return match(
        number.node,
        [&](int64_t item) { return Value{constant_tensor(item, TypeName::Integer, name)}; },
        [&](double item) { return Value{constant_tensor(item, TypeName::Scalar, name)}; },
        [&](bool item) { return Value{constant_tensor(item, TypeName::Logical, name)}; },
        [&](const std::string& item) {
            return Value{constant_tensor(item, TypeName::String, name)};
        },
        [&](const auto&) { return number; });
}

// Defaults consist of literals only.
Value Expander::literal_value(const Nodes& nodes, ExprId id) const {
    const auto items = [&](Slice<ExprId> slice) {
        Values values;
        for (const ExprId item : nodes.items(slice)) values.push_back(literal_value(nodes, item));
        return values;
    };
    return match(
        nodes.exprs[id].node,
        [](const IntegerLiteral& literal) { return Value{literal.value()}; },
        [](const ScalarLiteral& literal) { return Value{literal.value()}; },
        [](const LogicalLiteral& literal) { return Value{literal.value}; },
        [](const StringLiteral& literal) { return Value{std::string(literal.value)}; },
        [&](const Paren& paren) { return literal_value(nodes, paren.inner); },
        [&](const Array& array) { return Value::array(items(array.items)); },
        [&](const Tuple& tuple) { return Value::tuple(items(tuple.items)); },
        [](const auto&) { return Value{}; });
}

}  // namespace lemma::nnef1
