// SPDX-License-Identifier: Apache-2.0
#include "show/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/match.h"
#include "diag/json_text.h"
#include "ir/program/display_name.h"
#include "ir/text/text_words.h"
#include "show/cost.h"

namespace lemma::show {

namespace {

using Json = nlohmann::ordered_json;  // keeps the order of the fields

class JsonWriter {
public:
    JsonWriter(const ir::Program& program, Level level, const Origin& origin, const AddFields& add)
        : program_(program), level_(level), origin_(origin), add_(add), costs_(program) {}

    Json document();

private:
    Json extent(ir::SymId id) const;
    Json bound(ir::SymId id) const;
    Json tensor(ir::TensorId id) const;
    Json port(const ir::Port& port) const;
    Json ports(const std::vector<ir::Port>& list) const;
    Json scalar(const ir::Scalar& scalar) const;
    Json value(const ir::Value& value) const;
    Json attributes(const std::vector<ir::Attribute>& list) const;
    Json assertions(const std::vector<ir::Assertion>& list) const;
    bool in_model(Span span) const;
    Json place(Span span) const;
    Json variables() const;
    Json updates() const;
    Json operation(ir::OpId id);
    Json operations(const std::vector<ir::OpId>& ops);
    Json bodies_json(const ir::Operation& op);
    Json totals();

    const ir::Program& program_;
    Level level_;
    const Origin& origin_;
    const AddFields& add_;
    CostModel costs_;
};

// Numbers; the lists `at_most` and `at_least` name those that are only bounds.
void set_amounts(Json& json, const std::vector<std::pair<const char*, Amount>>& amounts) {
    Json at_most, at_least;
    for (const auto& [name, amount] : amounts) {
        json[name] = amount.value;
        if (amount.at_most) at_most.push_back(name);
        if (amount.at_least) at_least.push_back(name);
    }
    if (!at_most.empty()) json["at_most"] = std::move(at_most);
    if (!at_least.empty()) json["at_least"] = std::move(at_least);
}

const char* role_name(ir::TensorRole role) {
    switch (role) {
        case ir::TensorRole::Input:
            return "input";
        case ir::TensorRole::Constant:
            return "constant";
        case ir::TensorRole::Variable:
            return "variable";
        case ir::TensorRole::Intermediate:
            return "intermediate";
    }
    return "";
}

// ---- Tensors and values -------------------------------------------------------------------------

// A number, or the text of an expression.
Json JsonWriter::extent(ir::SymId id) const {
    if (const auto number = program_.symbols.as_int(id)) return *number;
    return program_.symbols.text(id);
}

// The upper bound; null without one.
Json JsonWriter::bound(ir::SymId id) const {
    const int64_t high = program_.symbols.range(id).high;
    return high == INT64_MAX ? Json() : Json(high);
}

Json JsonWriter::tensor(ir::TensorId id) const {
    const ir::Tensor& tensor = program_.tensors[id];
    Json shape = Json::array(), bounds = Json::array();
    bool symbolic = false;
    for (const ir::SymId one : tensor.shape) {
        shape.push_back(extent(one));
        bounds.push_back(bound(one));
        symbolic = symbolic || !program_.symbols.is_constant(one);
    }
    Json json = {{"tensor", tensor.name},
                 {"role", role_name(tensor.role)},
                 {"dtype", tensor::dtype_name(tensor.dtype)},
                 {"shape", std::move(shape)}};
    if (symbolic) json["bounds"] = std::move(bounds);
    if (tensor.role == ir::TensorRole::Constant && tensor.items.size() == 1) {
        json["value"] = scalar(tensor.items.front());
    }
    if (tensor.quantizer) {
        json["quantizer"] = {{"operation", tensor.quantizer->op},
                             {"attributes", attributes(tensor.quantizer->attributes)}};
    }
    return json;
}

// One tensor, a pack of them under `pack`, or null.
Json JsonWriter::port(const ir::Port& port) const {
    Json json = {{"name", port.name}};
    const ir::Operand& operand = port.operand;
    if (operand.null()) {
        json["null"] = true;
    } else if (!operand.packed) {
        json.update(tensor(operand.items.front()));
    } else {
        Json items = Json::array();
        for (const ir::TensorId id : operand.items) items.push_back(tensor(id));
        if (operand.length.valid()) json["length"] = extent(operand.length);
        json["pack"] = std::move(items);
    }
    return json;
}

Json JsonWriter::ports(const std::vector<ir::Port>& list) const {
    Json json = Json::array();
    for (const ir::Port& one : list) json.push_back(port(one));
    return json;
}

Json JsonWriter::scalar(const ir::Scalar& scalar) const {
    return match(
        scalar,
        [&](ir::SymId id) { return Json(program_.symbols.text(id)); },
        // JSON has no infinity.
        [](double real) { return std::isfinite(real) ? Json(real) : Json(ir::real_text(real)); },
        [](const auto& constant) { return Json(constant); });
}

Json JsonWriter::value(const ir::Value& value) const {
    return match(
        value,
        [](ir::Null) { return Json(); },
        [&](const ir::Scalar& one) { return scalar(one); },
        [&](const ir::Pack& pack) {
            Json items = Json::array();
            for (const ir::Scalar& item : pack.items) items.push_back(scalar(item));
            return items;
        });
}

Json JsonWriter::attributes(const std::vector<ir::Attribute>& list) const {
    Json json = Json::object();
    for (const ir::Attribute& attribute : list) json[attribute.name] = value(attribute.value);
    return json;
}

Json JsonWriter::assertions(const std::vector<ir::Assertion>& list) const {
    Json json = Json::array();
    for (const ir::Assertion& assertion : list) {
        json.push_back({{"condition", program_.symbols.text(assertion.condition)},
                        {"message", assertion.message}});
    }
    return json;
}

// ---- Operations ---------------------------------------------------------------------------------

// Not inside a standard operator, whose definition `lemma ops` shows.
bool JsonWriter::in_model(Span span) const {
    return origin_.sources && span.valid() &&
           !origin_.sources->name(span.file).starts_with("stdlib/");
}

// As in the JSON form of diagnostics: a line and a column, or a path in a binary file.
Json JsonWriter::place(Span span) const {
    const diag::LineColumn begin = origin_.sources->place(span.file, span.begin);
    Json json = {{"file", origin_.sources->name(span.file)}};
    if (origin_.sources->is_binary(span.file)) {
        json["path"] = origin_.sources->line(span.file, begin.line);
    } else {
        json["line"] = begin.line;
        json["column"] = begin.column;
    }
    return json;
}

Json JsonWriter::bodies_json(const ir::Operation& op) {
    Json parts = Json::array();
    for (const Body& body : bodies(op)) {
        const ir::Graph& graph = program_.graphs[body.graph];
        parts.push_back({{"role", body.role},
                         {"operations", operations(graph.operations)},
                         {"outputs", ports(graph.outputs)}});
    }
    return parts;
}

Json JsonWriter::operation(ir::OpId id) {
    const ir::Operation& op = program_.operations[id];
    const Cost cost = costs_.cost(id);
    Json json = {{"operation", op.op},
                 {"title", ir::display_name(op.op)},
                 {"kind", ir::kind_text(op.kind)},
                 {"label", op.label}};
    if (in_model(op.span)) json["place"] = place(op.span);
    for (const auto& [name, dtype] : op.dtypes) json["dtypes"][name] = tensor::dtype_name(dtype);
    json["attributes"] = attributes(op.attributes);
    json["inputs"] = ports(op.inputs);
    json["outputs"] = ports(op.outputs);
    std::vector<std::pair<const char*, Amount>> amounts = {
        {"parameters", cost.parameters}, {"macs", cost.macs}, {"output_bytes", cost.output_bytes}};
    if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
        amounts.emplace_back("iterations", iterations(program_, *loop));
    }
    set_amounts(json, amounts);
    if (!op.assertions.empty()) json["assertions"] = assertions(op.assertions);
    if (add_) add_(id, json);
    if (op.kind == ir::OperationKind::Control) json["bodies"] = bodies_json(op);
    if (op.compound()) json["parts"] = operations(op.parts);
    return json;
}

Json JsonWriter::operations(const std::vector<ir::OpId>& ops) {
    Json json = Json::array();
    for (const ir::OpId id : shown_operations(program_, ops, level_)) json.push_back(operation(id));
    return json;
}

// ---- The program --------------------------------------------------------------------------------

Json JsonWriter::variables() const {
    Json json = Json::array();
    for (uint32_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        if (program_.tensors[id].role != ir::TensorRole::Variable) continue;
        Json one = tensor(id);
        set_amounts(one, {{"parameters", volume(program_, id)}, {"bytes", bytes(program_, id)}});
        json.push_back(std::move(one));
    }
    return json;
}

Json JsonWriter::updates() const {
    Json json = Json::array();
    for (const ir::Update& update : program_.updates) {
        json.push_back({{"variable", program_.tensors[update.variable].name},
                        {"value", program_.tensors[update.value].name}});
    }
    return json;
}

Json JsonWriter::totals() {
    const Totals totals = costs_.totals();
    Json json = {{"operations", totals.calls}, {"primitives", totals.primitives}};
    set_amounts(json,
                {{"parameters", totals.parameters},
                 {"weight_bytes", totals.weight_bytes},
                 {"macs", totals.macs},
                 {"activation_bytes", totals.activation_bytes},
                 {"peak_activation_bytes", totals.peak_bytes}});
    return json;
}

Json JsonWriter::document() {
    const ir::Graph& main = program_.graphs[program_.main];
    Json json = {{"schema", kGraphSchema},
                 {"graph", program_.name},
                 {"inputs", ports(main.inputs)},
                 {"outputs", ports(main.outputs)},
                 {"variables", variables()},
                 {"operations", operations(main.operations)}};
    if (!program_.updates.empty()) json["updates"] = updates();
    if (!program_.assertions.empty()) json["assertions"] = assertions(program_.assertions);
    json["totals"] = totals();
    if (!origin_.deciding.empty()) json["deciding"] = origin_.deciding;
    for (const auto& [name, value] : origin_.metadata) json["metadata"][name] = value;
    return json;
}

}  // namespace

Json graph_json(const ir::Program& program,
                Level level,
                const Origin& origin,
                const AddFields& add) {
    return JsonWriter(program, level, origin, add).document();
}

std::string show_json(const ir::Program& program, Level level, const Origin& origin) {
    return diag::json_text(graph_json(program, level, origin));
}

}  // namespace lemma::show
