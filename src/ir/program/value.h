// ir/program/value.h — compile-time values: null, a scalar, or a pack of scalars. A scalar is a
// constant or an expression over unknowns (ir/symbols/symbolic.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/symbols/symbolic.h"

namespace lemma::ir {

// A SymId that turned out constant counts as unknown to most readers: make one with to_scalar.
using Scalar = std::variant<int64_t, double, bool, std::string, SymId>;

struct Null {
    friend bool operator==(Null, Null) { return true; }
};

struct Pack {
    std::vector<Scalar> items;
    // What `:= ..` gives: what all items are, and for an empty pack what they would be by the way
    // it was made, as in `[x ..(0)]`.
    std::optional<Scalar> uniform = std::nullopt;
    // The type of the items. An empty pack has no other place for it (the sum of an empty `real..`
    // is 0.0); unset where nobody said, as in `[]`.
    std::optional<ScalarType> type = std::nullopt;

    friend bool operator==(const Pack&, const Pack&) = default;
};

using Value = std::variant<Null, Scalar, Pack>;

}  // namespace lemma::ir
