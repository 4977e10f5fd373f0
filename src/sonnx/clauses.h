// SPDX-License-Identifier: Apache-2.0
// sonnx/clauses.h — the statements of the working group's documents, and what answers each one: a
// rule, or a reason why no static check can.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sonnx/rule.h"

namespace lemma::sonnx {

struct Clause {
    std::string_view op;          // "Add"; "general" and "graph" for statements about all
    std::string id;               // "E_ADD_FLOAT_CONSTR_A_0010", "R1", "X.C2"
    std::string_view generation;  // k2026_08, …; one id can have two meanings, one in each
    std::string_view text;        // the statement, in our words
    std::string_view rule;        // id of the rule that checks it; may be empty
    std::string_view instead;     // without a rule: what answers it
};

// In the order of the documents.
const std::vector<Clause>& all_clauses();
// "E_ADD_FLOAT_CONSTR_A_0010 (2026-08)", "Conv R2 (2026-08)"
std::string clause_text(const Clause& clause);
// The clauses that the rule checks; for one operator if `op` is not empty.
std::vector<const Clause*> clauses_of(std::string_view rule, std::string_view op = {});

}  // namespace lemma::sonnx
