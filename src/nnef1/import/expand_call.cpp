// SPDX-License-Identifier: Apache-2.0
// Invocations: evaluates arguments, expands fragments with a body, and calls operators.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/match.h"
#include "nnef1/import/expander.h"

namespace lemma::nnef1 {

std::optional<TypeName> Expander::generic_of(ExprId id, const Frame& frame) const {
    const auto generic = model_.checked.generics[id];
    return generic == TypeName::Generic ? frame.generic : generic;
}

Value Expander::invoke(ExprId id, const Invocation& invocation, ExprId target, Frame& frame) {
    const Signature* const signature = model_.checked.operations[id];
    if (!signature && invocation.name == "tract_core_scan") {
        return call_scan(id, invocation, target, frame);
    }
    if (!signature) {  // of tract
        unsupported_.emplace(invocation.name, name_span(expr(id), invocation));
        return {};
    }
    const auto& params = signature->fragment->params;
    std::vector<ExprId> given(params.size());
    size_t position = 0;
    for (const Argument& argument : document_.items(invocation.args)) {
        size_t index = position++;
        if (!argument.name.empty()) {
            index = signature->find_param(argument.name).value_or(params.size());
        }
        LEMMA_CHECK(index < params.size());
        given[index] = argument.value;
    }
    Call call{.expr = id,
              .span = name_span(expr(id), invocation),
              .signature = *signature,
              .generic = generic_of(id, frame),
              .target = target};
    for (size_t i = 0; i < params.size(); ++i) {
        call.spans.push_back(given[i].valid() ? expr(given[i]).span : call.span);
        call.arguments.push_back(given[i].valid()
                                     ? eval(given[i], frame)
                                     : literal_value(*signature->nodes, params[i].default_value));
    }
    return run(call, frame);
}

// An operator on tensors.
Value Expander::apply(ExprId id, const std::vector<ExprId>& operands, ExprId target, Frame& frame) {
    Call call{.expr = id,
              .span = operator_span(id),
              .signature = *model_.checked.operations[id],
              .generic = generic_of(id, frame),
              .target = target};
    for (const ExprId operand : operands) {
        call.spans.push_back(expr(operand).span);
        call.arguments.push_back(eval(operand, frame));
    }
    return run(call, frame);
}

void Expander::note_custom(std::string_view name, Span span) {
    if (imported_.custom.valid()) return;
    imported_.custom = span;
    imported_.custom_name = std::string(name);
}

Value Expander::run(Call& call, Frame& frame) {
    // Work in the graph itself is bounded by the length of its text; fragments multiply it.
    const int64_t work = frame.fragment ? kCallWork : kCallWork / 20;
    if (!spend(work, call.span, frame)) return {};
    const Signature& signature = call.signature;
    if (signature.custom()) {
        note_custom(signature.name(), call.span);
        return {};
    }
    if (call.label.empty()) call.label = unique_label(call, frame);
    const bool integers = takes_integers(call);
    for (size_t i = 0; i < call.arguments.size(); ++i) {
        ValueType type = signature.params[i];
        if (call.generic) type = nnef1::bind(type, *call.generic);
        if (integers && type.tensor()) type.name = TypeName::Integer;
        call.arguments[i] =
            cast(call.arguments[i],
                 type,
                 fmt::format("{}.{}", call.label, signature.fragment->params[i].name.text),
                 call.spans[i]);
    }
    settle_attributes(call, frame);
    if (!signature.standard) return expand_fragment(call, frame);
    if (std::ranges::any_of(call.arguments, has_unknown)) return {};
    if (auto made = make_tensor(call, frame)) return *made;
    if (!adapt_to_tract(call, frame)) return {};
    if (auto made = call_tract(call, frame)) return *made;
    add_missing_axes(call, frame);
    if (std::ranges::any_of(call.arguments, has_unknown)) return {};
    return call_operator(call, frame);
}

// ---- Names --------------------------------------------------------------------------------------

// Results of a fragment get the names that its caller assigns.
std::string Expander::path_of(const Frame& frame, std::string_view name) const {
    for (size_t i = 0; i < frame.result_names.size(); ++i) {
        if (frame.fragment->results[i].name.text == name && !frame.result_names[i].empty()) {
            return frame.result_names[i];
        }
    }
    return frame.label.empty() ? std::string(name) : fmt::format("{}.{}", frame.label, name);
}

std::vector<std::string> Expander::names_of_results(const Call& call, const Frame& frame) const {
    if (!call.result_names.empty()) return call.result_names;
    std::vector<std::string> names(call.signature.results.size());
    if (!call.target.valid()) return names;
    const auto& node = expr(call.target).node;
    const auto name_of = [&](ExprId target) {
        const auto* name = std::get_if<Identifier>(&expr(target).node);
        return name ? path_of(frame, name->name) : std::string();
    };
    if (names.size() == 1) {
        names[0] = name_of(call.target);
    } else if (const auto* tuple = std::get_if<Tuple>(&node)) {
        const auto items = document_.items(tuple->items);
        for (size_t i = 0; i < names.size() && i < items.size(); ++i) names[i] = name_of(items[i]);
    }
    return names;
}

std::string_view Expander::first_name(ExprId target) const {
    if (!target.valid()) return "";
    return match(
        expr(target).node,
        [](const Identifier& name) { return name.name.view(); },
        [&](const Array& array) {
            return array.items.empty() ? "" : first_name(document_.items(array.items)[0]);
        },
        [&](const Tuple& tuple) { return first_name(document_.items(tuple.items)[0]); },
        [](const auto&) { return std::string_view(); });
}

// The label is the assigned name; inside an expression, the name of the operation.
std::string Expander::unique_label(const Call& call, const Frame& frame) {
    const std::string_view name = first_name(call.target);
    std::string label = path_of(frame, name.empty() ? call.signature.name() : name);
    // An expansion is a path to operations, which have the label to themselves.
    if (!call.signature.standard && !name.empty()) return label;
    const int number = ++labels_[label];
    return number == 1 ? label : fmt::format("{}_{}", label, number);
}

// ---- Fragments ----------------------------------------------------------------------------------

Value Expander::expand_fragment(Call& call, Frame& frame) {
    const Fragment& fragment = *call.signature.fragment;
    if (frame.depth >= options_.limits.max_call_depth) {
        report(call.span,
               DiagKind::TooDeep,
               fmt::format("fragments are nested in more than {} levels", frame.depth),
               frame)
            .note("`--max-call-depth` raises the limit; does the recursion end?");
        stopped_ = true;
        return {};
    }
    Frame inner{.fragment = &fragment,
                .caller = &frame,
                .call = call.span,
                .label = call.label,
                .generic = call.generic,
                .result_names = names_of_results(call, frame),
                .values = {},
                .depth = frame.depth + 1};
    for (size_t i = 0; i < fragment.params.size(); ++i) {
        inner.values.emplace(fragment.params[i].name.text, std::move(call.arguments[i]));
    }
    expand_body(*fragment.body, inner);
    Values results;
    for (size_t i = 0; i < fragment.results.size(); ++i) {
        const std::string_view name = fragment.results[i].name.text;
        ValueType type = call.signature.results[i];
        if (call.generic) type = nnef1::bind(type, *call.generic);
        results.push_back(cast(inner.values[name], type, path_of(inner, name), call.span));
    }
    return results.size() == 1 ? results[0] : Value::tuple(std::move(results));
}

// ---- Operators ----------------------------------------------------------------------------------

namespace {

ir::ScalarType scalar_type(const ValueType& type) {
    if (!type.items.empty()) return scalar_type(type.items[0]);
    switch (type.name.value_or(TypeName::Scalar)) {
        case TypeName::Integer:
            return ir::ScalarType::Int;
        case TypeName::Logical:
            return ir::ScalarType::Bool;
        case TypeName::String:
            return ir::ScalarType::Str;
        default:
            return ir::ScalarType::Real;
    }
}

void flatten(const Value& value, std::vector<ir::Scalar>& items) {
    match(
        value.node,
        [&](int64_t item) { items.emplace_back(item); },
        [&](double item) { items.emplace_back(item); },
        [&](bool item) { items.emplace_back(item); },
        [&](const std::string& item) { items.emplace_back(item); },
        [&](ir::SymId item) { items.emplace_back(item); },
        [&](const auto&) {
            if (const Values* inside = value.items()) {
                for (const Value& item : *inside) flatten(item, items);
            }
        });
}

// Arrays of pairs become one pack of their items.
ir::Value attribute_value(const Value& value, const ValueType& type) {
    std::vector<ir::Scalar> items;
    flatten(value, items);
    if (value.items()) {
        return ir::Pack{.items = std::move(items), .uniform = {}, .type = scalar_type(type)};
    }
    LEMMA_CHECK(items.size() == 1);
    return items[0];
}

// With an ignored border, Khronos' tools allow windows completely outside of the input.
constexpr std::array<std::string_view, 4> kLenientOperations = {
    "box", "max_pool", "avg_pool", "rms_pool"};

}  // namespace

ir::Operand operand_of(const Value& value) {
    if (const auto* id = std::get_if<ir::TensorId>(&value.node)) return ir::Operand::single(*id);
    ir::Operand operand{.packed = true, .items = {}, .length = {}};
    for (const Value& item : *value.items()) {
        operand.items.push_back(std::get<ir::TensorId>(item.node));
    }
    return operand;
}

// A pack holds tensors of one rank. If ranks differ, the sum becomes a chain of additions, as the
// specification requires. Each addition broadcasts.
std::optional<Value> Expander::add_one_by_one(const Call& call, const Frame& frame) {
    if (call.signature.name() != "add_n") return std::nullopt;
    const auto rank = [&](const Value& item) {
        return builder_.program().tensors[std::get<ir::TensorId>(item.node)].shape.size();
    };
    const Values& items = *call.arguments[0].items();
    if (items.empty()) return Value{constant_tensor(0.0, TypeName::Scalar, call.label)};
    const auto other = [&](const Value& item) { return rank(item) != rank(items[0]); };
    if (std::ranges::none_of(items, other)) return std::nullopt;
    ir::Operand sum = operand_of(items[0]);
    for (size_t i = 1; i < items.size(); ++i) {
        const auto outputs = builder_.call({.op = "nnef1.add",
                                            .label = fmt::format("{}.{}", call.label, i),
                                            .types = {},
                                            .attributes = {},
                                            .inputs = {sum, operand_of(items[i])},
                                            .results = {},
                                            .span = call.span});
        if (!calls_.items().empty()) hand_on_reports(call, frame);
        if (!outputs) return Value{};
        sum = outputs->at(0);
    }
    return Value{sum.items[0]};
}

Value Expander::call_operator(Call& call, Frame& frame) {
    const Signature& signature = call.signature;
    if (auto sum = add_one_by_one(call, frame)) return *sum;
    ir::Call built{.op = operator_name(call),
                   .label = call.label,
                   .types = {},
                   .attributes = {},
                   .inputs = {},
                   .results = names_of_results(call, frame),
                   .span = call.span};
    bool deduced = false;  // the type follows from the inputs
    for (size_t i = 0; i < call.arguments.size(); ++i) {
        const ValueType& type = signature.params[i];
        if (has_tensor(type)) {
            deduced = deduced || has_generic(type);
            built.inputs.push_back(operand_of(call.arguments[i]));
            continue;
        }
        built.attributes.push_back({std::string(signature.fragment->params[i].name.text),
                                    attribute_value(call.arguments[i], type)});
    }
    const bool lenient =
        options_.dialect == Dialect::Khronos &&
        std::ranges::find(kLenientOperations, signature.name()) != kLenientOperations.end();
    if (lenient) built.attributes.push_back({"lenient", ir::Scalar(true)});
    if (call.generic && !deduced) built.types.push_back(dtype_of(*call.generic, options_));
    const auto outputs = builder_.call(built);
    if (!calls_.items().empty()) hand_on_reports(call, frame);
    if (!outputs) return {};
    warn_of_broadcast(call, built.inputs, frame);
    for (const ir::Operand& output : *outputs) {
        if (!fits_files(call, output, frame)) return {};
    }
    Values results = outputs_of(*outputs);
    Value result = results.size() == 1 ? results[0] : Value::tuple(std::move(results));
    learn_values(call, result);
    return result;
}

Values Expander::outputs_of(const std::vector<ir::Operand>& outputs) const {
    Values results;
    for (const ir::Operand& output : outputs) {
        if (!output.packed) {
            results.push_back(output.items.empty() ? Value{} : Value{output.items[0]});
            continue;
        }
        Values items;
        for (const ir::TensorId id : output.items) items.push_back({id});
        results.push_back(Value::array(std::move(items)));
    }
    return results;
}

}  // namespace lemma::nnef1
