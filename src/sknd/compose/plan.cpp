// SPDX-License-Identifier: Apache-2.0
#include "sknd/compose/plan.h"

#include <algorithm>
#include <optional>

#include "sknd/names/binding.h"
#include "sknd/names/identifiers.h"

namespace lemma::sknd {

namespace {

class PlanMaker {
public:
    PlanMaker(const Module& module, const Definition& definition)
        : module_(module), definition_(definition) {}

    Plan run() {
        add_attributes();
        add_asserts();
        plan_.binding_order = find_binding_order(module_, definition_).order;
        plan_.repeatable = is_repeatable();
        plan_.repeatable_formulas = has_repeatable_formulas();
        for (const LowerStmt& stmt : definition_.lowers) {
            plan_.unrollings.push_back(find_unrolling(stmt));
        }
        return std::move(plan_);
    }

private:
    void add_attributes();
    void add_deferred(size_t first);
    std::vector<size_t> read_by(size_t attribute) const;
    void add_asserts();
    bool is_repeatable() const;
    bool reads_whole_input(ExprId expr) const;
    bool has_repeatable_formulas() const;
    bool reads_whole_tensor(ExprId expr) const;
    bool is_tensor(std::string_view name) const;
    Unrolling find_unrolling(const LowerStmt& stmt) const;
    void add_picks(const LowerStmt& stmt, ExprId root, Unrolling& unrolling) const;

    const Module& module_;
    const Definition& definition_;
    Plan plan_;
    std::vector<bool> seen_;
};

void PlanMaker::add_attributes() {
    const auto& attribs = definition_.attribs;
    for (size_t i = 0; i < attribs.size(); ++i) plan_.attributes.emplace(attribs[i].name.text, i);
    for (const ParamDecl& decl : attribs) {
        bool closed = true;
        for_each_identifier(module_, decl.value, [&](std::string_view, ExprId) { closed = false; });
        plan_.closed.push_back(closed);
    }
    seen_.resize(attribs.size());
    for (size_t i = 0; i < attribs.size(); ++i) add_deferred(i);
}

// The attributes that the default of this one reads.
std::vector<size_t> PlanMaker::read_by(size_t attribute) const {
    std::vector<size_t> read;
    for_each_identifier(
        module_, definition_.attribs[attribute].value, [&](std::string_view name, ExprId) {
            const auto found = plan_.attributes.find(name);
            if (found != plan_.attributes.end()) read.push_back(found->second);
        });
    return read;
}

// Depth first. The check has excluded cycles.
void PlanMaker::add_deferred(size_t first) {
    struct Open {
        size_t attribute;
        std::vector<size_t> read;
    };
    std::vector<Open> open;
    const auto enter = [&](size_t attribute) {
        if (seen_[attribute]) return;
        seen_[attribute] = true;
        if (!plan_.closed[attribute]) open.push_back({attribute, read_by(attribute)});
    };
    enter(first);
    while (!open.empty()) {
        if (open.back().read.empty()) {
            plan_.deferred.push_back(open.back().attribute);
            open.pop_back();
            continue;
        }
        const size_t next = open.back().read.back();
        open.back().read.pop_back();
        enter(next);
    }
}

void PlanMaker::add_asserts() {
    const auto& usings = definition_.usings;
    plan_.asserts.resize(usings.size());
    std::unordered_map<std::string_view, size_t> helpers;
    for (size_t i = 0; i < usings.size(); ++i) {
        for (const LValueItem& item : usings[i].lhs.items) {
            for (const auto& target : item.targets) helpers[target.name.text] = i;
        }
    }
    for (size_t i = 0; i < definition_.asserts.size(); ++i) {
        std::optional<size_t> last;
        for_each_identifier(
            module_, definition_.asserts[i].condition, [&](std::string_view name, ExprId) {
                const auto helper = helpers.find(name);
                if (helper != helpers.end()) last = std::max(last.value_or(0), helper->second);
            });
        if (last) plan_.asserts[*last].push_back(i);
    }
}

// The bound of that name; if there is none, the number of bounds.
size_t bound_of(const LowerStmt& stmt, std::string_view name) {
    const auto is_it = [&](const LoopBound& bound) { return bound.index.text == name; };
    return static_cast<size_t>(std::ranges::find_if(stmt.bounds, is_it) - stmt.bounds.begin());
}

Unrolling PlanMaker::find_unrolling(const LowerStmt& stmt) const {
    Unrolling unrolling;
    unrolling.always.resize(stmt.bounds.size());
    const auto unroll_all = [&](ExprId expr) {
        for_each_identifier(module_, expr, [&](std::string_view name, ExprId) {
            const size_t bound = bound_of(stmt, name);
            if (bound < stmt.bounds.size()) unrolling.always[bound] = true;
        });
    };
    // Names in bounds of other indices.
    for (const LoopBound& bound : stmt.bounds) unroll_all(bound.bound);
    for (const auto& local : stmt.locals) add_picks(stmt, local.value, unrolling);
    add_picks(stmt, stmt.target, unrolling);
    if (const auto* target = std::get_if<Access>(&module_.exprs[stmt.target].node)) {
        // The target must be known, whatever its index.
        const auto* item = std::get_if<Index>(&module_.exprs[target->base].node);
        if (item) unroll_all(item->index);
    }
    add_picks(stmt, stmt.value, unrolling);
    if (stmt.condition.valid()) add_picks(stmt, stmt.condition, unrolling);
    return unrolling;
}

void PlanMaker::add_picks(const LowerStmt& stmt, ExprId root, Unrolling& unrolling) const {
    std::vector<ExprId> open = {root};
    while (!open.empty()) {
        const ExprId id = open.back();
        open.pop_back();
        if (const auto* index = std::get_if<Index>(&module_.exprs[id].node)) {
            const auto* base = std::get_if<Identifier>(&module_.exprs[index->base].node);
            const auto* name = std::get_if<Identifier>(&module_.exprs[index->index].node);
            const size_t bound = base && name ? bound_of(stmt, name->name) : stmt.bounds.size();
            if (bound < stmt.bounds.size()) unrolling.picks.push_back({base->name, bound});
        }
        append_operands(module_, id, open);
    }
}

bool PlanMaker::is_repeatable() const {
    for (const ParamDecl& decl : definition_.attribs) {
        if (reads_whole_input(decl.value)) return false;
    }
    for (const UsingStmt& stmt : definition_.usings) {
        if (reads_whole_input(stmt.rhs)) return false;
    }
    for (const AssertStmt& stmt : definition_.asserts) {
        if (reads_whole_input(stmt.condition) || reads_whole_input(stmt.message)) return false;
        for (const auto& printed : stmt.printed) {
            if (reads_whole_input(printed.value)) return false;
        }
    }
    return true;
}

bool PlanMaker::reads_whole_input(ExprId expr) const {
    std::vector<ExprId> open;
    if (expr.valid()) open.push_back(expr);
    while (!open.empty()) {
        const ExprId id = open.back();
        open.pop_back();
        const auto& node = module_.exprs[id].node;
        const auto* member = std::get_if<Member>(&node);
        const auto* test = std::get_if<NullTest>(&node);
        const ExprId asked = member ? member->base : test ? test->operand : ExprId{};
        if (asked.valid() && std::holds_alternative<Identifier>(module_.exprs[asked].node)) {
            continue;
        }
        if (const auto* name = std::get_if<Identifier>(&node)) {
            const auto is_it = [&](const ParamDecl& decl) { return decl.name.text == name->name; };
            if (std::ranges::any_of(definition_.inputs, is_it)) return true;
        }
        append_operands(module_, id, open);
    }
    return false;
}

bool PlanMaker::has_repeatable_formulas() const {
    return std::ranges::none_of(definition_.lowers, [&](const LowerStmt& stmt) {
        const auto reads = [&](const auto& part) { return reads_whole_tensor(part.value); };
        return std::ranges::any_of(stmt.locals, reads) || reads_whole_tensor(stmt.target) ||
               reads_whole_tensor(stmt.value) || reads_whole_tensor(stmt.condition) ||
               (stmt.unroll && reads_whole_tensor(stmt.unroll->count)) ||
               std::ranges::any_of(stmt.bounds, [&](const LoopBound& bound) {
                   return reads_whole_tensor(bound.bound);
               });
    });
}

bool PlanMaker::is_tensor(std::string_view name) const {
    const auto is_it = [&](const ParamDecl& decl) { return decl.name.text == name; };
    return std::ranges::any_of(definition_.inputs, is_it) ||
           std::ranges::any_of(definition_.outputs, is_it) ||
           std::ranges::any_of(definition_.constants, is_it) ||
           std::ranges::any_of(definition_.variables, is_it);
}

// Whether it reads the name of a tensor otherwise than as `x[i,j]`, `xs[k][i,j]`, `x.shape` or
// `?x`.
bool PlanMaker::reads_whole_tensor(ExprId expr) const {
    std::vector<ExprId> open, operands;
    if (expr.valid()) open.push_back(expr);
    while (!open.empty()) {
        const ExprId id = open.back();
        open.pop_back();
        const auto& node = module_.exprs[id].node;
        const auto* name = std::get_if<Identifier>(&node);
        if (name && is_tensor(name->name)) return true;
        const auto* access = std::get_if<Access>(&node);
        const auto* member = std::get_if<Member>(&node);
        const auto* test = std::get_if<NullTest>(&node);
        const ExprId asked = access   ? access->base
                             : member ? member->base
                             : test   ? test->operand
                                      : ExprId{};
        operands.clear();
        append_operands(module_, id, operands);
        for (const ExprId operand : operands) {
            const auto& part = module_.exprs[operand].node;
            const auto* item = operand == asked && access ? std::get_if<Index>(&part) : nullptr;
            if (item) open.push_back(item->index);
            const ExprId rest = item ? item->base : operand;
            const bool plain = std::holds_alternative<Identifier>(module_.exprs[rest].node);
            if (operand != asked || !plain) open.push_back(rest);
        }
    }
    return false;
}

}  // namespace

const ReadNames::List& ReadNames::of(const Module& module, ExprId expr) const {
    const auto [found, added] = lists_.try_emplace(expr);
    if (added) {
        for_each_identifier(
            module, expr, [&, &list = found->second](std::string_view name, ExprId) {
                list.push_back(name);
            });
    }
    return found->second;
}

Plan make_plan(const Module& module, const Definition& definition) {
    return PlanMaker(module, definition).run();
}

}  // namespace lemma::sknd
