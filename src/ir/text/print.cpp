// SPDX-License-Identifier: Apache-2.0
#include "ir/text/print.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/match.h"
#include "ir/text/print_formula.h"
#include "ir/text/print_impl.h"
#include "ir/text/text_words.h"

namespace lemma::ir {

std::string print(const Program& program) { return ProgramPrinter(program).run(); }

ProgramPrinter::ProgramPrinter(const Program& program)
    : program_(program), layout_(program), scope_(program.symbols) {}

std::string ProgramPrinter::run() {
    line(fmt::format("program {}", name_text(program_.name)));
    print_symbols();
    count_uses();
    print_lets();
    blank();
    for (const TensorId id : layout_.top()) {
        const Tensor& tensor = program_.tensors[id];
        line(fmt::format("{} {}: {}{}",
                         role_text(tensor.role),
                         layout_.handle(id),
                         type_text(tensor),
                         items_text(tensor)));
    }
    print_assertions(program_.assertions);
    blank();
    if (program_.main.valid()) print_graph("graph", "", program_.main, 0);
    blank();
    for (const Update& update : program_.updates)
        line(fmt::format(
            "update {} = {}", layout_.handle(update.variable), layout_.handle(update.value)));
    return std::move(out_);
}

void ProgramPrinter::line(std::string_view text) {
    if (blank_ && !out_.empty()) out_ += '\n';
    blank_ = false;
    out_.append(static_cast<size_t>(indent_) * 4, ' ');
    out_ += text;
    out_ += '\n';
}

// ---- symbols and lets -------------------------------------------------------------------------

void ProgramPrinter::print_symbols() {
    std::unordered_set<SymId, IdHash> seen, local;
    std::vector<SymId> open, found;
    const auto visit = [&](SymId id) {
        if (seen.insert(id).second) open.push_back(id);
    };
    for_each_root(visit);
    for (const Operation& op : program_.operations)
        for (const Formula& formula : op.formulas) {
            for_each_root(formula, visit);
            for (const Bound& bound : formula.bounds) local.insert(bound.index);
            for (const Access& access : formula.accesses) local.insert(access.symbol);
        }
    while (!open.empty()) {
        const SymId id = open.back();
        open.pop_back();
        const SymNode node = program_.symbols.node(id);
        if (node.kind == SymKind::Symbol && !local.contains(id)) found.push_back(id);
        for (const SymId operand : node.operands) visit(operand);
        for (const SymTerm& term : node.terms)
            for (const SymFactor& factor : term.factors) visit(factor.atom);
    }
    std::ranges::sort(found);
    blank();
    for (const SymId id : found) print_symbol(id);
}

void ProgramPrinter::print_symbol(SymId id) {
    const SymNode node = program_.symbols.node(id);
    const std::string word = words_.choose(node.name, "d");
    scope_.add_symbol(id, word);
    std::string text = "symbol " + word;
    if (word != node.name) text += " " + quoted(node.name);
    text += fmt::format(": {}", scalar_type_text(node.type));
    const Interval range = program_.symbols.range(id);
    const bool any = range.low == INT64_MIN && range.high == INT64_MAX;
    if (node.type == ScalarType::Int && !any) text += " in " + range_text(range);
    line(text);
}

void ProgramPrinter::count_uses() {
    for_each_root([&](SymId id) { scope_.use(id); });
    const FormulaPrinter formulas(program_, handles(), scope_, words_);
    for (const Operation& op : program_.operations)
        for (const Formula& formula : op.formulas) formulas.count(formula);
    scope_.choose_lets();
}

void ProgramPrinter::print_lets() {
    std::vector<SymId> roots;
    for_each_root([&](SymId id) { roots.push_back(id); });
    for (const Operation& op : program_.operations)
        for (const Formula& formula : op.formulas)
            for_each_root(formula, [&](SymId id) { roots.push_back(id); });
    blank();
    for (const SymId id : scope_.take_lets(roots)) {
        const std::string text = scope_.definition(id);
        const std::string word = words_.next("e");
        scope_.name_let(id, word);
        line(fmt::format("let {} = {}", word, text));
    }
}

// ---- graphs -----------------------------------------------------------------------------------

void ProgramPrinter::print_graph(std::string_view word,
                                 std::string_view usual_name,
                                 GraphId id,
                                 int depth) {
    const Graph& graph = program_.graphs[id];
    std::string head(word);
    if (usual_name.empty())
        head += " " + name_text(graph.name);
    else if (graph.name != usual_name)
        head += " " + quoted(graph.name);
    if (!graph.inputs.empty()) head += " (" + ports_text(graph.inputs) + ")";
    line(head + " {");
    ++indent_;
    for (const OpId op : graph.operations) print_operation(op, depth);
    if (!graph.outputs.empty()) line("yield " + ports_text(graph.outputs));
    --indent_;
    line("}");
}

void ProgramPrinter::print_operation(OpId id, int depth) {
    if (depth > kMaxOperationDepth || !printed_.insert(id).second)
        return line(fmt::format("# operation {} again, or too deep", id.value));
    const Operation& op = program_.operations[id];
    std::string head;
    for (const Port& port : op.outputs) {
        if (!head.empty()) head += ", ";
        head += fmt::format("{} {}", name_text(port.name), definition_text(port.operand));
    }
    if (!op.outputs.empty()) head += " = ";
    head += operator_text(op.op);
    if (!op.label.empty()) head += " " + quoted(op.label);
    for (const auto& [name, dtype] : op.dtypes)
        head += fmt::format("{}{} = {}",
                            &name == &op.dtypes.front().first ? " <" : ", ",
                            name_text(name),
                            tensor::dtype_name(dtype));
    if (!op.dtypes.empty()) head += ">";
    if (!op.attributes.empty()) head += " " + attributes_text(op.attributes);
    head += " (" + ports_text(op.inputs) + ")";
    if (kind_from_body(op) != op.kind) head += fmt::format(" {}", kind_text(op.kind));
    if (const auto* loop = std::get_if<Loop>(&op.control)) head += over_text(*loop);
    const bool body = !op.assertions.empty() || kind_from_body(op);
    line(body ? head + " {" : head);
    if (!body) return;
    ++indent_;
    print_body(op, depth + 1);
    --indent_;
    line("}");
}

void ProgramPrinter::print_body(const Operation& op, int depth) {
    print_assertions(op.assertions);
    const FormulaPrinter formulas(program_, handles(), scope_, words_);
    for (const Formula& formula : op.formulas)
        for (const std::string& text : formulas.lines(formula)) line(text);
    for (const OpId part : op.parts) print_operation(part, depth);
    match(
        op.control,
        [](std::monostate) {},
        [&](const Branch& branch) {
            for (const Branch::Arm& arm : branch.arms) {
                print_graph("condition", "condition", arm.condition, depth);
                print_graph("then", "then", arm.consequent, depth);
            }
            if (branch.alternative.valid()) print_graph("else", "else", branch.alternative, depth);
        },
        [&](const Loop& loop) {
            if (loop.pre_condition.valid())
                print_graph("while", "while", loop.pre_condition, depth);
            if (loop.body.valid()) print_graph("body", "body", loop.body, depth);
            if (loop.post_condition.valid())
                print_graph("while", "while", loop.post_condition, depth);
        });
}

void ProgramPrinter::print_assertions(const std::vector<Assertion>& assertions) {
    for (const Assertion& assertion : assertions)
        line(fmt::format(
            "require {}, {}", scope_.text(assertion.condition), quoted(assertion.message)));
}

}  // namespace lemma::ir
