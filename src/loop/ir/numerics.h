// SPDX-License-Identifier: Apache-2.0
// loop/ir/numerics.h — how far compiled code may deviate from the formula (docs/numerics.md).
#pragma once

#include <cstdint>

namespace lemma::loop {

enum class Numerics : uint8_t {
    Strict,   // the interpreter's bits: same order of sums, types and functions
    Default,  // sums in memory order, in the tensors' types, with fused multiply-add
    Fast,     // also estimates of quotients and roots
};

}  // namespace lemma::loop
