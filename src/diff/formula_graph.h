// SPDX-License-Identifier: Apache-2.0
// diff/formula_graph.h — the graph of the level Formula, and the steps that all levels share.
//
// The level Formula compares what models compute. Its nodes are primitives. Axes of extent 1 do not
// count. Reshapes, transpositions and other copies vanish: their readers read the copied tensor.
// Constants of one value become numbers. Unused and repeated results vanish.
#pragma once

#include "diff/expr_hash.h"
#include "diff/graph.h"

namespace lemma::diff {

Graph make_formula_graph(Side& side);

// A node by the operator, its attributes and ports, without definition and types.
Node plain_node(const ir::Program& program, ir::OpId id, Hash place, ExprHasher& expressions);
void add_terminals(const ir::Program& program, Graph& graph);
// An operation without formulas: an intrinsic, or control flow without its bodies.
Hash function_hash(const ir::Program& program, const ir::Operation& op, ExprHasher& expressions);
// Fills the tables by tensor.
void index_edges(Graph& graph);

}  // namespace lemma::diff
