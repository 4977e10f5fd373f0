// SPDX-License-Identifier: Apache-2.0
#include "sonnx/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "sonnx/clauses.h"
#include "sonnx/inspection.h"

namespace lemma::sonnx {

std::string_view severity_text(Severity severity) {
    switch (severity) {
        case Severity::Violation:
            return "ONNX violation";
        case Severity::Restriction:
            return "SONNX restriction";
        case Severity::Advisory:
            return "advisory";
    }
    return "";
}

std::string_view verdict_text(Verdict verdict) {
    switch (verdict) {
        case Verdict::Pass:
            return "pass";
        case Verdict::Fail:
            return "fail";
        case Verdict::NotApplicable:
            return "not applicable";
        case Verdict::NotChecked:
            return "not checked";
    }
    return "";
}

const std::vector<Rule>& all_rules() {
    static const std::vector<Rule> kRules = [] {
        std::vector<Rule> rules;
        const auto add = [&](std::string_view family, std::vector<Rule> list) {
            for (Rule& rule : list) {
                rule.family = family;
                rules.push_back(rule);
            }
        };
        add("model", model_rules());
        add("metadata", metadata_rules());
        add("graph", graph_rules());
        add("tensors", tensor_rules());
        add("operators", operator_rules());
        add("broadcasting", broadcast_rules());
        add("Conv", conv_rules());
        add("Concat", concat_rules());
        add("MaxPool and windows", pool_rules());
        add("operator documents", document_rules());
        add("elementwise operators", elementwise_rules());
        add("MatMul and Gemm", matrix_rules());
        add("axes and normalisation", norm_rules());
        add("layout operators", layout_rules());
        add("constants", constant_rules());
        add("LSTM", lstm_rules());
        return rules;
    }();
    return kRules;
}

const Rule* find_rule(std::string_view id) {
    const auto found = std::ranges::find(all_rules(), id, &Rule::id);
    return found == all_rules().end() ? nullptr : &*found;
}

namespace {

Verdict verdict_of(const RuleResult& result) {
    if (!result.findings.empty()) return Verdict::Fail;
    if (result.undecided > 0) return Verdict::NotChecked;
    return result.examined == 0 ? Verdict::NotApplicable : Verdict::Pass;
}

// The ids of the documents: those of the rule, and those of the operator that the finding is about.
std::string rule_note(const RuleResult& result, std::string_view op) {
    std::vector<std::string> ids;
    if (!result.rule->aliases.empty()) ids.emplace_back(result.rule->aliases);
    if (!op.empty()) {
        constexpr size_t kMaxShown = 3;
        const auto clauses = clauses_of(result.rule->id, op);
        for (size_t i = 0; i < std::min(clauses.size(), kMaxShown); ++i)
            ids.push_back(clause_text(*clauses[i]));
        if (clauses.size() > kMaxShown)
            ids.push_back(fmt::format("{} more", clauses.size() - kMaxShown));
    }
    return fmt::format("{}: {}{}",
                       severity_text(result.severity),
                       result.rule->title,
                       ids.empty() ? "" : fmt::format(" (also: {})", fmt::join(ids, ", ")));
}

// The operator of the node whose place, or the place of an attribute of which, this is.
std::map<uint32_t, std::string_view> operators_by_place(const onnx::Graph& graph) {
    std::map<uint32_t, std::string_view> operators;
    for (const onnx::Node& node : graph.nodes) {
        operators.emplace(node.place.begin, node.op);
        for (const onnx::Attribute& attribute : node.attributes)
            operators.emplace(attribute.place.begin, node.op);
    }
    return operators;
}

}  // namespace

std::vector<RuleResult> check(const Subject& subject) {
    const View view(subject);
    std::vector<RuleResult> results;
    for (const Rule& rule : all_rules()) {
        RuleResult result{.rule = &rule, .severity = rule.severity};
        if (subject.relax_broadcast && rule.id == "S013") result.severity = Severity::Advisory;
        Inspection inspection(view, result);
        rule.check(inspection);
        result.verdict = verdict_of(result);
        results.push_back(std::move(result));
    }
    return results;
}

bool conforms(const std::vector<RuleResult>& results) {
    return std::ranges::all_of(results, [](const RuleResult& result) {
        return result.severity == Severity::Advisory || result.verdict == Verdict::Pass ||
               result.verdict == Verdict::NotApplicable;
    });
}

void report(const Subject& subject,
            const std::vector<RuleResult>& results,
            diag::FileId file,
            Diagnostics& diag) {
    std::set<std::pair<uint32_t, std::string>> taken;  // by place and message
    const auto operators = operators_by_place(subject.model.graphs[subject.model.main]);
    for (const RuleResult& result : results) {
        const bool advisory = result.severity == Severity::Advisory;
        for (const Finding& finding : result.findings) {
            taken.emplace(finding.place.begin, finding.message);
            diag::Diagnostic item;
            item.severity = advisory ? diag::Severity::Warning : diag::Severity::Error;
            item.kind = DiagKind::NotSupported;
            item.span = {file, finding.place.begin, finding.place.end};
            item.code = fmt::format("sonnx-{}", result.rule->id);
            item.message = finding.message;
            auto told = diag.add(std::move(item));
            const auto op = operators.find(finding.place.begin);
            told.note(rule_note(result, op == operators.end() ? "" : op->second));
            if (finding.fixable) {
                told.note(fmt::format("`--fix=OUT.onnx` {}",
                                      finding.fix.empty() ? "repairs it" : finding.fix));
            }
        }
    }
    for (const diag::Diagnostic& item : subject.base.items()) {
        if (!taken.contains({item.span.begin, item.message})) diag.add(item);
    }
}

}  // namespace lemma::sonnx
