// SPDX-License-Identifier: Apache-2.0
#include "show/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "diag/utf8.h"
#include "show/columns.h"
#include "show/cost.h"
#include "show/types.h"

namespace lemma::show {

namespace {

constexpr size_t kMaxLines = 8;  // limit for one operation; a pack can have a million tensors

class TableWriter {
public:
    TableWriter(const ir::Program& program, Level level)
        : program_(program), level_(level), types_(program), costs_(program) {}

    std::string write();

private:
    std::string ports();
    void add_operations(const std::vector<ir::OpId>& ops, int depth);
    void add_operation(ir::OpId id, int depth);
    void add_bodies(const ir::Operation& op, int depth);
    std::vector<std::string> result_lines(const ir::Operation& op);
    std::string operation_text(const ir::Operation& op) const;
    std::string legend() const;
    std::string totals();

    const ir::Program& program_;
    Level level_;
    TypeNames types_;
    CostModel costs_;
    Columns rows_{{Align::Right,
                   Align::Left,
                   Align::Left,
                   Align::Left,
                   Align::Right,
                   Align::Right,
                   Align::Right}};
    size_t next_ = 0;
};

std::string indentation(int depth) { return std::string(static_cast<size_t>(depth) * 2, ' '); }

std::vector<std::string> limited(std::vector<std::string> lines) {
    if (lines.size() <= kMaxLines) return lines;
    const size_t more = lines.size() - kMaxLines + 1;
    lines.resize(kMaxLines - 1);
    lines.push_back(fmt::format("… {} more", more));
    return lines;
}

// `graph main`, then inputs, outputs and updated variables with their types.
std::string TableWriter::ports() {
    const ir::Graph& main = program_.graphs[program_.main];
    Columns columns({Align::Left, Align::Left, Align::Left});
    const auto add = [&](const char* role, const std::vector<ir::Port>& list) {
        for (const ir::Port& port : list) {
            const auto lines = limited(types_.operand(port.operand));
            columns.add({role, port.name, lines[0]});
            for (size_t i = 1; i < lines.size(); ++i) columns.add({"", "", lines[i]});
        }
    };
    add("input", main.inputs);
    add("output", main.outputs);
    for (const ir::Update& update : program_.updates) {
        const std::string& name = program_.tensors[update.variable].name;
        columns.add({"update", name, types_.tensor(update.variable)});
    }
    return fmt::format("graph {}\n\n{}", diag::printable(program_.name), columns.text());
}

std::vector<std::string> TableWriter::result_lines(const ir::Operation& op) {
    std::vector<std::string> lines;
    for (const ir::Port& port : op.outputs) {
        for (std::string& line : types_.operand(port.operand)) lines.push_back(std::move(line));
    }
    if (lines.empty()) lines.emplace_back();
    return limited(std::move(lines));
}

std::string TableWriter::operation_text(const ir::Operation& op) const {
    const auto* loop = std::get_if<ir::Loop>(&op.control);
    if (loop == nullptr) return op.op;
    const Amount count = iterations(program_, *loop);
    if (count.at_least) return op.op + ", any number of times";
    return fmt::format("{}, {}{} times", op.op, count.at_most ? "≤" : "", count.value);
}

void TableWriter::add_operation(ir::OpId id, int depth) {
    const ir::Operation& op = program_.operations[id];
    const Cost cost = costs_.cost(id);
    const auto lines = result_lines(op);
    rows_.add({std::to_string(next_++),
               indentation(depth) + operation_text(op),
               shown_name(program_, op),
               lines[0],
               count_text(cost.parameters),
               count_text(cost.macs),
               bytes_text(cost.output_bytes)});
    for (size_t i = 1; i < lines.size(); ++i) rows_.add({"", "", "", lines[i]});
    add_bodies(op, depth + 1);
}

void TableWriter::add_bodies(const ir::Operation& op, int depth) {
    for (const Body& body : bodies(op)) {
        const ir::Graph& graph = program_.graphs[body.graph];
        // A body without operations passes its inputs on.
        std::string handed;
        if (graph.operations.empty() && !graph.outputs.empty()) {
            const ir::Operand& first = graph.outputs.front().operand;
            if (!first.items.empty()) handed = program_.tensors[first.items.front()].name;
        }
        rows_.add({"", indentation(depth) + body.role, handed});
        add_operations(graph.operations, depth + 1);
    }
}

void TableWriter::add_operations(const std::vector<ir::OpId>& ops, int depth) {
    for (const ir::OpId id : shown_operations(program_, ops, level_)) add_operation(id, depth);
}

std::string TableWriter::legend() const {
    std::string text;
    for (const std::string& line : types_.legend()) {
        text += (text.empty() ? "where  " : "       ") + line + "\n";
    }
    return text.empty() ? "" : text + "\n";
}

std::string TableWriter::totals() {
    const Totals totals = costs_.totals();
    const auto or_zero = [](std::string text) { return text == "-" ? "0" : text; };
    Columns columns({Align::Left, Align::Right, Align::Left});
    const char* plural = totals.primitives == 1 ? "" : "s";
    columns.add({"operations",
                 std::to_string(totals.calls),
                 fmt::format("{} primitive{}", totals.primitives, plural)});
    const bool weights = totals.parameters.value > 0;
    columns.add({"parameters",
                 or_zero(count_text(totals.parameters)),
                 weights ? bytes_text(totals.weight_bytes) : ""});
    columns.add({"MACs", or_zero(count_text(totals.macs))});
    columns.add({"activations",
                 or_zero(bytes_text(totals.activation_bytes)),
                 "peak " + or_zero(bytes_text(totals.peak_bytes))});
    return columns.text();
}

std::string TableWriter::write() {
    const std::string head = ports();
    rows_.add({"#", "operation", "name", "result", "parameters", "MACs", "bytes"});
    rows_.add_rule();
    add_operations(program_.graphs[program_.main].operations, 0);
    rows_.add_rule();
    return head + "\n" + rows_.text() + "\n" + legend() + totals();
}

}  // namespace

std::vector<ir::OpId> shown_operations(const ir::Program& program,
                                       const std::vector<ir::OpId>& ops,
                                       Level level) {
    if (level == Level::Compound) return ops;
    std::vector<ir::OpId> leaves;
    for (const ir::OpId id : ops) {
        const ir::Operation& op = program.operations[id];
        if (!op.compound()) {
            leaves.push_back(id);
            continue;
        }
        const auto parts = shown_operations(program, op.parts, level);
        leaves.insert(leaves.end(), parts.begin(), parts.end());
    }
    return leaves;
}

std::string shown_name(const ir::Program& program, const ir::Operation& op) {
    if (!op.label.empty()) return op.label;
    for (const ir::Port& port : op.outputs) {
        if (!port.operand.items.empty()) return program.tensors[port.operand.items.front()].name;
    }
    return "";
}

std::string show_table(const ir::Program& program, Level level) {
    return TableWriter(program, level).write();
}

}  // namespace lemma::show
