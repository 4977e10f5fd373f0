// SPDX-License-Identifier: Apache-2.0
// sonnx/report/trace.h — the trace of a model: each clause of the documents with the rule that
// answers it, its verdict, the nodes and C functions that it concerns, their goals and the tests.
#pragma once

#include <string>
#include <vector>

#include "sonnx/report/report.h"

namespace lemma::sonnx {

struct TraceRow {
    std::string clause;      // "E_ADD_FLOAT_CONSTR_A_0010"; an alias of the rule; may be empty
    std::string generation;  // of the clause's document
    std::string statement;
    const RuleResult* result = nullptr;       // null: no rule answers the clause
    std::string instead = {};                 // what answers it without a rule
    const NodeEntry* node = nullptr;          // null: the model as a whole
    const FunctionProof* function = nullptr;  // null: no proofs were given, or the node has none
    std::string verdict = {};                 // of the rule about the node, or of the proof
    size_t findings = 0;                      // of the rule, at the node
};

// Clauses about operators that the model does not use are left out.
std::vector<TraceRow> trace_rows(const Report& report);

std::string trace_json(const Report& report);
// With a header line. Cells are quoted as in RFC 4180; lines end with a line feed.
std::string trace_csv(const Report& report);

}  // namespace lemma::sonnx
