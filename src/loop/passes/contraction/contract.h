// SPDX-License-Identifier: Apache-2.0
// loop/passes/contraction/contract.h — finds sums of products, and other sums over pairs, that are
// worth register tiles. Runs after fuse and siblings; later passes change only the operands of
// these stages.
#pragma once

#include "loop/passes/graph.h"

namespace lemma::loop {

// The sum and the roles of its variables, if a tile is worthwhile for the stage. Other passes call
// it, too. `packed`: B is not read in place.
std::optional<Contraction> find_contraction(StageGraph& graph,
                                            const Stage& stage,
                                            bool packed = false);
// The same sum with A read in place along its last axis, if that is faster where neither operand
// nor result is transposed. `now` has constant weights as B.
std::optional<Contraction> find_natural(StageGraph& graph,
                                        const Stage& stage,
                                        const Contraction& now);
// The reduced variable along which elements of A should lie side by side: that of the last axis of
// A, or else the longest one that is an index of A. Missing if there is none.
VarId find_inner(const StagePool& pool, const Expr& a, const std::vector<VarId>& reduced);
// Gives groups their contraction. Returns the number of contractions found.
int find_contractions(StageGraph& graph);

}  // namespace lemma::loop
