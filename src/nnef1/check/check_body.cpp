// SPDX-License-Identifier: Apache-2.0
// Assignments: structure and use of identifiers (3.3.2).
#include <fmt/format.h>

#include <algorithm>

#include "base/match.h"
#include "nnef1/check/checker.h"

namespace lemma::nnef1 {

void Checker::collect_targets(ExprId target) {
    const Expr& node = expr(target);
    if (const auto* name = std::get_if<Identifier>(&node.node)) {
        targets_.emplace(name->name, node.span);
    } else if (const auto* array = std::get_if<Array>(&node.node)) {
        for (const ExprId item : document_.items(array->items)) collect_targets(item);
    } else if (const auto* tuple = std::get_if<Tuple>(&node.node)) {
        for (const ExprId item : document_.items(tuple->items)) collect_targets(item);
    }
}

void Checker::check_body(const Body& body) {
    targets_.clear();
    for (const Assignment& assignment : body.assignments) collect_targets(assignment.target);
    for (const Assignment& assignment : body.assignments) {
        if (diag_.full()) return;
        const ValueType type = type_for(assignment.target, assignment.value);
        bind_target(assignment.target, type, assignment.value);
    }
}

// ---- The value ----------------------------------------------------------------------------------

// The type of a value that is assigned as a whole. It may be an invocation with any result.
ValueType Checker::type_for(ExprId target, ExprId value) {
    value = bare(value);
    const auto& node = expr(value).node;
    if (const auto* branch = std::get_if<IfElse>(&node)) return condition_type(*branch, target);
    const auto* tuple = std::get_if<Tuple>(&node);
    const auto* names = std::get_if<Tuple>(&expr(target).node);
    if (tuple && names && tuple->items.size() == names->items.size()) {
        std::vector<ValueType> types;
        for (size_t i = 0; i < tuple->items.size(); ++i) {
            types.push_back(
                type_for(document_.items(names->items)[i], document_.items(tuple->items)[i]));
        }
        return ValueType::tuple(std::move(types));
    }
    const auto* invocation = document_.invocation(expr(value));
    if (!invocation) return type_of(value);
    if (invocation->name == "external") check_external(target, value);
    const ValueType type = call_type(value, *invocation);
    if (fits_structure(target, type)) return type;
    const Span span = expr(target).span;
    auto report = diag_.error(
        span,
        DiagKind::ResultCount,
        fmt::format(
            "`{}` gives `{}`, which does not fit these names", invocation->name, text(type)));
    const bool bare_names = names && type.array() && !type.items.empty();
    if (bare_names) {
        report.note("write the names as an array, in `[` and `]`")
            .fix({span.file, span.begin, span.begin}, "[")
            .fix({span.file, span.end, span.end}, "]");
    }
    report.note(
        "NNEF 1.0.4, 3.3.2: the left-hand side must be structurally equivalent to the result of "
        "the invocation");
    if (!bare_names) return {};
    return ValueType::tuple(std::vector(names->items.size(), type.items[0]));
}

// The array or tuple of an invocation is split at once: `[a, b] = split(…)`.
bool Checker::fits_structure(ExprId target, const ValueType& type) const {
    const auto& node = expr(target).node;
    if (type.bad() || std::holds_alternative<BadExpr>(node)) return true;
    const auto fits = [&](Slice<ExprId> slice, auto&& type_of_item) {
        const auto items = document_.items(slice);
        for (size_t i = 0; i < items.size(); ++i) {
            if (!fits_structure(items[i], type_of_item(i))) return false;
        }
        return true;
    };
    if (const auto* array = std::get_if<Array>(&node)) {
        if (!type.array() || type.items.empty()) return type.array();
        return fits(array->items, [&](size_t) { return type.items[0]; });
    }
    if (const auto* tuple = std::get_if<Tuple>(&node)) {
        if (!type.tuple() || type.items.size() != tuple->items.size()) return false;
        return fits(tuple->items, [&](size_t i) { return type.items[i]; });
    }
    const bool attributes = dialect_ != Dialect::Strict && !has_tensor(type);
    return attributes || (!type.array() && !type.tuple());
}

void Checker::check_external(ExprId target, ExprId value) {
    const auto* name = std::get_if<Identifier>(&expr(target).node);
    if (!graph_ || !name) return;  // reported by check_place
    external_ = value;
    const bool param = std::ranges::any_of(graph_->params,
                                           [&](const Name& one) { return one.text == name->name; });
    if (param) {
        externals_.insert(name->name);
        return;
    }
    diag_
        .error(expr(target).span,
               DiagKind::MisplacedOperation,
               fmt::format("`{}` is the result of `external`, but no parameter of the graph",
                           name->name))
        .note(graph_->name.span, "the graph is declared here")
        .note("NNEF 1.0.4, 3.3.2: results of `external` must be graph parameters, one to one");
    externals_.insert(name->name);
}

// ---- The names ----------------------------------------------------------------------------------

void Checker::bind_target(ExprId target, const ValueType& type, ExprId value) {
    const auto mismatch = [&](std::string found) {
        diag_
            .error(expr(target).span,
                   DiagKind::ResultCount,
                   fmt::format("{} cannot take apart `{}`", found, text(type)))
            .note(
                "NNEF 1.0.4, 3.3.2: the left-hand side must be structurally equivalent to what is "
                "assigned");
    };
    match(
        expr(target).node,
        [&](const Identifier& name) { bind_name(target, name.name, type, value); },
        [&](const Array& array) {
            if (!type.bad() && !type.array()) mismatch("an array");
            const auto* list = std::get_if<Array>(&expr(bare(value)).node);
            if (list && list->items.size() != array.items.size()) {
                mismatch(fmt::format("an array of {} names", array.items.size()));
            }
            const bool known = type.array() && !type.items.empty();
            for (const ExprId item : document_.items(array.items)) {
                bind_target(item, known ? type.items[0] : ValueType{}, value);
            }
        },
        [&](const Tuple& tuple) {
            const bool fits = type.tuple() && type.items.size() == tuple.items.size();
            if (!type.bad() && !fits) {
                mismatch(fmt::format("a tuple of {} names", tuple.items.size()));
            }
            const auto items = document_.items(tuple.items);
            for (size_t i = 0; i < items.size(); ++i) {
                bind_target(items[i], fits ? type.items[i] : ValueType{}, value);
            }
        },
        [](const auto&) {});
}

bool Checker::may_assign(ExprId target, std::string_view name) {
    const auto found = locals_.find(name);
    if (found == locals_.end()) return true;
    const Span span = expr(target).span;
    if (found->second.role == Local::Role::Param) {
        diag_
            .error(span,
                   DiagKind::NotAssignable,
                   fmt::format("`{}` is a parameter and cannot be assigned", name))
            .note(found->second.span, "declared here")
            .note(
                "NNEF 1.0.4, 3.3.2: parameters of a fragment must not appear on the left-hand side "
                "of an assignment");
        return false;
    }
    // The later value replaces the earlier one.
    if (dialect_ == Dialect::Tract && found->second.role == Local::Role::Assigned) return true;
    diag_.error(span, DiagKind::AssignedTwice, fmt::format("`{}` was assigned before", name))
        .note(found->second.span, "assigned here")
        .note(
            "NNEF 1.0.4, 3.3.2: the same identifier must not be on the left-hand side more than "
            "once");
    return false;
}

void Checker::check_result_value(std::string_view name, const ValueType& type, ExprId value) {
    const auto result = std::ranges::find_if(
        fragment_->results, [&](const auto& one) { return one.name.text == name; });
    if (result == fragment_->results.end()) return;
    const ValueType wanted = value_type(document_, result->type);
    // tract stores properties of the model as results.
    const bool kept = dialect_ == Dialect::Tract && !all_tensors(wanted);
    if (!kept && !can_cast(type, wanted, dialect_)) {
        diag_
            .error(expr(value).span,
                   DiagKind::TypeMismatch,
                   fmt::format("the result `{}` is assigned `{}`, expected `{}`",
                               name,
                               text(type),
                               text(wanted)))
            .note(result->name.span, "declared here")
            .note(
                "NNEF 1.0.4, 3.3.1: what is assigned to a result must be of its type, or castable "
                "to it");
    }
    locals_.find(name)->second.type = wanted;
}

void Checker::bind_name(ExprId target, std::string_view name, const ValueType& type, ExprId value) {
    if (!may_assign(target, name)) return;
    const Span span = expr(target).span;
    locals_.insert_or_assign(name, Local{type, span, Local::Role::Assigned});
    if (fragment_) return check_result_value(name, type, value);
    const bool param =
        std::ranges::any_of(graph_->params, [&](const Name& one) { return one.text == name; });
    const bool other_source = dialect_ == Dialect::Tract;  // such as tract_core_external
    if (param && !externals_.contains(name) && !other_source) {
        diag_
            .error(span,
                   DiagKind::MisplacedOperation,
                   fmt::format("the graph parameter `{}` is not the result of `external`", name))
            .note("NNEF 1.0.4, 3.3.2: graph parameters must be the results of `external`");
    }
    if (type.bad() || type.tensor()) return;
    // Other dialects accept `y = 1.0;` as a constant.
    const bool number =
        type.kind == ValueType::Kind::Primitive && !type.is(TypeName::String) && type.name;
    if (number) locals_.find(name)->second.type = ValueType::tensor(type.name);
    if (number && dialect_ != Dialect::Strict) return;
    if (dialect_ == Dialect::Tract && type.array() && !has_tensor(type)) {  // `m = [[0.0]];`
        locals_.find(name)->second.type = ValueType::tensor(TypeName::Scalar);
        return;
    }
    auto report = diag_.error(span,
                              DiagKind::TensorMismatch,
                              fmt::format("`{}` is `{}`, expected a tensor", name, text(type)));
    if (number) {
        const bool scalar = type.is(TypeName::Scalar);
        report.note(fmt::format("write a tensor: `{} = constant{}(shape = [], value = […]);`",
                                name,
                                scalar ? "" : fmt::format("<{}>", spelling(*type.name))));
    }
    report.note(
        "NNEF 1.0.4, 3.3.2: identifiers in the graph body must be tensors; arrays and tuples are "
        "taken apart on the left-hand side");
}

}  // namespace lemma::nnef1
