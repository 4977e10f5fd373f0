// loop/ir/numerics.h — how far compiled code may leave the formula (docs/numerics.md).
#pragma once

#include <cstdint>

namespace lemma::loop {

enum class Numerics : uint8_t {
    Strict,   // the interpreter's bits: its order of sums, its types, its functions
    Default,  // sums in the order of memory, in the tensors' types, with fused multiply-add
    Fast,     // estimates of quotients and roots, too
};

}  // namespace lemma::loop
