// SPDX-License-Identifier: Apache-2.0
#include "ir/text/print_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/match.h"
#include "ir/text/text_words.h"

namespace lemma::ir {

PrintLayout::PrintLayout(const Program& program)
    : program_(program), places_(program.tensors.size()), handles_(program.tensors.size()) {
    walk(program.main, 0);
    name_tensors();
}

void PrintLayout::define(TensorId id) {
    if (places_[id] != Place::Unseen) return;
    const bool intermediate = program_.tensors[id].role == TensorRole::Intermediate;
    places_[id] = intermediate ? Place::Inline : Place::Top;
    if (intermediate) inline_.push_back(id);
}

// A tensor that is read before it is made is declared at the top.
void PrintLayout::read(TensorId id) {
    if (id.valid() && places_[id] == Place::Unseen) places_[id] = Place::Top;
}

void PrintLayout::read(const Operand& operand) {
    for (const TensorId id : operand.items) read(id);
}

void PrintLayout::walk(const std::vector<OpId>& operations, int depth) {
    for (const OpId op : operations) walk(op, depth);
}

// In the order of the text.
void PrintLayout::walk(OpId id, int depth) {
    if (depth > kMaxOperationDepth) return;
    const Operation& op = program_.operations[id];
    for (const Port& port : op.outputs)
        for (const TensorId item : port.operand.items) define(item);
    for (const Port& port : op.inputs) read(port.operand);
    if (const auto* loop = std::get_if<Loop>(&op.control)) {
        for (const TensorId item : loop->carried) define(item);
        for (const TensorId item : loop->items) define(item);
        if (loop->index.valid()) define(loop->index);
        read(loop->dynamic_count);
        for (const GraphId graph : {loop->pre_condition, loop->body, loop->post_condition})
            walk(graph, depth + 1);
    }
    if (const auto* branch = std::get_if<Branch>(&op.control)) {
        for (const Branch::Arm& arm : branch->arms) {
            walk(arm.condition, depth + 1);
            walk(arm.consequent, depth + 1);
        }
        walk(branch->alternative, depth + 1);
    }
    for (const Formula& formula : op.formulas) {
        for (const Access& access : formula.accesses) read(access.tensor);
        for (const Write& write : formula.writes) read(write.tensor);
    }
    walk(op.parts, depth + 1);
}

void PrintLayout::walk(GraphId id, int depth) {
    if (!id.valid()) return;
    const Graph& graph = program_.graphs[id];
    for (const Port& port : graph.inputs) read(port.operand);
    walk(graph.operations, depth);
    for (const Port& port : graph.outputs) read(port.operand);
}

void PrintLayout::name_tensors() {
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<TensorId>(i);
        if (!is_inline(id)) top_.push_back(id);
    }
    std::unordered_map<std::string_view, int> seen;
    const auto give = [&](TensorId id) {
        const std::string& name = program_.tensors[id].name;
        const bool plain = !name.empty() && std::ranges::all_of(name, is_tensor_char);
        std::string handle = "%" + (plain ? name : quoted(name));
        const int count = ++seen[name];
        if (count > 1) handle += fmt::format("~{}", count);
        handles_[id] = std::move(handle);
    };
    for (const TensorId id : top_) give(id);
    for (const TensorId id : inline_) give(id);
}

}  // namespace lemma::ir
