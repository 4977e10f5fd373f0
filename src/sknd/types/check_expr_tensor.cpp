// SPDX-License-Identifier: Apache-2.0
// Types of expressions with tensors: members, accesses, and guarded indices (spec 2.4, 2.12).
#include <fmt/format.h>

#include "sknd/types/checker.h"

namespace lemma::sknd {

Type DefinitionChecker::type_member(ExprId id, const Member& node) {
    const Type base = type_expr(node.base);
    if (base.bad()) return Type{};
    if (!base.tensor) {
        error(id,
              DiagKind::NoMember,
              fmt::format("`{}` is {}; only tensors have members", source(node.base), text(base)));
        return Type{};
    }
    const bool wants_pack = node.member == MemberKind::Size;
    if (wants_pack != base.packed) {
        error(id,
              DiagKind::NoMember,
              fmt::format(
                  fmt::runtime(wants_pack ? "`{}` is a single tensor; only packs have `.size`"
                                          : "`{}` is a pack of tensors, which may differ in shape"),
                  source(node.base)))
            .note(wants_pack ? "a single tensor has `.shape` and `.rank`"
                             : "a pack has `.size`; one of its tensors has `.shape` and `.rank`");
        return Type{};
    }
    Type type = scalar_type(BaseType::Int);
    type.optional = base.optional;
    if (node.member == MemberKind::Shape) {
        type.packed = true;
        type.length = base.rank;
    }
    return type;
}

Type DefinitionChecker::type_access(ExprId id, const Access& node) {
    Type base = type_expr(node.base);
    Type result = base;
    result.tensor = false;
    result.rank = {};
    ir::SymId count = sym_const(0);
    for (const ExprId index : node.indices) {
        count = sym_add(count, type_access_index(index, result));
    }
    if (base.bad()) return Type{};
    if (!base.tensor) {
        error(node.base,
              DiagKind::TensorMismatch,
              fmt::format("`{}` is {}, expected a tensor to access", source(node.base), text(base)))
            .note("an item of a pack is read with one index and no comma, as `p[i]`");
        return Type{};
    }
    if (context_ != Context::Lower) {
        error(id, DiagKind::TensorMismatch, "elements of tensors can be read in `@lower` only");
        return Type{};
    }
    if (!static_part_.empty()) {
        error(id,
              DiagKind::TensorMismatch,
              fmt::format("{} cannot depend on tensor data", static_part_));
    }
    if (surely_differ(count, base.rank)) {
        error(id,
              DiagKind::RankMismatch,
              fmt::format("`{}` has rank {}, found {} {}",
                          source(node.base),
                          symbols_.text(base.rank),
                          symbols_.text(count),
                          symbols_.as_int(count) == 1 ? "index" : "indices"));
    }
    return result;
}

// The number of axes that the index covers. A range, or a pack that is not expanded, makes the
// result a pack.
ir::SymId DefinitionChecker::type_access_index(ExprId id, Type& result) {
    const bool guard_allowed = guard_allowed_;
    guard_allowed_ = true;
    const auto* expand = std::get_if<Expand>(&expr(id).node);
    const auto* range = std::get_if<Range>(&expr(id).node);
    Type type;
    if (range) {
        type = type_range(id, *range);
        result.packed = true;
        result.length = {};
    } else {
        type = expand ? type_expand(id, *expand) : scalar_operand(id);
    }
    guard_allowed_ = guard_allowed;
    tables_.types[id] = type;
    if (type.bad()) return {};
    if (!same_base(type, scalar_type(BaseType::Int))) {
        error(id, DiagKind::BadIndex, fmt::format("an index is {}, expected int", text(type)));
        return {};
    }
    if (type.packed && !expand && !range) {
        // Not expanded: one axis is read at several indices, and the result is a pack (spec 4.1.6).
        result.packed = true;
        result.length = type.length;
    }
    result.optional = result.optional || type.optional;
    return expand ? type.length : sym_const(1);
}

Type DefinitionChecker::type_guard(ExprId id, const Guard& node) {
    if (!guard_allowed_) {
        error(id, DiagKind::MisplacedItem, "a guard `|i|` can only stand in an index of an access");
    }
    Type type = scalar_operand(node.index);
    expect_base(node.index, type, BaseType::Int, "a guarded index");
    if (!same_base(type, scalar_type(BaseType::Int))) type = Type{};
    for (const ExprId part : {node.below, node.above}) {
        if (!part.valid()) continue;
        const Type remapped = scalar_operand(part);
        expect_base(part, remapped, BaseType::Int, "a remapped index");
        if (remapped.packed && !type.packed) {
            expect_single(part, remapped, "a remapped index");
        }
        join_lengths(expr(part).span, type, remapped, "<>");
        type.optional = type.optional || remapped.optional;
    }
    return type;
}

}  // namespace lemma::sknd
