// SPDX-License-Identifier: Apache-2.0
// sonnx/rule.h — a rule of the safety profile, and the result of checking a model against it.
// rules/ has the rules, a file per family.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/model.h"

namespace lemma::sonnx {

// No profile has been released, so reports name our reading of the drafts.
inline constexpr std::string_view kReading = "SONNX reading 2026-11";
// Version of the rule catalogue: rules and clauses. Every change of a rule changes it.
inline constexpr std::string_view kCatalogue = "2026-11.4";

// Generations of the working group's documents. A rule without a document is our own reading.
inline constexpr std::string_view k2025 = "2025";        // requirements, seeds, graph draft
inline constexpr std::string_view k2026_08 = "2026-08";  // operator texts with restrictions
inline constexpr std::string_view k2026_10 = "2026-10";  // rewritten texts
inline constexpr std::string_view kOwn = "own reading";

enum class Severity : uint8_t { Violation, Restriction, Advisory };
// "ONNX violation", "SONNX restriction", "advisory"
std::string_view severity_text(Severity severity);

class Inspection;

struct Rule {
    std::string_view id;       // `GR4`; diagnostics show `sonnx-GR4`
    std::string_view aliases;  // ids in the documents and drafts, with commas
    Severity severity;
    std::string_view title;      // the requirement, in one line
    std::string_view rationale;  // the reason
    std::string_view origin;     // the documents that it comes from
    void (*check)(Inspection&);
    std::string_view op = {};             // the operator that it is about; empty: any
    std::string_view generation = k2025;  // of the documents that state it
    std::string_view family = {};         // heading in reports; set by all_rules
};

// All rules, in the order of reports.
const std::vector<Rule>& all_rules();
const Rule* find_rule(std::string_view id);

// The families; rules/ has a file for each.
std::vector<Rule> model_rules();
std::vector<Rule> metadata_rules();
std::vector<Rule> graph_rules();
std::vector<Rule> tensor_rules();
std::vector<Rule> operator_rules();
std::vector<Rule> broadcast_rules();
std::vector<Rule> conv_rules();
std::vector<Rule> concat_rules();
std::vector<Rule> pool_rules();
std::vector<Rule> document_rules();
std::vector<Rule> elementwise_rules();
std::vector<Rule> matrix_rules();
std::vector<Rule> norm_rules();
std::vector<Rule> layout_rules();
std::vector<Rule> constant_rules();
std::vector<Rule> lstm_rules();

struct Finding {
    onnx::PathSpan place;
    std::string message;
    bool fixable = false;  // `--fix` repairs it
    std::string fix = {};  // what it does: "writes `1`"; may be empty
};

enum class Verdict : uint8_t { Pass, Fail, NotApplicable, NotChecked };
// "pass", "fail", "not applicable", "not checked"
std::string_view verdict_text(Verdict verdict);

struct RuleResult {
    const Rule* rule = nullptr;
    Severity severity{};  // severity of the rule, unless relaxed
    Verdict verdict{};
    int64_t examined = 0;   // nodes, tensors or names that the rule was applied to
    int64_t undecided = 0;  // of these: with unknown types
    std::vector<Finding> findings;
    std::string_view unit;  // the counted things: "nodes"
};

}  // namespace lemma::sonnx
