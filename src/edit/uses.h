// SPDX-License-Identifier: Apache-2.0
// edit/uses.h — what an operation makes and reads, with everything inside of it.
#pragma once

#include <functional>
#include <unordered_set>
#include <vector>

#include "ir/program/program.h"

namespace lemma::edit {

using TensorSet = std::unordered_set<ir::TensorId, IdHash>;
using SymbolSet = std::unordered_set<ir::SymId, IdHash>;

struct Uses {
    TensorSet made;   // by the operation, its parts and sub-graphs; carried tensors of loops too
    TensorSet reads;  // not made inside
    TensorSet inner;  // made inside, and read there as well
};
Uses uses_of(const ir::Program& program, ir::OpId id);

// Tensors of the ports, item by item.
std::vector<ir::TensorId> items_of(const std::vector<ir::Port>& ports);

// Visits the operation, its parts, and the operations of its sub-graphs.
void visit(const ir::Program& program,
           ir::OpId id,
           const std::function<void(const ir::Operation&)>& action);
void visit_graph(const ir::Program& program,
                 ir::GraphId id,
                 const std::function<void(const ir::Operation&)>& action);
// The sub-graphs of a branch or a loop; none for other operations.
std::vector<ir::GraphId> graphs_of(const ir::Operation& op);

// Symbols that the operation's results tell, and those that it needs to know.
struct SymbolUses {
    SymbolSet told;
    SymbolSet read;
};
SymbolUses symbols_of(const ir::Program& program, ir::OpId id);
// The symbols that are themselves extents of the tensor.
void add_told(const ir::Program& program, const ir::Tensor& tensor, SymbolSet& told);

}  // namespace lemma::edit
