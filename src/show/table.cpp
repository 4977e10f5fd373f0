// SPDX-License-Identifier: Apache-2.0
#include "show/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "diag/utf8.h"
#include "ir/program/display_name.h"
#include "show/cost.h"
#include "show/types.h"
#include "show/values.h"

namespace lemma::show {

namespace {

constexpr size_t kMaxLines = 8;  // limit for one operation; a pack can have a million tensors
constexpr size_t kMostSources = 6;
constexpr size_t kLeastAttributes = 32;  // columns that make a cut list of attributes worth showing

// Columns of the table that may be left out.
constexpr size_t kFrom = 3, kFirstCost = 5, kAttributes = 8;

std::vector<Column> table_columns() {
    return {Align::Right,
            {Align::Left, Cut::End, 12},
            {Align::Left, Cut::Middle, 12},
            {Align::Left, Cut::End, 6},
            {Align::Left, Cut::End, 16},
            Align::Right,
            Align::Right,
            Align::Right,
            {Align::Left, Cut::End, kLeastAttributes}};
}

class TableWriter {
public:
    TableWriter(const ir::Program& program, const TableOptions& options)
        : program_(program), options_(options), types_(program), costs_(program) {}

    std::string write();

private:
    std::string ports();
    void add_operations(const std::vector<ir::OpId>& ops, int depth);
    void add_operation(ir::OpId id, int depth);
    void add_details(const ir::Operation& op, int depth);
    void add_bodies(const ir::Operation& op, int depth);
    void add_makers(const ir::Operation& op, const std::string& number);
    std::vector<std::string> result_lines(const ir::Operation& op);
    std::vector<std::string> operand_texts(const std::vector<ir::Port>& ports);
    std::string sources(const ir::Operation& op) const;
    std::string legend() const;
    std::string totals();
    std::string fitted_rows();
    size_t limit() const { return options_.cut ? options_.width : kNoLimit; }

    const ir::Program& program_;
    const TableOptions& options_;
    TypeNames types_;
    CostModel costs_;
    Columns rows_{table_columns()};
    std::map<ir::TensorId, std::string> makers_;  // rows of operations, names of inputs
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
    Columns columns({Align::Left, {Align::Left, Cut::Middle, 12}, {Align::Left, Cut::End, 16}});
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
    return fmt::format(
        "graph {}\n\n{}", cut_text(program_.name, limit() - 6), columns.text(limit()));
}

std::vector<std::string> TableWriter::result_lines(const ir::Operation& op) {
    std::vector<std::string> lines;
    for (const ir::Port& port : op.outputs) {
        for (std::string& line : types_.operand(port.operand)) lines.push_back(std::move(line));
    }
    if (lines.empty()) lines.emplace_back();
    return limited(std::move(lines));
}

// The rows and inputs that the operation reads; constants and variables are left out.
std::string TableWriter::sources(const ir::Operation& op) const {
    std::vector<std::string> names;
    for (const ir::Port& port : op.inputs) {
        for (const ir::TensorId id : port.operand.items) {
            const auto found = makers_.find(id);
            if (found == makers_.end()) continue;
            if (std::ranges::find(names, found->second) != names.end()) continue;
            if (names.size() == kMostSources) return fmt::format("{}, …", fmt::join(names, ", "));
            names.push_back(found->second);
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

void TableWriter::add_makers(const ir::Operation& op, const std::string& number) {
    for (const ir::Port& port : op.outputs) {
        // Tensors that an operation passes on were made before.
        for (const ir::TensorId id : port.operand.items) makers_.try_emplace(id, number);
    }
    if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
        for (const ir::TensorId id : loop->carried) makers_.try_emplace(id, number);
        for (const ir::TensorId id : loop->items) makers_.try_emplace(id, number);
        if (loop->index.valid()) makers_.try_emplace(loop->index, number);
    }
}

// `x: input f32[4]`, a text for each tensor.
std::vector<std::string> TableWriter::operand_texts(const std::vector<ir::Port>& ports) {
    std::vector<std::string> texts;
    for (const ir::Port& port : ports) {
        if (port.operand.null()) continue;
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            if (texts.size() == kMaxLines) {
                texts.emplace_back("…");
                return texts;
            }
            const ir::TensorId id = port.operand.items[i];
            const std::string item = port.operand.packed ? fmt::format(".{}", i) : "";
            texts.push_back(fmt::format(
                "{}{}: {} {}", port.name, item, program_.tensors[id].name, types_.tensor(id)));
        }
    }
    return texts;
}

// The operands and attributes, in lines below the row.
void TableWriter::add_details(const ir::Operation& op, int depth) {
    const std::string margin = std::string(4, ' ') + indentation(depth);
    const size_t width = options_.width > margin.size() + 20 ? options_.width - margin.size() : 20;
    const auto add = [&](const char* mark, const std::vector<std::string>& parts) {
        for (const std::string& line : filled_lines(parts, width - 2)) {
            rows_.add_line(margin + mark + line);
            mark = "  ";
        }
    };
    add("← ", operand_texts(op.inputs));
    add("→ ", operand_texts(op.outputs));
    add("  ", attribute_texts(program_, op));
}

void TableWriter::add_operation(ir::OpId id, int depth) {
    const ir::Operation& op = program_.operations[id];
    const Cost cost = costs_.cost(id);
    const auto lines = result_lines(op);
    const std::string number = std::to_string(next_++);
    rows_.add({number,
               indentation(depth) + shown_operator(program_, op),
               shown_name(program_, op),
               sources(op),
               lines[0],
               count_text(cost.parameters),
               count_text(cost.macs),
               bytes_text(cost.output_bytes),
               options_.attributes
                   ? ""
                   : fmt::format("{}", fmt::join(attribute_texts(program_, op), ", "))});
    for (size_t i = 1; i < lines.size(); ++i) rows_.add({"", "", "", "", lines[i]});
    if (options_.attributes) add_details(op, depth);
    add_makers(op, number);
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
    for (const ir::OpId id : shown_operations(program_, ops, options_.level))
        add_operation(id, depth);
}

std::string TableWriter::legend() const {
    std::string text;
    for (const std::string& line : types_.legend()) {
        text += cut_text((text.empty() ? "where  " : "       ") + line, limit()) + "\n";
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
    return columns.text(limit());
}

// The table with the columns that fit: attributes if enough of them are seen, sources if all do. On
// a narrow terminal, costs are left out.
std::string TableWriter::fitted_rows() {
    Columns with = rows_, without = rows_;
    without.drop(kAttributes);
    const size_t narrow = without.width();
    const bool room = narrow + 2 + kLeastAttributes <= options_.width;
    if (!options_.attributes && (room || with.width() <= options_.width)) {
        for (size_t i = 0; i < kAttributes; ++i) with.keep(i);
        return with.text(options_.width);
    }
    const bool all = narrow <= options_.width;
    if (!all) without.drop(kFrom);
    without.narrow({.first = all ? kFirstCost : kFirstCost - 1, .count = 3}, limit());
    return without.text(limit());
}

std::string TableWriter::write() {
    const ir::Graph& main = program_.graphs[program_.main];
    const std::string head = ports();
    for (const ir::Port& port : main.inputs) {
        for (const ir::TensorId id : port.operand.items) makers_.try_emplace(id, port.name);
    }
    rows_.add({"#",
               "operation",
               "name",
               "from",
               "result",
               "parameters",
               "MACs",
               "bytes",
               options_.attributes ? "" : "attributes"});
    rows_.add_rule();
    add_operations(main.operations, 0);
    rows_.add_rule();
    return head + "\n" + fitted_rows() + "\n" + legend() + totals();
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

std::string shown_operator(const ir::Program& program, const ir::Operation& op) {
    const std::string name = ir::display_name(op.op);
    const auto* loop = std::get_if<ir::Loop>(&op.control);
    if (loop == nullptr) return name;
    const Amount count = iterations(program, *loop);
    if (count.at_least) return name + ", any number of times";
    return fmt::format("{}, {}{} times", name, count.at_most ? "≤" : "", count.value);
}

std::vector<std::string> filled_lines(const std::vector<std::string>& parts, size_t width) {
    std::vector<std::string> lines;
    size_t columns = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
        const std::string part = parts[i] + (i + 1 < parts.size() ? "," : "");
        const size_t needed = diag::printable_columns(part);
        if (lines.empty() || columns + 1 + needed > width) {
            lines.push_back(part);
            columns = needed;
        } else {
            lines.back() += " " + part;
            columns += 1 + needed;
        }
    }
    return lines;
}

std::string show_table(const ir::Program& program, const TableOptions& options) {
    return TableWriter(program, options).write();
}

}  // namespace lemma::show
