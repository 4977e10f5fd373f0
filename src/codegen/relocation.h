// SPDX-License-Identifier: Apache-2.0
// codegen/relocation.h — the changes that a linker makes in code once addresses are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace lemma::codegen {

struct Relocation {
    uint32_t type = 0;   // number in the ABI of the processor
    uint64_t place = 0;  // address of the changed bytes, in the finished code
    uint64_t value = 0;  // symbol plus addend
};

// The number of changed bytes: 4 or 8.
size_t relocated_bytes(uint16_t machine, uint32_t type);

// Whether the changed bytes are an address, not a distance.
bool is_absolute(uint16_t machine, uint32_t type);

// Whether it is a near call. A long jump beside the code then reaches far code.
bool is_near_call(uint16_t machine, uint32_t type);

// `bytes` is the writable copy of the changed bytes. An error if the value does not fit.
Result<void> relocate(uint16_t machine, const Relocation& relocation, unsigned char* bytes);

}  // namespace lemma::codegen
