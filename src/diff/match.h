// SPDX-License-Identifier: Apache-2.0
// diff/match.h — which operation of one model is which of the other.
//
// Hashes from the inputs (a node with all that it depends on) and from the outputs (a node with all
// that depends on it) find equal parts; ever weaker hashes find changed ones. Neighbours of matched
// nodes and the order of the operations decide about the rest. The time is near-linear.
#pragma once

#include <cstddef>
#include <vector>

#include "diff/graph.h"
#include "diff/meaning.h"
#include "diff/weights.h"

namespace lemma::diff {

inline constexpr size_t kNone = static_cast<size_t>(-1);

struct Matching {
    std::vector<size_t> a_to_b, b_to_a;             // nodes; kNone: no partner
    std::vector<size_t> inputs_to_b, outputs_to_b;  // terminals of A; kNone: no partner
    std::vector<size_t> inputs_to_a, outputs_to_a;  // terminals of B
};

struct MatchSide {
    const Graph& graph;
    Weights& weights;
    const Meanings* meanings;  // may be missing
};

// Inputs and outputs: by name, and the rest in order.
Matching match_terminals(const Graph& a, const Graph& b);
// Adds the nodes.
void match_nodes(MatchSide a, MatchSide b, Matching& matching);

}  // namespace lemma::diff
