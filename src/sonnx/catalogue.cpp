// SPDX-License-Identifier: Apache-2.0
#include "sonnx/catalogue.h"

#include <fmt/format.h>

#include "sonnx/clauses.h"
#include "sonnx/rule.h"

namespace lemma::sonnx {

namespace {

constexpr std::string_view kIntroduction =
    R"(# The rules of the SONNX profile

This page is generated from the rules (`src/sonnx/rules/`) and the clauses
(`src/sonnx/clauses.cpp`); `sonnx_test` compares it. [The profile](sonnx.md) explains how the rules
are used.

- A number behind CONV, CAT or BC is that of the resolution that settles an open point or a
  contradiction of a draft.
- `conv X.C3` is constraint C3 of input X in the draft of `conv`.
- A generation is that of the documents that state the rule: 2025 (requirements, first drafts, graph
  draft), 2026-08 and 2026-10. Rules of our own reading say so.
- `src/sonnx/rules_test.cpp` has a model that keeps each rule, and a model that breaks it.
)";

constexpr std::string_view kClauseIntroduction =
    R"(## Clauses

These are the statements of the operator documents, and what answers each one. One id can have two
meanings, so it is cited with its generation. `R1` and `X.C2` are local ids of a document: a
restriction, and a constraint of input X. Where a document has no id, the statement has a name of
ours.
)";

// Ids of rows that differ in nothing else, such as those of the families of one operator.
void add_clauses(std::string& page) {
    page +=
        "\n| operator | generation | clauses | statement | answered by |\n|---|---|---|---|---|\n";
    const auto& clauses = all_clauses();
    for (size_t i = 0; i < clauses.size();) {
        const Clause& first = clauses[i];
        std::string ids = first.id;
        size_t end = i + 1;
        for (; end < clauses.size(); ++end) {
            const Clause& next = clauses[end];
            if (next.op != first.op || next.generation != first.generation ||
                next.text != first.text || next.rule != first.rule)
                break;
            ids += ", " + next.id;
        }
        page += fmt::format("| {} | {} | {} | {} | {} |\n",
                            first.op,
                            first.generation,
                            ids,
                            first.text,
                            first.rule.empty() ? first.instead : first.rule);
        i = end;
    }
}

}  // namespace

std::string catalogue_markdown() {
    std::string page(kIntroduction);
    page += fmt::format("\nCatalogue {} of the {}.\n", kCatalogue, kReading);
    std::string_view family;
    for (const Rule& rule : all_rules()) {
        if (rule.family != family) {
            family = rule.family;
            page += fmt::format(
                "\n## Rules: {}\n\n| id | also known as | operator | generation | severity | the "
                "rule | why | from |\n|---|---|---|---|---|---|---|---|\n",
                family);
        }
        page += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n",
                            rule.id,
                            rule.aliases,
                            rule.op,
                            rule.generation,
                            severity_text(rule.severity),
                            rule.title,
                            rule.rationale,
                            rule.origin);
    }
    page += "\n";
    page += kClauseIntroduction;
    add_clauses(page);
    return page;
}

}  // namespace lemma::sonnx
