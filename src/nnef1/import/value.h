// SPDX-License-Identifier: Apache-2.0
// nnef1/import/value.h — the values of expressions during expansion: attributes, which are known at
// compile time, and tensors of the program being built.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/program/program.h"

namespace lemma::nnef1 {

struct Value;
using Values = std::vector<Value>;

// An error was reported, or the value depends on a custom operation.
struct Unknown {};
struct ArrayValue {
    std::shared_ptr<const Values> items;
};
struct TupleValue {
    std::shared_ptr<const Values> items;
};

struct Value {
    // A SymId is a runtime integer: an extent of a tract document.
    std::variant<Unknown,
                 int64_t,
                 double,
                 bool,
                 std::string,
                 ir::TensorId,
                 ir::SymId,
                 ArrayValue,
                 TupleValue>
        node;

    bool unknown() const { return std::holds_alternative<Unknown>(node); }
    // The items of an array or a tuple; null for others.
    const Values* items() const;

    static Value array(Values items);
    static Value tuple(Values items);
};

// Compares arrays and tuples item by item.
bool equal(const Value& a, const Value& b);
// Whether any part of it is unknown.
bool has_unknown(const Value& value);
// Whether any part of it is a T.
template <class T>
bool has(const Value& value) {
    if (std::holds_alternative<T>(value.node)) return true;
    const Values* const items = value.items();
    if (!items) return false;
    for (const Value& item : *items) {
        if (has<T>(item)) return true;
    }
    return false;
}
// As a literal of the syntax, without quotes around a string.
std::string literal_text(const Value& value);

}  // namespace lemma::nnef1
