// SPDX-License-Identifier: Apache-2.0
// sonnx/report/summary.h — the first page of a report: counts by severity, and what to do next.
// Also the anchors that its parts link to.
#pragma once

#include <array>
#include <vector>

#include "diag/page.h"
#include "sonnx/report/report.h"

namespace lemma::sonnx {

// Numbers of rules and findings of one severity.
struct SeverityCount {
    Severity severity{};
    int64_t rules = 0;
    int64_t passed = 0;
    int64_t failed = 0;
    int64_t not_applicable = 0;
    int64_t not_checked = 0;
    int64_t findings = 0;
    int64_t fixable = 0;  // of the findings
};
std::array<SeverityCount, 3> severity_counts(const Report& report);  // by Severity

// Numbers of dispositions of all nodes, by Disposal.
std::array<int64_t, 5> disposal_counts(const Report& report);

// The steps that are left, most urgent first; each links to the part of the report about it.
std::vector<diag::Text> next_steps(const Report& report);

// Documents show this many rows of a table; JSON has all of them.
inline constexpr size_t kMaxRows = 2000;

// Anchors of the document. Nodes and tensors behind the last shown row have none.
std::string rule_anchor(const Rule& rule);
std::string findings_anchor(const Rule& rule);
std::string node_anchor(size_t index);
std::string tensor_anchor(size_t index);

}  // namespace lemma::sonnx
