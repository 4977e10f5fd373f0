// SPDX-License-Identifier: Apache-2.0
#include "show/tree.h"

#include <fmt/format.h>

#include "show/cost.h"
#include "show/scopes.h"
#include "show/types.h"

namespace lemma::show {

namespace {

class TreeWriter {
public:
    TreeWriter(const ir::Program& program, const TreeOptions& options)
        : program_(program), options_(options), types_(program), costs_(program) {}

    std::string write();

private:
    // A node of the tree and where its children are.
    struct Place {
        std::string guide;  // in front of the children
        size_t depth = 0;
        std::vector<std::string> scope;
    };
    void add_list(const std::vector<ir::OpId>& ops, const Place& at);
    void add_scope(const ScopeItem& item, const Place& at, bool last);
    void add_operation(const ScopeItem& item, const Place& at, bool last);
    void add_row(const std::string& text,
                 const std::string& name,
                 const std::vector<ir::OpId>& ops);
    bool open(const Place& at) const { return at.depth + 1 < options_.depth; }
    Place below(const Place& at, bool last) const {
        return {at.guide + (last ? "   " : "│  "), at.depth + 1, at.scope};
    }
    std::string result(const ir::Operation& op);
    std::vector<ir::OpId> shown_parts(const ir::Operation& op) const;
    size_t inside(const ir::Operation& op) const;

    const ir::Program& program_;
    const TreeOptions& options_;
    TypeNames types_;
    CostModel costs_;
    Columns rows_{{{Align::Left, Cut::End, 24},
                   {Align::Left, Cut::Middle, 12},
                   {Align::Left, Cut::End, 16},
                   Align::Right,
                   Align::Right,
                   Align::Right}};
};

std::string branch(bool last) { return last ? "└─ " : "├─ "; }

std::string counted(size_t count) {
    return fmt::format(" … {} operation{}", count, count == 1 ? "" : "s");
}

// The first result; `, …` stands for others.
std::string TreeWriter::result(const ir::Operation& op) {
    if (op.outputs.empty()) return "";
    const auto types = types_.operand(op.outputs.front().operand);
    const bool more = op.outputs.size() > 1 || types.size() > 1;
    return types.front() + (more ? ", …" : "");
}

// The parts, unless they are steps of a standard operator.
std::vector<ir::OpId> TreeWriter::shown_parts(const ir::Operation& op) const {
    if (options_.level == Level::Primitive || op.parts.empty()) return op.parts;
    return in_model(options_.sources, program_.operations[op.parts.front()].span)
               ? op.parts
               : std::vector<ir::OpId>();
}

size_t TreeWriter::inside(const ir::Operation& op) const {
    size_t count = shown_parts(op).size();
    for (const Body& body : bodies(op)) count += program_.graphs[body.graph].operations.size();
    return count;
}

void TreeWriter::add_row(const std::string& text,
                         const std::string& name,
                         const std::vector<ir::OpId>& ops) {
    const Cost cost = costs_.cost(ops);
    rows_.add({text,
               name,
               ops.empty() ? "" : result(program_.operations[ops.back()]),
               count_text(cost.parameters),
               count_text(cost.macs),
               bytes_text(cost.output_bytes)});
}

void TreeWriter::add_scope(const ScopeItem& item, const Place& at, bool last) {
    const bool shown = open(at);
    add_row(at.guide + branch(last) + item.name + "/" + (shown ? "" : counted(item.ops.size())),
            "",
            item.ops);
    if (!shown) return;
    Place inside = below(at, last);
    inside.scope = item.scope;
    add_list(item.ops, inside);
}

void TreeWriter::add_operation(const ScopeItem& item, const Place& at, bool last) {
    const ir::Operation& op = program_.operations[item.ops.front()];
    const size_t count = inside(op);
    const bool shown = open(at);
    add_row(at.guide + branch(last) + shown_operator(program_, op) +
                (shown || count == 0 ? "" : counted(count)),
            item.name,
            item.ops);
    if (!shown) return;
    Place inner = below(at, last);
    inner.scope = path_of(shown_name(program_, op));
    add_list(shown_parts(op), inner);
    const auto all = bodies(op);
    for (size_t i = 0; i < all.size(); ++i) {
        const bool end = i + 1 == all.size();
        rows_.add({inner.guide + branch(end) + all[i].role});
        const auto& ops = program_.graphs[all[i].graph].operations;
        if (open(inner)) add_list(ops, below(inner, end));
    }
}

void TreeWriter::add_list(const std::vector<ir::OpId>& ops, const Place& at) {
    const auto items = scope_items(program_, ops, at.scope);
    for (size_t i = 0; i < items.size(); ++i) {
        const bool last = i + 1 == items.size();
        if (items[i].scope.empty()) {
            add_operation(items[i], at, last);
        } else {
            add_scope(items[i], at, last);
        }
    }
}

std::string TreeWriter::write() {
    const auto& ops = program_.graphs[program_.main].operations;
    rows_.add({"operation", "name", "result", "parameters", "MACs", "bytes"});
    rows_.add_rule();
    add_row(program_.name, "", ops);
    add_list(ops, {});
    rows_.narrow({.first = 3, .count = 3}, options_.width);
    std::string text = rows_.text(options_.width);
    const auto legend = types_.legend();
    if (!legend.empty()) text += "\n";
    for (size_t i = 0; i < legend.size(); ++i)
        text += cut_text((i == 0 ? "where  " : "       ") + legend[i], options_.width) + "\n";
    return text;
}

}  // namespace

std::string show_tree(const ir::Program& program, const TreeOptions& options) {
    return TreeWriter(program, options).write();
}

}  // namespace lemma::show
