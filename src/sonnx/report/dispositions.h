// SPDX-License-Identifier: Apache-2.0
// sonnx/report/dispositions.h — the dispositions of a node: for overflow, invalid operations and
// division by zero, whether they can occur, and the clause or fact that settles it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sonnx/view.h"

namespace lemma::sonnx {

enum class Condition : uint8_t { Overflow, Invalid, DivisionByZero };
inline constexpr size_t kConditions = 3;
// "overflow", "invalid operation (NaN)", "division by zero"
std::string_view condition_text(Condition condition);

enum class Disposal : uint8_t {
    CannotOccur,     // the operation has no such condition for these types
    Nominal,         // it may occur, and a clause says what the result is
    RuledOut,        // constants, a rule or the certificate exclude it
    NotEstablished,  // a clause excludes it or calls it an error, and nothing shows it absent
    Possible,        // the certificate has values for which it occurs
};
// "cannot occur", "nominal", "ruled out", "not established", "possible"
std::string_view disposal_text(Disposal disposal);

struct Disposition {
    Disposal disposal = Disposal::NotEstablished;
    std::string by;  // the clause or fact
};
using Dispositions = std::array<Disposition, kConditions>;  // by Condition

// What follows from the operator, its types and its constants, for any values of the inputs.
Dispositions static_dispositions(const onnx::Node& node, const View& view);

}  // namespace lemma::sonnx
