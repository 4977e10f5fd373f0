// SPDX-License-Identifier: Apache-2.0
// Types of lists, ranges, zips, indexing, substitution and folds. Pack lengths are symbolic
// expressions; two that can never be equal are an error.
#include <fmt/format.h>

#include "base/match.h"
#include "sknd/types/checker.h"

namespace lemma::sknd {

namespace {

std::string_view fold_text(FoldOp op) {
    switch (op) {
        case FoldOp::Sum:
            return "+";
        case FoldOp::Product:
            return "*";
        case FoldOp::All:
            return "&&";
        case FoldOp::Any:
            return "||";
        case FoldOp::Min:
            return "<<";
        case FoldOp::Max:
            return ">>";
        case FoldOp::Less:
            return "<";
        case FoldOp::LessEqual:
            return "<=";
        case FoldOp::Greater:
            return ">";
        case FoldOp::GreaterEqual:
            return ">=";
        case FoldOp::Equal:
            return "==";
        case FoldOp::NotEqual:
            return "!=";
        case FoldOp::Uniform:
            return ":=";
    }
    return "?";
}

bool folds_numbers(FoldOp op) {
    return op == FoldOp::Sum || op == FoldOp::Product || op == FoldOp::Min || op == FoldOp::Max;
}

bool is_order(FoldOp op) {
    return op == FoldOp::Less || op == FoldOp::LessEqual || op == FoldOp::Greater ||
           op == FoldOp::GreaterEqual;
}

}  // namespace

bool DefinitionChecker::surely_differ(ir::SymId a, ir::SymId b) {
    if (!a.valid() || !b.valid() || a == b) return false;
    const auto difference = symbols_.apply(ir::SymOp::Sub, {a, b});
    if (!difference) return false;
    const ir::Interval range = symbols_.range(*difference);
    return range.low > 0 || range.high < 0;
}

std::string DefinitionChecker::count_text(ir::SymId count, std::string_view noun) const {
    return fmt::format(
        "{} {}{}", symbols_.text(count), noun, symbols_.as_int(count) == 1 ? "" : "s");
}

ir::SymId DefinitionChecker::join_lengths(Span span,
                                          const Type& a,
                                          const Type& b,
                                          std::string_view what) {
    if (a.packed && b.packed && surely_differ(a.length, b.length)) {
        error(span,
              DiagKind::LengthMismatch,
              fmt::format("`{}` between packs of {} and {}, expected equal lengths",
                          what,
                          symbols_.text(a.length),
                          count_text(b.length)));
    }
    if (!a.packed) return b.length;
    return b.packed && !a.length.valid() ? b.length : a.length;
}

Type DefinitionChecker::type_list(ExprId, const List& node) {
    Type list = pack_type(BaseType::Any, sym_const(0));
    bool mixed = false;
    for (const ExprId item : node.items) {
        const Type type = type_list_item(item);
        if (type.bad()) {
            list.length = {};
            if (list.base == BaseType::Any) list.base = BaseType::Bad;
            continue;
        }
        const bool known = !list.bad() && list.base != BaseType::Any;
        if (!mixed && known && (!same_base(list, type) || list.tensor != type.tensor)) {
            Type single = type, before = list;
            single.packed = before.packed = single.optional = before.optional = false;
            error(item,
                  DiagKind::MixedList,
                  fmt::format(
                      "a list item is {}, the items before it are {}", text(single), text(before)))
                .note("all items of a list have one type; there is no implicit conversion");
            mixed = true;
        }
        list.tensor = list.tensor || type.tensor;
        refine_base(list, type);
        list.optional = list.optional || type.optional;
        list.length = sym_add(list.length, type.packed ? type.length : sym_const(1));
    }
    return mixed ? Type{} : list;
}

// The item itself, or a pack if it stands for several.
Type DefinitionChecker::type_list_item(ExprId id) {
    const Expr& item = expr(id);
    if (const auto* range = std::get_if<Range>(&item.node)) {
        return tables_.types[id] = type_range(id, *range);
    }
    if (const auto* expand = std::get_if<Expand>(&item.node)) {
        return tables_.types[id] = type_expand(id, *expand);
    }
    if (const auto* zip = std::get_if<Zip>(&item.node)) {
        type_zip(id, *zip);
        return Type{};  // not expanded: reported by the parser
    }
    Type type = any_operand(id);
    if (!type.packed || type.bad()) return type;
    error(id, DiagKind::NestedList, "a pack inside a list must be expanded; lists do not nest")
        .note(fmt::format("write `{}..` to put its items here", source(id)))
        .fix({item.span.file, item.span.end, item.span.end}, "..");
    return Type{};
}

Type DefinitionChecker::type_range(ExprId, const Range& node) {
    Type range = pack_type(BaseType::Int, {});
    for (const ExprId part : {node.begin, node.end, node.step}) {
        if (!part.valid()) continue;
        const Type type = scalar_operand(part);
        expect_base(part, type, BaseType::Int, "this part of a range");
        expect_single(part, type, "this part of a range");
        range.optional = range.optional || type.optional;
    }
    if (node.begin.valid() && node.end.valid() && !node.step.valid()) {
        const ir::SymId begin = symbolic_int(node.begin);
        const ir::SymId end = symbolic_int(node.end);
        if (begin.valid() && end.valid()) {
            const auto span = symbols_.apply(ir::SymOp::Sub, {end, begin});
            const auto length =
                span ? symbols_.apply(ir::SymOp::Max, {*span, sym_const(0)}) : std::nullopt;
            if (length) range.length = *length;
        }
    }
    return range;
}

Type DefinitionChecker::type_expand(ExprId id, const Expand& node) {
    const auto* zip = std::get_if<Zip>(&expr(node.item).node);
    Type type = zip ? type_zip(node.item, *zip) : any_operand(node.item);
    if (!node.count.valid()) {
        if (type.bad() || type.packed) return type;
        error(id,
              DiagKind::PackMismatch,
              fmt::format("`..` after a single value ({}) needs a count", text(type)))
            .note(
                fmt::format("write `{} ..(n)` to repeat it, or drop the `..`", source(node.item)));
        return Type{};
    }
    const Type count = scalar_operand(node.count);
    expect_single(node.count, count, "the count behind `..`");
    if (!same_base(count, scalar_type(BaseType::Int)) && count.base != BaseType::Bool) {
        error(node.count,
              DiagKind::TypeMismatch,
              fmt::format("the count behind `..` is {}, expected int or bool", text(count)));
    }
    if (type.bad()) return type;
    if (type.packed) {
        error(node.count,
              DiagKind::PackMismatch,
              fmt::format("a count behind a pack ({}); only a single value can be repeated",
                          text(type)))
            .note(fmt::format("`{}..` puts all of its items here", source(node.item)));
        return type;
    }
    type.optional = type.optional || count.optional;
    type.packed = true;
    type.length = count.base == BaseType::Int ? symbolic_int(node.count) : ir::SymId{};
    return type;
}

Type DefinitionChecker::type_zip(ExprId id, const Zip& node) {
    Type zip = pack_type(BaseType::Any, {});
    ir::SymId common;
    for (const ExprId item : node.items) {
        const Type type = any_operand(item);
        if (type.bad()) return tables_.types[id] = Type{};
        if (!type.packed) {
            error(item,
                  DiagKind::PackMismatch,
                  fmt::format("a zip interleaves packs, found {}", text(type)));
            return tables_.types[id] = Type{};
        }
        if (!same_base(zip, type)) {
            error(
                item,
                DiagKind::MixedList,
                fmt::format("zipped packs of {} and {}, expected one type", text(zip), text(type)));
            return tables_.types[id] = Type{};
        }
        if (surely_differ(common, type.length)) {
            error(item,
                  DiagKind::LengthMismatch,
                  fmt::format("zipped packs of {} and {}, expected equal lengths",
                              symbols_.text(common),
                              count_text(type.length)));
        }
        if (!common.valid()) common = type.length;
        refine_base(zip, type);
        zip.tensor = type.tensor;
        zip.optional = zip.optional || type.optional;
    }
    if (common.valid()) {
        const auto total = symbols_.apply(
            ir::SymOp::Mul, {common, sym_const(static_cast<int64_t>(node.items.size()))});
        if (total) zip.length = *total;
    }
    return tables_.types[id] = zip;
}

// ---- Indexing -----------------------------------------------------------------------------------

Type DefinitionChecker::index_type(ExprId id) {
    if (const auto* range = std::get_if<Range>(&expr(id).node)) {
        return tables_.types[id] = type_range(id, *range);
    }
    const Type type = scalar_operand(id);
    if (same_base(type, scalar_type(BaseType::Int))) return type;
    if (type.base == BaseType::Bool && type.packed) return type;
    error(
        id,
        DiagKind::BadIndex,
        fmt::format("an index is {}, expected int, a pack of int, or a mask of bool", text(type)));
    return Type{};
}

Type DefinitionChecker::type_index(ExprId id, const Index& node) {
    Type base = type_expr(node.base);
    const Type index = index_type(node.index);
    if (base.bad()) return Type{};
    if (base.tensor && !base.packed) {
        const Span span = expr(node.index).span;
        error(id,
              DiagKind::BadIndex,
              fmt::format("`{}` is a single tensor, not a pack", source(node.base)))
            .note("an access with one index has a comma behind it, to tell it from indexing a pack")
            .fix({span.file, span.end, span.end}, ",");
        return Type{};
    }
    if (!base.packed && base.base != BaseType::Str && base.base != BaseType::Any) {
        error(node.base,
              DiagKind::PackMismatch,
              fmt::format("indexing {}, expected a pack or a string", text(base)));
        return Type{};
    }
    base.optional = base.optional || index.optional;
    if (!base.packed) return base;  // part of a string
    if (index.base == BaseType::Bool) {
        if (surely_differ(base.length, index.length)) {
            error(node.index,
                  DiagKind::LengthMismatch,
                  fmt::format("a mask of {} over a pack of {}, expected equal lengths",
                              count_text(index.length),
                              symbols_.text(base.length)));
        }
        base.length = {};
        return base;
    }
    if (const auto* range = std::get_if<Range>(&expr(node.index).node)) {
        base.length = range_length(*range, base.length);
        return base;
    }
    base.packed = index.packed;
    base.length = index.length;
    return base;
}

ir::SymId DefinitionChecker::range_length(const Range& range, ir::SymId length) {
    int64_t step = 1;
    if (range.step.valid()) {
        const ir::SymId value = symbolic_int(range.step);
        const auto constant = value.valid() ? symbols_.as_int(value) : std::nullopt;
        if (!constant || *constant == 0) return {};
        step = *constant;
    }
    // A bound counted from the start, or from the end if it is certainly negative; else unknown.
    const auto resolve = [&](ExprId part, ir::SymId missing) -> ir::SymId {
        if (!part.valid()) return missing;
        const ir::SymId value = symbolic_int(part);
        if (!value.valid()) return {};
        const ir::Interval where = symbols_.range(value);
        if (where.low >= 0) return value;
        return where.high < 0 ? sym_add(value, length) : ir::SymId{};
    };
    const ir::SymId last = sym_add(length, sym_const(-1));
    const ir::SymId begin = resolve(range.begin, step > 0 ? sym_const(0) : last);
    const ir::SymId end = resolve(range.end, step > 0 ? length : sym_const(-1));
    if (!begin.valid() || !end.valid()) return {};
    const auto [from, to] = step > 0 ? std::pair{begin, end} : std::pair{end, begin};
    const auto distance = symbols_.apply(ir::SymOp::Sub, {to, from});
    if (!distance) return {};
    const int64_t stride = step > 0 ? step : -(step + 1) + 1;
    const auto count = symbols_.apply(ir::SymOp::CeilDiv, {*distance, sym_const(stride)});
    if (!count) return {};
    const auto result = symbols_.apply(ir::SymOp::Max, {*count, sym_const(0)});
    return result ? *result : ir::SymId{};
}

Type DefinitionChecker::type_substitution(ExprId id, const Substitution& node) {
    const bool guard_allowed = guard_allowed_;
    guard_allowed_ = false;
    Type base = any_operand(node.base);
    const Type index = index_type(node.index);
    guard_allowed_ = guard_allowed;
    const Type value = any_operand(node.value);
    if (base.bad() || index.bad() || value.bad()) return base.packed ? base : Type{};
    if (!base.packed) {
        error(node.base,
              DiagKind::PackMismatch,
              fmt::format("`<-` replaces items of a pack, found {}", text(base)));
        return Type{};
    }
    if (index.base == BaseType::Bool) {
        error(node.index, DiagKind::BadIndex, "the index of `<-` is bool.., expected int or int..");
        return base;
    }
    if (!same_base(base, value)) {
        error(node.value,
              DiagKind::TypeMismatch,
              fmt::format("`<-` puts {} into a pack of {}",
                          text(value),
                          base_text(base, signature_.generics)));
    }
    if (base.tensor != value.tensor) {
        error(node.value,
              DiagKind::TensorMismatch,
              base.tensor ? "`<-` puts a compile-time value into a pack of tensors"
                          : "`<-` puts a tensor into a pack of compile-time values");
    }
    if (index.packed != value.packed) {
        error(node.value,
              DiagKind::PackMismatch,
              index.packed ? "`<-` replaces several items, expected a pack of new values"
                           : "`<-` replaces one item, expected a single new value");
    }
    const ir::SymId length = [&] {
        const auto* range = std::get_if<Range>(&expr(node.index).node);
        return range ? range_length(*range, base.length) : index.length;
    }();
    if (index.packed && value.packed && surely_differ(length, value.length)) {
        error(id,
              DiagKind::LengthMismatch,
              fmt::format("`<-` replaces {} by {}, expected equal lengths",
                          count_text(length),
                          symbols_.text(value.length)));
    }
    base.optional = base.optional || index.optional || value.optional;
    return base;
}

// ---- Folds --------------------------------------------------------------------------------------

Type DefinitionChecker::type_fold(ExprId id, const Fold& node) {
    Type type = scalar_operand(node.operand);
    if (type.bad()) return Type{};
    if (!type.packed) {
        error(node.operand,
              DiagKind::BadFold,
              fmt::format("folding {}, expected a pack", text(type)));
        return Type{};
    }
    const bool logical = node.op == FoldOp::All || node.op == FoldOp::Any;
    if (node.cumulative && !folds_numbers(node.op) && !logical) {
        error(id, DiagKind::BadFold, fmt::format("`{}` has no cumulative fold", fold_text(node.op)))
            .note(
                "`...` works with `+`, `*`, `<<`, `>>`, `&&` and `||`; a plain fold has two dots");
        return Type{};
    }
    const bool any_type = !folds_numbers(node.op) && !logical && !is_order(node.op);
    const bool fits = logical ? same_base(type, scalar_type(BaseType::Bool)) : numeric(type);
    if (!any_type && !fits) {
        error(node.operand,
              DiagKind::BadFold,
              fmt::format("folding {} with `{}`, expected {}",
                          text(type),
                          fold_text(node.op),
                          logical ? "bool.." : "int.. or real.."));
        return Type{};
    }
    if (node.cumulative) return type;
    const ir::SymId length = std::exchange(type.length, {});
    type.packed = false;
    if (is_order(node.op) || node.op == FoldOp::Equal || node.op == FoldOp::NotEqual) {
        type.base = BaseType::Bool;
    }
    // An empty pack has no minimum, and several items may differ.
    if (node.op == FoldOp::Min || node.op == FoldOp::Max || node.op == FoldOp::Uniform) {
        const ir::Interval items =
            length.valid() ? symbols_.range(length) : ir::Interval{0, INT64_MAX};
        const bool there =
            node.op == FoldOp::Uniform ? items.low == 1 && items.high == 1 : items.low >= 1;
        type.never_null = there && !type.optional;
        type.optional = !type.never_null;
    }
    return type;
}

}  // namespace lemma::sknd
