// SPDX-License-Identifier: Apache-2.0
// diff/align.h — partners by order: nodes between the same matched nodes, and operations that were
// replaced by another operator.
#pragma once

#include <utility>
#include <vector>

#include "diff/match.h"

namespace lemma::diff {

struct Alignment {
    const Graph& a;
    const Graph& b;
    Matching& matching;
};

// Matches what is left.
void align_rest(Alignment alignment);

// The longest run of pairs that grow on both sides; `pairs` grows in its first members.
std::vector<std::pair<size_t, size_t>> longest_growing(
    const std::vector<std::pair<size_t, size_t>>& pairs);

// Whether two tensors are the same: made by partners, inputs that are partners, or given to the
// bodies of partners. Weights count as the same.
bool same_source(const Alignment& alignment, ir::TensorId a, ir::TensorId b);

}  // namespace lemma::diff
