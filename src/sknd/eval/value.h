// SPDX-License-Identifier: Apache-2.0
// sknd/eval/value.h — functions of the evaluator on compile-time values (ir/program/value.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program/value.h"

namespace lemma::sknd {

using ir::Null;
using ir::Pack;
using ir::Scalar;
using CompileValue = ir::Value;

inline bool is_null(const CompileValue& value) { return std::holds_alternative<Null>(value); }

ir::ScalarType type_of(const Scalar& scalar, const ir::SymbolPool& symbols);
// The type of a scalar or of the items of a pack; empty for null and for `[]`.
std::optional<ir::ScalarType> type_of(const CompileValue& value, const ir::SymbolPool& symbols);
std::optional<ir::ScalarType> type_of(const Pack& pack, const ir::SymbolPool& symbols);
std::string_view type_name(ir::ScalarType type);  // int, real, bool, str

// A constant expression becomes a plain constant.
Scalar to_scalar(ir::SymId id, const ir::SymbolPool& symbols);
ir::SymId to_symbol(const Scalar& scalar, ir::SymbolPool& symbols);

// The meaning of `is`: the same constant, or the same expression.
bool identical(const Scalar& a, const Scalar& b);

// A pack with `uniform` and `type` computed from its items.
Pack make_pack(std::vector<Scalar> items, const ir::SymbolPool& symbols);
// The result of `:= ..`, also for a pack without `uniform`.
std::optional<Scalar> uniform_value(const Pack& pack);
// `[item ..(count)]`
Pack repeat(Scalar item, size_t count, const ir::SymbolPool& symbols);

// The text of a value in a formatted string: `42`, `2.0`, `true`, `[1, 2]`, `null`. Reals read
// back; strings are bare at top level and quoted inside packs.
std::string to_text(const CompileValue& value, const ir::SymbolPool& symbols);

}  // namespace lemma::sknd
