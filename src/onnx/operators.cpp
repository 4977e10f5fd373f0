// SPDX-License-Identifier: Apache-2.0
#include "onnx/operators.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/match.h"

namespace lemma::onnx {

std::string_view domain_name(Domain domain) {
    switch (domain) {
        case Domain::Default:
            return "";
        case Domain::Ml:
            return "ai.onnx.ml";
        case Domain::Preview:
            return "ai.onnx.preview";
        case Domain::Training:
            return "ai.onnx.preview.training";
        case Domain::Microsoft:
            return kMicrosoftDomain;
    }
    return "";
}

std::vector<Operator> all_operators() {
    const auto onnx = onnx_operators();
    const auto microsoft = microsoft_operators();
    std::vector<Operator> all(onnx.begin(), onnx.end());
    all.insert(all.end(), microsoft.begin(), microsoft.end());
    return all;
}

const Operator* find_operator(std::string_view name) {
    const auto table =
        name.starts_with(kMicrosoftDomain) ? microsoft_operators() : onnx_operators();
    const auto found = std::ranges::lower_bound(table, name, {}, &Operator::name);
    return found != table.end() && found->name == name ? &*found : nullptr;
}

std::vector<std::string_view> made_operators(const Operator& op) {
    std::vector<std::string_view> made(op.makes.begin(), op.makes.end());
    for (const Change& change : op.changes) {
        match(
            change,
            [&](const Call& call) { made.push_back(call.op); },
            [&](const CallForOutput& call) { made.push_back(call.op); },
            [&](const TwoByTwo& pairs) { made.push_back(pairs.op); },
            [&](const DropLastAxis&) { made.push_back("Squeeze"); },
            [&](const AlignByAxis&) { made.push_back("Unsqueeze"); },
            [&](const ComputeInReals&) { made.push_back("Cast"); },
            [](const auto&) {});
    }
    return made;
}

std::string operator_of(const Node& node) {
    if (node.domain != kMicrosoftDomain) return node.op;
    return fmt::format("{}.{}", kMicrosoftDomain, node.op);
}

}  // namespace lemma::onnx
