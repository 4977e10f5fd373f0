// SPDX-License-Identifier: Apache-2.0
#include "lsp/features/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/match.h"
#include "show/types.h"
#include "sknd/types/signature.h"

namespace lemma::lsp {

namespace {

std::vector<const ir::Program*> programs_of(const Analysis& analysis) {
    std::vector<const ir::Program*> programs;
    for (const ir::Program& program : analysis.model.programs) programs.push_back(&program);
    if (analysis.model.imported.program) programs.push_back(&*analysis.model.imported.program);
    return programs;
}

std::string scalar_text(const ir::Program& program, const ir::Scalar& item) {
    return match(
        item,
        [](int64_t value) { return fmt::format("{}", value); },
        [](double value) { return fmt::format("{}", value); },
        [](bool value) { return std::string(value ? "true" : "false"); },
        [](const std::string& value) { return fmt::format("'{}'", value); },
        [&](ir::SymId id) { return program.symbols.text(id); });
}

std::string value_text(const ir::Program& program, const ir::Value& value) {
    constexpr size_t kMaxItems = 16;
    return match(
        value,
        [](ir::Null) { return std::string("~"); },
        [&](const ir::Scalar& item) { return scalar_text(program, item); },
        [&](const ir::Pack& pack) {
            std::vector<std::string> items;
            for (const ir::Scalar& item : pack.items) {
                if (items.size() == kMaxItems) {
                    items.emplace_back("…");
                    break;
                }
                items.push_back(scalar_text(program, item));
            }
            return fmt::format("[{}]", fmt::join(items, ", "));
        });
}

std::vector<std::pair<std::string, std::string>> ports_text(const ir::Program& program,
                                                            const std::vector<ir::Port>& ports) {
    std::vector<std::pair<std::string, std::string>> texts;
    show::TypeNames names(program);
    for (const ir::Port& port : ports) {
        const std::string type =
            port.operand.null() ? "~"
                                : fmt::format("{}", fmt::join(names.operand(port.operand), ", "));
        texts.emplace_back(port.name, type);
    }
    return texts;
}

CallFacts facts_of(const ir::Program& program, const ir::Operation& operation) {
    CallFacts facts{.op = operation.op};
    for (const auto& [name, dtype] : operation.dtypes)
        facts.types.emplace_back(name, tensor::dtype_name(dtype));
    for (const ir::Attribute& attribute : operation.attributes)
        facts.attributes.emplace_back(attribute.name, value_text(program, attribute.value));
    facts.inputs = ports_text(program, operation.inputs);
    facts.outputs = ports_text(program, operation.outputs);
    return facts;
}

}  // namespace

TensorTypes::TensorTypes(const Analysis& analysis, std::string_view graph) {
    for (const ir::Program* program : programs_of(analysis)) {
        if (program->name == graph && !program_) program_ = program;
    }
    if (!program_) return;
    for (const auto& [name, id] : analysis.model.imported.tensors)
        operands_.try_emplace(name, ir::Operand::single(id));
    for (uint32_t i = 0; i < program_->tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        operands_.try_emplace(program_->tensors[id].name, ir::Operand::single(id));
    }
    // A port may have another name than its tensor.
    for (const ir::Graph& part : program_->graphs) {
        for (const ir::Port& port : part.outputs) operands_.try_emplace(port.name, port.operand);
    }
}

std::optional<std::string> TensorTypes::find(std::string_view tensor) const {
    const auto found = operands_.find(tensor);
    if (found == operands_.end() || found->second.null()) return std::nullopt;
    show::TypeNames names(*program_);
    return fmt::format("{}", fmt::join(names.operand(found->second), ", "));
}

std::optional<std::string> expression_type(const Analysis& analysis, TextSpan place) {
    const auto& model = analysis.model.sknd;
    if (!model || model->package.modules.empty() || model->types.modules.empty())
        return std::nullopt;
    const sknd::Module& module = model->package.modules[0].module;
    const auto& types = model->types.modules[0].types;
    for (uint32_t i = 0; i < module.exprs.size() && i < types.size(); ++i) {
        const auto id = make_id<sknd::ExprId>(i);
        const Span span = module.exprs[id].span;
        if (span.begin != place.begin || span.end != place.end || span.file != analysis.file)
            continue;
        const sknd::Type& type = types[id];
        if (type.bad()) continue;
        for (const sknd::Definition& definition : module.definitions) {
            if (definition.span.begin > span.begin || span.end > definition.span.end) continue;
            return sknd::type_text(type, sknd::make_signature(module, definition).generics);
        }
    }
    return std::nullopt;
}

std::optional<CallFacts> call_facts(const Analysis& analysis, uint32_t offset) {
    const ir::Operation* best = nullptr;
    const ir::Program* owner = nullptr;
    for (const ir::Program* program : programs_of(analysis)) {
        for (const ir::Operation& operation : program->operations) {
            const Span span = operation.span;
            if (span.file != analysis.file || offset < span.begin || offset > span.end) continue;
            // The innermost call; of the operations that it expands to, the first is the call.
            if (best && span.end - span.begin >= best->span.end - best->span.begin &&
                !(span == best->span && operation.compound() && !best->compound()))
                continue;
            best = &operation;
            owner = program;
        }
    }
    if (!best) return std::nullopt;
    return facts_of(*owner, *best);
}

}  // namespace lemma::lsp
