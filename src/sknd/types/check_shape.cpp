// SPDX-License-Identifier: Apache-2.0
// Types as written: base names, shapes, pack lengths; and the requirements on inputs of a main
// graph.
#include <fmt/format.h>

#include <limits>

#include "sknd/names/identifiers.h"
#include "sknd/names/suggest.h"
#include "sknd/types/checker.h"

namespace lemma::sknd {

Type DefinitionChecker::resolve_base(const Name& name, bool allow_abstract) {
    Type type = scalar_type(concrete_type(name.text));
    if (!type.bad()) return type;
    for (size_t i = 0; i < signature_.generics.size(); ++i) {
        if (signature_.generics[i].name != name.text) continue;
        if (signature_.generics[i].bad) return type;
        type.base = BaseType::Generic;
        type.generic = static_cast<uint16_t>(i);
        return type;
    }
    if (name.text.empty() || allow_abstract) return Type{};  // reported by the parser
    if (is_abstract(name.text)) {
        error(
            name.span,
            DiagKind::AbstractType,
            fmt::format("`{}` is an abstract type, expected int, real, bool, str or a generic type",
                        name.text))
            .note(fmt::format("declare a generic type for it: `@dtype {{ T: {}; }}`", name.text));
        return Type{};
    }
    std::vector<std::string_view> names = {"int", "real", "bool", "str"};
    for (const GenericType& generic : signature_.generics) names.push_back(generic.name);
    auto report = error(name.span, DiagKind::NoType, fmt::format("no type `{}`", name.text));
    const std::string_view usual = usual_type(name.text);
    report.did_you_mean(name.span, usual.empty() ? diag::nearest_name(name.text, names) : usual);
    if (usual == "real" || usual == "int") {
        report.note(
            fmt::format("`{}` has no width in the text; whoever runs the model chooses it", usual));
    }
    return Type{};
}

Type DefinitionChecker::declared_type(const TypeSpec& spec, std::string_view name) {
    Type type = resolve_base(spec.base, false);
    type.optional = spec.optional;
    type.tensor = true;
    if (spec.pack) {
        type.packed = true;
        type.length = check_pack_length(*spec.pack, name);
    }
    type.rank = check_shape(spec, type);
    if (spec.rank.valid()) check_rank(spec.rank, type);
    return type;
}

// The r of `real^(r)[…]`.
void DefinitionChecker::check_rank(ExprId id, const Type& tensor) {
    const Type type = compile_value(id);
    expect_base(id, type, BaseType::Int, "a rank");
    expect_single(id, type, "a rank");
    const ir::SymId rank = symbolic_int(id);
    if (!surely_differ(rank, tensor.rank)) return;
    error(id,
          DiagKind::RankMismatch,
          fmt::format(
              "the rank is {}, found {}", symbols_.text(rank), count_text(tensor.rank, "extent")));
}

ir::SymId DefinitionChecker::check_pack_length(const PackSpec& pack, std::string_view name) {
    if (!pack.length.valid()) {
        return symbols_.symbol(fmt::format("|{}|", name),
                               ir::ScalarType::Int,
                               {0, std::numeric_limits<int64_t>::max()});
    }
    if (pack.bound.valid()) {
        const Type bound = compile_value(pack.bound);
        expect_base(pack.bound, bound, BaseType::Int, "an upper bound");
    }
    const Type type = compile_value(pack.length);
    expect_base(pack.length, type, BaseType::Int, "the length of a pack");
    expect_single(pack.length, type, "the length of a pack");
    return symbolic_int(pack.length);
}

// The rank; invalid if a part of it is unknown.
ir::SymId DefinitionChecker::check_shape(const TypeSpec& spec, const Type& tensor) {
    if (!spec.shape) return {};
    ir::SymId rank = sym_const(0);
    for (const ExtentSpec& extent : *spec.shape) rank = sym_add(rank, check_extent(extent, tensor));
    return rank;
}

// The number of axes that one item of a shape stands for.
ir::SymId DefinitionChecker::check_extent(const ExtentSpec& extent, const Type& tensor) {
    if (extent.bound.valid()) {
        const Type bound = compile_value(extent.bound);
        expect_base(extent.bound, bound, BaseType::Int, "an upper bound");
    }
    ir::SymId count;
    bool conditional = false;
    if (extent.pack && extent.pack->length.valid()) {
        const ExprId length = extent.pack->length;
        const Type type = compile_value(length);
        conditional = type.base == BaseType::Bool;
        if (!conditional) expect_base(length, type, BaseType::Int, "a number of extents");
        expect_single(length, type, "a number of extents");
        if (!conditional && !type.optional) count = symbolic_int(length);
    }
    if (std::holds_alternative<Omitted>(expr(extent.extent).node)) {
        return extent.pack ? count : sym_const(1);
    }
    Type type = compile_value(extent.extent);
    expect_base(extent.extent, type, BaseType::Int, "an extent");
    if (tensor.optional) type.optional = false;  // present if the tensor is
    if (type.bad()) return {};
    if (extent.spread) {
        if (!type.packed || !tensor.packed) {
            error(extent.span,
                  DiagKind::PackMismatch,
                  tensor.packed ? "`..` before an extent wants a pack with one extent per tensor"
                                : "`..` before an extent is for packs of tensors");
        }
        return sym_const(1);
    }
    if (!extent.pack) {
        if (type.packed) {
            const Span span = expr(extent.extent).span;
            error(
                extent.extent, DiagKind::PackMismatch, "a packed extent must be expanded with `..`")
                .fix({span.file, span.end, span.end}, "..");
        }
        return type.optional || type.packed ? ir::SymId{} : sym_const(1);
    }
    if (type.packed) {
        if (surely_differ(count, type.length)) {
            error(extent.span,
                  DiagKind::LengthMismatch,
                  fmt::format("`{}` has {}, found the length {}",
                              source(extent.extent),
                              count_text(type.length, "extent"),
                              symbols_.text(count)));
        }
        if (type.optional) return {};
        return type.length.valid() ? type.length : count;
    }
    if (!extent.pack->length.valid() && !type.optional) {
        error(extent.span, DiagKind::PackMismatch, "`..` after a single extent needs a count")
            .note(fmt::format("write `{} ..(n)` to repeat it", source(extent.extent)));
    }
    return type.optional || conditional ? ir::SymId{} : count;
}

// Operators need all shapes. Graphs may omit the shapes of sub-graph inputs and of outputs.
// Compound operators of the library may omit output shapes, because the operators that they call
// have the shape rules.
void DefinitionChecker::check_tensor_shape(const ParamDecl& decl, SymbolKind kind) {
    const bool output = kind == SymbolKind::Output;
    const bool free_form = def_.graph && (output || kind == SymbolKind::Input);
    if (!decl.type.shape) {
        const bool composed =
            output && def_.block(BlockKind::Compose) && package_.package()[ref_.module].standard;
        if (free_form || composed) return;
        error(decl.span, DiagKind::MissingShape, fmt::format("`{}` has no shape", decl.name.text))
            .note(
                "a tensor is declared with its extents, as `real[m, n]`; `real[]` is a single "
                "number");
        return;
    }
    for (const ExtentSpec& extent : *decl.type.shape) {
        if (!std::holds_alternative<Omitted>(expr(extent.extent).node) || free_form) continue;
        if (output && extent.bound.valid()) continue;
        error(extent.span,
              DiagKind::UnboundedExtent,
              output ? "a dynamic extent of an operator output needs an upper bound"
                     : "`~` cannot stand for an extent here")
            .note(output ? "write it as `~|bound`" : "give the extent a name or a value");
    }
}

// A dynamic extent has one upper bound, the same at every occurrence (spec 2.6).
void DefinitionChecker::check_bounds(const std::vector<ParamDecl>& decls) {
    for (const ParamDecl& decl : decls) {
        if (!decl.type.shape) continue;
        for (const ExtentSpec& extent : *decl.type.shape) {
            const auto* name = std::get_if<Identifier>(&expr(extent.extent).node);
            if (!name || !extent.bound.valid()) continue;
            if (bounds_.insert(name->name, extent.bound)) continue;
            const ExprId before = *bounds_.find(name->name);
            if (surely_differ(symbolic_int(before), symbolic_int(extent.bound))) {
                error(extent.bound,
                      DiagKind::ExtentMismatch,
                      fmt::format("`{}` is bounded by {}, expected {} as before",
                                  name->name,
                                  source(extent.bound),
                                  source(before)))
                    .note(expr(before).span, "the other bound");
            }
        }
    }
}

bool DefinitionChecker::check_main_input(const ParamDecl& decl, Role role) {
    bool good = true;
    const auto wrong = [&](Span span, DiagKind kind, std::string message, std::string note) {
        good = false;
        auto report = role == Role::Main ? diag_.error(span, kind, std::move(message))
                                         : diag_.warning(span, kind, std::move(message));
        if (!note.empty()) report.note(std::move(note));
        if (role == Role::Main) return;
        report.note(fmt::format("nothing invokes the graph `{}`; it is not composed by itself",
                                def_.name.text));
    };
    if (!decl.type.shape) {
        wrong(decl.span,
              DiagKind::MissingShape,
              fmt::format("the input `{}` of a main graph has no shape", decl.name.text),
              "only graphs that other graphs invoke can leave input shapes out");
        return false;
    }
    const auto free_extent = [&](ExprId id) {
        bool free = false;
        for_each_identifier(module_, id, [&](std::string_view name, ExprId) {
            const SymbolId found = scopes_.find(name);
            free = free || (found.valid() && scopes_[found].kind == SymbolKind::Extent &&
                            !bounds_.contains(name));
        });
        return free;
    };
    const auto free_length = [&](const std::optional<PackSpec>& pack, ExprId item) {
        if (!pack) return false;
        return pack->length.valid() ? free_extent(pack->length) : free_extent(item);
    };
    for (const ExtentSpec& extent : *decl.type.shape) {
        const bool omitted = std::holds_alternative<Omitted>(expr(extent.extent).node);
        if (extent.pack && (free_length(extent.pack, extent.extent) ||
                            (omitted && !extent.pack->length.valid()))) {
            wrong(extent.span,
                  DiagKind::UnboundedExtent,
                  "the rank of a main graph's input must be fixed",
                  "write the number of extents, as `s|10 ..(3)`");
        } else if (!extent.bound.valid() && (omitted || free_extent(extent.extent))) {
            wrong(extent.span,
                  DiagKind::UnboundedExtent,
                  "a dynamic extent of a main graph's input needs an upper bound",
                  fmt::format("write it as `{}|bound`", source(extent.extent)));
        }
    }
    if (decl.type.pack && !decl.type.pack->bound.valid() &&
        (!decl.type.pack->length.valid() || free_extent(decl.type.pack->length))) {
        wrong(decl.type.pack->span,
              DiagKind::UnboundedExtent,
              "the number of tensors in a main graph's input must be fixed",
              "");
    }
    return good;
}

}  // namespace lemma::sknd
