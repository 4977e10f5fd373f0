// SPDX-License-Identifier: Apache-2.0
#include "onnx/export/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/match.h"
#include "onnx/export.h"
#include "onnx/model.h"
#include "onnx/validate.h"

namespace lemma::onnx {

namespace {

std::string scalar_text(const ir::Scalar& scalar) {
    if (const auto* const number = std::get_if<int64_t>(&scalar)) return std::to_string(*number);
    if (const auto* const text = std::get_if<std::string>(&scalar)) return *text;
    if (const auto* const flag = std::get_if<bool>(&scalar)) return *flag ? "1" : "0";
    return "?";
}

// For lists, the default of each item. Real attributes are older than any opset that is written.
std::string default_text(const Default& value) {
    return match(
        value,
        [](int64_t number) { return std::to_string(number); },
        [](std::string_view text) { return std::string(text); },
        [](Computed how) { return std::string(how == Computed::Ones ? "1" : "0"); },
        [](const auto&) { return std::string("none"); });
}

}  // namespace

const Operator* written_operator(std::string_view op) {
    if (!op.starts_with("onnx.")) return nullptr;
    std::string name(op.substr(op.rfind('.') + 1));
    if (name == "max_of_two") return find_operator("Max");
    if (name == "min_of_two") return find_operator("Min");
    const size_t end = std::min(name.size(), name.find('_'));
    // An older form, `Softmax_12`, is written as its parts.
    if (name.find_first_of("0123456789", end) == end + 1) return nullptr;
    name.resize(end);
    const bool of_runtime = op.substr(5).starts_with(kMicrosoftDomain);
    const Operator* const found =
        find_operator(of_runtime ? fmt::format("{}.{}", kMicrosoftDomain, name) : name);
    return found && found->domain != Domain::Preview ? found : nullptr;
}

std::string node_name(std::string_view op) { return std::string(op.substr(op.rfind('.') + 1)); }

const AttributeDefault* find_late_attribute(const Operator& op, std::string_view name) {
    const auto found = std::ranges::find_if(op.attributes, [&](const AttributeDefault& each) {
        const bool late = each.since > kOldestWritten || op.domain == Domain::Microsoft;
        return each.name == name && late;
    });
    return found == op.attributes.end() ? nullptr : found;
}

bool has_default_value(const AttributeDefault& attribute, const ir::Value& value) {
    const std::string text = default_text(attribute.value);
    if (const auto* const scalar = std::get_if<ir::Scalar>(&value))
        return scalar_text(*scalar) == text;
    const auto* const pack = std::get_if<ir::Pack>(&value);
    return !pack || std::ranges::all_of(pack->items, [&](const ir::Scalar& item) {
        return scalar_text(item) == text;
    });
}

int64_t ir_version_of(int64_t opset) {
    struct Row {
        int64_t opset, version;
    };
    constexpr std::array kRows = {
        Row{15, 7}, Row{19, 8}, Row{21, 9}, Row{23, 10}, Row{24, 11}, Row{25, 12}};
    for (const Row& row : kRows) {
        if (opset < row.opset) return row.version;
    }
    return kNewestIrVersion;
}

}  // namespace lemma::onnx
