// SPDX-License-Identifier: Apache-2.0
// engine/data.h — copies between the interpreter's arrays and memory in the tensors' own types.
#pragma once

#include "interpret/array.h"
#include "loop/ir/layout.h"

namespace lemma::engine {

// Both use the layout of the place, which must not have a split axis.
void to_memory(const interpret::Array& array, const loop::BufferView& place, void* memory);
Result<interpret::Array> from_memory(const loop::BufferView& place, const void* memory);

}  // namespace lemma::engine
