// SPDX-License-Identifier: Apache-2.0
// Calls of operators: attributes, inputs, generic types (spec 2.5, 2.10, 2.13).
#include <fmt/format.h>

#include <algorithm>

#include "sknd/types/checker.h"

namespace lemma::sknd {

namespace {

// The names of a callee at a call: optional attributes that are not given are null.
class CalleeEnvironment : public Environment {
public:
    CalleeEnvironment(const Signature& callee, const CallSite& call) {
        for (const Parameter& parameter : callee.attributes) {
            const bool given = std::any_of(
                call.attributes->begin(), call.attributes->end(), [&](const AttributeArg& arg) {
                    return arg.name.text == parameter.name;
                });
            if (parameter.type.optional && !given) null_names_.insert(parameter.name);
        }
    }
    const CompileValue* lookup(std::string_view name) const override {
        return null_names_.contains(name) ? &null_ : nullptr;
    }
    const CompileValue* member(std::string_view, MemberKind) const override { return nullptr; }
    std::optional<ir::ScalarType> type(std::string_view) const override { return std::nullopt; }

private:
    NameSet null_names_;
    CompileValue null_ = Null{};
};

}  // namespace

std::string plural(size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::optional<DefinitionChecker::Results> DefinitionChecker::type_invocation(RegionId id,
                                                                             const Invocation& call,
                                                                             bool control_flow) {
    const auto callee = package_.resolve(ref_.module, call.callee, diag_);
    if (callee) tables_.callees[id] = *callee;
    if (!callee || package_.broken(*callee)) {
        for (const ExprId argument : call.arguments) {
            if (!std::holds_alternative<Omitted>(expr(argument).node)) type_expr(argument);
        }
        for (const AttributeArg& arg : call.attributes) scalar_operand(arg.value);
        return std::nullopt;
    }
    if (package_.signature(*callee).graph && !control_flow) {
        error(call.callee.span,
              DiagKind::GraphCalled,
              fmt::format("`{}` is a graph; only branches and loops can invoke one",
                          call.callee.text()))
            .note(package_.definition(*callee).name.span, "define it as an `operator` to call it");
    }
    return check_call({.callee = *callee,
                       .callee_span = call.callee.span,
                       .types = &call.types,
                       .attributes = &call.attributes,
                       .arguments = &call.arguments,
                       .arguments_span = call.arguments_span,
                       .quantized_span = {}});
}

DefinitionChecker::Results DefinitionChecker::check_call(const CallSite& call) {
    const Signature& callee = package_.signature(call.callee);
    std::vector<Type> generics(callee.generics.size());
    bind_explicit_types(call, generics);
    if (call.arguments) check_arguments(call, generics);
    if (call.quantized) {
        Parameter input = callee.inputs[0];
        input.name = call.quantized->name;
        match_type(call.quantized_span, call.quantized->type, input, callee, generics);
    }
    check_attributes(call, generics);
    check_missing_attributes(call);
    finish_generics(call, generics);
    Results results;
    for (const Parameter& output : callee.outputs) {
        Type type = output.type;
        if (type.base == BaseType::Generic) {
            const Type& bound = generics[type.generic];
            type.base = bound.base;
            type.generic = bound.generic;
        }
        results.push_back(type);
    }
    return results;
}

// ---- Generic types ------------------------------------------------------------------------------

bool DefinitionChecker::generic_fits(const Type& type, Bound bound) const {
    if (type.base == BaseType::Generic) {
        return satisfies(signature_.generics[type.generic].bound, bound);
    }
    return satisfies(type.base, bound);
}

void DefinitionChecker::bind_explicit_types(const CallSite& call, std::vector<Type>& generics) {
    const Signature& callee = package_.signature(call.callee);
    for (size_t i = 0; i < call.types->size(); ++i) {
        const Name& name = (*call.types)[i];
        const Type type = resolve_base(name, false);
        if (i >= generics.size()) {
            error(name.span,
                  DiagKind::GenericType,
                  fmt::format("{} given, the operator declares {}",
                              plural(call.types->size(), "type"),
                              generics.empty() ? "none" : std::to_string(generics.size())));
            return;
        }
        if (!generic_fits(type, callee.generics[i].bound)) {
            error(name.span,
                  DiagKind::GenericType,
                  fmt::format("`{}` is given as {}, expected a type of base `{}`",
                              callee.generics[i].name,
                              name.text,
                              bound_text(callee.generics[i].bound)));
            continue;
        }
        generics[i] = type;
    }
}

// Checks the base type of a value against a parameter and binds a generic type.
void DefinitionChecker::match_type(Span span,
                                   const Type& got,
                                   const Parameter& parameter,
                                   const Signature& callee,
                                   std::vector<Type>& generics,
                                   ExprId value) {
    if (got.bad() || got.base == BaseType::Any) return;
    Type want = parameter.type;
    if (want.base != BaseType::Generic) {
        if (same_base(got, want)) return;
        auto report = error(span,
                            DiagKind::TypeMismatch,
                            fmt::format("`{}` is {}, expected {}",
                                        parameter.name,
                                        text(got),
                                        base_text(want, callee.generics)));
        suggest_conversion(value, got, want.base, report);
        report.note(parameter.span, "declared here");
        return;
    }
    const GenericType& generic = callee.generics[want.generic];
    Type& bound = generics[want.generic];
    if (!generic_fits(got, generic.bound)) {
        error(span,
              DiagKind::GenericType,
              fmt::format("`{}` is {}, expected a type of base `{}`",
                          parameter.name,
                          text(got),
                          bound_text(generic.bound)))
            .note(parameter.span, "declared here");
    } else if (bound.bad()) {
        bound = scalar_type(got.base);
        bound.generic = got.generic;
    } else if (!same_base(bound, got)) {
        auto report = error(span,
                            DiagKind::TypeMismatch,
                            fmt::format("`{}` is {}, but `{}` is {} already",
                                        parameter.name,
                                        text(got),
                                        generic.name,
                                        base_text(bound, signature_.generics)));
        suggest_conversion(value, got, bound.base, report);
        report.note(parameter.span, "declared here");
    }
}

void DefinitionChecker::suggest_conversion(ExprId value,
                                           const Type& got,
                                           BaseType want,
                                           diag::Report& report) {
    if (got.base == BaseType::Str || want == BaseType::Str) return;
    const std::string wanted = base_text(scalar_type(want), {});
    if (got.tensor) {
        const std::string name = value.valid() ? fmt::format("({})", source(value)) : "";
        report.note(fmt::format(
            "there is no implicit conversion; `layout.cast<{}>{}` converts", wanted, name));
        return;
    }
    if (want != BaseType::Real || got.base != BaseType::Int || !value.valid()) return;
    const auto is_number = [&](ExprId id) {
        const auto* unary = std::get_if<Unary>(&expr(id).node);
        return std::holds_alternative<IntLiteral>(expr(unary ? unary->operand : id).node);
    };
    const auto* list = std::get_if<List>(&expr(value).node);
    const std::vector<ExprId> numbers = list ? list->items : std::vector<ExprId>{value};
    if (!std::ranges::all_of(numbers, is_number)) {
        report.note("there is no implicit conversion; write the number with a point, or `real(…)`");
        return;
    }
    report.note(fmt::format("there is no implicit conversion; write `{}.0`", source(numbers[0])));
    for (const ExprId number : numbers)
        report.fix(expr(number).span, fmt::format("{}.0", source(number)));
}

void DefinitionChecker::finish_generics(const CallSite& call, std::vector<Type>& generics) {
    const Signature& callee = package_.signature(call.callee);
    for (size_t i = 0; i < generics.size(); ++i) {
        const GenericType& generic = callee.generics[i];
        const bool given_badly = i < call.types->size();
        if (!generics[i].bad() || generic.bad || given_badly) continue;
        if (generic.fallback != BaseType::Bad) {
            generics[i] = scalar_type(generic.fallback);
            continue;
        }
        // A type that only defaults mention can still be found when they are evaluated.
        const auto mentions = [&](const Parameter& parameter) {
            return parameter.type.base == BaseType::Generic && parameter.type.generic == i;
        };
        const bool given =
            std::any_of(callee.inputs.begin(), callee.inputs.end(), mentions) ||
            std::any_of(callee.attributes.begin(), callee.attributes.end(), mentions);
        if (given) continue;
        error(call.callee_span,
              DiagKind::GenericType,
              fmt::format("the type `{}` cannot be found from the call", generic.name))
            .note(fmt::format("give it explicitly, as `<{}>`",
                              generic.bound == Bound::Type ? "real" : "int"));
    }
}

// ---- Attributes ---------------------------------------------------------------------------------

void DefinitionChecker::check_attributes(const CallSite& call, std::vector<Type>& generics) {
    const Signature& callee = package_.signature(call.callee);
    NameTable<Span> given;
    for (const AttributeArg& arg : *call.attributes) {
        if (!given.insert(arg.name.text, arg.name.span)) {
            error(arg.name.span,
                  DiagKind::DuplicateAttribute,
                  fmt::format("the attribute `{}` is given twice", arg.name.text))
                .note(*given.find(arg.name.text), "first here");
        }
        if (const Parameter* parameter = callee.attribute(arg.name.text)) {
            check_attribute(arg, *parameter, callee, generics);
            continue;
        }
        scalar_operand(arg.value);
        std::vector<std::string_view> names;
        for (const Parameter& parameter : callee.attributes) names.push_back(parameter.name);
        const std::string_view name = package_.definition(call.callee).name.text;
        auto report = error(arg.name.span,
                            DiagKind::NoAttribute,
                            fmt::format("`{}` has no attribute `{}`", name, arg.name.text));
        if (diag_.full()) continue;
        const std::string_view nearest = diag::nearest_name(arg.name.text, names);
        report.did_you_mean(arg.name.span, nearest);
        if (nearest.empty() && !names.empty()) {
            report.note(fmt::format("it has {}", fmt::join(names, ", ")));
        }
    }
}

void DefinitionChecker::check_attribute(const AttributeArg& arg,
                                        const Parameter& parameter,
                                        const Signature& callee,
                                        std::vector<Type>& generics) {
    const Type value = compile_value(arg.value);
    if (value.bad()) return;
    match_type(expr(arg.value).span, value, parameter, callee, generics, arg.value);
    if (value.packed && !parameter.type.packed) {
        error(arg.value,
              DiagKind::PackMismatch,
              fmt::format("`{}` is a list, expected a single value", parameter.name))
            .note(parameter.span, "declared here");
    }
    if (value.optional && !parameter.type.optional) {
        error(arg.value,
              DiagKind::OptionalValue,
              fmt::format("`{}` may be null, but the attribute is not optional", parameter.name))
            .note(parameter.span, "declared here");
    }
}

void DefinitionChecker::check_missing_attributes(const CallSite& call) {
    const Signature& callee = package_.signature(call.callee);
    for (const Parameter& parameter : callee.attributes) {
        const bool given = std::any_of(
            call.attributes->begin(), call.attributes->end(), [&](const AttributeArg& a) {
                return a.name.text == parameter.name;
            });
        if (given || parameter.type.optional) continue;
        const bool null_default = parameter.has_default && default_is_null(call, parameter);
        if (parameter.has_default && !null_default) continue;
        auto report = error(call.callee_span,
                            DiagKind::MissingAttribute,
                            fmt::format("`{}` needs the attribute `{}`",
                                        package_.definition(call.callee).name.text,
                                        parameter.name));
        if (null_default)
            report.note("its default is null when the attribute that it reads is not given");
        report.note(parameter.span, "declared here");
    }
}

bool DefinitionChecker::default_is_null(const CallSite& call, const Parameter& parameter) {
    if (!parameter.default_may_be_null) return false;
    const Definition& callee = package_.definition(call.callee);
    const auto decl =
        std::find_if(callee.attribs.begin(), callee.attribs.end(), [&](const ParamDecl& d) {
            return d.name.text == parameter.name;
        });
    if (decl == callee.attribs.end()) return false;
    const CalleeEnvironment environment(package_.signature(call.callee), call);
    Diagnostics scratch(1);
    const auto value = evaluate(package_.module_of(call.callee),
                                decl->value,
                                environment,
                                symbols_,
                                package_.options().limits,
                                scratch);
    return value && std::holds_alternative<Null>(*value);
}

// ---- Inputs -------------------------------------------------------------------------------------

void DefinitionChecker::check_arguments(const CallSite& call, std::vector<Type>& generics) {
    const Signature& callee = package_.signature(call.callee);
    const std::vector<ExprId>& arguments = *call.arguments;
    const std::string_view name = package_.definition(call.callee).name.text;
    if (arguments.size() > callee.inputs.size()) {
        error(arguments[callee.inputs.size()],
              DiagKind::ArgumentCount,
              fmt::format("`{}` takes {}, found {}",
                          name,
                          plural(callee.inputs.size(), "input"),
                          arguments.size()))
            .note(package_.definition(call.callee).name.span, "defined here");
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (i < callee.inputs.size()) {
            check_argument(arguments[i], callee.inputs[i], callee, generics);
        } else if (!std::holds_alternative<Omitted>(expr(arguments[i]).node)) {
            type_expr(arguments[i]);
        }
    }
    for (size_t i = arguments.size(); i < callee.inputs.size(); ++i) {
        const Parameter& input = callee.inputs[i];
        if (input.type.optional || input.has_default) continue;
        error(call.arguments_span,
              DiagKind::ArgumentCount,
              fmt::format("`{}` needs the input `{}`", name, input.name))
            .note(input.span, "declared here");
        break;  // one report for all the rest
    }
}

void DefinitionChecker::check_argument(ExprId id,
                                       const Parameter& parameter,
                                       const Signature& callee,
                                       std::vector<Type>& generics) {
    if (std::holds_alternative<Omitted>(expr(id).node)) {
        if (parameter.type.optional || parameter.has_default) return;
        error(id,
              DiagKind::OptionalValue,
              fmt::format("`~` leaves out the input `{}`, which is not optional", parameter.name))
            .note(parameter.span, "declared here");
        return;
    }
    const Type type = type_expr(id);
    if (type.bad()) return;
    match_type(expr(id).span, type, parameter, callee, generics, id);
    if (type.packed != parameter.type.packed) {
        auto report =
            error(id,
                  DiagKind::PackMismatch,
                  parameter.type.packed
                      ? fmt::format("`{}` is a single tensor, expected a pack", parameter.name)
                      : fmt::format("`{}` is a pack, expected a single tensor", parameter.name));
        if (parameter.type.packed)
            report.note(fmt::format("write it as a list: `[{}]`", source(id)));
        report.note(parameter.span, "declared here");
    }
    if (type.optional && !parameter.type.optional) {
        error(id,
              DiagKind::OptionalValue,
              fmt::format("`{}` may be null, but the input is not optional", parameter.name))
            .note("test it first: `if ?x then … else …`, or give a value with `??`")
            .note(parameter.span, "declared here");
    }
}

}  // namespace lemma::sknd
