// SPDX-License-Identifier: Apache-2.0
// Branches and loops of @compose (spec 2.10.1).
#include <fmt/format.h>

#include <algorithm>

#include "sknd/types/checker.h"

namespace lemma::sknd {

// The names whose presence the condition proves: `?x`, also as a term of a conjunction.
DefinitionChecker::Names DefinitionChecker::null_tested_names(ExprId condition) const {
    Names names;
    std::vector<ExprId> terms = {condition};
    while (!terms.empty()) {
        const Expr& term = expr(terms.back());
        terms.pop_back();
        if (const auto* paren = std::get_if<Paren>(&term.node)) {
            terms.push_back(paren->inner);
        } else if (const auto* both = std::get_if<Binary>(&term.node)) {
            if (both->op == BinaryOp::And) terms.insert(terms.end(), {both->lhs, both->rhs});
        } else if (const auto* test = std::get_if<NullTest>(&term.node)) {
            const auto* name = std::get_if<Identifier>(&expr(test->operand).node);
            if (name) names.push_back(name->name);
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

// Opens a scope in which the names are not optional.
void DefinitionChecker::push_promoted(const Names& names) {
    std::vector<Symbol> promoted;
    for (const std::string_view name : names) {
        const SymbolId found = scopes_.find(name);
        if (!found.valid() || !scopes_[found].type.optional) continue;
        promoted.push_back(scopes_[found]);
        promoted.back().type.optional = false;
        promoted.back().promoted = true;
    }
    scopes_.push();
    for (Symbol& symbol : promoted) scopes_.declare(std::move(symbol));
}

// True if it can only be decided at run time.
bool DefinitionChecker::check_condition(RegionId id, std::string_view what) {
    const auto results = type_region(id, true);
    if (!results) return false;
    const Span span = module_.regions[id].span;
    if (results->size() != 1) {
        error(span,
              DiagKind::ResultCount,
              fmt::format("{} has {}, expected one", what, plural(results->size(), "result")));
        return false;
    }
    const Type& type = results->front();
    if (!same_base(type, scalar_type(BaseType::Bool))) {
        error(
            span, DiagKind::TypeMismatch, fmt::format("{} is {}, expected bool", what, text(type)));
    } else if (type.packed && !type.bad()) {
        error(span,
              DiagKind::PackMismatch,
              fmt::format("{} is a pack, expected a single bool", what));
    } else if (type.optional) {
        error(span, DiagKind::OptionalValue, fmt::format("{} may be null", what));
    }
    return type.tensor;
}

std::optional<DefinitionChecker::Results> DefinitionChecker::type_branch(const Branch& branch) {
    std::optional<Results> results;
    bool dynamic = false;  // the choice between the previous arms and the next one
    bool good = true;
    const auto merge = [&](RegionId id) {
        auto arm = type_region(id, true);
        if (!arm) return;
        if (!results) {
            results = std::move(arm);
        } else if (good) {
            good = merge_arms(module_.regions[id].span, dynamic, *results, *arm);
        }
    };
    for (const Branch::Arm& arm : branch.arms) {
        const bool test_at_run = check_condition(arm.condition, "the condition of a branch");
        const auto* test = arm.condition.valid()
                               ? std::get_if<Value>(&module_.regions[arm.condition].node)
                               : nullptr;
        push_promoted(test ? null_tested_names(test->expr) : Names{});
        merge(arm.consequent);
        scopes_.pop();
        dynamic = test_at_run;
    }
    merge(branch.alternative);
    return good ? results : std::nullopt;
}

// Merges an arm into `results`; false, with a report, if the arms do not agree.
bool DefinitionChecker::merge_arms(Span span, bool dynamic, Results& results, const Results& arm) {
    if (results.size() != arm.size()) {
        error(span,
              DiagKind::ResultCount,
              fmt::format("this branch has {}, the one before it {}",
                          plural(arm.size(), "result"),
                          results.size()));
        return false;
    }
    for (size_t i = 0; i < arm.size(); ++i) {
        Type& type = results[i];
        const Type& other = arm[i];
        if (!same_base(type, other) ||
            (type.packed != other.packed && !type.bad() && !other.bad())) {
            error(
                span,
                DiagKind::TypeMismatch,
                fmt::format("this branch gives {}, the one before it {}", text(other), text(type)));
            return false;
        }
        if (dynamic && surely_differ(type.rank, other.rank)) {
            error(span,
                  DiagKind::RankMismatch,
                  fmt::format("this branch gives a tensor of rank {}, the one before it {}",
                              symbols_.text(other.rank),
                              symbols_.text(type.rank)));
        }
        refine_base(type, other);
        type.optional = type.optional || other.optional;
        type.tensor = type.tensor || other.tensor;
        if (type.rank != other.rank) type.rank = {};
        if (type.length != other.length) type.length = {};
    }
    return true;
}

// ---- Loops --------------------------------------------------------------------------------------

void DefinitionChecker::check_loop_form(const Region& region, const Loop& loop) {
    const bool condition = loop.pre_condition.valid() || loop.post_condition.valid();
    const bool counted = loop.count && loop.count->count.valid();
    if (!condition && !counted && loop.scans.empty()) {
        error(region.span, DiagKind::UnboundedLoop, "a loop without end")
            .note(
                "give it a pack to scan (`for x : xs`), a count (`do..(n)`) or a condition "
                "(`while`)");
    }
    if (loop.unroll && condition) {
        error(loop.do_span,
              DiagKind::DynamicUnroll,
              "`unroll` with a condition, which only a run can decide")
            .note("write `do` instead");
    }
}

std::vector<Symbol> DefinitionChecker::carried_symbols(const Loop& loop) {
    std::vector<Symbol> symbols;
    for (const Loop::Carried& carried : loop.carried) {
        Type type = type_expr(carried.initial);
        expect_present(carried.initial, type, "the initial value of a loop variable");
        if (carried.type) {
            const Type declared = declared_type(*carried.type, carried.name.text);
            if (!same_base(declared, type)) {
                error(carried.initial,
                      DiagKind::TypeMismatch,
                      fmt::format("`{}` starts as {}, expected {}",
                                  carried.name.text,
                                  text(type),
                                  base_text(declared, signature_.generics)));
            }
            const bool broadcasts = !surely_differ(type.rank, sym_const(0));
            if (type.tensor && !broadcasts && surely_differ(type.rank, declared.rank)) {
                error(carried.initial,
                      DiagKind::RankMismatch,
                      fmt::format("`{}` starts as a tensor of rank {}, expected {}",
                                  carried.name.text,
                                  symbols_.text(type.rank),
                                  symbols_.text(declared.rank)));
            }
            type = declared;
        } else if (!type.tensor) {
            type.rank = sym_const(0);
        }
        type.tensor = true;
        type.optional = false;
        symbols.push_back(make_symbol(carried.name, SymbolKind::Carried, type));
    }
    return symbols;
}

// The common length of the scanned packs; adds the items to `symbols`.
ir::SymId DefinitionChecker::scan_symbols(const Loop& loop, std::vector<Symbol>& symbols) {
    ir::SymId length;
    for (const Loop::Scan& scan : loop.scans) {
        Type type = type_expr(scan.pack);
        if (!type.packed && !type.bad()) {
            error(scan.pack,
                  DiagKind::PackMismatch,
                  fmt::format("`for` scans a pack, found {}", text(type)));
            type = Type{};
        }
        expect_present(scan.pack, type, "a scanned pack");
        if (surely_differ(length, type.length)) {
            error(scan.pack,
                  DiagKind::LengthMismatch,
                  fmt::format("scanned packs of {} and {}, expected equal lengths",
                              symbols_.text(length),
                              count_text(type.length, "tensor")));
        }
        if (!length.valid()) length = type.length;
        if (!type.tensor) type.rank = sym_const(0);
        type.packed = false;
        type.optional = false;
        type.length = {};
        type.tensor = true;
        symbols.push_back(make_symbol(scan.name, SymbolKind::ScanItem, type));
    }
    return length;
}

// The count if it is known at compile time; adds the index to `symbols`.
ir::SymId DefinitionChecker::count_symbols(const Loop& loop, std::vector<Symbol>& symbols) {
    if (!loop.count) return {};
    ir::SymId value;
    if (loop.count->count.valid()) {
        const ExprId id = loop.count->count;
        const Type type = type_expr(id);
        expect_base(id, type, BaseType::Int, "the count of a loop");
        expect_single(id, type, "the count of a loop");
        if (type.tensor && loop.unroll && !type.bad()) {
            error(id,
                  DiagKind::DynamicUnroll,
                  fmt::format("`unroll` with the tensor `{}` as count, expected a compile-time int",
                              source(id)))
                .note("write `do` instead");
        }
        if (!type.tensor && !type.optional) value = symbolic_int(id);
    }
    if (loop.count->index) {
        Type index = scalar_type(BaseType::Int);
        index.tensor = !loop.unroll;  // a tensor of rank 0 in `do`, a value in `unroll`
        if (index.tensor) index.rank = sym_const(0);
        Symbol symbol = make_symbol(*loop.count->index, SymbolKind::LoopIndex, index);
        if (loop.unroll) symbol.value = unknown_value(symbol.name, index, true);
        symbols.push_back(std::move(symbol));
    }
    return value;
}

std::optional<DefinitionChecker::Results> DefinitionChecker::type_loop(const Region& region,
                                                                       const Loop& loop) {
    const size_t errors = diag_.error_count();
    check_loop_form(region, loop);
    // Initial values are read outside of the loop, so all of them come before any declaration.
    std::vector<Symbol> variables = carried_symbols(loop);
    std::vector<Symbol> items;
    const ir::SymId scan_length = scan_symbols(loop, items);
    const bool good = diag_.error_count() == errors;
    const ir::SymId count = count_symbols(loop, items);
    scopes_.push();
    for (Symbol& symbol : variables) declare(std::move(symbol));
    scopes_.push();  // scan items may hide loop variables
    for (Symbol& symbol : items) declare(std::move(symbol));
    if (loop.pre_condition.valid()) check_condition(loop.pre_condition, "the condition of a loop");
    const bool counted = loop.count && loop.count->count.valid();
    const bool stops = loop.pre_condition.valid() || loop.post_condition.valid();
    const ir::SymId length = stops ? ir::SymId{} : counted ? count : scan_length;
    auto results = loop_results(region, loop, length);
    if (loop.post_condition.valid())
        check_condition(loop.post_condition, "the condition of a loop");
    scopes_.pop();
    scopes_.pop();
    return good ? results : std::nullopt;
}

std::optional<DefinitionChecker::Results> DefinitionChecker::loop_results(const Region& region,
                                                                          const Loop& loop,
                                                                          ir::SymId length) {
    auto results = type_region(loop.body, true);
    if (!results) return std::nullopt;
    if (results->size() < loop.carried.size()) {
        error(region.span,
              DiagKind::ResultCount,
              fmt::format("the loop has {}, but its body gives {}",
                          plural(loop.carried.size(), "variable"),
                          plural(results->size(), "result")))
            .note("the first results of the body are the new values of the loop variables");
        return std::nullopt;
    }
    for (size_t i = 0; i < results->size(); ++i) {
        Type& type = (*results)[i];
        if (i >= loop.carried.size()) {
            if (type.packed && !type.bad()) {
                error(module_.regions[loop.body].span,
                      DiagKind::PackMismatch,
                      "each iteration gives a pack, expected a single tensor")
                    .note("the results of all iterations form a pack, and packs do not nest");
                type = Type{};
            }
            type.packed = true;
            type.length = length;
            continue;
        }
        const SymbolId carried = scopes_.find(loop.carried[i].name.text);
        const Type& want = scopes_[carried].type;
        if (!same_base(want, type) || (want.packed != type.packed && !want.bad() && !type.bad())) {
            error(module_.regions[loop.body].span,
                  DiagKind::TypeMismatch,
                  fmt::format("the new value of `{}` is {}, expected {}",
                              loop.carried[i].name.text,
                              text(type),
                              text(want)));
        } else if (!loop.unroll && surely_differ(want.rank, type.rank)) {
            error(module_.regions[loop.body].span,
                  DiagKind::RankMismatch,
                  fmt::format("the new value of `{}` has rank {}, expected {} as before",
                              loop.carried[i].name.text,
                              symbols_.text(type.rank),
                              symbols_.text(want.rank)));
        }
    }
    return results;
}

}  // namespace lemma::sknd
