// SPDX-License-Identifier: Apache-2.0
// nnef1/check/value_type.h — the types of NNEF 1.0 expressions, and the casts between them
// (specification, 3.3.1).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nnef1/syntax/ast.h"
#include "nnef1/syntax/dialect.h"

namespace lemma::nnef1 {

struct ValueType {
    // Bad is the type of expressions with reported errors; it agrees with every type.
    enum class Kind : uint8_t { Bad, Primitive, Tensor, Array, Tuple };

    Kind kind = Kind::Bad;
    // The type of a primitive, or of the items of a tensor; empty for `tensor<>`. Inside a generic
    // fragment `?` is a separate type, equal to itself only.
    std::optional<TypeName> name;
    std::vector<ValueType> items;  // array: one, or none for `[]`; tuple: one per item

    static ValueType primitive(TypeName name) { return {Kind::Primitive, name, {}}; }
    static ValueType tensor(std::optional<TypeName> name) { return {Kind::Tensor, name, {}}; }
    static ValueType array(ValueType item) { return {Kind::Array, {}, {std::move(item)}}; }
    static ValueType empty_array() { return {Kind::Array, {}, {}}; }
    static ValueType tuple(std::vector<ValueType> items) {
        return {Kind::Tuple, {}, std::move(items)};
    }

    bool bad() const { return kind == Kind::Bad; }
    bool is(TypeName other) const { return kind == Kind::Primitive && name == other; }
    bool tensor() const { return kind == Kind::Tensor; }
    bool array() const { return kind == Kind::Array; }
    bool tuple() const { return kind == Kind::Tuple; }

    friend bool operator==(const ValueType&, const ValueType&) = default;
};

// `(integer, scalar)[]`; `[]` for the empty array.
std::string text(const ValueType& type);
ValueType value_type(const Nodes& nodes, TypeId type);

// Whether it contains a tensor; whether it contains nothing else.
bool has_tensor(const ValueType& type);
bool all_tensors(const ValueType& type);
bool has_generic(const ValueType& type);
// The type with `?` replaced.
ValueType bind(const ValueType& type, TypeName generic);

bool can_cast(const ValueType& from, const ValueType& to, Dialect dialect);
// The type of the two that the other can be cast to.
std::optional<ValueType> common_type(const ValueType& a, const ValueType& b, Dialect dialect);

}  // namespace lemma::nnef1
