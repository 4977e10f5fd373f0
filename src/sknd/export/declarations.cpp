// SPDX-License-Identifier: Apache-2.0
// The blocks of the graph that declare tensors.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "sknd/export/writer.h"

namespace lemma::sknd {

std::string_view type_text(ir::DType dtype) {
    if (tensor::is_real(dtype)) return "real";
    if (tensor::is_integer(dtype)) return "int";
    return dtype == ir::DType::Bool ? "bool" : "str";
}

// Each extent of an input that is a single symbol gets a name.
void Writer::name_symbols() {
    for (const ir::Port& port : program_.graphs[program_.main].inputs) {
        for (const ir::TensorId id : port.operand.items) {
            for (const ir::SymId extent : program_.tensors[id].shape) {
                const ir::SymNode node = program_.symbols.node(extent);
                if (node.kind != ir::SymKind::Symbol || symbols_.contains(extent)) continue;
                symbols_[extent] = identifiers_.make(node.name);
            }
        }
    }
}

// Ports keep their names if these are identifiers; a result that is a separate tensor takes the
// name of the port.
void Writer::name_inputs_and_outputs() {
    const ir::Graph& main = program_.graphs[program_.main];
    for (const ir::Port& port : main.inputs) {
        const std::string name = identifiers_.make(port.name);
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            names_[port.operand.items[i]] =
                port.operand.packed ? fmt::format("{}[{}]", name, i) : name;
        }
    }
    for (const ir::Port& port : main.outputs) {
        const std::string name = identifiers_.make(port.name);
        output_names_.push_back(name);
        if (port.operand.packed) continue;
        const ir::TensorId id = port.operand.items[0];
        if (program_.tensors[id].role == ir::TensorRole::Intermediate) names_.emplace(id, name);
    }
}

std::string Writer::inputs() {
    std::string text;
    for (const ir::Port& port : program_.graphs[program_.main].inputs) {
        if (port.operand.items.empty()) continue;
        const std::string name = names_[port.operand.items[0]];
        text += port_declaration(port, name.substr(0, name.find('[')), true);
    }
    return text;
}

std::string Writer::outputs() {
    std::string text;
    const std::vector<ir::Port>& ports = program_.graphs[program_.main].outputs;
    for (size_t i = 0; i < ports.size(); ++i) {
        text += port_declaration(ports[i], output_names_[i], false);
    }
    return text;
}

std::string Writer::port_declaration(const ir::Port& port,
                                     const std::string& name,
                                     bool with_bounds) {
    if (port.operand.items.empty()) return "";
    const ir::TensorId first = port.operand.items[0];
    const ir::Tensor& tensor = program_.tensors[first];
    std::string text = fmt::format("{}: {}", name, type_text(tensor.dtype));
    bool known = true;
    for (const ir::SymId extent : tensor.shape) {
        for (const ir::SymId symbol : program_.symbols.symbols_of(extent)) {
            known = known && symbols_.contains(symbol);
        }
    }
    if (known) text += shape_text(tensor.shape, with_bounds);
    if (port.operand.packed) text += fmt::format("..({})", port.operand.items.size());
    return text + ";\n";
}

std::string Writer::shape_text(const std::vector<ir::SymId>& shape, bool with_bounds) {
    std::vector<std::string> extents;
    for (const ir::SymId extent : shape) {
        std::string text = symbol_text(extent);
        if (with_bounds && symbols_.contains(extent)) {
            constexpr int64_t kAny = std::numeric_limits<int32_t>::max();
            text += fmt::format("|{}", std::min(program_.symbols.range(extent).high, kAny));
        }
        extents.push_back(std::move(text));
    }
    return fmt::format("[{}]", fmt::join(extents, ", "));
}

std::string Writer::constants() {
    std::string text;
    for (const ir::TensorId id : constants_) {
        const ir::Tensor& tensor = program_.tensors[id];
        std::vector<std::string> items;
        for (const ir::Scalar& item : tensor.items) items.push_back(scalar_text(item));
        const bool one = items.size() == 1;
        text += fmt::format("{}: {}{} = {}{}{};\n",
                            names_[id],
                            type_text(tensor.dtype),
                            shape_text(tensor.shape, false),
                            one ? "" : "[",
                            fmt::join(items, ", "),
                            one ? "" : "]");
    }
    return text;
}

std::string Writer::variables() {
    std::string text;
    for (const ir::TensorId id : variables_) {
        const ir::Tensor& tensor = program_.tensors[id];
        text += fmt::format(
            "{}: {}{};\n", names_[id], type_text(tensor.dtype), shape_text(tensor.shape, false));
    }
    return text;
}

// All updates read the values before the step. An update that reads another variable uses a name
// for its old value, so that the order of the lines does not matter.
std::string Writer::updates() {
    std::set<ir::TensorId> changed;
    for (const ir::Update& update : program_.updates) changed.insert(update.variable);
    std::map<ir::TensorId, std::string> old_values;
    std::string lines;
    for (const ir::Update& update : program_.updates) {
        const std::string variable = name_of(update.variable);
        std::string value = tensor_text(update.value);
        if (changed.contains(update.value) && update.value != update.variable) {
            std::string& old = old_values[update.value];
            if (old.empty()) old = identifiers_.make(value + "_old");
            value = old;
        }
        lines += fmt::format("{} = {};\n", variable, value);
    }
    std::string text;
    for (const auto& [id, old] : old_values) text += fmt::format("{} = {};\n", old, names_[id]);
    return text + lines;
}

std::string Writer::quantizers() {
    std::string text;
    for (uint32_t i = 0; i < program_.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        const auto& quantizer = program_.tensors[id].quantizer;
        if (!quantizer || !names_.contains(id)) continue;
        std::string op = quantizer->op;
        std::vector<std::string> attributes;
        const bool of_nnef1 = op.starts_with("nnef1.") && op.find('.') == op.rfind('.');
        if (of_nnef1 && !nnef1_quantizer(id, op, attributes)) continue;
        for (const ir::Attribute& attribute : quantizer->attributes) {
            if (of_nnef1 || std::holds_alternative<ir::Null>(attribute.value)) continue;
            attributes.push_back(fmt::format("{}={}", attribute.name, value_text(attribute.value)));
        }
        const Callee callee = find_callee(op);
        if (callee.definition && !callee.module->standard) {
            op = own_name(callee);
        } else if (const size_t dot = op.rfind('.'); dot != std::string::npos) {
            imports_.insert(op.substr(0, dot));
        }
        text += fmt::format("{}: {}{{{}}};\n", names_[id], op, fmt::join(attributes, ", "));
    }
    return text;
}

}  // namespace lemma::sknd
