// codegen/relocation.h — what a linker writes into code once addresses are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace lemma::codegen {

struct Relocation {
    uint32_t type = 0;   // as the ABI of the processor counts them
    uint64_t place = 0;  // address of what is changed, in the finished code
    uint64_t value = 0;  // symbol plus addend
};

// Bytes at the place that it changes: 4 or 8.
size_t relocated_bytes(uint16_t machine, uint32_t type);

// Whether it is a call that reaches near code only, so that far code is reached by a long jump
// beside it.
bool is_near_call(uint16_t machine, uint32_t type);

// `bytes` is the place as it can be written to now. An error if the value does not fit.
Result<void> relocate(uint16_t machine, const Relocation& relocation, unsigned char* bytes);

}  // namespace lemma::codegen
