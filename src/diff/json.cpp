// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "diag/json_text.h"
#include "diff/report.h"
#include "diff/report_parts.h"

namespace lemma::diff {

namespace {

const char* level_text(Level level) {
    switch (level) {
        case Level::Compound:
            return "compound";
        case Level::Primitive:
            return "primitive";
        case Level::Formula:
            return "formula";
        case Level::Auto:
            break;
    }
    return "auto";
}

Json operation_json(const Graph& graph, size_t n) {
    const Node& node = graph.nodes[n];
    Json json = {{"index", n}, {"operation", node.kind}, {"name", node.name}};
    Json outputs = Json::array();
    for (const Edge& edge : node.outputs) {
        outputs.push_back({{"tensor", graph.program->tensors[edge.tensor].name},
                           {"type", type_text(*graph.program, edge.tensor)}});
    }
    json["outputs"] = std::move(outputs);
    return json;
}

}  // namespace

// JSON has no infinity.
static Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

static Json amount_json(const WeightChange& amount) {
    return {{"changed", amount.changed},
            {"elements", amount.elements},
            {"max_abs", number(amount.max_abs)},
            {"max_rel", number(amount.max_rel)},
            {"where", amount.where}};
}

Json change_json(const Change& change) {
    Json json = {{"what", what_text(change.what)},
                 {"name", change.name},
                 {"before", change.before},
                 {"after", change.after}};
    if (change.amount) json["amount"] = amount_json(*change.amount);
    return json;
}

Json numbers_json(const Numbers& numbers) {
    Json list = Json::array();
    for (const NumberPair& pair : numbers.pairs) {
        Json one = {{"a", pair.a},
                    {"b", pair.b},
                    {"type", pair.type},
                    {"output", pair.output},
                    {"equal", pair.equal},
                    {"max_abs", number(pair.max_abs)},
                    {"max_rel", number(pair.max_rel)},
                    {"differing", pair.differing},
                    {"elements", pair.elements}};
        if (!pair.where.empty()) one["where"] = pair.where;
        if (!pair.trouble.empty()) one["trouble"] = pair.trouble;
        list.push_back(std::move(one));
    }
    return list;
}

std::string report_json(const Comparison& comparison,
                        const Numbers* numbers,
                        const ReportOptions& options) {
    Json json = {{"schema", kDiffSchema},
                 {"a", options.a},
                 {"b", options.b},
                 {"equal", is_equal(comparison, numbers, options)},
                 {"summary", summary(comparison, numbers, options)},
                 {"level", level_text(comparison.level)},
                 {"matched", comparison.pairs.size()}};
    Json changed = Json::array(), terminals = Json::array();
    for (size_t i = 0; i < comparison.changes.size();) {
        const Change& first = comparison.changes[i];
        Json changes = Json::array();
        size_t end = i;
        for (; end < comparison.changes.size() && comparison.changes[end].a == first.a; ++end)
            changes.push_back(change_json(comparison.changes[end]));
        if (first.a == kNone) {
            for (Json& change : changes) terminals.push_back(std::move(change));
        } else {
            changed.push_back({{"a", operation_json(comparison.a, first.a)},
                               {"b", operation_json(comparison.b, first.b)},
                               {"changes", std::move(changes)}});
        }
        i = end;
    }
    json["changed"] = std::move(changed);
    Json only_a = Json::array(), only_b = Json::array();
    for (const size_t n : comparison.only_a) only_a.push_back(operation_json(comparison.a, n));
    for (const size_t n : comparison.only_b) only_b.push_back(operation_json(comparison.b, n));
    json["only_a"] = std::move(only_a);
    json["only_b"] = std::move(only_b);
    json["interface"] = {{"changes", std::move(terminals)},
                         {"only_a", comparison.terminals_a},
                         {"only_b", comparison.terminals_b}};
    Json renames = Json::array(), moved = Json::array();
    for (const Rename& rename : comparison.renames)
        renames.push_back(
            {{"role", rename.role}, {"before", rename.before}, {"after", rename.after}});
    for (const size_t i : comparison.moved)
        moved.push_back({{"name", comparison.a.nodes[comparison.pairs[i].first].name},
                         {"before", comparison.pairs[i].first},
                         {"after", comparison.pairs[i].second}});
    json["renames"] = std::move(renames);
    json["moved"] = std::move(moved);
    json["interface"]["moved"] = comparison.terminals_moved;
    if (numbers != nullptr) {
        json["numbers"] = {{"engine_a", numbers->engine_a},
                           {"engine_b", numbers->engine_b},
                           {"rtol", numbers->tolerance.relative},
                           {"atol", numbers->tolerance.absolute},
                           {"tensors", numbers_json(*numbers)},
                           {"first", numbers->first ? Json(*numbers->first) : Json()}};
    }
    if (!comparison.remarks.empty()) json["remarks"] = comparison.remarks;
    return diag::json_text(json);
}

}  // namespace lemma::diff
