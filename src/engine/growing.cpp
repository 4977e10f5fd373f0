// SPDX-License-Identifier: Apache-2.0
#include "engine/growing.h"

#include <algorithm>

namespace lemma::engine {

namespace {

// Whether the extent is the symbol and something that is not negative.
bool is_longer(const ir::SymbolPool& symbols, ir::SymId extent, ir::SymId symbol) {
    const ir::SymNode node = symbols.node(extent);
    if (node.kind != ir::SymKind::Polynomial || node.terms.size() < 2) return false;
    bool once = false;
    for (const ir::SymTerm& term : node.terms) {
        const bool same = term.factors.size() == 1 && term.factors[0].atom == symbol &&
                          term.factors[0].power == 1;
        if (same && term.coefficient == 1) {
            once = true;
            continue;
        }
        const bool added =
            term.coefficient > 0 && std::ranges::all_of(term.factors, [&](const ir::SymFactor& f) {
                return f.atom != symbol && symbols.range(f.atom).low >= 0;
            });
        if (!added) return false;
    }
    return once;
}

std::vector<ir::TensorId> items_of(const std::vector<ir::Port>& ports) {
    std::vector<ir::TensorId> items;
    for (const ir::Port& port : ports) {
        items.insert(items.end(), port.operand.items.begin(), port.operand.items.end());
    }
    return items;
}

}  // namespace

std::optional<size_t> growing_axis(const ir::Program& program,
                                   ir::TensorId input,
                                   ir::TensorId output) {
    const ir::Tensor& from = program.tensors[input];
    const ir::Tensor& to = program.tensors[output];
    if (from.dtype != to.dtype || from.shape.size() != to.shape.size()) return {};
    std::optional<size_t> found;
    for (size_t axis = 0; axis < from.shape.size(); ++axis) {
        if (from.shape[axis] == to.shape[axis]) continue;
        const bool longer = program.symbols.node(from.shape[axis]).kind == ir::SymKind::Symbol &&
                            is_longer(program.symbols, to.shape[axis], from.shape[axis]);
        if (found || !longer) return {};
        found = axis;
    }
    return found;
}

std::vector<ir::SymId> growing_extents(const ir::Program& program) {
    std::vector<ir::SymId> found;
    const ir::Graph& graph = program.graphs[program.main];
    const std::vector<ir::TensorId> outputs = items_of(graph.outputs);
    for (const ir::TensorId from : items_of(graph.inputs)) {
        for (const ir::TensorId to : outputs) {
            const auto axis = growing_axis(program, from, to);
            if (!axis) continue;
            const ir::SymId symbol = program.tensors[from].shape[*axis];
            if (std::ranges::find(found, symbol) == found.end()) found.push_back(symbol);
        }
    }
    return found;
}

}  // namespace lemma::engine
