// SPDX-License-Identifier: Apache-2.0
#include "ir/text/print_formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/text/text_words.h"

namespace lemma::ir {

namespace {

constexpr Interval kAny{INT64_MIN, INT64_MAX};

bool has_range(const SymbolPool& symbols, SymId access) {
    return symbols.type(access) == ScalarType::Int && !(symbols.range(access) == kAny);
}

void append_indices(const std::vector<IndexTerm>& indices, std::vector<SymId>& roots) {
    for (const IndexTerm& term : indices)
        for (const SymId part : {term.value, term.below, term.above})
            if (part.valid()) roots.push_back(part);
}

}  // namespace

// ---- words ------------------------------------------------------------------------------------

bool WordChooser::taken(const std::string& word) const {
    return words_.contains(word) || (outer_ && outer_->taken(word));
}

std::string WordChooser::choose(const std::string& name, const std::string& otherwise) {
    const bool good = is_symbol_word(name);
    if (good && !taken(name)) {
        words_.insert(name);
        return name;
    }
    const std::string& base = good ? name : otherwise;
    int& count = counts_[base];
    std::string word;
    do word = fmt::format("{}{}", base, ++count);
    while (taken(word));
    words_.insert(word);
    return word;
}

std::string WordChooser::next(const std::string& prefix) {
    int& count = counts_[prefix + "#"];
    std::string word;
    do word = fmt::format("{}{}", prefix, count++);
    while (taken(word));
    words_.insert(word);
    return word;
}

std::string range_text(Interval range) {
    const auto end = [](int64_t value) {
        return value == INT64_MIN   ? std::string("-inf")
               : value == INT64_MAX ? std::string("inf")
                                    : fmt::to_string(value);
    };
    return fmt::format("[{}, {}]", end(range.low), end(range.high));
}

// ---- formulas ---------------------------------------------------------------------------------

std::vector<SymId> FormulaPrinter::Roots::behind_lets() const {
    std::vector<SymId> all = values;
    all.insert(all.end(), indices.begin(), indices.end());
    all.insert(all.end(), condition.begin(), condition.end());
    return all;
}

FormulaPrinter::Roots FormulaPrinter::roots(const Formula& formula) const {
    Roots result;
    for (const Bound& bound : formula.bounds) result.extents.push_back(bound.extent);
    for (const Write& write : formula.writes) {
        result.values.push_back(write.value);
        append_indices(write.indices, result.indices);
    }
    if (formula.condition.valid()) result.condition.push_back(formula.condition);
    return result;
}

FormulaPrinter::Text FormulaPrinter::begin(const Formula& formula) const {
    Text text{ExprScope(program_.symbols, &scope_), WordChooser(&words_), {}};
    for (const Bound& bound : formula.bounds) {
        if (text.scope.knows(bound.index)) continue;
        const std::string name = program_.symbols.node(bound.index).name;
        text.scope.add_symbol(bound.index, text.words.choose(name, "i"));
    }
    for (const Access& access : formula.accesses)
        text.scope.add_access(access, handle_(access.tensor));
    return text;
}

void FormulaPrinter::count(const Formula& formula) const {
    Text text = begin(formula);
    const Roots all = roots(formula);
    for (const SymId root : all.extents) text.scope.use(root);
    for (const SymId root : all.behind_lets()) text.scope.use(root);
}

// Only lets can distinguish these accesses, or express them in full.
bool FormulaPrinter::needs_lets(const Formula& formula) const {
    std::set<std::vector<uint32_t>> seen;
    for (const Access& access : formula.accesses) {
        std::vector<uint32_t> element = {access.tensor.value};
        for (const IndexTerm& term : access.indices)
            element.insert(element.end(),
                           {term.value.value,
                            static_cast<uint32_t>(term.guard),
                            term.below.value,
                            term.above.value});
        if (has_range(program_.symbols, access.symbol)) return true;
        if (!seen.insert(std::move(element)).second) return true;
    }
    return false;
}

std::vector<std::string> FormulaPrinter::lines(const Formula& formula) const {
    bool exact = !needs_lets(formula);
    if (exact) {
        auto lines = print(formula, false, exact);
        if (exact) return lines;
    }
    return print(formula, true, exact);
}

// With `all_accesses`, a let names each access, in order.
std::vector<std::string> FormulaPrinter::print(const Formula& formula,
                                               bool all_accesses,
                                               bool& exact) const {
    Text text = begin(formula);
    const Roots all = roots(formula);
    if (all_accesses) {
        for (const Access& access : formula.accesses) {
            text.scope.force_let(access.symbol);
            text.scope.use(access.symbol);
        }
    }
    for (const SymId root : all.extents) text.scope.use(root);
    for (const SymId root : all.behind_lets()) text.scope.use(root);
    text.scope.choose_lets();

    const std::string bounds = bounds_text(formula, text.scope);
    if (all_accesses)
        for (const Access& access : formula.accesses)
            print_lets(text.scope.take_lets({access.symbol}), text);
    for (const SymId root : all.behind_lets()) print_lets(text.scope.take_lets({root}), text);
    std::string line = statement(formula, text.scope) + bounds;
    if (formula.condition.valid()) line += "  if " + text.scope.text(formula.condition);
    if (formula.counter.valid()) line += "  append " + text.scope.text(formula.counter);
    text.lines.push_back(std::move(line));

    const auto& mentioned = text.scope.mentioned();
    exact = std::ranges::equal(mentioned, formula.accesses, {}, {}, &Access::symbol);
    return std::move(text.lines);
}

void FormulaPrinter::print_lets(const std::vector<SymId>& lets, Text& text) const {
    for (const SymId id : lets) {
        std::string line = text.scope.definition(id);
        if (text.scope.is_access(id) && has_range(program_.symbols, id))
            line += " in " + range_text(program_.symbols.range(id));
        const std::string name = text.words.next("t");
        text.scope.name_let(id, name);
        text.lines.push_back(fmt::format("let {} = {}", name, line));
    }
}

// Values come before targets, in the order of evaluation and reading.
std::string FormulaPrinter::statement(const Formula& formula, ExprScope& scope) const {
    std::string targets, values;
    for (const Write& write : formula.writes) {
        if (!values.empty()) values += ", ";
        values += scope.text(write.value);
    }
    for (const Write& write : formula.writes) {
        if (!targets.empty()) targets += ", ";
        targets += handle_(write.tensor) + scope.indices_text(write.indices);
    }
    return fmt::format("{} {} {}", targets, formula_op_text(formula.op), values);
}

std::string FormulaPrinter::bounds_text(const Formula& formula, ExprScope& scope) const {
    std::string text;
    for (const Bound& bound : formula.bounds) {
        text += fmt::format("{}{} < {}",
                            text.empty() ? "  for " : ", ",
                            scope.text(bound.index),
                            scope.text(bound.extent, true));
        const Interval range = program_.symbols.range(bound.index);
        if (!(range == index_range(program_.symbols, bound.extent)))
            text += " in " + range_text(range);
    }
    return text;
}

}  // namespace lemma::ir
