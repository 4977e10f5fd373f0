// SPDX-License-Identifier: Apache-2.0
#include "sonnx/report/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sonnx/clauses.h"
#include "sonnx/report/places.h"

namespace lemma::sonnx {

namespace {

using Json = nlohmann::ordered_json;

// The tests of the catalogue: a model that keeps each rule, and one that breaks it.
constexpr std::string_view kRuleTests =
    "Rules.ConformingModelKeepsEachOfThem; Rules.EachOfThemCanBeBroken";

std::vector<std::string> items_of(std::string_view list) {
    std::vector<std::string> items;
    while (!list.empty()) {
        const size_t end = std::min(list.find(", "), list.size());
        items.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 2, list.size()));
    }
    return items;
}

// Tags are unique; other ids are those of one document: "Conv R1", "graph T03".
std::string clause_name(const Clause& clause) {
    if (clause.op == "general" || clause.id.starts_with("E_")) return clause.id;
    return fmt::format("{} {}", clause.op, clause.id);
}

class Tracer {
public:
    explicit Tracer(const Report& report) : report_(report) {
        for (const NodeEntry& entry : report.contents.nodes)
            nodes_[entry.node->op].push_back(&entry);
        const Places places(report);
        for (const RuleResult& result : report.results) {
            for (const Finding& finding : result.findings) {
                if (const auto index = places.node(place_text(report, finding.place)))
                    ++findings_[{&result, *index}];
            }
        }
        if (!report.proofs) return;
        for (const FunctionProof& each : report.proofs->functions) {
            const auto index = places.node(each.place);
            if (!index) continue;
            functions_[*index].push_back(&each);
            placed_.insert(&each);
        }
    }

    std::vector<TraceRow> run() {
        for (const RuleResult& result : report_.results) add_rule(result);
        for (const Clause& clause : all_clauses()) {
            if (clause.rule.empty() && concerns(clause.op))
                add({.clause = clause_name(clause),
                     .generation = std::string(clause.generation),
                     .statement = std::string(clause.text),
                     .instead = std::string(clause.instead)},
                    clause.op);
        }
        for (const NodeEntry& entry : report_.contents.nodes) add_function(entry);
        add_whole();
        for (TraceRow& row : rows_) decide(row);
        return std::move(rows_);
    }

private:
    static bool is_general(std::string_view op) {
        return op.empty() || op == "general" || op == "graph";
    }
    bool concerns(std::string_view op) const {
        return is_general(op) || nodes_.contains(std::string(op));
    }

    // A rule without a clause about this model is traced by its other names.
    void add_rule(const RuleResult& result) {
        const Rule& rule = *result.rule;
        std::set<std::string> named;
        const size_t before = rows_.size();
        for (const Clause* clause : clauses_of(rule.id)) {
            named.insert(clause->id);
            if (!concerns(clause->op)) continue;
            add({.clause = clause_name(*clause),
                 .generation = std::string(clause->generation),
                 .statement = std::string(clause->text),
                 .result = &result},
                is_general(clause->op) ? rule.op : clause->op);
        }
        std::vector<std::string> others = items_of(rule.aliases);
        std::erase_if(others, [&](const std::string& each) { return named.contains(each); });
        if (others.empty() && rows_.size() == before) others.emplace_back(rule.id);
        for (std::string& other : others) {
            add({.clause = std::move(other),
                 .generation = std::string(rule.generation),
                 .statement = std::string(rule.title),
                 .result = &result},
                rule.op);
        }
    }

    // A rule that fails elsewhere holds for this node.
    void decide(TraceRow& row) const {
        if (!row.result) {
            row.verdict = row.function ? (row.function->good() ? "proved" : "not proved")
                          : row.node   ? "not given"
                                       : "";
            return;
        }
        row.verdict = verdict_text(row.result->verdict);
        row.findings = row.result->findings.size();
        if (!row.node) return;
        const auto found = findings_.find({row.result, row.node->index});
        row.findings = found == findings_.end() ? 0 : found->second;
        if (row.result->verdict == Verdict::Fail && row.findings == 0) {
            row.verdict =
                verdict_text(row.result->undecided > 0 ? Verdict::NotChecked : Verdict::Pass);
        }
    }

    // What a node computes is answered by the contract of its C function.
    void add_function(const NodeEntry& entry) {
        TraceRow row{.clause = entry.node->op + ", function",
                     .generation = "",
                     .statement = "the node computes what its operator means",
                     .instead = "the contract of its C function",
                     .node = &entry};
        const auto functions = functions_.find(entry.index);
        if (functions == functions_.end()) return rows_.push_back(std::move(row));
        for (const FunctionProof* function : functions->second) {
            row.function = function;
            rows_.push_back(row);
        }
    }

    // Functions of no node run the others.
    void add_whole() {
        if (!report_.proofs) return;
        for (const FunctionProof& each : report_.proofs->functions) {
            if (placed_.contains(&each)) continue;
            rows_.push_back({.clause = "graph execution",
                             .generation = std::string(k2025),
                             .statement = "every node runs once, after the nodes that it needs",
                             .instead = "the contract of the C function",
                             .function = &each});
        }
    }

    // One row for each node and function that the operator has in the model.
    void add(const TraceRow& row, std::string_view op) {
        const auto nodes = nodes_.find(std::string(op));
        if (is_general(op) || nodes == nodes_.end()) {
            rows_.push_back(row);
            return;
        }
        for (const NodeEntry* node : nodes->second) {
            TraceRow one = row;
            one.node = node;
            const auto functions = functions_.find(node->index);
            if (functions == functions_.end()) {
                rows_.push_back(std::move(one));
                continue;
            }
            for (const FunctionProof* function : functions->second) {
                one.function = function;
                rows_.push_back(one);
            }
        }
    }

    const Report& report_;
    std::map<std::string, std::vector<const NodeEntry*>> nodes_;
    std::map<size_t, std::vector<const FunctionProof*>> functions_;
    std::set<const FunctionProof*> placed_;
    std::map<std::pair<const RuleResult*, size_t>, size_t> findings_;  // by rule and node
    std::vector<TraceRow> rows_;
};

// Spreadsheets take a cell that begins with these characters for a formula.
std::string csv_cell(std::string text) {
    if (!text.empty() && std::string_view("=+-@\t\r").contains(text.front()))
        text.insert(text.begin(), '\'');
    if (text.find_first_of("\",\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

std::string model_tests(const Report& report) {
    if (!report.tests) return "";
    return fmt::format("{} of {} cases pass", report.tests->passed(), report.tests->cases.size());
}

}  // namespace

std::vector<TraceRow> trace_rows(const Report& report) { return Tracer(report).run(); }

std::string trace_json(const Report& report) {
    Json document = {{"trace", "sonnx"},
                     {"reading", kReading},
                     {"catalogue", kCatalogue},
                     {"tool", report.tool.name},
                     {"file", report.file},
                     {"sha256", report.hash},
                     {"conclusion", conclusion(report)},
                     {"model_tests", model_tests(report)},
                     {"rule_tests", kRuleTests},
                     {"rows", Json::array()}};
    for (const TraceRow& row : trace_rows(report)) {
        Json object = {
            {"clause", row.clause}, {"generation", row.generation}, {"statement", row.statement}};
        if (row.result) {
            object["rule"] = row.result->rule->id;
            object["severity"] = severity_text(row.result->severity);
            object["findings"] = row.findings;
        } else {
            object["answered_by"] = row.instead;
        }
        object["verdict"] = row.verdict;
        if (row.node) object["node"] = place_text(report, row.node->node->place);
        if (row.function) {
            object["function"] = row.function->name;
            object["goals"] = row.function->goals;
            object["proved"] = row.function->proved;
        }
        document["rows"].push_back(std::move(object));
    }
    return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string trace_csv(const Report& report) {
    const std::string tests = model_tests(report);
    std::string out =
        "clause,generation,statement,answered_by,severity,verdict,findings,node,function,goals,"
        "proved,"
        "model_tests,rule_tests\n";
    for (const TraceRow& row : trace_rows(report)) {
        const RuleResult* result = row.result;
        const std::vector<std::string> cells = {
            row.clause,
            row.generation,
            row.statement,
            result ? std::string(result->rule->id) : row.instead,
            result ? std::string(severity_text(result->severity)) : "",
            row.verdict,
            result ? fmt::format("{}", row.findings) : "",
            row.node ? place_text(report, row.node->node->place) : "",
            row.function ? row.function->name : "",
            row.function ? fmt::format("{}", row.function->goals) : "",
            row.function ? fmt::format("{}", row.function->proved) : "",
            tests,
            result ? std::string(kRuleTests) : ""};
        for (size_t i = 0; i < cells.size(); ++i) {
            if (i > 0) out += ',';
            out += csv_cell(cells[i]);
        }
        out += "\n";
    }
    return out;
}

}  // namespace lemma::sonnx
