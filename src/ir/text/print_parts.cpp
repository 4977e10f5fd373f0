// SPDX-License-Identifier: Apache-2.0
// The parts of statements: types, values, ports.
#include <fmt/format.h>

#include "base/match.h"
#include "ir/text/print_impl.h"
#include "ir/text/text_words.h"

namespace lemma::ir {

// ---- roots ------------------------------------------------------------------------------------

void ProgramPrinter::for_each_root(const Value& value, const Visit& visit) const {
    const auto scalar = [&](const Scalar& item) {
        if (const auto* id = std::get_if<SymId>(&item)) visit(*id);
    };
    match(
        value,
        [](Null) {},
        scalar,
        [&](const Pack& pack) {
            for (const Scalar& item : pack.items) scalar(item);
            if (pack.items.empty() && pack.uniform) scalar(*pack.uniform);
        });
}

void ProgramPrinter::for_each_root(const std::vector<Port>& ports, const Visit& visit) const {
    for (const Port& port : ports)
        if (port.operand.length.valid()) visit(port.operand.length);
}

void ProgramPrinter::for_each_root(const Visit& visit) const {
    for (const Tensor& tensor : program_.tensors) {
        for (const SymId extent : tensor.shape) visit(extent);
        for (const Scalar& item : tensor.items) for_each_root(Value(item), visit);
        if (!tensor.quantizer) continue;
        for (const Attribute& attribute : tensor.quantizer->attributes)
            for_each_root(attribute.value, visit);
    }
    for (const Operation& op : program_.operations) {
        for (const Attribute& attribute : op.attributes) for_each_root(attribute.value, visit);
        for_each_root(op.inputs, visit);
        for_each_root(op.outputs, visit);
        for (const Assertion& assertion : op.assertions) visit(assertion.condition);
        const auto* loop = std::get_if<Loop>(&op.control);
        if (loop && loop->static_count.valid()) visit(loop->static_count);
        for (const Formula& formula : op.formulas)
            if (formula.counter.valid()) visit(formula.counter);
    }
    for (const Graph& graph : program_.graphs) {
        for_each_root(graph.inputs, visit);
        for_each_root(graph.outputs, visit);
    }
    for (const Assertion& assertion : program_.assertions) visit(assertion.condition);
}

void ProgramPrinter::for_each_root(const Formula& formula, const Visit& visit) const {
    const auto indices = [&](const std::vector<IndexTerm>& terms) {
        for (const IndexTerm& term : terms)
            for (const SymId part : {term.value, term.below, term.above})
                if (part.valid()) visit(part);
    };
    for (const Bound& bound : formula.bounds) visit(bound.extent);
    for (const Access& access : formula.accesses) indices(access.indices);
    for (const Write& write : formula.writes) {
        visit(write.value);
        indices(write.indices);
    }
    if (formula.condition.valid()) visit(formula.condition);
}

// ---- types and values -------------------------------------------------------------------------

std::string ProgramPrinter::type_text(const Tensor& tensor) {
    std::string text = fmt::format("{}[", tensor::dtype_name(tensor.dtype));
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
        if (i > 0) text += ", ";
        text += scope_.text(tensor.shape[i]);
    }
    text += ']';
    if (!tensor.quantizer) return text;
    text += " quantize " + operator_text(tensor.quantizer->op);
    if (!tensor.quantizer->attributes.empty())
        text += " " + attributes_text(tensor.quantizer->attributes);
    return text;
}

// A single item stands for all elements and is written alone.
std::string ProgramPrinter::items_text(const Tensor& tensor) {
    if (tensor.role == TensorRole::Intermediate) return "";
    if (tensor.items.size() == 1) return " = " + scalar_text(tensor.items[0]);
    if (tensor.items.empty() && tensor.role != TensorRole::Constant) return "";
    std::string text = " = [";
    for (size_t i = 0; i < tensor.items.size(); ++i) {
        if (i > 0) text += ", ";
        text += scalar_text(tensor.items[i]);
    }
    return text + "]";
}

std::string ProgramPrinter::scalar_text(const Scalar& scalar) {
    return match(
        scalar,
        [](int64_t value) { return fmt::to_string(value); },
        [](double value) { return number_text(value); },
        [](bool value) { return std::string(value ? "true" : "false"); },
        [](const std::string& value) { return quoted(value); },
        [&](SymId id) {
            const std::string text = scope_.text(id);
            return program_.symbols.is_constant(id) ? "sym(" + text + ")" : text;
        });
}

std::string ProgramPrinter::value_text(const Value& value) {
    return match(
        value,
        [](Null) { return std::string("~"); },
        [&](const Scalar& scalar) { return scalar_text(scalar); },
        [&](const Pack& pack) {
            if (pack.items.empty() && pack.uniform)
                return "[" + scalar_text(*pack.uniform) + " ..(0)]";
            std::string text = "[";
            if (pack.items.empty() && pack.type)
                text = fmt::format("{}[", scalar_type_text(*pack.type));
            for (size_t i = 0; i < pack.items.size(); ++i) {
                if (i > 0) text += ", ";
                text += scalar_text(pack.items[i]);
            }
            return text + "]";
        });
}

std::string ProgramPrinter::attributes_text(const std::vector<Attribute>& attributes) {
    std::string text;
    for (const Attribute& attribute : attributes)
        text += fmt::format("{}{} = {}",
                            text.empty() ? "" : ", ",
                            name_text(attribute.name),
                            value_text(attribute.value));
    return "{" + text + "}";
}

// ---- ports ------------------------------------------------------------------------------------

std::string ProgramPrinter::operand_text(const Operand& operand,
                                         const std::function<std::string(TensorId)>& item_text) {
    if (operand.null()) return "~";
    if (!operand.packed) return item_text(operand.items[0]);
    std::string text = "[";
    for (size_t i = 0; i < operand.items.size(); ++i) {
        if (i > 0) text += ", ";
        text += item_text(operand.items[i]);
    }
    if (operand.length.valid()) text += "; " + scope_.text(operand.length);
    return text + "]";
}

std::string ProgramPrinter::definition_text(TensorId id) {
    const std::string& handle = layout_.handle(id);
    if (!layout_.is_inline(id) || !defined_.insert(id).second) return handle;
    const Tensor& tensor = program_.tensors[id];
    return fmt::format("{}: {}{}", handle, type_text(tensor), items_text(tensor));
}

std::string ProgramPrinter::definition_text(const Operand& operand) {
    return operand_text(operand, [&](TensorId id) { return definition_text(id); });
}

std::string ProgramPrinter::ports_text(const std::vector<Port>& ports) {
    std::string text;
    for (const Port& port : ports)
        text += fmt::format(
            "{}{} = {}",
            text.empty() ? "" : ", ",
            name_text(port.name),
            operand_text(port.operand, [&](TensorId id) { return layout_.handle(id); }));
    return text;
}

std::string ProgramPrinter::over_text(const Loop& loop) {
    std::string text;
    const auto add = [&](std::string_view word, const std::string& value) {
        text += fmt::format("{}{} {}", text.empty() ? " over (" : ", ", word, value);
    };
    if (!loop.carried.empty()) add("carry", definition_text(Operand{true, loop.carried, {}}));
    if (!loop.items.empty()) add("scan", definition_text(Operand{true, loop.items, {}}));
    if (loop.index.valid()) add("index", definition_text(loop.index));
    if (loop.static_count.valid()) add("count", scope_.text(loop.static_count));
    if (loop.dynamic_count.valid()) add("times", layout_.handle(loop.dynamic_count));
    return text.empty() ? "" : text + ")";
}

}  // namespace lemma::ir
