// SPDX-License-Identifier: Apache-2.0
// One call: instantiates the definition as an operation with formulas or parts.
#include <fmt/format.h>

#include <algorithm>

#include "sknd/compose/composer.h"
#include "sknd/compose/formula_builder.h"

namespace lemma::sknd {

namespace {

std::string qualified(const Package& package, DefRef ref) {
    const LoadedModule& module = package[ref.module];
    const std::string_view name = module.module.definitions[ref.definition].name.text;
    return ref.module == package.main() ? std::string(name)
                                        : fmt::format("{}.{}", module.name, name);
}

// An operator that no formula can express has only a signature.
ir::OperationKind kind_of(const Definition& definition) {
    if (definition.block(BlockKind::Compose)) return ir::OperationKind::Compound;
    if (definition.block(BlockKind::Lower)) return ir::OperationKind::Primitive;
    return ir::OperationKind::Intrinsic;
}

// The stored size of the call in nodes, independent of the definition.
size_t size_of(const CallArgs& args) {
    size_t size = 4 + args.scope.size() / 16;
    for (const ir::Attribute& attribute : args.attributes) {
        const auto* pack = std::get_if<Pack>(&attribute.value);
        size += pack ? pack->items.size() : 1;
    }
    for (const Binding& input : args.inputs) size += input.operand.items.size();
    return size;
}

}  // namespace

const Plan& Composer::plan(DefRef ref) {
    const auto found = plans_.find(ref);
    if (found != plans_.end()) return found->second;
    const Module& module = package_[ref.module].module;
    Plan made = make_plan(module, module.definitions[ref.definition]);
    made.name = qualified(package_, ref);
    return plans_.emplace(ref, std::move(made)).first->second;
}

std::optional<DefRef> Composer::resolve(ModuleId from, const QualifiedName& name) const {
    ModuleId module = from;
    if (name.parts.size() > 1) {
        QualifiedName prefix = name;
        prefix.parts.pop_back();
        const auto found = package_[from].imports.find(prefix.text());
        if (found == package_[from].imports.end()) return std::nullopt;
        module = found->second;
    }
    const auto& index = package_[module].definition_index;
    const auto found = index.find(name.parts.back().text);
    if (found == index.end()) return std::nullopt;
    return DefRef{module, static_cast<uint32_t>(found->second)};
}

std::optional<Results> Composer::call(Frame& caller, CallArgs args) {
    if (exhausted_ || diag_.full()) return std::nullopt;
    const size_t reports = reports_;
    Frame frame({program_, tensor_by_identity_, package_, work_}, args.callee, plan(args.callee));
    frame.caller = &caller;
    frame.call_span = args.span;
    frame.depth = caller.depth + 1;
    frame.scope = args.scope;
    frame.root = caller.root;
    if (args.is_root) {
        frame.root = roots_.size();
        roots_.push_back(args.callee);
    }
    if (frame.depth > options_.max_call_depth) {
        give_up(frame,
                DiagKind::TooDeep,
                fmt::format("operators call each other more than {} levels deep (--max-call-depth "
                            "raises the limit)",
                            options_.max_call_depth));
        return std::nullopt;
    }
    if (program_.operations.size() >= options_.max_operations) {
        give_up(frame,
                DiagKind::TooLarge,
                fmt::format("the graph has more than {} operations (--max-operations raises the "
                            "limit)",
                            options_.max_operations));
        return std::nullopt;
    }
    if (!spend(frame, size_of(args))) return std::nullopt;
    pending_assertions_.clear();
    if (!enter(frame, args)) {
        if (reports_ == reports && !exhausted_) {  // a failure is never silent
            call_error(frame,
                       DiagKind::BadArgument,
                       fmt::format("the attributes and inputs of `{}` cannot be worked out for "
                                   "this call",
                                   frame.definition().name.text));
        }
        return std::nullopt;
    }
    const ir::OpId op = start_operation(frame, args);
    program_.operations[op].assertions = std::move(pending_assertions_);
    pending_assertions_.clear();
    const bool compound = program_.operations[op].compound();
    auto results = compound ? compose_body(frame, op) : finish_primitive(frame, op);
    const Definition& definition = frame.definition();
    if (quantizes_ && (definition.is_public || definition.graph) && results) expose(frame);
    return results;
}

// The inputs and outputs of a public operator or a graph can be named from outside (spec 2.10).
void Composer::expose(const Frame& frame) {
    for (const auto* decls : {&frame.definition().inputs, &frame.definition().outputs}) {
        for (const ParamDecl& decl : *decls) {
            const Binding* binding = frame.find(decl.name.text);
            if (!binding) continue;
            expose(frame, join_scope(frame.scope, decl.name.text), binding->operand);
        }
    }
}

// All steps before the body: every name of the definition gets its value.
bool Composer::enter(Frame& frame, const CallArgs& args) {
    if (!bind_types(frame, args)) return false;
    auto key = repeat_key(frame, args);
    if (key && enter_again(frame, args, *key)) return declare_locals(frame);
    const size_t work = work_.done;
    const size_t told = diag_.items().size();
    if (!bind_names(frame, args)) return false;
    if (key && diag_.items().size() == told) remember(frame, std::move(*key), work_.done - work);
    return declare_locals(frame);
}

bool Composer::bind_names(Frame& frame, const CallArgs& args) {
    return bind_attributes(frame, args) && check_asserts(frame, false) &&
           bind_inputs(frame, args) && bind_lengths(frame, true) && bind_deferred(frame) &&
           bind_lengths(frame, true) && bind_lengths(frame, false) && evaluate_helpers(frame);
}

ir::OpId Composer::start_operation(Frame& frame, const CallArgs& args) {
    ir::Operation op;
    op.kind = kind_of(frame.definition());
    op.op = frame.plan().name;
    op.label = frame.scope;
    op.span = args.span;
    const Definition& definition = frame.definition();
    for (const DtypeDecl& dtype : definition.dtypes) {
        op.dtypes.emplace_back(dtype.name.text, dtype_of(frame, dtype.name.text));
    }
    for (const ParamDecl& decl : definition.attribs) {
        const CompileValue* value = frame.value(decl.name.text);
        op.attributes.push_back(
            {std::string(decl.name.text), value ? *value : CompileValue(Null{})});
    }
    for (const ParamDecl& decl : definition.inputs) {
        const Binding* binding = frame.find(decl.name.text);
        op.inputs.push_back(
            {std::string(decl.name.text), binding ? binding->operand : ir::Operand{}});
    }
    const ir::OpId id = program_.operations.add(std::move(op));
    op_lists_.back().push_back(id);
    return id;
}

std::optional<Results> Composer::finish_primitive(Frame& frame, ir::OpId op) {
    if (!declare_outputs(frame)) return std::nullopt;
    auto results = take_outputs(frame);
    if (!results) return std::nullopt;
    const Definition& definition = frame.definition();
    for (size_t i = 0; i < definition.outputs.size(); ++i) {
        program_.operations[op].outputs.push_back(
            {std::string(definition.outputs[i].name.text), (*results)[i].operand});
    }
    if (program_.operations[op].kind == ir::OperationKind::Primitive) {
        auto formulas = formulas_of(frame);
        if (!formulas) return std::nullopt;
        program_.operations[op].formulas = std::move(*formulas);
    }
    return results;
}

std::optional<std::vector<ir::Formula>> Composer::formulas_of(Frame& frame) {
    const bool repeats =
        frame.known_call && frame.shares_values() && frame.plan().repeatable_formulas;
    auto tensors = repeats ? tensors_of(frame) : std::nullopt;
    if (tensors) {
        if (auto formulas = formulas_again(frame, *tensors)) return formulas;
    }
    const size_t work = work_.done;
    const size_t told = diag_.items().size();
    auto formulas = FormulaBuilder(*this, frame).build();
    if (formulas && tensors && diag_.items().size() == told) {
        remember_formulas(frame, std::move(*tensors), *formulas, work_.done - work);
    }
    return formulas;
}

std::optional<Results> Composer::compose_body(Frame& frame, ir::OpId op) {
    op_lists_.emplace_back();
    const bool good = compose_components(frame, frame.definition().composes);
    std::vector<OpenCheck> open;
    compose_update(frame, open);
    compose_quantize(frame);
    program_.operations[op].parts = std::move(op_lists_.back());
    op_lists_.pop_back();
    if (!good) return std::nullopt;
    auto results = take_outputs(frame);
    if (!results) return std::nullopt;
    const Definition& definition = frame.definition();
    if (!check_outputs(frame, *results, open)) return std::nullopt;
    ir::Operation& operation = program_.operations[op];
    for (OpenCheck& check : open) operation.assertions.push_back(std::move(check.assertion));
    for (size_t i = 0; i < definition.outputs.size(); ++i) {
        operation.outputs.push_back(
            {std::string(definition.outputs[i].name.text), (*results)[i].operand});
    }
    return results;
}

std::optional<Results> Composer::take_outputs(Frame& frame) {
    Results results;
    for (const ParamDecl& decl : frame.definition().outputs) {
        const Binding* binding = frame.find(decl.name.text);
        if (!binding || binding->poison) return std::nullopt;
        results.push_back(*binding);
    }
    return results;
}

}  // namespace lemma::sknd
