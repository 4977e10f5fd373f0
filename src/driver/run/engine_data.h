// driver/run/engine_data.h — between the interpreter's arrays and memory in the tensors' own types.
#pragma once

#include "loop/array.h"
#include "loop/layout.h"

namespace lemma::driver {

// Both are in the order of the place's layout, which may be any without a split axis.
void to_memory(const loop::Array& array, const loop::Place& place, void* memory);
Result<loop::Array> from_memory(const loop::Place& place, const void* memory);

}  // namespace lemma::driver
