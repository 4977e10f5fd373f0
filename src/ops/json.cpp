// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "diag/json_text.h"
#include "ops/text.h"

namespace lemma::ops {

namespace {

using Json = nlohmann::ordered_json;

Json params_json(const std::vector<ParamText>& params) {
    Json json = Json::array();
    for (const ParamText& param : params) {
        Json one = {{"name", param.name}, {"type", param.type}};
        if (!param.value.empty()) one["value"] = param.value;
        if (param.optional) one["optional"] = true;
        if (param.packed) one["packed"] = true;
        json.push_back(std::move(one));
    }
    return json;
}

Json asserts_json(const std::vector<AssertText>& asserts) {
    Json json = Json::array();
    for (const AssertText& one : asserts) {
        json.push_back({{"condition", one.condition}, {"message", one.message}});
    }
    return json;
}

const char* body_name(BodyKind body) {
    switch (body) {
        case BodyKind::Formula:
            return "formula";
        case BodyKind::Composition:
            return "composition";
        case BodyKind::Intrinsic:
            return "intrinsic";
    }
    return "";
}

Json operator_json(const OperatorText& op) {
    return {{"kind", op.graph ? "graph" : "operator"},
            {"name", op.qualified()},
            {"summary", op.summary},
            {"types", params_json(op.types)},
            {"attributes", params_json(op.attributes)},
            {"inputs", params_json(op.inputs)},
            {"constants", params_json(op.constants)},
            {"variables", params_json(op.variables)},
            {"outputs", params_json(op.outputs)},
            {"asserts", asserts_json(op.asserts)},
            {"body", body_name(op.body)},
            {"definition", op.definition},
            {"file", op.file},
            {"line", op.line}};
}

}  // namespace

std::string operators_json(const std::vector<ModuleText>& modules) {
    Json list = Json::array();
    for (const ModuleText& module : modules) {
        Json operators = Json::array();
        for (const OperatorText& op : module.operators) operators.push_back(operator_json(op));
        list.push_back({{"name", module.name},
                        {"file", module.file},
                        {"summary", module.summary},
                        {"operators", std::move(operators)}});
    }
    return diag::json_text({{"modules", std::move(list)}});
}

}  // namespace lemma::ops
