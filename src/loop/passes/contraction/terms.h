// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/terms.h — sums of products of floats on tile registers, which multiply
// bf16. A float is close to the sum of two bf16, its terms: the nearest one, and the rest. A
// product is close to three products of terms; that of the two rests is left out. Runs after
// `windows`, whose choice it may replace, and before `layout`, which gives the tensor of terms its
// layout and its halo.
#pragma once

#include "loop/passes/region.h"

namespace lemma::loop {

// Gives the contractions that pay a tensor of terms as operand A: those of f32 with fast numerics
// only, those of f16 also with default numerics, because their terms are exact. They must take at
// most `share` of the time otherwise. A contraction that makes the operand stores the terms with
// its result, or instead of it; elsewhere a map makes them. Returns the number of contractions with
// terms.
int find_terms(RegionGraph& region, const Target& target, Numerics numerics, double share);

// The two terms of a float.
std::vector<ExprId> terms_of(Builder& build, ExprId value);

}  // namespace lemma::loop
