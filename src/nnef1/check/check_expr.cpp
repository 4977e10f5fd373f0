// SPDX-License-Identifier: Apache-2.0
// Types of expressions (3.3.1 and 3.3.3), except operators and invocations.
#include <fmt/format.h>

#include <algorithm>

#include "base/match.h"
#include "nnef1/check/checker.h"

namespace lemma::nnef1 {

// Operators ask for the types of their operands several times.
ValueType Checker::type_of(ExprId id) {
    if (!types_[id]) {
        ValueType type = find_type(id);
        types_[id] = std::move(type);
    }
    return *types_[id];
}

ValueType Checker::find_type(ExprId id) {
    const Expr& node = expr(id);
    return match(
        node.node,
        [](const BadExpr&) { return ValueType{}; },
        [](const IntegerLiteral&) { return ValueType::primitive(TypeName::Integer); },
        [](const ScalarLiteral&) { return ValueType::primitive(TypeName::Scalar); },
        [](const LogicalLiteral&) { return ValueType::primitive(TypeName::Logical); },
        [](const StringLiteral&) { return ValueType::primitive(TypeName::String); },
        [&](const Identifier& name) { return identifier_type(node.span, name.name); },
        [&](const Paren& paren) { return type_of(paren.inner); },
        [&](const Array& array) { return array_type(array); },
        [&](const Tuple& tuple) { return tuple_type(tuple); },
        [&](const Subscript& subscript) { return subscript_type(subscript); },
        [&](const SubscriptRange& range) { return range_type(range); },
        [&](const Unary& unary) { return unary_type(id, unary); },
        [&](const Binary& binary) { return binary_type(id, binary); },
        [&](const IfElse& branch) { return condition_type(branch, {}); },
        [&](const Comprehension& loop) { return comprehension_type(loop); },
        [&](const BuiltinCall& call) { return builtin_type(call); },
        [&](InvocationId invocation) {
            const Invocation& call = document_.invocations[invocation];
            const ValueType type = call_type(id, call);
            if (type.bad() || !(type.array() || type.tuple())) return type;
            diag_
                .error(node.span,
                       DiagKind::NestedCall,
                       fmt::format("`{}` gives `{}`, and only a single tensor can be used in an "
                                   "expression",
                                   call.name,
                                   text(type)))
                .note("assign its results to names first")
                .note(
                    "NNEF 1.0.4, 3.3.3: chaining is only allowed if the operation returns a single "
                    "tensor");
            return ValueType{};
        });
}

ValueType Checker::identifier_type(Span span, std::string_view name) {
    if (name.empty()) return {};
    const auto found = locals_.find(name);
    if (found != locals_.end()) return found->second.type;
    const auto later = targets_.find(name);
    if (later != targets_.end()) {
        diag_
            .error(span,
                   DiagKind::UsedBeforeAssigned,
                   fmt::format("`{}` is used before it is assigned", name))
            .note(later->second, "assigned here")
            .note("NNEF 1.0.4, 3.3.2: identifiers must be assigned before they are used");
        return {};
    }
    std::vector<std::string_view> names;
    for (const auto& [known, local] : locals_) names.push_back(known);
    diag_.error(span, DiagKind::UndeclaredName, fmt::format("nothing is called `{}` here", name))
        .did_you_mean(span, diag::nearest_name(name, names))
        .note("NNEF 1.0.4, 3.3.2: identifiers must be assigned before they are used");
    return {};
}

namespace {

// Tuples in lists of tract may differ in the type of an item: `[("name", "net"), ("size", 3)]`. The
// type of such an item is unknown.
std::optional<ValueType> merged_tuple(const ValueType& a, const ValueType& b, Dialect dialect) {
    if (!a.tuple() || !b.tuple() || a.items.size() != b.items.size()) return std::nullopt;
    ValueType result = a;
    for (size_t i = 0; i < a.items.size(); ++i) {
        const bool open = a.items[i].bad() || b.items[i].bad();
        const auto common = open ? std::nullopt : common_type(a.items[i], b.items[i], dialect);
        result.items[i] = common.value_or(ValueType{});
    }
    return result;
}

}  // namespace

ValueType Checker::array_type(const Array& array) {
    ValueType item;
    bool first = true;
    for (const ExprId id : document_.items(array.items)) {
        const ValueType type = type_of(id);
        auto common = first ? type : common_type(item, type, dialect_);
        if (!common && dialect_ == Dialect::Tract) common = merged_tuple(item, type, dialect_);
        if (!common) {
            diag_
                .error(expr(id).span,
                       DiagKind::MixedList,
                       fmt::format("`{}` in an array of `{}`", text(type), text(item)))
                .note(
                    "NNEF 1.0.4, 3.3.3: array items must be of the same type, or castable to a "
                    "common type");
            return {};
        }
        item = *common;
        first = false;
    }
    return first ? ValueType::empty_array() : ValueType::array(std::move(item));
}

// Numbers in a tuple with tensors are constant tensors, so that the tuple has tensors only.
ValueType Checker::tuple_type(const Tuple& tuple) {
    std::vector<ValueType> types;
    bool tensors = false;
    for (const ExprId id : document_.items(tuple.items)) {
        types.push_back(type_of(id));
        tensors = tensors || has_tensor(types.back());
    }
    // tract has mixed tuples: `("x", tensor, 0, 1)`.
    if (dialect_ == Dialect::Tract && !std::ranges::all_of(types, has_tensor) && tensors) {
        return ValueType::tuple(std::move(types));
    }
    for (size_t i = 0; i < types.size() && tensors; ++i) {
        ValueType& type = types[i];
        if (has_tensor(type) || type.bad()) continue;
        if (type.kind == ValueType::Kind::Primitive && !type.is(TypeName::String)) {
            type = ValueType::tensor(type.name);
            continue;
        }
        diag_
            .error(expr(document_.items(tuple.items)[i]).span,
                   DiagKind::TensorMismatch,
                   fmt::format("`{}` in a tuple of tensors", text(type)))
            .note("NNEF 1.0.4, 3.3.1: tuples must not contain both tensor and non-tensor items");
        type = {};
    }
    return ValueType::tuple(std::move(types));
}

void Checker::want_integer(ExprId index, std::string_view what) {
    if (!index.valid()) return;
    const ValueType type = type_of(index);
    if (type.bad() || type.is(TypeName::Integer)) return;
    diag_
        .error(expr(index).span,
               DiagKind::BadIndex,
               fmt::format("the {} is `{}`, expected `integer`", what, text(type)))
        .note("NNEF 1.0.4, 3.3.3: arrays and strings are indexed by integers");
}

ValueType Checker::subscript_type(const Subscript& node) {
    const ValueType base = type_of(node.base);
    if (base.tuple()) {
        const auto* index = std::get_if<IntegerLiteral>(&expr(bare(node.index)).node);
        const auto size = static_cast<int64_t>(base.items.size());
        if (!index) {
            diag_
                .error(expr(node.index).span,
                       DiagKind::BadIndex,
                       "the index of a tuple is an expression, expected an integer literal")
                .note("NNEF 1.0.4, 3.3.3: subscripts of tuples must be integer literals");
            return {};
        }
        if (index->value() >= 0 && index->value() < size) {
            const ValueType& item = base.items[static_cast<size_t>(index->value())];
            if (!item.bad() || diag_.has_errors()) return item;
            diag_.error(expr(node.base).span,
                        DiagKind::MixedList,
                        "items of tuples that have different types in a list cannot be used");
            return {};
        }
        diag_.error(expr(node.index).span,
                    DiagKind::IndexRange,
                    fmt::format("index {} of a tuple of {} items", index->value(), size));
        return {};
    }
    want_integer(node.index, "index");
    if (base.bad() || base.is(TypeName::String)) return base;
    if (base.array()) return base.items.empty() ? ValueType{} : base.items[0];
    // `tract_core_shape_of(x)[0]` is the first extent.
    if (base.tensor() && dialect_ == Dialect::Tract) return base;
    diag_
        .error(expr(node.base).span,
               DiagKind::BadIndex,
               fmt::format("`{}` cannot be indexed", text(base)))
        .note("NNEF 1.0.4, 3.3.3: subscripts take arrays, tuples and strings");
    return {};
}

ValueType Checker::range_type(const SubscriptRange& node) {
    const ValueType base = type_of(node.base);
    want_integer(node.begin, "begin of the range");
    want_integer(node.end, "end of the range");
    if (base.bad() || base.array() || base.is(TypeName::String)) return base;
    auto report = diag_.error(
        expr(node.base).span, DiagKind::BadIndex, fmt::format("`{}` has no ranges", text(base)));
    report.note(base.tuple() ? "NNEF 1.0.4, 3.3.3: subscripts of tuples must be integer literals"
                             : "NNEF 1.0.4, 3.3.3: ranges take arrays and strings");
    return {};
}

void Checker::want_logical(ExprId condition) {
    const ValueType type = type_of(condition);
    if (type.bad() || type.is(TypeName::Logical)) return;
    auto report = diag_.error(expr(condition).span,
                              DiagKind::TypeMismatch,
                              fmt::format("the condition is `{}`, expected `logical`", text(type)));
    if (type.tensor()) report.note("`select` chooses between the items of tensors");
    report.note(
        "NNEF 1.0.4, 3.3.3: a condition must be of type logical, so that it is known at compile "
        "time");
}

// `target` is given if the whole condition is assigned to it.
ValueType Checker::condition_type(const IfElse& node, ExprId target) {
    want_logical(node.condition);
    const auto branch = [&](ExprId value) {
        return target.valid() ? type_for(target, value) : type_of(value);
    };
    const ValueType yes = branch(node.consequent);
    const ValueType no = branch(node.alternative);
    if (auto type = common_type(yes, no, dialect_)) return *type;
    diag_
        .error(expr(node.alternative).span,
               DiagKind::TypeMismatch,
               fmt::format("one branch is `{}`, the other `{}`", text(yes), text(no)))
        .note(expr(node.consequent).span, "the first is here")
        .note("NNEF 1.0.4, 3.3.1: neither of the two types can be cast to the other");
    return {};
}

ValueType Checker::comprehension_type(const Comprehension& node) {
    std::vector<ValueType> items;
    for (const Iterator& iterator : document_.items(node.iterators)) {
        const ValueType range = type_of(iterator.range);
        if (!range.bad() && !range.array()) {
            diag_
                .error(expr(iterator.range).span,
                       DiagKind::TypeMismatch,
                       fmt::format("`{}` is iterated, expected an array", text(range)))
                .note("NNEF 1.0.4, 3.3.3: a comprehension iterates arrays");
        }
        items.push_back(range.array() && !range.items.empty() ? range.items[0] : ValueType{});
    }
    std::vector<std::string_view> added;
    size_t index = 0;
    for (const Iterator& iterator : document_.items(node.iterators)) {
        const Name& name = iterator.name;
        const auto [place, fresh] =
            locals_.emplace(name.text, Local{items[index++], name.span, Local::Role::Iterator});
        if (fresh) {
            added.push_back(name.text);
            continue;
        }
        diag_
            .error(name.span,
                   DiagKind::DuplicateName,
                   fmt::format("the iterator `{}` has the name of something else", name.text))
            .note(place->second.span, "declared here");
    }
    if (node.condition.valid()) want_logical(node.condition);
    ValueType item = type_of(node.value);
    for (const std::string_view name : added) locals_.erase(name);
    return ValueType::array(std::move(item));
}

ValueType Checker::builtin_type(const BuiltinCall& node) {
    const ValueType type = type_of(node.argument);
    const bool primitive = type.bad() || type.kind == ValueType::Kind::Primitive;
    const auto refuse = [&](std::string_view wanted) {
        diag_
            .error(
                expr(node.argument).span,
                DiagKind::OperandType,
                fmt::format(
                    "`{}` is given `{}`, expected {}", spelling(node.function), text(type), wanted))
            .note("NNEF 1.0.4, 3.3.3, built-in functions");
    };
    const ValueType integer = ValueType::primitive(TypeName::Integer);
    switch (node.function) {
        case Builtin::ShapeOf:
            if (!primitive && !type.tensor()) refuse("a tensor");
            diag_.warning(expr(node.argument).span,
                          DiagKind::Deprecated,
                          "`shape_of` is deprecated, for shapes are not part of the syntax");
            return ValueType::array(integer);
        case Builtin::LengthOf:
        case Builtin::RangeOf:
            if (!type.bad() && !type.array() && !type.is(TypeName::String)) {
                refuse("an array or a string");
            }
            return node.function == Builtin::LengthOf ? integer : ValueType::array(integer);
        case Builtin::Integer:
        case Builtin::Scalar:
        case Builtin::Logical:
        case Builtin::String:
            break;
    }
    if (!primitive) refuse("a value of primitive type");
    switch (node.function) {
        case Builtin::Integer:
            return integer;
        case Builtin::Scalar:
            return ValueType::primitive(TypeName::Scalar);
        case Builtin::Logical:
            return ValueType::primitive(TypeName::Logical);
        default:
            return ValueType::primitive(TypeName::String);
    }
}

}  // namespace lemma::nnef1
