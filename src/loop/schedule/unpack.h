// SPDX-License-Identifier: Apache-2.0
// loop/schedule/unpack.h — weights of few bits as numbers, in registers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loop/schedule/schedule.h"

namespace lemma::loop {

// The numbers of bytes that have two each, of four bits: first the lower ones.
std::vector<ExprId> split_nibbles(Builder& build, const std::vector<ExprId>& bytes);
// The scales or zeros of a block of weights, in a tensor of this layout. `steps` has the variables
// of the packed operand, `reduced` those of the sum.
Address group_address(const Contraction& contraction,
                      const Layout& layout,
                      const std::vector<std::pair<VarId, int64_t>>& steps,
                      const std::vector<VarId>& reduced);
// The type of the numbers, for profiles: ` of i8`.
std::string narrow_text(const std::optional<NarrowWeights>& narrow);

}  // namespace lemma::loop
