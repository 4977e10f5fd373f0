// SPDX-License-Identifier: Apache-2.0
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

// A SymId that turns out constant counts as unknown to most readers; to_scalar avoids that.
using Scalar = std::variant<int64_t, double, bool, std::string, SymId>;

struct Null {
    friend bool operator==(Null, Null) { return true; }
};

struct Pack {
    std::vector<Scalar> items;
    // The result of `:= ..`: the value of all items. For an empty pack, the value that its items
    // would have, as in `[x ..(0)]`.
    std::optional<Scalar> uniform = std::nullopt;
    // The type of the items, needed for an empty pack (the sum of an empty `real..` is 0.0); unset
    // if unknown, as in `[]`.
    std::optional<ScalarType> type = std::nullopt;

    friend bool operator==(const Pack&, const Pack&) = default;
};

using Value = std::variant<Null, Scalar, Pack>;

}  // namespace lemma::ir
