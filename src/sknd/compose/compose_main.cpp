// SPDX-License-Identifier: Apache-2.0
// The main graph: its choice, attributes, inputs, body, updates and outputs.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sknd/compose/composer.h"

namespace lemma::sknd {

std::optional<ir::Program> compose(const Package& package,
                                   const ComposeOptions& options,
                                   Diagnostics& diag) {
    return Composer(package, options, diag).run();
}

Composer::Composer(const Package& package, const ComposeOptions& options, Diagnostics& diag)
    : package_(package), options_(options), diag_(diag), work_{options.limits.max_work} {
    for (const LoadedModule& module : package.modules) {
        for (const Definition& definition : module.module.definitions)
            quantizes_ = quantizes_ || !definition.quantizes.empty();
    }
}

std::optional<ir::Program> Composer::run() {
    const auto graph = pick_graph();
    if (!graph) return std::nullopt;
    if (!compose_main(*graph)) {
        // Every failure must be reported.
        if (!diag_.has_errors()) {
            diag_.error(package_[graph->module].module.definitions[graph->definition].name.span,
                        DiagKind::BadArgument,
                        "this graph cannot be composed: its inputs, attributes or helpers depend "
                        "on what only a run tells");
        }
        return std::nullopt;
    }
    make_names_unique();
    return std::move(program_);
}

// The first tensor keeps its name, and variables always do, because their data is found by name.
void Composer::make_names_unique() {
    std::map<std::string, size_t> used;
    for (const auto& [name, variable] : variables_) used.emplace(name, 1);
    for (ir::Tensor& tensor : program_.tensors) {
        if (tensor.role == ir::TensorRole::Variable) continue;
        const std::string base = tensor.name;
        for (size_t& count = used[base]; count++ > 0;) {
            std::string candidate = fmt::format("{}#{}", base, count);
            if (used.contains(candidate)) continue;
            tensor.name = std::move(candidate);
            used.emplace(tensor.name, 1);
            break;
        }
    }
}

std::optional<DefRef> Composer::pick_graph() {
    const Module& main = package_[package_.main()].module;
    std::vector<std::string_view> names;
    for (uint32_t d = 0; d < main.definitions.size(); ++d) {
        if (!main.definitions[d].graph) continue;
        names.push_back(main.definitions[d].name.text);
        if (options_.graph.empty() || options_.graph == names.back()) {
            return DefRef{package_.main(), d};
        }
    }
    if (!options_.graph.empty()) {
        auto report = diag_.error(Span{main.file, 0, 0},
                                  DiagKind::NoGraph,
                                  fmt::format("no graph `{}` in the main module", options_.graph));
        if (!names.empty()) report.note(fmt::format("it has {}", fmt::join(names, ", ")));
    }
    return std::nullopt;
}

bool Composer::compose_main(DefRef graph) {
    Frame frame({program_, tensor_by_identity_, package_, work_}, graph, plan(graph));
    const Definition& definition = frame.definition();
    program_.name = definition.name.text;
    op_lists_.emplace_back();
    if (!set_graph_attributes(frame) || !repeat_known(frame) || !declare_graph_inputs(frame) ||
        !bind_deferred(frame) || !bind_lengths(frame, true) || !bind_lengths(frame, false) ||
        !evaluate_helpers(frame) || !declare_locals(frame)) {
        return false;
    }
    program_.assertions = std::move(pending_assertions_);
    pending_assertions_.clear();
    bool good = compose_components(frame, definition.composes);
    std::vector<OpenCheck> open;
    if (good) {
        const auto results = take_outputs(frame);
        good = results && check_outputs(frame, *results, open);
    }
    compose_update(frame, open);
    if (good) require_of_main(frame, std::move(open));
    compose_quantize(frame);
    if (good) collect_ports(frame);
    return good && !diag_.has_errors();
}

bool Composer::set_graph_attributes(Frame& frame) {
    const Definition& definition = frame.definition();
    CallArgs args;
    args.callee = frame.ref();
    for (const ir::Attribute& attribute : options_.attributes) {
        const auto decl = std::find_if(
            definition.attribs.begin(), definition.attribs.end(), [&](const ParamDecl& d) {
                return d.name.text == attribute.name;
            });
        if (decl == definition.attribs.end()) {
            std::vector<std::string_view> names;
            for (const ParamDecl& d : definition.attribs) names.push_back(d.name.text);
            auto report = diag_.error(
                definition.name.span,
                DiagKind::NoAttribute,
                fmt::format(
                    "the graph `{}` has no attribute `{}`", definition.name.text, attribute.name));
            if (!names.empty()) report.note(fmt::format("it has {}", fmt::join(names, ", ")));
            return false;
        }
        auto value = fit_value(*decl, attribute.value);
        if (!value) {
            diag_.error(decl->name.span,
                        DiagKind::TypeMismatch,
                        fmt::format("the attribute `{}` is given {}, expected {}{}",
                                    decl->name.text,
                                    to_text(attribute.value, program_.symbols),
                                    decl->type.base.text,
                                    decl->type.pack ? ".." : ""));
            return false;
        }
        args.attributes.push_back({attribute.name, std::move(*value)});
    }
    return bind_types(frame, args) && bind_attributes(frame, args);
}

// Values from outside have the declared type; an int is converted if a real is wanted.
std::optional<CompileValue> Composer::fit_value(const ParamDecl& decl, const CompileValue& value) {
    const BaseType type = concrete_type(decl.type.base.text);
    const auto fit = [&](const Scalar& scalar) -> std::optional<Scalar> {
        if (type == BaseType::Real && std::holds_alternative<int64_t>(scalar)) {
            return Scalar(static_cast<double>(std::get<int64_t>(scalar)));
        }
        if (type == BaseType::Bad) return scalar;  // a generic type takes any
        switch (type_of(scalar, program_.symbols)) {
            case ir::ScalarType::Int:
                return type == BaseType::Int ? std::optional(scalar) : std::nullopt;
            case ir::ScalarType::Real:
                return type == BaseType::Real ? std::optional(scalar) : std::nullopt;
            case ir::ScalarType::Bool:
                return type == BaseType::Bool ? std::optional(scalar) : std::nullopt;
            case ir::ScalarType::Str:
                return type == BaseType::Str ? std::optional(scalar) : std::nullopt;
        }
        return std::nullopt;
    };
    if (std::holds_alternative<Null>(value)) return value;
    if (const auto* scalar = std::get_if<Scalar>(&value)) {
        const auto fitted = fit(*scalar);
        return fitted ? std::optional(CompileValue(*fitted)) : std::nullopt;
    }
    if (!decl.type.pack) return std::nullopt;
    Pack fitted;
    for (const Scalar& item : std::get<Pack>(value).items) {
        auto one = fit(item);
        if (!one) return std::nullopt;
        fitted.items.push_back(std::move(*one));
    }
    return fitted;
}

// Input shapes may read packs, so single values are repeated if the length is already known.
bool Composer::repeat_known(Frame& frame) {
    for (const ParamDecl& decl : frame.definition().attribs) {
        const CompileValue* value = frame.value(decl.name.text);
        const auto* scalar = value && decl.type.pack ? std::get_if<Scalar>(value) : nullptr;
        if (!scalar || !decl.type.pack->length.valid()) continue;
        if (!all_known(frame, decl.type.pack->length)) continue;
        if (!repeat_value(frame, decl, Scalar(*scalar))) return false;
    }
    return true;
}

bool Composer::declare_graph_inputs(Frame& frame) {
    bool good = true;
    for (const ParamDecl& decl : frame.definition().inputs) {
        good = declare_graph_input(frame, decl) && good;
    }
    return good;
}

bool Composer::declare_graph_input(Frame& frame, const ParamDecl& decl) {
    auto operand = declare_tensor(frame, decl, ir::TensorRole::Input);
    if (!operand) return false;
    frame.bind(decl.name.text, {*operand, false});
    expose(frame, std::string(decl.name.text), *operand);
    return true;
}

void Composer::collect_ports(Frame& frame) {
    ir::Graph graph;
    const Definition& definition = frame.definition();
    graph.name = definition.name.text;
    for (const ParamDecl& decl : definition.inputs) {
        graph.inputs.push_back({std::string(decl.name.text), frame.find(decl.name.text)->operand});
    }
    for (const ParamDecl& decl : definition.outputs) {
        graph.outputs.push_back({std::string(decl.name.text), frame.find(decl.name.text)->operand});
    }
    graph.operations = std::move(op_lists_.back());
    program_.main = program_.graphs.add(std::move(graph));
}

// Checks the shape of the tensor and the attributes of the statement against the quantizer; reports
// at the statement.
bool Composer::fits_quantizer(Frame& frame,
                              const QuantizeStmt& stmt,
                              const ir::Quantizer& quantizer,
                              ir::TensorId tensor) {
    const auto callee = resolve(frame.ref().module, stmt.callee);
    if (!callee || !tensor::is_real(program_.tensors[tensor].dtype)) return true;
    CallArgs args{.callee = *callee,
                  .span = stmt.span,
                  .scope = frame.scope,
                  .types = {},
                  .attributes = quantizer.attributes,
                  .inputs = {Binding{ir::Operand::single(tensor), false}}};
    Frame bound({program_, tensor_by_identity_, package_, work_}, *callee, plan(*callee));
    bound.caller = &frame;
    bound.call_span = stmt.span;
    bound.depth = frame.depth + 1;
    const auto before = std::exchange(pending_assertions_, {});
    const bool good = bind_types(bound, args) && bind_names(bound, args);
    pending_assertions_ = before;
    return good;
}

bool Composer::is_graph(const Frame& frame, const Name& name) const {
    const auto& index = package_[frame.ref().module].definition_index;
    const auto found = index.find(name.text);
    return found != index.end() && frame.module().definitions[found->second].graph;
}

void Composer::compose_quantize(Frame& frame) {
    for (const QuantizeStmt& stmt : frame.definition().quantizes) {
        const std::string path = join_scope(frame.scope, stmt.tensor.text());
        const Binding* local =
            stmt.tensor.parts.size() == 1 ? frame.find(stmt.tensor.text()) : nullptr;
        auto scoped = scoped_.find(path);
        if (scoped == scoped_.end() && is_graph(frame, stmt.tensor.parts.front())) {
            // The path of an invoked graph begins at its name, wherever it is written.
            scoped = scoped_.find(stmt.tensor.text());
        }
        if (!local && scoped == scoped_.end()) {
            inner_error(frame,
                        stmt.tensor.span,
                        DiagKind::UndeclaredName,
                        fmt::format("no tensor `{}` to quantise", stmt.tensor.text()));
            continue;
        }
        ir::Quantizer quantizer;
        quantizer.op = stmt.callee.text();
        for (const AttributeArg& attribute : stmt.attributes) {
            auto value = evaluate_known(
                frame, attribute.value, fmt::format("the attribute `{}`", attribute.name.text));
            if (value)
                quantizer.attributes.push_back(
                    {std::string(attribute.name.text), std::move(*value)});
        }
        for (const ir::TensorId id : local ? local->operand.items : scoped->second.items) {
            if (fits_quantizer(frame, stmt, quantizer, id))
                program_.tensors[id].quantizer = quantizer;
        }
    }
}

}  // namespace lemma::sknd
