// sknd/eval/value.h — what the evaluator asks of compile-time values (ir/program/value.h).
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

// What `is` means: the same constant, or the same expression.
bool identical(const Scalar& a, const Scalar& b);

// A pack with `uniform` and `type` as the items have it.
Pack make_pack(std::vector<Scalar> items, const ir::SymbolPool& symbols);
// What `:= ..` gives, also for a pack whose `uniform` nobody set.
std::optional<Scalar> uniform_value(const Pack& pack);
// `[item ..(count)]`
Pack repeat(Scalar item, size_t count, const ir::SymbolPool& symbols);

// The text that string formatting puts in place of a value: `42`, `2.0`, `true`, `[1, 2]`, `null`;
// reals so that they read back; strings bare at top level and quoted inside packs.
std::string to_text(const CompileValue& value, const ir::SymbolPool& symbols);

}  // namespace lemma::sknd
