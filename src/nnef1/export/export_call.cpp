// SPDX-License-Identifier: Apache-2.0
// Operations as invocations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/program/display_name.h"
#include "nnef1/export/exporter.h"

namespace lemma::nnef1 {

namespace {

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

// The operation in the specification; null if there is none.
const Signature* find_signature(const Operations& operations, const ir::Operation& op) {
    if (!op.op.starts_with("nnef1.")) return nullptr;
    const Signature* const found = operations.find(op.op.substr(op.op.rfind('.') + 1));
    return found && found->standard ? found : nullptr;
}

std::optional<std::string> attribute_text(const ir::Program& program,
                                          const ir::Operation& op,
                                          const Signature& signature,
                                          size_t index) {
    const ir::Attribute* const found =
        find_attribute(op, signature.fragment->params[index].name.text);
    return value_text(
        program.symbols, found ? found->value : ir::Value(ir::Null{}), signature.params[index]);
}

}  // namespace

bool is_written_whole(const ir::Program& program,
                      const Operations& operations,
                      const ir::Operation& op) {
    const Signature* const signature = find_signature(operations, op);
    if (!signature || op.outputs.size() != signature->results.size()) return false;
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) {
            if (!type_of(program.tensors[id].dtype)) return false;
        }
    }
    const auto& params = signature->fragment->params;
    for (size_t i = 0; i < params.size(); ++i) {
        if (!has_tensor(signature->params[i])) {
            if (!attribute_text(program, op, *signature, i)) return false;
            continue;
        }
        const bool may_miss = params[i].default_value.valid() || signature->params[i].array();
        const ir::Port* const port = find_port(op.inputs, params[i].name.text);
        if (!may_miss && (!port || port->operand.items.empty())) return false;
    }
    return true;
}

std::string why_not_written(const ir::Program& program, const ir::Operation& op) {
    if (op.kind == ir::OperationKind::Control) {
        return fmt::format("NNEF 1.0 has no control flow, as this `{}`", op.op);
    }
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) {
            const ir::Tensor& tensor = program.tensors[id];
            if (type_of(tensor.dtype)) continue;
            return fmt::format(
                "`{}` makes a tensor of {}, and NNEF 1.0 has tensors of f32, i64 and bool only",
                ir::display_name(op.op),
                tensor::dtype_name(tensor.dtype));
        }
    }
    return fmt::format("NNEF 1.0 has no operation for `{}` with these inputs and attributes",
                       ir::display_name(op.op));
}

void Exporter::operation(const ir::Operation& op) {
    if (!is_written_whole(program_, operations_, op)) {
        return cannot(&op, why_not_written(program_, op));
    }
    current_ = &op;
    const Signature& signature = *find_signature(operations_, op);
    if (write_update(op, signature)) return;
    const std::string inside = arguments(op, signature);
    const std::string type = explicit_type(op, signature);
    body_.push_back(
        fmt::format("{} = {}{}({});", results(op, signature), signature.name(), type, inside));
}

// Writes a copy of a variable's new value as the update itself: its result is that copy.
bool Exporter::write_update(const ir::Operation& op, const Signature& signature) {
    if (signature.name() != "copy" || op.inputs.size() != 1) return false;
    const ir::TensorId value = op.inputs[0].operand.items.at(0);
    for (size_t i = 0; i < program_.updates.size(); ++i) {
        if (program_.updates[i].value != value || !updated_.insert(i).second) continue;
        const std::string variable = name_of(program_.updates[i].variable);
        const std::string text = tensor_text(value);
        body_.push_back(
            fmt::format("{} = update({}, {});", results(op, signature), variable, text));
        return true;
    }
    return false;
}

std::string Exporter::results(const ir::Operation& op, const Signature& signature) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < op.outputs.size(); ++i) {
        std::vector<std::string> items;
        for (const ir::TensorId id : op.outputs[i].operand.items) {
            // Existing tensors are not assigned again.
            const bool again = is_known(id);
            check_rank(id);
            items.push_back(again ? identifiers_.make(name_of(id)) : name_of(id));
            written_.insert(id);
        }
        const std::string list = fmt::format("{}", fmt::join(items, ", "));
        parts.push_back(signature.results[i].array() ? fmt::format("[{}]", list) : list);
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

// `<integer>` if it does not follow from the arguments.
std::string Exporter::explicit_type(const ir::Operation& op, const Signature& signature) {
    if (!signature.generic()) return "";
    if (std::ranges::any_of(signature.params, has_generic)) return "";
    const auto type = type_of(program_.tensors[op.outputs[0].operand.items.at(0)].dtype);
    return fmt::format("<{}>", spelling(*type));
}

// Tensors by position, attributes by name.
std::string Exporter::arguments(const ir::Operation& op, const Signature& signature) {
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
            if (!text.empty() && text != usual) parts.push_back(std::move(text));
            continue;
        }
        const auto value = attribute_text(program_, op, signature, i);
        if (*value != usual) parts.push_back(fmt::format("{} = {}", params[i].name.text, *value));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string Exporter::operand_text(const ir::Operand& operand, const ValueType& type) {
    std::vector<std::string> items;
    for (const ir::TensorId id : operand.items) items.push_back(tensor_text(id));
    const std::string list = fmt::format("{}", fmt::join(items, ", "));
    return type.array() ? fmt::format("[{}]", list) : list;
}

}  // namespace lemma::nnef1
