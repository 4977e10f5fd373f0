#include "sonnx/clauses.h"

#include <fmt/format.h>

#include <algorithm>

namespace lemma::sonnx {

namespace {

// `{}` in an id stands for each of the families.
struct Row {
    std::string_view op;
    std::string_view id;
    std::string_view families;  // "REAL FLOAT INT"; empty: none
    std::string_view generation;
    std::string_view text;
    std::string_view rule;
    std::string_view instead = {};
};

constexpr Row kRows[] = {
    {"general", "GR1", "", k2026_08, "no sparse tensors", "GR1"},
    {"general", "GR2", "", k2026_08, "every element type is written, none is inferred", "GR2"},
    {"graph", "R3", "", k2025, "only operators of the profile", "S010"},
};

std::string replaced(std::string_view id, std::string_view family) {
    std::string text(id);
    const size_t at = text.find("{}");
    if (at != std::string::npos) text.replace(at, 2, family);
    return text;
}

std::vector<Clause> expanded() {
    std::vector<Clause> clauses;
    for (const Row& row : kRows) {
        std::string_view left = row.families;
        do {
            const size_t end = std::min(left.find(' '), left.size());
            clauses.push_back({row.op,
                               replaced(row.id, left.substr(0, end)),
                               row.generation,
                               row.text,
                               row.rule,
                               row.instead});
            left.remove_prefix(std::min(end + 1, left.size()));
        } while (!left.empty());
    }
    return clauses;
}

}  // namespace

const std::vector<Clause>& all_clauses() {
    static const std::vector<Clause> kClauses = expanded();
    return kClauses;
}

std::string clause_text(const Clause& clause) {
    return fmt::format("{} ({})", clause.id, clause.generation);
}

std::vector<const Clause*> clauses_of(std::string_view rule, std::string_view op) {
    std::vector<const Clause*> found;
    for (const Clause& clause : all_clauses()) {
        if (clause.rule == rule && (op.empty() || clause.op == op)) found.push_back(&clause);
    }
    return found;
}

}  // namespace lemma::sonnx
