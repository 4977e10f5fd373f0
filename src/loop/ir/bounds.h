// SPDX-License-Identifier: Apache-2.0
// loop/ir/bounds.h — bounds of real values in kernels, from clamps by constants. A conversion of a
// bounded value to an int needs fewer bits.
#pragma once

#include "loop/ir/node.h"

namespace lemma::loop {

// Whether the value is a real that is nan or lies inside the range of a 32-bit int.
bool fits_32_bits(const Function& function, ExprId value);

}  // namespace lemma::loop
