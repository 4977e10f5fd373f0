// SPDX-License-Identifier: Apache-2.0
#include "prove/proof.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace lemma::prove {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr const char* kWeights =
    "The values of weights are not part of the proof: it holds for all weights of these shapes.";

std::string seconds_text(const FunctionProof& proof) {
    if (!proof.trouble.empty()) return "-";
    if (!proof.same_as.empty()) return "as " + proof.same_as;
    return fmt::format("{:.1f}{}", proof.seconds, proof.cached ? " (cached)" : "");
}

std::string remark(const FunctionProof& proof) {
    if (!proof.trouble.empty()) return "  NO RESULT";
    if (!proof.good()) return "  NOT PROVED";
    return proof.frame_only ? "  frame only" : "";
}

int64_t count_of(const FunctionProof& proof, const std::string& prover) {
    const auto found = proof.by.find(prover);
    return found == proof.by.end() ? 0 : found->second;
}

FunctionProof sum_of(const ModelProof& proof) {
    FunctionProof sum{.name = "all"};
    for (const FunctionProof& each : proof.functions) {
        sum.goals += each.goals;
        sum.proved += each.proved;
        for (const auto& [prover, count] : each.by) sum.by[prover] += count;
    }
    return sum;
}

std::string verdict(const ModelProof& proof, const FunctionProof& sum) {
    int64_t distinct = 0;
    int64_t cached = 0;
    double slowest = 0;
    for (const FunctionProof& each : proof.functions) {
        distinct += each.same_as.empty() ? 1 : 0;
        cached += each.cached && each.same_as.empty() ? 1 : 0;
        slowest = std::max(slowest, each.slowest);
    }
    const size_t bad = static_cast<size_t>(std::ranges::count_if(
        proof.functions, [](const FunctionProof& each) { return !each.good(); }));
    std::string text =
        proof.good()
            ? fmt::format(
                  "All {} goals are proved: {} functions", sum.goals, proof.functions.size())
            : fmt::format("{} of {} goals are proved; {} of {} functions are not",
                          sum.proved,
                          sum.goals,
                          bad,
                          proof.functions.size());
    text += fmt::format(
        ", {} of them different, {} from the cache; {:.0f} s, the slowest goal "
        "{:.1f} s.\n",
        distinct,
        cached,
        proof.seconds,
        slowest);
    const auto frames = std::ranges::count_if(
        proof.functions, [](const FunctionProof& each) { return each.frame_only; });
    if (frames > 0) {
        text += fmt::format(
            "Functions that are `frame only` ({}): they end, have no run-time errors and write "
            "only "
            "what they\nname, but their contract does not say what they compute.\n",
            frames);
    }
    return text;
}

void put_unproved(const ModelProof& proof, std::string& text) {
    for (const FunctionProof& each : proof.functions) {
        if (!each.same_as.empty()) continue;
        if (!each.trouble.empty()) text += fmt::format("\n{}: {}\n", each.name, each.trouble);
        if (each.unproved.empty()) continue;
        text += fmt::format(
            "\nnot proved in {}{}{}:\n", each.name, each.place.empty() ? "" : ", ", each.place);
        for (const std::string& goal : each.unproved) text += fmt::format("    {}\n", goal);
    }
}

}  // namespace

bool ModelProof::good() const {
    return !functions.empty() &&
           std::ranges::all_of(functions, [](const FunctionProof& each) { return each.good(); });
}

std::string encode_proof(const FunctionProof& proof) {
    return Json{{"format", kFormat},
                {"goals", proof.goals},
                {"proved", proof.proved},
                {"by", proof.by},
                {"seconds", proof.seconds},
                {"slowest", proof.slowest},
                {"warnings", proof.warnings}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<FunctionProof> decode_proof(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    const auto has = [&](const char* name, bool (Json::*is)() const noexcept) {
        return json.contains(name) && (json[name].*is)();
    };
    if (!has("format", &Json::is_number_integer) || json["format"] != kFormat) return std::nullopt;
    if (!has("goals", &Json::is_number_integer) || !has("proved", &Json::is_number_integer) ||
        !has("by", &Json::is_object) || !has("seconds", &Json::is_number) ||
        !has("slowest", &Json::is_number) || !has("warnings", &Json::is_array)) {
        return std::nullopt;
    }
    FunctionProof proof;
    proof.goals = json["goals"].get<int64_t>();
    proof.proved = json["proved"].get<int64_t>();
    for (const auto& [prover, count] : json["by"].items()) {
        if (!count.is_number_integer()) return std::nullopt;
        proof.by[prover] = count.get<int64_t>();
    }
    proof.seconds = json["seconds"].get<double>();
    proof.slowest = json["slowest"].get<double>();
    for (const Json& each : json["warnings"]) {
        if (!each.is_string()) return std::nullopt;
        proof.warnings.push_back(each.get<std::string>());
    }
    if (!proof.good()) return std::nullopt;  // others are never kept
    return proof;
}

std::string proof_table(const ModelProof& proof) {
    const FunctionProof sum = sum_of(proof);
    std::vector<std::string> provers;
    for (const auto& [prover, count] : sum.by) provers.push_back(prover);
    size_t width = std::string_view("function").size();
    for (const FunctionProof& each : proof.functions) width = std::max(width, each.name.size());
    std::string text = fmt::format("{}\n\n", fmt::join(proof.tools, "; "));
    text += fmt::format("{:{}} {:>11}", "function", width, "goals");
    for (const std::string& prover : provers) text += fmt::format(" {:>6}", prover);
    text += "  seconds\n";
    const auto row = [&](const FunctionProof& each, const std::string& end) {
        text += fmt::format(
            "{:{}} {:>11}", each.name, width, fmt::format("{}/{}", each.proved, each.goals));
        for (const std::string& prover : provers)
            text += fmt::format(" {:>6}", count_of(each, prover));
        text += fmt::format("  {}\n", end);
    };
    for (const FunctionProof& each : proof.functions) row(each, seconds_text(each) + remark(each));
    row(sum, fmt::format("{:.1f}", proof.seconds));
    put_unproved(proof, text);
    return text + "\n" + verdict(proof, sum) + kWeights + "\n";
}

Json proof_json(const ModelProof& proof) {
    Json functions = Json::array();
    for (const FunctionProof& each : proof.functions) {
        Json function = {{"name", each.name},
                         {"place", each.place},
                         {"says", each.frame_only ? "frame" : "result"},
                         {"goals", each.goals},
                         {"proved", each.proved},
                         {"by", each.by},
                         {"unproved", each.unproved},
                         {"seconds", each.seconds},
                         {"slowest", each.slowest},
                         {"cached", each.cached},
                         {"sha256", each.digest}};
        if (!each.same_as.empty()) function["same_as"] = each.same_as;
        if (!each.warnings.empty()) function["warnings"] = each.warnings;
        if (!each.trouble.empty()) function["trouble"] = each.trouble;
        functions.push_back(std::move(function));
    }
    const FunctionProof sum = sum_of(proof);
    return {{"model", {{"file", proof.file}, {"sha256", proof.sha256}}},
            {"tools", proof.tools},
            {"command", proof.command},
            {"accumulate", proof.accumulate},
            {"weights_in_proof", false},
            {"proved", proof.good()},
            {"goals", {{"proved", sum.proved}, {"all", sum.goals}, {"by", sum.by}}},
            {"seconds", proof.seconds},
            {"functions", std::move(functions)}};
}

}  // namespace lemma::prove
