// engine/data.h — between the interpreter's arrays and memory in the tensors' own types.
#pragma once

#include "interpret/array.h"
#include "loop/ir/layout.h"

namespace lemma::engine {

// Both are in the order of the place's layout, which may be any without a split axis.
void to_memory(const interpret::Array& array, const loop::BufferView& place, void* memory);
Result<interpret::Array> from_memory(const loop::BufferView& place, const void* memory);

}  // namespace lemma::engine
