// SPDX-License-Identifier: Apache-2.0
#include "sknd/export/writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "diag/source.h"
#include "sknd/print/printer.h"
#include "sknd/syntax/parser.h"

namespace lemma::sknd {

std::optional<ExportedModel> export_sknd(const ir::Program& program,
                                         const Package& package,
                                         Diagnostics& diag) {
    return Writer(program, package, diag).run();
}

Writer::Writer(const ir::Program& program, const Package& package, Diagnostics& diag)
    : program_(program), package_(package), diag_(diag) {
    for (const LoadedModule& module : package.modules) {
        identifiers_.reserve(module.name.substr(0, module.name.find('.')));
    }
}

std::optional<ExportedModel> Writer::run() {
    const size_t errors = diag_.error_count();
    ExportedModel model;
    // Names that users know are chosen first, internal names last.
    name_inputs_and_outputs();
    model.graph = identifiers_.make(program_.name.empty() ? "Model" : program_.name);
    name_symbols();
    find_live();
    operations(program_.graphs[program_.main].operations, 0);
    const std::vector<ir::Port>& outputs_of_main = program_.graphs[program_.main].outputs;
    for (size_t i = 0; i < outputs_of_main.size(); ++i) {
        const ir::Operand& operand = outputs_of_main[i].operand;
        const std::string& name = output_names_[i];
        const auto found = operand.packed ? names_.end() : names_.find(operand.items[0]);
        const bool direct = found != names_.end() && found->second == name;
        if (!direct) line(fmt::format("{} = {};", name, operand_text(operand)));
    }
    const std::string compose = std::move(body_);
    span_ = {};
    const std::string update = updates();
    const std::string quantize = quantizers();
    const std::string own = definitions();

    std::string text;
    for (const std::string& module : imports_) text += fmt::format("import {};\n", module);
    text += "\n" + own;
    text += fmt::format(
        "graph {} {{\n@input {{\n{}}}\n@output {{\n{}}}\n", model.graph, inputs(), outputs());
    if (!constants_.empty()) text += fmt::format("@constant {{\n{}}}\n", constants());
    if (!variables_.empty()) text += fmt::format("@variable {{\n{}}}\n", variables());
    text += fmt::format("@compose {{\n{}}}\n", compose);
    if (!update.empty()) text += fmt::format("@update {{\n{}}}\n", update);
    if (!quantize.empty()) text += fmt::format("@quantize {{\n{}}}\n", quantize);
    text += "}\n";
    if (diag_.error_count() > errors) return std::nullopt;

    // The printer makes the canonical layout.
    diag::SourceMap sources;
    Diagnostics trouble;
    const ParseLimits limits = {.max_tokens = SIZE_MAX};
    const diag::FileId file = sources.add("main.sknd", text);
    const Module module = parse_module(sources, file, limits, trouble);
    if (trouble.has_errors()) {
        diag_.error(
            Span{},
            DiagKind::BadArgument,
            fmt::format("the model cannot be written as SkriptND: {}", trouble.items()[0].message));
        return std::nullopt;
    }
    model.text = print(module, sources);
    for (const ir::TensorId id : variables_) model.variables.push_back({names_[id], id});
    model.variables.insert(model.variables.end(), inner_.begin(), inner_.end());
    return model;
}

void Writer::cannot(const ir::Operation* op, std::string message) {
    auto report = diag_.error(op ? op->span : span_, DiagKind::BadArgument, std::move(message));
    if (op && !op->label.empty()) report.note(fmt::format("in the operation `{}`", op->label));
}

// ---- Values -------------------------------------------------------------------------------------

const std::string& Writer::name_of(ir::TensorId id) {
    const auto found = names_.find(id);
    if (found != names_.end()) return found->second;
    const ir::Tensor& tensor = program_.tensors[id];
    if (unwritten_.contains(id)) {
        cannot(nullptr,
               fmt::format("`{}` is a constant by index symbols, which cannot be written yet",
                           tensor.name));
    }
    if (tensor.role == ir::TensorRole::Constant) constants_.push_back(id);
    if (tensor.role == ir::TensorRole::Variable) variables_.push_back(id);
    return names_[id] = identifiers_.make(tensor.name);
}

std::string Writer::tensor_text(ir::TensorId id) {
    const ir::Tensor& tensor = program_.tensors[id];
    const bool number =
        tensor.role == ir::TensorRole::Constant && tensor.shape.empty() && tensor.items.size() == 1;
    return number ? scalar_text(tensor.items[0]) : name_of(id);
}

std::string Writer::operand_text(const ir::Operand& operand) {
    if (operand.null()) return "~";
    if (!operand.packed) return tensor_text(operand.items[0]);
    const auto whole = names_.find(operand.items.empty() ? ir::TensorId{} : operand.items[0]);
    if (operand.length.valid() && whole != names_.end()) return whole->second;
    std::vector<std::string> items;
    for (const ir::TensorId id : operand.items) items.push_back(tensor_text(id));
    return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string Writer::scalar_text(const ir::Scalar& scalar) {
    if (const auto* id = std::get_if<ir::SymId>(&scalar)) return symbol_text(*id);
    if (const auto* number = std::get_if<int64_t>(&scalar)) return std::to_string(*number);
    if (const auto* flag = std::get_if<bool>(&scalar)) return *flag ? "true" : "false";
    if (const auto* text = std::get_if<std::string>(&scalar)) return ir::quoted_text(*text);
    if (std::isnan(std::get<double>(scalar)))
        cannot(nullptr, "SkriptND has no literal for what is not a number");
    return ir::real_text(std::get<double>(scalar));
}

std::string Writer::value_text(const ir::Value& value) {
    if (const auto* scalar = std::get_if<ir::Scalar>(&value)) return scalar_text(*scalar);
    std::vector<std::string> items;
    for (const ir::Scalar& item : std::get<ir::Pack>(value).items) {
        items.push_back(scalar_text(item));
    }
    return fmt::format("[{}]", fmt::join(items, ", "));
}

// Extents are polynomials over the extents of the inputs, with divisions, minima and maxima.
std::string Writer::symbol_text(ir::SymId id) {
    const ir::SymNode node = program_.symbols.node(id);
    const auto joined = [&](std::string_view op) {
        std::vector<std::string> parts;
        for (const ir::SymId operand : node.operands) parts.push_back(symbol_text(operand));
        return fmt::format("({})", fmt::join(parts, op));
    };
    switch (node.kind) {
        case ir::SymKind::Constant:
            return program_.symbols.text(id);
        case ir::SymKind::Symbol: {
            const auto found = symbols_.find(id);
            if (found != symbols_.end()) return found->second;
            break;
        }
        case ir::SymKind::Polynomial: {
            std::vector<std::string> terms;
            for (const ir::SymTerm& term : node.terms) {
                std::string text = fmt::format("{}", term.coefficient);
                for (const ir::SymFactor& factor : term.factors) {
                    for (uint32_t i = 0; i < factor.power; ++i) {
                        text += " * " + symbol_text(factor.atom);
                    }
                }
                terms.push_back(std::move(text));
            }
            return fmt::format("({})", fmt::join(terms, " + "));
        }
        case ir::SymKind::Operation:
            if (node.op == ir::SymOp::Div) return joined(" / ");
            if (node.op == ir::SymOp::Mod) return joined(" % ");
            if (node.op == ir::SymOp::Min) return joined(" << ");
            if (node.op == ir::SymOp::Max) return joined(" >> ");
            break;
    }
    cannot(nullptr,
           fmt::format("the extent `{}`, which only a run tells, cannot be written in SkriptND",
                       program_.symbols.text(id)));
    return "0";
}

}  // namespace lemma::sknd
