// Operations as invocations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "nnef1/export/exporter.h"

namespace lemma::nnef1 {

namespace {

constexpr int kMaxDepth = 400;  // of compounds inside one another

const ir::Port* find_port(const std::vector<ir::Port>& ports, std::string_view name) {
    const auto found =
        std::ranges::find_if(ports, [&](const ir::Port& p) { return p.name == name; });
    return found == ports.end() ? nullptr : &*found;
}

const ir::Attribute* find_attribute(const ir::Operation& op, std::string_view name) {
    const auto found = std::ranges::find_if(
        op.attributes, [&](const ir::Attribute& attribute) { return attribute.name == name; });
    return found == op.attributes.end() ? nullptr : &*found;
}

bool has_param(const Signature& signature, std::string_view name) {
    return std::ranges::any_of(signature.fragment->params,
                               [&](const Param& param) { return param.name.text == name; });
}

}  // namespace

void Exporter::operations(const std::vector<ir::OpId>& list, int depth) {
    for (const ir::OpId id : list) operation(id, depth);
}

void Exporter::operation(ir::OpId id, int depth) {
    const ir::Operation& op = program_.operations[id];
    if (depth == 0) current_ = id;
    if (depth > kMaxDepth) return cannot(&op, "operations are nested too deep to be written");
    if (op.kind == ir::OperationKind::Control) {
        return cannot(&op, fmt::format("NNEF 1.0 has no control flow, as this `{}`", op.op));
    }
    // A compound may hand on what was there before.
    const bool known = std::ranges::all_of(op.outputs, [&](const ir::Port& port) {
        return std::ranges::all_of(port.operand.items, [&](ir::TensorId t) { return is_known(t); });
    });
    if (known && !op.outputs.empty()) return;
    const Signature* const signature = find_signature(op);
    if (signature && write_update(op, *signature)) return;
    if (signature && call(op, *signature)) return;
    if (write_split(op)) return;
    if (op.compound()) return operations(op.parts, depth + 1);
    // Such as the indices of a pool where only its values are wanted.
    const bool used = std::ranges::any_of(op.outputs, [&](const ir::Port& port) {
        return std::ranges::any_of(port.operand.items,
                                   [&](ir::TensorId t) { return used_.contains(t); });
    });
    if (used) cannot(&op, why_not(op));
}

std::string Exporter::why_not(const ir::Operation& op) const {
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) {
            const ir::Tensor& tensor = program_.tensors[id];
            if (type_of(tensor.dtype)) continue;
            return fmt::format(
                "`{}` makes a tensor of {}, and NNEF 1.0 has tensors of f32, i64 and bool only",
                op.op,
                tensor::dtype_name(tensor.dtype));
        }
    }
    return fmt::format("NNEF 1.0 has no operation for `{}` with these inputs and attributes",
                       op.op);
}

// ---- What an operation is called ----------------------------------------------------------------

const Signature* Exporter::find_signature(const ir::Operation& op) const {
    const size_t dot = op.op.rfind('.');
    if (dot == std::string::npos) return nullptr;
    if (op.op.starts_with("nnef1.")) {
        const Signature* const found = operations_.find(op.op.substr(dot + 1));
        return found && found->standard ? found : nullptr;
    }
    if (op.outputs.empty() || op.outputs[0].operand.items.empty()) return nullptr;
    std::string name = op.op;
    std::ranges::replace(name, '.', '_');
    const auto result = type_of(program_.tensors[op.outputs[0].operand.items[0]].dtype);
    if (!result) return nullptr;
    for (const std::string& one : {fmt::format("{}_to_{}", name, spelling(*result)), name}) {
        const Signature* const found = operations_.find(one);
        if (found && !found->standard && takes(*found, op)) return found;
    }
    return nullptr;
}

// A translation has parameters for all that the operation has. A default value is the only one
// that it knows what to do with.
bool Exporter::takes(const Signature& signature, const ir::Operation& op) const {
    const auto& params = signature.fragment->params;
    for (size_t i = 0; i < params.size(); ++i) {
        if (!has_tensor(signature.params[i])) {
            const auto text = attribute(op, signature, i);
            const ExprId only = params[i].default_value;
            if (!text) return false;
            if (only.valid() && *text != literal_text(*signature.nodes, only)) return false;
            continue;
        }
        const ir::Port* const port = find_port(op.inputs, params[i].name.text);
        if (port && !takes_tensors(signature.params[i], port->operand)) return false;
        if (!port && !signature.params[i].array()) return false;
    }
    const bool inputs = std::ranges::all_of(op.inputs, [&](const ir::Port& port) {
        return port.operand.null() || has_param(signature, port.name);
    });
    return inputs && std::ranges::all_of(op.attributes, [&](const ir::Attribute& item) {
               return std::holds_alternative<ir::Null>(item.value) ||
                      has_param(signature, item.name);
           });
}

bool Exporter::takes_tensors(const ValueType& type, const ir::Operand& operand) const {
    if (operand.length.valid()) return false;
    if (!type.array() && operand.items.size() != 1) return false;
    const std::optional<TypeName> wanted = type.array() ? type.items[0].name : type.name;
    return std::ranges::all_of(operand.items, [&](ir::TensorId id) {
        const auto got = type_of(program_.tensors[id].dtype);
        return got && (!wanted || wanted == TypeName::Generic || wanted == got);
    });
}

// ---- Invocations --------------------------------------------------------------------------------

// The result of an update is a copy of the new value.
bool Exporter::write_update(const ir::Operation& op, const Signature& signature) {
    if (signature.name() != "copy" || op.inputs.size() != 1) return false;
    const ir::TensorId value = op.inputs[0].operand.items.at(0);
    for (size_t i = 0; i < program_.updates.size(); ++i) {
        if (program_.updates[i].value != value || !updated_.insert(i).second) continue;
        const std::string variable = name_of(program_.updates[i].variable);
        const std::string text = tensor_text(value);
        line(fmt::format("{} = update({}, {});", results(op, signature), variable, text));
        return true;
    }
    return false;
}

// Fragments cannot hand on results of which nobody knows how many there are.
bool Exporter::write_split(const ir::Operation& op) {
    const bool unstack = op.op == "layout.unstack";
    if (!unstack && op.op != "layout.split") return false;
    const Signature* const split = operations_.find("split");
    const ir::Attribute* const axis = find_attribute(op, "axis");
    const ir::Attribute* const squeeze = find_attribute(op, "squeeze");
    if (!axis || op.inputs.empty() || op.outputs.size() != 1) return false;
    const ir::Operand& input = op.inputs[0].operand;
    if (!takes_tensors(ValueType::tensor(std::nullopt), input)) return false;
    const auto* number = std::get_if<ir::Scalar>(&axis->value);
    const auto* place = number ? std::get_if<int64_t>(number) : nullptr;
    if (!place || op.outputs[0].operand.length.valid()) return false;
    const auto rank = static_cast<int64_t>(program_.tensors[input.items[0]].shape.size());
    const int64_t dim = *place < 0 ? *place + rank : *place;
    const bool squeezed = unstack && squeeze && squeeze->value == ir::Value(ir::Scalar(true));
    std::vector<int64_t> ratios;
    for (const ir::TensorId id : op.outputs[0].operand.items) {
        const ir::SymId extent =
            squeezed ? ir::SymId{} : program_.tensors[id].shape[static_cast<size_t>(dim)];
        ratios.push_back(squeezed ? 1 : program_.symbols.as_int(extent).value_or(0));
        if (ratios.back() <= 0) return false;
    }
    const std::string value = tensor_text(input.items[0]);
    line(fmt::format("{} = {}({}, axis = {}{});",
                     results(op, *split),
                     squeezed ? "unstack" : "split",
                     value,
                     dim,
                     squeezed ? "" : fmt::format(", ratios = [{}]", fmt::join(ratios, ", "))));
    return true;
}

bool Exporter::call(const ir::Operation& op, const Signature& signature) {
    if (op.outputs.size() != signature.results.size()) return false;
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) {
            if (!type_of(program_.tensors[id].dtype)) return false;
        }
    }
    const auto inside = arguments(op, signature);
    if (!inside) return false;
    const std::string type = explicit_type(op, signature);
    line(fmt::format("{} = {}{}({});", results(op, signature), signature.name(), type, *inside));
    graph_.translated = graph_.translated || !signature.standard;
    return true;
}

std::string Exporter::results(const ir::Operation& op, const Signature& signature) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < op.outputs.size(); ++i) {
        std::vector<std::string> items;
        for (const ir::TensorId id : op.outputs[i].operand.items) {
            // What is there already is not assigned a second time.
            const bool again = is_known(id);
            items.push_back(again ? identifiers_.make(name_of(id)) : name_of(id));
            written_.insert(id);
        }
        const std::string list = fmt::format("{}", fmt::join(items, ", "));
        parts.push_back(signature.results[i].array() ? fmt::format("[{}]", list) : list);
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

// `<integer>` where the arguments do not tell.
std::string Exporter::explicit_type(const ir::Operation& op, const Signature& signature) {
    if (!signature.generic()) return "";
    if (std::ranges::any_of(signature.params, has_generic)) return "";
    const auto type = type_of(program_.tensors[op.outputs[0].operand.items.at(0)].dtype);
    return fmt::format("<{}>", spelling(*type));
}

// Tensors by position, attributes by name. Empty when a value cannot be written.
std::optional<std::string> Exporter::arguments(const ir::Operation& op,
                                               const Signature& signature) {
    const auto& params = signature.fragment->params;
    std::vector<std::string> parts;
    for (size_t i = 0; i < params.size(); ++i) {
        const ExprId default_value = params[i].default_value;
        const std::string usual =
            default_value.valid() ? literal_text(*signature.nodes, default_value) : "";
        std::string text;
        if (has_tensor(signature.params[i])) {
            const ir::Port* const port = find_port(op.inputs, params[i].name.text);
            text = operand_text(port ? port->operand : ir::Operand{}, signature.params[i]);
            if (text.empty() && usual.empty()) return std::nullopt;
            if (!text.empty() && text != usual) parts.push_back(std::move(text));
            continue;
        }
        auto value = attribute(op, signature, i);
        if (!value) return std::nullopt;
        if (*value != usual) parts.push_back(fmt::format("{} = {}", params[i].name.text, *value));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<std::string> Exporter::attribute(const ir::Operation& op,
                                               const Signature& signature,
                                               size_t index) const {
    const ir::Attribute* const found =
        find_attribute(op, signature.fragment->params[index].name.text);
    return value_text(
        program_.symbols, found ? found->value : ir::Value(ir::Null{}), signature.params[index]);
}

std::string Exporter::operand_text(const ir::Operand& operand, const ValueType& type) {
    std::vector<std::string> items;
    for (const ir::TensorId id : operand.items) items.push_back(tensor_text(id));
    const std::string list = fmt::format("{}", fmt::join(items, ", "));
    return type.array() ? fmt::format("[{}]", list) : list;
}

}  // namespace lemma::nnef1
