// SPDX-License-Identifier: Apache-2.0
// Finds parts of compounds with unused results: an operator of another format may have results that
// the model does not use.
#include <algorithm>

#include "sknd/export/writer.h"

namespace lemma::sknd {

void Writer::find_live() {
    for (const ir::Update& update : program_.updates) live_.insert(update.value);
    mark_graph(program_.main);
}

void Writer::mark_graph(ir::GraphId id) {
    if (!id.valid()) return;
    const ir::Graph& graph = program_.graphs[id];
    for (const ir::Port& port : graph.outputs)
        live_.insert(port.operand.items.begin(), port.operand.items.end());
    mark_live(graph.operations, true);
}

bool Writer::is_live(const ir::Operation& op) const {
    return op.outputs.empty() || std::ranges::any_of(op.outputs, [&](const ir::Port& port) {
               return std::ranges::any_of(port.operand.items,
                                          [&](ir::TensorId id) { return live_.contains(id); });
           });
}

// Users of a result come after its maker. `all`: calls of the model itself stay.
void Writer::mark_live(const std::vector<ir::OpId>& list, bool all) {
    for (auto id = list.rbegin(); id != list.rend(); ++id) {
        const ir::Operation& op = program_.operations[*id];
        if (!all && !is_live(op)) continue;
        const bool apart = op.compound() && !is_called(op, find_callee(op.op));
        if (apart) {
            mark_live(op.parts, false);
            continue;
        }
        for (const ir::Port& port : op.inputs)
            live_.insert(port.operand.items.begin(), port.operand.items.end());
        if (const auto* const branch = std::get_if<ir::Branch>(&op.control)) {
            for (const ir::Branch::Arm& arm : branch->arms) {
                mark_graph(arm.condition);
                mark_graph(arm.consequent);
            }
            mark_graph(branch->alternative);
        }
        if (const auto* const loop = std::get_if<ir::Loop>(&op.control)) {
            for (const ir::GraphId part : {loop->pre_condition, loop->body, loop->post_condition})
                mark_graph(part);
        }
    }
}

}  // namespace lemma::sknd
