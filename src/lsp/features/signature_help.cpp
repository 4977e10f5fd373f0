// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lsp/features/call_site.h"
#include "lsp/features/requests.h"

namespace lemma::lsp {

std::optional<OperatorInfo> called_operator(const Query& query, const std::string& callee) {
    const size_t point = callee.rfind('.');
    if (point == std::string::npos) {
        if (auto own = describe_operator(*query.view(), callee, "")) return own;
        if (query.document.language() != Language::Nnef1) return std::nullopt;
    }
    const External external{point == std::string::npos ? "" : callee.substr(0, point),
                            callee.substr(point == std::string::npos ? 0 : point + 1),
                            ""};
    auto found = query.views.find(query.workspace, query.document, external);
    if (!found) return std::nullopt;
    return std::move(found->op);
}

namespace {

std::string param_text(const ParamInfo& param) {
    std::string text = param.name;
    if (!param.type.empty()) text += ": " + param.type;
    if (!param.value.empty()) text += " = " + param.value;
    return text;
}

// The call as one line, and the places of its parameters in it.
struct Line {
    std::string text;
    Json parameters = Json::array();
    std::vector<std::string> names;

    void add(const std::vector<ParamInfo>& params, Encoding encoding) {
        for (size_t i = 0; i < params.size(); ++i) {
            if (i > 0) text += ", ";
            const uint32_t begin = units(text, encoding);
            text += param_text(params[i]);
            parameters.push_back({{"label", Json::array({begin, units(text, encoding)})}});
            names.push_back(params[i].name);
        }
    }
};

}  // namespace

Answer signature_help(const Query& query) {
    const auto view = query.view();
    const Cursor cursor = cursor_at(*view, query.offset());
    if (cursor.in_text || !cursor.call) return Json();
    const auto op = called_operator(query, cursor.call->callee);
    if (!op) return Json();
    const bool nnef1 = op->language == Language::Nnef1;
    Line line{.text = op->name};
    constexpr Encoding kUnits = Encoding::Utf16;
    if (!nnef1 && !op->attributes.empty()) {
        line.text += "{";
        line.add(op->attributes, kUnits);
        line.text += "}";
    }
    line.text += "(";
    const size_t first_input = line.names.size();
    line.add(op->inputs, kUnits);
    if (nnef1) {
        if (!op->inputs.empty() && !op->attributes.empty()) line.text += ", ";
        line.add(op->attributes, kUnits);
    }
    line.text += ")";
    size_t active = cursor.call->argument + (cursor.call->in_attributes ? 0 : first_input);
    const std::string& name = cursor.call->name.empty() ? cursor.prefix : cursor.call->name;
    for (size_t i = 0; i < line.names.size(); ++i) {
        if (line.names[i] == name && (nnef1 || cursor.call->in_attributes)) active = i;
    }
    Json signature = {{"label", line.text}, {"parameters", line.parameters}};
    if (!op->documentation.empty())
        signature["documentation"] = {{"kind", "markdown"}, {"value", op->documentation}};
    return Json{{"signatures", Json::array({signature})},
                {"activeSignature", 0},
                {"activeParameter", active}};
}

}  // namespace lemma::lsp
