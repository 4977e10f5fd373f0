// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "sonnx/report/report.h"
#include "sonnx/report/summary.h"

namespace lemma::sonnx {

namespace {

using Json = nlohmann::ordered_json;  // keeps the order of the fields

Json rule_json(const Report& report, const RuleResult& result) {
    const Rule& rule = *result.rule;
    Json object = {{"id", rule.id},
                   {"family", rule.family},
                   {"aliases", rule.aliases},
                   {"operator", rule.op},
                   {"generation", rule.generation},
                   {"severity", severity_text(result.severity)},
                   {"title", rule.title},
                   {"rationale", rule.rationale},
                   {"origin", rule.origin},
                   {"verdict", verdict_text(result.verdict)},
                   {"examined", result.examined},
                   {"undecided", result.undecided},
                   {"findings", Json::array()}};
    for (const Finding& finding : result.findings) {
        object["findings"].push_back({{"place", place_text(report, finding.place)},
                                      {"message", finding.message},
                                      {"fixable", finding.fixable}});
        if (!finding.fix.empty()) object["findings"].back()["fix"] = finding.fix;
    }
    return object;
}

Json version_json(const std::optional<int64_t>& version) {
    return version ? Json(*version) : Json(nullptr);
}

Json bound_json(const std::optional<double>& bound) { return bound ? Json(*bound) : Json(nullptr); }

Json counts_json(const Report& report) {
    Json list = Json::array();
    for (const SeverityCount& each : severity_counts(report)) {
        list.push_back({{"severity", severity_text(each.severity)},
                        {"rules", each.rules},
                        {"pass", each.passed},
                        {"fail", each.failed},
                        {"not_applicable", each.not_applicable},
                        {"not_checked", each.not_checked},
                        {"findings", each.findings},
                        {"fixable", each.fixable}});
    }
    return list;
}

Json operators_json(const Report& report) {
    Json list = Json::array();
    for (const OperatorUse& use : report.contents.operators) {
        list.push_back(
            {{"operator", use.op}, {"version", version_json(use.version)}, {"nodes", use.nodes}});
    }
    return list;
}

Json tensors_json(const Report& report) {
    Json list = Json::array();
    for (const TensorEntry& each : report.contents.tensors) {
        list.push_back({{"name", each.name},
                        {"part", part_text(each.part)},
                        {"type", each.type},
                        {"shape", each.shape},
                        {"declared", each.declared}});
        if (!each.meaning.empty()) list.back()["meaning"] = each.meaning;
    }
    return list;
}

Json nodes_json(const Report& report) {
    Json list = Json::array();
    for (const NodeEntry& entry : report.contents.nodes) {
        Json dispositions = Json::array();
        for (size_t i = 0; i < kConditions; ++i) {
            dispositions.push_back({{"condition", condition_text(static_cast<Condition>(i))},
                                    {"disposition", disposal_text(entry.dispositions[i].disposal)},
                                    {"by", entry.dispositions[i].by}});
        }
        list.push_back({{"place", place_text(report, entry.node->place)},
                        {"operator", entry.node->op},
                        {"version", version_json(entry.version)},
                        {"dispositions", std::move(dispositions)}});
        if (!report.certificate) continue;
        list.back()["introduced_error"] = bound_json(entry.introduced);
        list.back()["propagated_error"] = bound_json(entry.propagated);
    }
    return list;
}

Json file_json(const EvidenceFile& file) { return {{"file", file.name}, {"sha256", file.hash}}; }

void add_evidence(const Report& report, Json& document) {
    if (report.certificate) {
        Json certificate = file_json(report.certificate->file);
        certificate["established"] = report.certificate->established;
        certificate["accumulate"] = report.certificate->accumulate;
        certificate["hypotheses"] = report.certificate->hypotheses;
        document["certificate"] = std::move(certificate);
    }
    if (report.proofs) {
        Json proofs = file_json(report.proofs->file);
        proofs["tools"] = report.proofs->tools;
        proofs["goals"] = report.proofs->goals();
        proofs["proved"] = report.proofs->proved();
        proofs["functions"] = Json::array();
        for (const FunctionProof& each : report.proofs->functions) {
            proofs["functions"].push_back({{"name", each.name},
                                           {"place", each.place},
                                           {"goals", each.goals},
                                           {"proved", each.proved},
                                           {"unproved", each.unproved}});
        }
        document["proofs"] = std::move(proofs);
    }
    if (report.tests) {
        Json tests = file_json(report.tests->file);
        tests["passed"] = report.tests->passed();
        tests["cases"] = Json::array();
        for (const TestCase& each : report.tests->cases)
            tests["cases"].push_back({{"case", each.name}, {"passed", each.passed}});
        document["tests"] = std::move(tests);
    }
}

void add_changes(const Report& report, Json& document) {
    if (report.fixed_file.empty()) return;
    Json fixed = {
        {"file", report.fixed_file}, {"sha256", report.fixed_hash}, {"changes", Json::array()}};
    for (const Change& change : report.changes) {
        fixed["changes"].push_back({{"rule", change.rule},
                                    {"place", place_text(report, change.place)},
                                    {"change", change.message}});
    }
    document["fixed"] = std::move(fixed);
}

}  // namespace

std::string report_json(const Report& report) {
    Json document = {{"profile", "sonnx"},
                     {"reading", kReading},
                     {"catalogue", kCatalogue},
                     {"tool", report.tool.name},
                     {"tool_sha256", report.tool.hash},
                     {"command", report.tool.command},
                     {"file", report.file},
                     {"sha256", report.hash},
                     {"bytes", report.bytes},
                     {"conclusion", conclusion(report)},
                     {"counts", counts_json(report)},
                     {"deviations", report.deviations},
                     {"not_checked", report.problems},
                     {"operators", operators_json(report)},
                     {"tensors", tensors_json(report)},
                     {"nodes", nodes_json(report)},
                     {"rules", Json::array()}};
    for (const RuleResult& result : report.results)
        document["rules"].push_back(rule_json(report, result));
    add_evidence(report, document);
    add_changes(report, document);
    return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lemma::sonnx
