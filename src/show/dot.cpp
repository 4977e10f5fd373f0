// SPDX-License-Identifier: Apache-2.0
#include "show/dot.h"

#include <fmt/format.h>

#include <map>

#include "diag/utf8.h"
#include "ir/program/display_name.h"
#include "show/cost.h"
#include "show/types.h"

namespace lemma::show {

namespace {

std::string quoted(std::string_view text) {
    std::string result = "\"";
    while (true) {
        const size_t end = text.find('\n');
        for (const char c : diag::printable(text.substr(0, end))) {
            if (c == '"' || c == '\\') result += '\\';
            result += c;
        }
        if (end == std::string_view::npos) return result + '"';
        result += "\\n";
        text.remove_prefix(end + 1);
    }
}

class DotWriter {
public:
    DotWriter(const ir::Program& program, Level level)
        : program_(program), level_(level), types_(program), costs_(program) {}

    std::string write();

private:
    void add_operations(const std::vector<ir::OpId>& ops);
    void add_operation(ir::OpId id);
    void add_control(ir::OpId id, const ir::Operation& op, const std::string& node);
    void add_loop_entry(const ir::Operation& op, const ir::Loop& loop, const std::string& node);
    void add_node(const std::string& node, const std::string& label, const std::string& style);
    // Edges from the operations that make the tensors; constants and variables have none.
    void add_edges(const ir::Operand& operand,
                   const std::string& node,
                   const std::string& role = "");
    void add_made(const ir::Operand& operand, const std::string& node);
    std::string label(ir::OpId id) const;
    std::string cost_line(ir::OpId id);
    void line(const std::string& text) { text_ += std::string(depth_ * 2, ' ') + text + "\n"; }

    const ir::Program& program_;
    Level level_;
    TypeNames types_;
    CostModel costs_;
    std::map<ir::TensorId, std::string> makers_;
    std::string text_;
    std::string edges_;  // after the nodes: an edge inside a frame would pull its ends in
    size_t depth_ = 1;
    size_t next_ = 0;
};

void DotWriter::add_node(const std::string& node,
                         const std::string& label,
                         const std::string& style) {
    line(fmt::format("{} [label={}{}];", node, quoted(label), style));
}

void DotWriter::add_made(const ir::Operand& operand, const std::string& node) {
    // Tensors that an operation passes on were made before.
    for (const ir::TensorId id : operand.items) makers_.try_emplace(id, node);
}

void DotWriter::add_edges(const ir::Operand& operand,
                          const std::string& node,
                          const std::string& role) {
    // Tensors of a pack with the same origin share one edge.
    std::map<std::string, size_t> counts;
    std::map<std::string, ir::TensorId> firsts;
    for (const ir::TensorId id : operand.items) {
        const auto maker = makers_.find(id);
        if (maker == makers_.end()) continue;
        ++counts[maker->second];
        firsts.try_emplace(maker->second, id);
    }
    for (const auto& [maker, count] : counts) {
        std::string type = types_.tensor(firsts[maker]);
        if (operand.packed) type += fmt::format("..({})", count);
        if (!role.empty()) type = role + "\n" + type;
        edges_ += fmt::format("  {} -> {} [label={}];\n", maker, node, quoted(type));
    }
}

std::string DotWriter::cost_line(ir::OpId id) {
    const Cost cost = costs_.cost(id);
    std::string text;
    if (cost.parameters.value > 0) text = count_text(cost.parameters) + " parameters";
    if (cost.macs.value > 0) {
        text += fmt::format("{}{} MACs", text.empty() ? "" : ", ", count_text(cost.macs));
    }
    return text.empty() ? "" : "\n" + text;
}

std::string DotWriter::label(ir::OpId id) const {
    const ir::Operation& op = program_.operations[id];
    const std::string name = shown_name(program_, op);
    const std::string title = ir::display_name(op.op);
    return name.empty() ? title : title + "\n" + name;
}

void DotWriter::add_operation(ir::OpId id) {
    const ir::Operation& op = program_.operations[id];
    const std::string node = fmt::format("op{}", next_++);
    if (op.kind == ir::OperationKind::Control) {
        add_control(id, op, node);
    } else {
        add_node(node, label(id) + cost_line(id), "");
        for (const ir::Port& port : op.inputs) add_edges(port.operand, node);
    }
    for (const ir::Port& port : op.outputs) add_made(port.operand, node);
}

// The inputs of a loop's body.
void DotWriter::add_loop_entry(const ir::Operation& op,
                               const ir::Loop& loop,
                               const std::string& node) {
    add_node(node + "_in", "loop", ", shape=oval");
    for (const ir::Port& port : op.inputs) add_edges(port.operand, node + "_in");
    for (const ir::TensorId id : loop.carried) makers_[id] = node + "_in";
    for (const ir::TensorId id : loop.items) makers_[id] = node + "_in";
    if (loop.index.valid()) makers_[loop.index] = node + "_in";
}

// A frame with a frame for each body. The operation is the node where their results meet.
void DotWriter::add_control(ir::OpId id, const ir::Operation& op, const std::string& node) {
    line(fmt::format("subgraph cluster_{} {{", node));
    ++depth_;
    std::string title = op.op;
    if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
        const Amount count = iterations(program_, *loop);
        if (!count.at_least) title += ", " + count_text(count) + " times";
        add_loop_entry(op, *loop, node);
    }
    line(fmt::format("label={};", quoted(title)));
    size_t number = 0;
    for (const Body& body : bodies(op)) {
        const ir::Graph& graph = program_.graphs[body.graph];
        if (!graph.operations.empty()) {
            line(fmt::format("subgraph cluster_{}_{} {{", node, number++));
            ++depth_;
            line(fmt::format("label={};", quoted(body.role)));
            add_operations(graph.operations);
            --depth_;
            line("}");
        }
        for (const ir::Port& port : graph.outputs) add_edges(port.operand, node, body.role);
    }
    add_node(node, label(id) + cost_line(id), ", shape=oval");
    --depth_;
    line("}");
}

void DotWriter::add_operations(const std::vector<ir::OpId>& ops) {
    for (const ir::OpId id : shown_operations(program_, ops, level_)) add_operation(id);
}

std::string DotWriter::write() {
    const ir::Graph& main = program_.graphs[program_.main];
    const auto type_lines = [&](const ir::Operand& operand) {
        return fmt::format("{}", fmt::join(types_.operand(operand), "\n"));
    };
    for (size_t i = 0; i < main.inputs.size(); ++i) {
        const ir::Port& port = main.inputs[i];
        const std::string node = fmt::format("input{}", i);
        add_node(node, port.name + "\n" + type_lines(port.operand), ", shape=oval");
        add_made(port.operand, node);
    }
    add_operations(main.operations);
    for (size_t i = 0; i < main.outputs.size(); ++i) {
        const ir::Port& port = main.outputs[i];
        const std::string node = fmt::format("output{}", i);
        add_node(node, port.name, ", shape=oval");
        add_edges(port.operand, node);
    }
    return fmt::format(
        "digraph {} {{\n  node [shape=box];\n{}{}}}\n", quoted(program_.name), text_, edges_);
}

}  // namespace

std::string show_dot(const ir::Program& program, Level level) {
    return DotWriter(program, level).write();
}

}  // namespace lemma::show
