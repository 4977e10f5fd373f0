// SPDX-License-Identifier: Apache-2.0
// nnef1/check/literals.h — values as literals of NNEF 1.0 text, and names as identifiers.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/unique_names.h"
#include "ir/program/program.h"
#include "nnef1/check/value_type.h"

namespace lemma::nnef1 {

// The type of tensors of this dtype: `scalar` for f32, `integer` for i64, none for others.
std::optional<TypeName> type_of(ir::DType dtype);

std::string string_text(std::string_view text);
// Empty if there is no such literal: numbers that are not finite, runtime values, and values of
// another type. `?` accepts every type.
std::optional<std::string> scalar_text(const ir::SymbolPool& symbols,
                                       const ir::Scalar& scalar,
                                       TypeName type);
// The value of an attribute for a parameter. Pairs are taken from one pack. An array also takes a
// value that may be missing.
std::optional<std::string> value_text(const ir::SymbolPool& symbols,
                                      const ir::Value& value,
                                      const ValueType& type);
// A default value in the same form.
std::string literal_text(const Nodes& nodes, ExprId id);

class Identifiers {
public:
    // A new identifier similar to the name: `first.w#2` becomes `first_w_2`.
    std::string make(std::string_view name);

private:
    UniqueNames used_;
};

// Labels are compared without case.
class Labels {
public:
    std::string make(std::string_view name);

private:
    std::set<std::string, std::less<>> used_;  // in lower case
    std::map<std::string, size_t> next_;       // next number to try, by the name without number
};

}  // namespace lemma::nnef1
