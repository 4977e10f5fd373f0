// SPDX-License-Identifier: Apache-2.0
#include "nnef1/check/value_type.h"

#include <algorithm>

#include "base/match.h"

namespace lemma::nnef1 {

std::string text(const ValueType& type) {
    std::string result;
    switch (type.kind) {
        case ValueType::Kind::Bad:
            return "?";
        case ValueType::Kind::Primitive:
            return std::string(spelling(*type.name));
        case ValueType::Kind::Tensor:
            return "tensor<" + (type.name ? std::string(spelling(*type.name)) : "") + ">";
        case ValueType::Kind::Array:
            return type.items.empty() ? "[]" : text(type.items[0]) + "[]";
        case ValueType::Kind::Tuple:
            break;
    }
    for (const ValueType& item : type.items) {
        result += (result.empty() ? "(" : ", ") + text(item);
    }
    return result + ")";
}

ValueType value_type(const Nodes& nodes, TypeId type) {
    return match(
        nodes.types[type].node,
        [](const BadType&) { return ValueType{}; },
        [](const PrimitiveType& node) { return ValueType::primitive(node.name); },
        [](const TensorType& node) { return ValueType::tensor(node.item); },
        [&](const ArrayType& node) { return ValueType::array(value_type(nodes, node.item)); },
        [&](const TupleType& node) {
            std::vector<ValueType> items;
            for (const TypeId item : nodes.items(node.items)) {
                items.push_back(value_type(nodes, item));
            }
            return ValueType::tuple(std::move(items));
        });
}

bool has_tensor(const ValueType& type) {
    return type.tensor() || std::ranges::any_of(type.items, has_tensor);
}

bool all_tensors(const ValueType& type) {
    if (type.items.empty()) return type.bad() || type.tensor();
    return std::ranges::all_of(type.items, all_tensors);
}

bool has_generic(const ValueType& type) {
    return type.name == TypeName::Generic || std::ranges::any_of(type.items, has_generic);
}

ValueType bind(const ValueType& type, TypeName generic) {
    ValueType result = type;
    if (result.name == TypeName::Generic) result.name = generic;
    for (ValueType& item : result.items) item = bind(item, generic);
    return result;
}

namespace {

bool can_cast_primitive(TypeName from, const ValueType& to, Dialect dialect) {
    if (to.kind != ValueType::Kind::Primitive && !to.tensor()) return false;
    if (to.tensor() && !to.name) return true;
    // Archives of tract have integers where the specification requires scalars.
    const bool widened = dialect == Dialect::Tract && from == TypeName::Integer;
    return to.name == from || (widened && to.name == TypeName::Scalar);
}

}  // namespace

bool can_cast(const ValueType& from, const ValueType& to, Dialect dialect) {
    using Kind = ValueType::Kind;
    if (from.bad() || to.bad()) return true;
    if (from.kind == Kind::Primitive) return can_cast_primitive(*from.name, to, dialect);
    // tract has one type for tensors. Arrays of numbers are tensors, and attributes may be tensors.
    if (dialect == Dialect::Tract && from.tensor()) return to.tensor() || !has_tensor(to);
    if (dialect == Dialect::Tract && from.array() && to.tensor()) return true;
    // `[[0, 0], [1, 0]]` for pairs; building the graph shows the number of items.
    if (dialect == Dialect::Tract && from.array() && to.tuple()) {
        return from.items.empty() || std::ranges::all_of(to.items, [&](const ValueType& item) {
                   return can_cast(from.items[0], item, dialect);
               });
    }
    if (from.kind != to.kind) return false;
    switch (from.kind) {
        case Kind::Tensor:
            return !to.name || from.name == to.name;
        case Kind::Array:
            return from.items.empty() ||
                   (!to.items.empty() && can_cast(from.items[0], to.items[0], dialect));
        default:
            break;
    }
    return std::ranges::equal(from.items, to.items, [&](const ValueType& a, const ValueType& b) {
        return can_cast(a, b, dialect);
    });
}

std::optional<ValueType> common_type(const ValueType& a, const ValueType& b, Dialect dialect) {
    if (a.bad()) return b;
    if (can_cast(a, b, dialect)) return b;
    if (can_cast(b, a, dialect)) return a;
    return std::nullopt;
}

}  // namespace lemma::nnef1
