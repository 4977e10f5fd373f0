// SPDX-License-Identifier: Apache-2.0
// loop/stage/powers.h — powers of reals with a literal exponent.
#pragma once

#include "loop/ir/node.h"

namespace lemma::loop {

// The power by products, roots and a quotient; nothing for most exponents.
ExprId simple_power(Builder& build, ExprId base, double exponent);

}  // namespace lemma::loop
