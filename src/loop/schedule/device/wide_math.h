// SPDX-License-Identifier: Apache-2.0
// loop/schedule/device/wide_math.h — functions of floats for devices, beside those that every
// kernel expands (lowering.h).
#pragma once

#include <string_view>

#include "loop/ir/node.h"

namespace lemma::loop {

// Whether expand_wide knows the function.
bool is_expanded_wide(std::string_view name);
// Expands sin, cos, tan, their inverses and the hyperbolic functions of a float into operations on
// doubles; empty for other functions.
ExprId expand_wide(Builder& build, std::string_view name, ExprId x);

}  // namespace lemma::loop
