// SPDX-License-Identifier: Apache-2.0
// Declarations: @dtype, @attrib, @input, @constant, @variable, @output, and their values.
#include <fmt/format.h>

#include <map>

#include "sknd/names/identifiers.h"
#include "sknd/types/checker.h"

namespace lemma::sknd {

void DefinitionChecker::check_blocks() {
    const BlockSpan* lower = def_.block(BlockKind::Lower);
    const BlockSpan* compose = def_.block(BlockKind::Compose);
    if (def_.graph) {
        if (lower) {
            error(lower->keyword,
                  DiagKind::BadBlock,
                  "a graph has no `@lower`; it is composed of operators");
        }
        if (def_.composes.empty() && !lower) {
            error(def_.name.span,
                  DiagKind::MissingBody,
                  compose ? fmt::format("the `@compose` of the graph `{}` is empty", def_.name.text)
                          : fmt::format("the graph `{}` has no `@compose`", def_.name.text))
                .note("a graph is composed of operators; an operator alone may be without body");
        }
        return;
    }
    if (lower && compose) {
        error(compose->keyword,
              DiagKind::TwoBodies,
              fmt::format("the operator `{}` has both `@lower` and `@compose`", def_.name.text))
            .note(lower->keyword, "the other body");
    }
}

void DefinitionChecker::collect_later_names() {
    const auto add = [&](const std::vector<ParamDecl>& decls, BlockKind block) {
        for (const ParamDecl& decl : decls) {
            later_names_.insert(decl.name.text, LaterName{block, decl.name.span});
        }
    };
    for (const UsingStmt& stmt : def_.usings) {
        for (const LValueItem& item : stmt.lhs.items) {
            for (const auto& target : item.targets) {
                later_names_.insert(target.name.text,
                                    LaterName{BlockKind::Using, target.name.span});
            }
        }
    }
    add(def_.inputs, BlockKind::Input);
    add(def_.constants, BlockKind::Constant);
    add(def_.variables, BlockKind::Variable);
    add(def_.outputs, BlockKind::Output);
}

void DefinitionChecker::check_dtypes() {
    NameTable<Span> names;
    for (const DtypeDecl& decl : def_.dtypes) {
        check_reserved(decl.name);
        if (!names.insert(decl.name.text, decl.name.span)) {
            error(decl.name.span,
                  DiagKind::DuplicateName,
                  fmt::format("`{}` is already a generic type", decl.name.text))
                .note(*names.find(decl.name.text), "declared here");
        }
        if (!decl.base.text.empty() && !is_abstract(decl.base.text)) {
            const bool concrete = concrete_type(decl.base.text) != BaseType::Bad;
            error(decl.base.span,
                  concrete ? DiagKind::TypeMismatch : DiagKind::NoType,
                  fmt::format("the base of a generic type is `{}`, expected type, arith or num",
                              decl.base.text));
            continue;
        }
        if (!decl.fallback || decl.fallback->text.empty()) continue;
        const BaseType fallback = concrete_type(decl.fallback->text);
        if (fallback == BaseType::Bad || !satisfies(fallback, abstract_bound(decl.base.text))) {
            error(decl.fallback->span,
                  fallback == BaseType::Bad ? DiagKind::NoType : DiagKind::GenericType,
                  fmt::format("the default `{}` is not a type of base `{}`",
                              decl.fallback->text,
                              decl.base.text));
        }
    }
}

void DefinitionChecker::declare_attributes() {
    for (const ParamDecl& decl : def_.attribs) {
        Type type = resolve_base(decl.type.base, false);
        type.optional = decl.type.optional;
        type.packed = decl.type.pack.has_value();
        Symbol symbol = make_symbol(decl.name, SymbolKind::Attribute, type);
        symbol.value = unknown_value(decl.name.text, type, false);
        declare(std::move(symbol));
    }
}

void DefinitionChecker::declare_inputs() {
    declaring_ = true;
    // Attribute packs first: their lengths may be the names that shapes share.
    for (const ParamDecl& decl : def_.attribs) {
        const SymbolId id = scopes_.find(decl.name.text);
        if (decl.type.pack) {
            scopes_[id].type.length = check_pack_length(*decl.type.pack, decl.name.text);
        }
        if (decl.type.shape) {
            error(decl.type.shape_span, DiagKind::UnexpectedShape, "an attribute has no shape")
                .note("attributes are compile-time values; declare tensors in `@input`");
        }
    }
    declare_tensors(def_.inputs, SymbolKind::Input);
    declaring_ = false;
}

void DefinitionChecker::declare_tensors(const std::vector<ParamDecl>& decls, SymbolKind kind) {
    for (const ParamDecl& decl : decls) {
        check_tensor_shape(decl, kind);
        const Type type = declared_type(decl.type, decl.name.text);
        Symbol symbol = make_symbol(decl.name, kind, type);
        symbol.assigned = kind != SymbolKind::Output;
        declare(std::move(symbol));
        if (kind == SymbolKind::Constant) {
            check_constant_value(decl, type);
        } else if (kind != SymbolKind::Input && decl.value.valid()) {
            error(decl.value,
                  DiagKind::UnexpectedValue,
                  fmt::format("{} has no value of its own", kind_text(kind)))
                .note(kind == SymbolKind::Variable
                          ? "the values of variables are stored in data files"
                          : "outputs are computed in `@lower` or `@compose`");
        }
    }
}

void DefinitionChecker::check_attribute_defaults() {
    for (const ParamDecl& decl : def_.attribs) {
        if (!decl.value.valid()) continue;
        const Type declared = scopes_[scopes_.find(decl.name.text)].type;
        const Type value = compile_value(decl.value);
        if (decl.type.optional) {
            error(decl.value,
                  DiagKind::BadDefault,
                  fmt::format("the optional attribute `{}` has a default", decl.name.text))
                .note(
                    "an optional attribute is null when it is not given; drop `optional` or the "
                    "default");
        }
        check_default_value(decl, declared, value);
    }
    check_default_cycles();
}

void DefinitionChecker::check_default_value(const ParamDecl& decl,
                                            const Type& declared,
                                            const Type& value) {
    if (value.bad() || declared.bad()) return;
    if (!same_base(declared, value)) {
        auto report = error(decl.value,
                            DiagKind::TypeMismatch,
                            fmt::format("the default of `{}` is {}, expected {}",
                                        decl.name.text,
                                        text(value),
                                        base_text(declared, signature_.generics)));
        suggest_conversion(decl.value, value, declared.base, report);
        return;
    }
    if (value.packed && !declared.packed) {
        error(
            decl.value,
            DiagKind::PackMismatch,
            fmt::format("the default of `{}` is a pack, expected a single value", decl.name.text));
    } else if (value.packed && surely_differ(value.length, declared.length)) {
        error(decl.value,
              DiagKind::LengthMismatch,
              fmt::format("the default of `{}` has {}, expected {}",
                          decl.name.text,
                          count_text(value.length),
                          symbols_.text(declared.length)));
    }
}

// Most attributes read none with a default; then there is no cycle.
bool DefinitionChecker::defaults_read_defaults() const {
    NameSet with_default;
    for (const ParamDecl& decl : def_.attribs) {
        if (decl.value.valid()) with_default.insert(decl.name.text);
    }
    bool found = false;
    for (const ParamDecl& decl : def_.attribs) {
        for_each_identifier(module_, decl.value, [&](std::string_view name, ExprId) {
            found = found || with_default.contains(name);
        });
    }
    return found;
}

// Depth-first, with an explicit path instead of recursion.
void DefinitionChecker::check_default_cycles() {
    if (!defaults_read_defaults()) return;
    struct Read {
        std::string_view name;
        ExprId id;
    };
    struct Visit {
        std::string_view name;
        std::vector<Read> reads;
        size_t next = 0;
    };
    std::map<std::string_view, const ParamDecl*> with_default;
    for (const ParamDecl& decl : def_.attribs) {
        if (decl.value.valid()) with_default.emplace(decl.name.text, &decl);
    }
    std::map<std::string_view, int> state;  // 1: on the path, 2: done
    std::vector<Visit> path;
    const auto enter = [&](const ParamDecl& decl) {
        state[decl.name.text] = 1;
        Visit visit{.name = decl.name.text, .reads = {}};
        for_each_identifier(module_, decl.value, [&](std::string_view name, ExprId id) {
            if (with_default.contains(name)) visit.reads.push_back({name, id});
        });
        path.push_back(std::move(visit));
    };
    for (const auto& [start, decl] : with_default) {
        if (state[start] == 0) enter(*decl);
        while (!path.empty()) {
            Visit& visit = path.back();
            if (visit.next == visit.reads.size()) {
                state[visit.name] = 2;
                path.pop_back();
                continue;
            }
            const Read& read = visit.reads[visit.next++];
            if (state[read.name] == 1) {
                error(read.id,
                      DiagKind::CyclicDefault,
                      fmt::format(
                          "the default of `{}` depends on itself{}",
                          read.name,
                          read.name == visit.name ? "" : fmt::format(" through `{}`", visit.name)));
            } else if (state[read.name] == 0) {
                enter(*with_default.at(read.name));
            }
        }
    }
}

void DefinitionChecker::check_input_defaults() {
    for (const ParamDecl& decl : def_.inputs) {
        if (!decl.value.valid()) continue;
        const Type declared = scopes_[scopes_.find(decl.name.text)].type;
        const Type value = compile_value(decl.value);
        if (decl.type.optional) {
            error(decl.value,
                  DiagKind::BadDefault,
                  fmt::format("the optional input `{}` has a default", decl.name.text))
                .note(
                    "an optional input is null when it is not given; drop `optional` or the "
                    "default");
        }
        expect_present(decl.value, value, "the default of an input");
        check_default_value(decl, declared, value);
    }
}

// Index symbols run over the axes of the constant, one for each.
void DefinitionChecker::check_constant_bounds(const ParamDecl& decl, const Type& type) {
    ir::SymId count = sym_const(0);
    for (const LoopBound& bound : decl.bounds) {
        const Type& index = tables_.types[bound.bound];
        if (index.bad()) return;
        count = sym_add(count, index.packed ? index.length : sym_const(1));
    }
    if (decl.bounds.empty() || !surely_differ(count, type.rank)) return;
    error(cover(decl.bounds.front().span, decl.bounds.back().span),
          DiagKind::RankMismatch,
          fmt::format("`{}` has rank {}, found {}",
                      decl.name.text,
                      symbols_.text(type.rank),
                      count_text(count, "index symbol")));
}

void DefinitionChecker::check_constant_value(const ParamDecl& decl, const Type& type) {
    if (!decl.value.valid()) {
        error(decl.span,
              DiagKind::MissingValue,
              fmt::format("the constant `{}` has no value", decl.name.text));
        return;
    }
    scopes_.push();
    declare_bounds(decl.bounds);
    check_constant_bounds(decl, type);
    const Type value = compile_value(decl.value);
    scopes_.pop();
    if (value.bad() || type.bad()) return;
    if (!same_base(type, value)) {
        error(decl.value,
              DiagKind::TypeMismatch,
              fmt::format("the value of `{}` is {}, expected {}",
                          decl.name.text,
                          text(value),
                          base_text(type, signature_.generics)));
    }
    expect_present(decl.value, value, "the value of a constant");
    if (type.packed) {
        if (!decl.type.pack->length.valid()) {
            error(decl.type.pack->span,
                  DiagKind::LengthMismatch,
                  "a pack of constants needs its length");
        }
        if (!value.packed || surely_differ(value.length, type.length)) {
            error(decl.value,
                  DiagKind::LengthMismatch,
                  fmt::format("the pack `{}` wants a list with one value per constant",
                              decl.name.text));
        }
    } else if (!decl.bounds.empty()) {
        expect_single(decl.value, value, "the value of an element");
    }
}

}  // namespace lemma::sknd
