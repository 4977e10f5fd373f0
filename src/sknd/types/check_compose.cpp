// SPDX-License-Identifier: Apache-2.0
// @compose and @update: components in order, their results, blocks and labels (spec 2.10, 2.11).
#include <fmt/format.h>

#include "base/match.h"
#include "sknd/types/checker.h"

namespace lemma::sknd {

namespace {

void collect_targets(const Component& component, NameTable<bool>& names) {
    for (const LValue& lhs : component.results) {
        for (const LValueItem& item : lhs.items) {
            for (const auto& target : item.targets) names.set(target.name.text, true);
        }
    }
}

}  // namespace

void DefinitionChecker::check_compose() {
    if (!def_.block(BlockKind::Compose)) return;
    context_ = Context::Compose;
    check_components(def_.composes, BlockKind::Compose, false);
    context_ = Context::Value;
    if (!def_.composes.empty()) check_all_assigned(def_.outputs);
}

void DefinitionChecker::check_update() {
    if (!def_.block(BlockKind::Update)) return;
    context_ = Context::Compose;
    check_components(def_.updates, BlockKind::Update, false);
    context_ = Context::Value;
}

void DefinitionChecker::check_all_assigned(const std::vector<ParamDecl>& outputs) {
    for (const ParamDecl& decl : outputs) {
        const SymbolId id = scopes_.find(decl.name.text);
        if (!id.valid() || scopes_[id].kind != SymbolKind::Output || scopes_[id].assigned) continue;
        error(decl.name.span,
              DiagKind::MissingOutput,
              fmt::format("the output `{}` is not assigned in `@compose`", decl.name.text));
    }
}

void DefinitionChecker::check_components(const std::vector<Component>& components,
                                         BlockKind block,
                                         bool nested) {
    labels_.emplace_back();
    auto& pending = pending_names_.emplace_back();
    for (const Component& component : components) collect_targets(component, pending);
    for (const Component& component : components) check_component(component, block, nested);
    pending_names_.pop_back();
    labels_.pop_back();
}

void DefinitionChecker::check_component(const Component& component, BlockKind block, bool nested) {
    const auto results = type_region(component.body, false);
    if (results) {
        bind_results(component, *results, block, nested);
        return;
    }
    // The error is reported; the names exist, with types that agree with everything.
    for (const LValue& lhs : component.results) {
        for (const LValueItem& item : lhs.items) {
            for (const auto& target : item.targets) {
                bind_name(target, Type{}, item.span, block, nested);
            }
        }
    }
}

void DefinitionChecker::bind_results(const Component& component,
                                     const Results& results,
                                     BlockKind block,
                                     bool nested) {
    if (bind_single_pack(component, results, block, nested)) return;
    if (component.results.size() != results.size()) {
        error(component.span,
              DiagKind::ResultCount,
              fmt::format("{} on the left, found {} on the right",
                          plural(component.results.size(), "result"),
                          results.size()))
            .note("`~` takes a result that is not needed");
    }
    const bool called = std::holds_alternative<Invocation>(module_.regions[component.body].node);
    for (size_t i = 0; i < component.results.size(); ++i) {
        if (called && i < results.size()) check_stated_length(component.results[i], results[i]);
        bind_result(component.results[i], i < results.size() ? results[i] : Type{}, block, nested);
    }
}

// `a, b = split(x)`: one result, which is a pack; the user meant `[a, b]`.
bool DefinitionChecker::bind_single_pack(const Component& component,
                                         const Results& results,
                                         BlockKind block,
                                         bool nested) {
    const auto is_name = [](const LValue& lhs) {
        return !lhs.list && lhs.items.size() == 1 && !lhs.items[0].pack && !lhs.items[0].omitted;
    };
    if (component.results.size() < 2 || results.size() != 1 || !results[0].packed ||
        !std::ranges::all_of(component.results, is_name)) {
        return false;
    }
    const Span all = cover(component.results.front().span, component.results.back().span);
    error(all,
          DiagKind::ResultCount,
          fmt::format("{} on the left, found one on the right, which is a pack",
                      plural(component.results.size(), "result")))
        .note("a list takes a pack apart: `[a, b] = …`")
        .fix({all.file, all.begin, all.begin}, "[")
        .fix({all.file, all.end, all.end}, "]");
    Type each = results[0];
    each.packed = false;
    each.length = {};
    for (const LValue& lhs : component.results) bind_result(lhs, each, block, nested);
    return true;
}

// The definition does not define the length of a returned pack, so the caller writes it; an output
// has its own (spec 2.10).
void DefinitionChecker::check_stated_length(const LValue& lhs, const Type& type) {
    if (lhs.list || !type.packed || type.length.valid()) return;
    for (const LValueItem& item : lhs.items) {
        const bool stated = item.pack && item.pack->length.valid();
        if (stated || item.targets.size() != 1 || item.targets[0].type) continue;
        const std::string_view name = item.targets[0].name.text;
        const SymbolId existing = scopes_.find(name);
        if (existing.valid() && !scopes_[existing].placeholder) continue;
        error(item.span,
              DiagKind::PackMismatch,
              fmt::format("`{}` is a pack of unknown length", name))
            .note(fmt::format("write how many tensors it has, as `{}..(n)`", name));
    }
}

void DefinitionChecker::bind_result(const LValue& lhs,
                                    const Type& type,
                                    BlockKind block,
                                    bool nested) {
    if (lhs.list) {
        bind_list(lhs, type, block, nested);
        return;
    }
    for (const LValueItem& item : lhs.items) {
        Type bound = type;
        if (item.pack) {
            if (!type.packed && !type.bad()) {
                error(item.span,
                      DiagKind::PackMismatch,
                      "`..` after a result that is a single tensor");
            }
            const ir::SymId stated =
                item.pack->length.valid() ? check_pack_length(*item.pack, "") : ir::SymId{};
            if (surely_differ(stated, type.length)) {
                error(item.pack->span,
                      DiagKind::LengthMismatch,
                      fmt::format("a result of {}, expected {}",
                                  count_text(type.length, "tensor"),
                                  symbols_.text(stated)));
            }
            if (stated.valid()) bound.length = stated;
        }
        for (const auto& target : item.targets) {
            bind_name(target, bound, item.span, block, nested);
        }
    }
}

// [a, b..(k), (c, d)..] unpacks a pack.
void DefinitionChecker::bind_list(const LValue& lhs,
                                  const Type& type,
                                  BlockKind block,
                                  bool nested) {
    if (!type.packed && !type.bad()) {
        error(lhs.span,
              DiagKind::PackMismatch,
              fmt::format("a single result ({}) is assigned to a list", text(type)));
    }
    ir::SymId total = sym_const(0);
    for (const LValueItem& item : lhs.items) {
        Type each = type;
        each.packed = item.pack.has_value();
        each.length = {};
        if (item.pack && item.pack->length.valid()) each.length = check_pack_length(*item.pack, "");
        for (const auto& target : item.targets) {
            bind_name(target, type.bad() ? type : each, item.span, block, nested);
            total = sym_add(total, item.pack ? each.length : sym_const(1));
        }
        if (item.omitted) total = sym_add(total, sym_const(1));
    }
    if (surely_differ(total, type.length)) {
        error(lhs.span,
              DiagKind::LengthMismatch,
              fmt::format("a pack of {} is taken apart into {}",
                          count_text(type.length, "tensor"),
                          symbols_.text(total)));
    }
}

void DefinitionChecker::bind_name(
    const LValueItem::Target& target, Type type, Span span, BlockKind block, bool nested) {
    if (target.type) {
        const Type declared = declared_type(*target.type, target.name.text);
        if (!declared.bad() && !type.bad() &&
            (!same_base(declared, type) || declared.packed != type.packed)) {
            error(
                span,
                DiagKind::TypeMismatch,
                fmt::format(
                    "`{}` is declared {}, found {}", target.name.text, text(declared), text(type)));
        }
        type = declared;
    }
    type.tensor = true;
    pending_names_.back().set(target.name.text, false);
    // A block has its own names, which may hide outer ones.
    const SymbolId existing =
        nested ? scopes_.find_here(target.name.text) : scopes_.find(target.name.text);
    if (existing.valid() && !scopes_[existing].placeholder) {
        assign(scopes_[existing], target.name, type, block);
        return;
    }
    declare(make_symbol(target.name, SymbolKind::Intermediate, type));
}

void DefinitionChecker::assign(Symbol& symbol,
                               const Name& name,
                               const Type& type,
                               BlockKind block) {
    const bool updates = symbol.kind == SymbolKind::Variable && block == BlockKind::Update;
    const bool produces = symbol.kind == SymbolKind::Output && block == BlockKind::Compose;
    if (symbol.kind == SymbolKind::Intermediate || (produces && symbol.assigned)) {
        const Span* first = produces ? initialized_.find(name.text) : &symbol.span;
        error(name.span, DiagKind::AssignedTwice, fmt::format("`{}` is assigned twice", name.text))
            .note(first ? *first : symbol.span, "first here");
        return;
    }
    if (updates && !updated_.insert(name.text, name.span)) {
        error(name.span, DiagKind::AssignedTwice, fmt::format("`{}` is updated twice", name.text))
            .note(*updated_.find(name.text), "first here");
        return;
    }
    if (!updates && !produces) {
        auto report = error(name.span,
                            DiagKind::NotAssignable,
                            fmt::format("`{}` is {} and cannot be assigned in `{}`",
                                        name.text,
                                        kind_text(symbol.kind),
                                        block_name(block)));
        if (symbol.kind == SymbolKind::Variable) report.note("variables are assigned in `@update`");
        if (symbol.kind == SymbolKind::Output) report.note("outputs are assigned in `@compose`");
        report.note(symbol.span, "declared here");
        return;
    }
    symbol.assigned = true;
    if (produces) initialized_.insert(name.text, name.span);
    check_assigned_type(symbol, name, type);
}

void DefinitionChecker::check_assigned_type(const Symbol& symbol,
                                            const Name& name,
                                            const Type& type) {
    if (type.bad() || symbol.type.bad()) return;
    if (!same_base(symbol.type, type)) {
        error(name.span,
              DiagKind::TypeMismatch,
              fmt::format("`{}` is {}, found {}",
                          name.text,
                          base_text(symbol.type, signature_.generics),
                          text(type)))
            .note(symbol.span, "declared here");
    } else if (symbol.type.packed != type.packed) {
        error(name.span,
              DiagKind::PackMismatch,
              symbol.type.packed ? fmt::format("`{}` is a pack, found a single tensor", name.text)
                                 : fmt::format("`{}` is a single tensor, found a pack", name.text))
            .note(symbol.span, "declared here");
    } else if (type.optional && !symbol.type.optional) {
        error(name.span,
              DiagKind::OptionalValue,
              fmt::format("`{}` is assigned a value that may be null", name.text));
    } else if (surely_differ(symbol.type.rank, type.rank)) {
        error(name.span,
              DiagKind::RankMismatch,
              fmt::format("`{}` has rank {}, found {}",
                          name.text,
                          symbols_.text(symbol.type.rank),
                          symbols_.text(type.rank)))
            .note(symbol.span, "declared here");
    }
}

// ---- Regions ------------------------------------------------------------------------------------

void DefinitionChecker::check_label(const Region& region) {
    if (!region.label) return;
    check_reserved(*region.label);
    if (labels_.back().insert(region.label->text)) return;
    error(region.label->span,
          DiagKind::DuplicateLabel,
          fmt::format("the label `{}` is used twice", region.label->text))
        .note("labels name the tensors inside a call, so they must differ within a block");
}

std::optional<DefinitionChecker::Results> DefinitionChecker::type_region(RegionId id,
                                                                         bool control_flow) {
    if (!id.valid()) return std::nullopt;
    const Region& region = module_.regions[id];
    check_label(region);
    return match(
        region.node,
        [](const BadRegion&) -> std::optional<Results> { return std::nullopt; },
        [&](const Invocation& call) { return type_invocation(id, call, control_flow); },
        [&](const Value& value) { return type_value(value); },
        [&](const Block& block) { return type_block(block); },
        [&](const Branch& branch) { return type_branch(branch); },
        [&](const Loop& loop) { return type_loop(region, loop); });
}

std::optional<DefinitionChecker::Results> DefinitionChecker::type_value(const Value& value) {
    const Type type = type_expr(value.expr);
    if (type.bad()) return std::nullopt;
    return Results{type};
}

std::optional<DefinitionChecker::Results> DefinitionChecker::type_block(const Block& block) {
    scopes_.push();
    check_components(block.components, BlockKind::Compose, true);
    Results results;
    bool good = true;
    for (const ExprId yielded : block.yields) {
        Type type = type_expr(yielded);
        expect_present(yielded, type, "a yielded value");
        type.optional = false;
        good = good && !type.bad();
        results.push_back(type);
    }
    scopes_.pop();
    if (!good || block.yields.empty()) return std::nullopt;
    return results;
}

}  // namespace lemma::sknd
