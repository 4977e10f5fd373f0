// SPDX-License-Identifier: Apache-2.0
// The graph and its tensors.
#include "onnx/export.h"

#include <fmt/format.h>

#include <algorithm>

#include "onnx/export/exporter.h"
#include "onnx/validate.h"
#include "onnx/write.h"

namespace lemma::onnx {

namespace {

constexpr int64_t kMaxRepeated = 4096;

}  // namespace

Result<std::optional<Model>> export_model(const ir::Program& program,
                                          const ExportOptions& options,
                                          Diagnostics& diag) {
    const bool fixed = options.opset != 0;
    int64_t opset = fixed ? options.opset : kOldestWritten;
    while (true) {
        Diagnostics trial;
        Exporter exporter(
            program,
            {.opset = opset, .fixed_opset = fixed, .has_data = static_cast<bool>(options.data)},
            trial);
        exporter.run();
        if (!fixed && exporter.needed() > opset) {
            opset = exporter.needed();
            continue;
        }
        const bool good = !trial.has_errors();
        for (const diag::Diagnostic& item : trial.items()) diag.add(item);
        if (!good) return std::nullopt;
        LEMMA_TRY(Model model, exporter.finish(options));
        return std::optional(std::move(model));
    }
}

Exporter::Exporter(const ir::Program& program, const Options& options, Diagnostics& diag)
    : program_(program),
      opset_(options.opset),
      fixed_opset_(options.fixed_opset),
      has_data_(options.has_data),
      diag_(diag),
      needed_(kOldestWritten) {}

void Exporter::run() {
    const ir::Graph& main = program_.graphs[program_.main];
    scopes_.emplace_back();
    graph().name = program_.name.empty() ? "model" : program_.name;
    use_graph(program_.main);
    name_ports();
    if (!program_.updates.empty()) {
        cannot(
            nullptr,
            fmt::format("the variable `{}` keeps its value from run to run, and ONNX has no such "
                        "variables",
                        program_.tensors[program_.updates[0].variable].name));
    }
    operations(main.operations, 0);
    finish_outputs();
}

Result<Model> Exporter::finish(const ExportOptions& options) {
    Graph main = std::move(graph());
    for (const auto& [name, id, shape] : variables_) {
        const ir::Tensor& variable = program_.tensors[id];
        if (!options.data) {
            main.inputs.push_back(value_info(name, variable));
            continue;
        }
        LEMMA_TRY(tensor::Tensor data, options.data(variable));
        if (shape) data = reshaped(std::move(data), *shape);
        main.initializers.push_back(add_tensor({name, std::move(data)}, model_));
    }
    model_.main = model_.graphs.add(std::move(main));
    model_.ir_version = ir_version_of(opset_);
    model_.producer = "lemma";
    model_.opsets.push_back({"", opset_});
    if (ml_opset_ > 0) model_.opsets.push_back({"ai.onnx.ml", ml_opset_});
    if (microsoft_) model_.opsets.push_back({std::string(kMicrosoftDomain), 1});
    return std::move(model_);
}

void Exporter::cannot(const ir::Operation* op, std::string message) {
    auto report = diag_.error(op ? op->span : Span{}, DiagKind::NotSupported, std::move(message));
    if (op && !op->label.empty()) report.note(fmt::format("in the operation `{}`", op->label));
}

void Exporter::require(const ir::Operation& op, int64_t version, std::string_view what) {
    needed_ = std::max(needed_, version);
    if (version <= opset_ || !fixed_opset_) return;
    cannot(&op,
           fmt::format("{} needs operator set {}, and {} is asked for", what, version, opset_));
}

// ---- Ports --------------------------------------------------------------------------------------

void Exporter::name_ports() {
    const ir::Graph& main = program_.graphs[program_.main];
    const auto item_name = [](const ir::Port& port, size_t i) {
        return port.operand.packed ? fmt::format("{}.{}", port.name, i) : port.name;
    };
    for (const ir::Port& port : main.inputs) {
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            const ir::TensorId id = port.operand.items[i];
            const std::string name = unique(item_name(port, i));
            bind(id, name);
            graph().inputs.push_back(value_info(name, program_.tensors[id]));
        }
    }
    for (const ir::Port& port : main.outputs) {
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            const ir::TensorId id = port.operand.items[i];
            const std::string name = unique(item_name(port, i));
            graph().outputs.push_back(value_info(name, program_.tensors[id]));
            if (program_.tensors[id].role == ir::TensorRole::Intermediate)
                wanted_.emplace(id, name);
        }
    }
}

// A node makes each output, under its own name.
void Exporter::finish_outputs() {
    size_t next = 0;
    for (const ir::Port& port : program_.graphs[program_.main].outputs) {
        for (const ir::TensorId id : port.operand.items) {
            const std::string output = graph().outputs[next++].name;
            const std::string name = name_of(id);
            if (name == output) continue;
            Node copy;
            copy.op = "Identity";
            copy.inputs = {name};
            copy.outputs = {output};
            add_node(std::move(copy));
        }
    }
}

// Counts the inputs of a node that represents a whole operation, not those of its parts.
void Exporter::find_used(const std::vector<ir::OpId>& list) {
    for (const ir::OpId id : list) {
        const ir::Operation& op = program_.operations[id];
        if (op.compound() && !is_written_whole(op)) {
            find_used(op.parts);
            continue;
        }
        for (const ir::Port& port : op.inputs) {
            // Stacking a collected pack or looping over it needs no single items.
            const bool whole = op.kind == ir::OperationKind::Control ||
                               (op.op == "layout.stack" && !is_true(op, "squeeze"));
            if (whole && port.operand.packed) {
                stacked_uses_.insert(port.operand.items.begin(), port.operand.items.end());
                continue;
            }
            used_.insert(port.operand.items.begin(), port.operand.items.end());
        }
        if (const auto* const branch = std::get_if<ir::Branch>(&op.control)) {
            for (const ir::Branch::Arm& arm : branch->arms) {
                use_graph(arm.condition);
                use_graph(arm.consequent);
            }
            use_graph(branch->alternative);
        }
        if (const auto* const loop = std::get_if<ir::Loop>(&op.control)) {
            for (const ir::GraphId part : {loop->pre_condition, loop->body, loop->post_condition})
                if (part.valid()) use_graph(part);
        }
    }
}

void Exporter::use_graph(ir::GraphId id) {
    const ir::Graph& graph = program_.graphs[id];
    find_used(graph.operations);
    for (const ir::Port& port : graph.outputs)
        used_.insert(port.operand.items.begin(), port.operand.items.end());
}

// ---- Names --------------------------------------------------------------------------------------

// Names are unique in all graphs of a model, because each is assigned once.
std::string Exporter::unique(const std::string& name) {
    return used_names_.make(name.empty() ? "t" : name);
}

void Exporter::bind(ir::TensorId id, std::string name) {
    learn_extents(name, program_.tensors[id].shape);
    names_[id] = std::move(name);
}

// The name of a tensor that a node of the current graph makes.
std::string Exporter::define(ir::TensorId id) {
    const auto wanted = wanted_.find(id);
    const bool own = scopes_.size() == 1 && wanted != wanted_.end() && !names_.contains(id);
    const std::string name = own ? wanted->second : unique(program_.tensors[id].name);
    bind(id, name);
    scopes_.back().made.insert(name);
    if (!own) graph().values.push_back(value_info(name, program_.tensors[id]));
    return name;
}

std::string Exporter::name_of(ir::TensorId id) {
    const auto found = names_.find(id);
    if (found != names_.end()) return found->second;
    const ir::Tensor& tensor = program_.tensors[id];
    switch (tensor.role) {
        case ir::TensorRole::Constant: {
            const std::string name = constant(id);
            // Tensors of a sub-graph are not visible outside.
            if (scopes_.size() == 1 || !scopes_.back().made.contains(name)) names_[id] = name;
            return name;
        }
        case ir::TensorRole::Variable:
            variables_.push_back({unique(tensor.name), id, {}});
            return names_[id] = variables_.back().name;
        default:
            cannot(nullptr,
                   fmt::format("`{}` is made by a formula over indices, which ONNX cannot say",
                               tensor.name));
            return names_[id] = unique(tensor.name);
    }
}

// ---- Constants ----------------------------------------------------------------------------------

TensorData Exporter::tensor_of(const std::vector<ir::Scalar>& items,
                               DType dtype,
                               tensor::Shape shape) {
    auto made = tensor::Tensor::zeros(dtype, std::move(shape));
    LEMMA_CHECK(made.has_value());  // the items are already in memory, or the shape is composed
    for (int64_t i = 0; i < made->size(); ++i) {
        const ir::Scalar& item = items[items.size() == 1 ? 0 : static_cast<size_t>(i)];
        if (const auto* const real = std::get_if<double>(&item)) {
            made->set_real(i, *real);
        } else if (const auto* const integer = std::get_if<int64_t>(&item)) {
            tensor::is_real(dtype) ? made->set_real(i, static_cast<double>(*integer))
                                   : made->set_integer(i, *integer);
        } else if (const auto* const flag = std::get_if<bool>(&item)) {
            made->set_integer(i, *flag ? 1 : 0);
        } else if (const auto* const text = std::get_if<std::string>(&item)) {
            if (dtype == DType::Str) made->strings()[static_cast<size_t>(i)] = *text;
        }
    }
    return add_tensor({"", std::move(*made)}, model_);
}

// Equal constants share an initialiser.
std::string Exporter::initializer(const std::vector<ir::Scalar>& items,
                                  DType dtype,
                                  tensor::Shape shape) {
    TensorData data = tensor_of(items, dtype, shape);
    const std::string key(data.proto.message.bytes());
    const auto found = constants_.find(key);
    if (found != constants_.end()) return found->second;
    const std::string name = unique("const");
    auto tensor = tensor::decode_elements(data.proto);
    LEMMA_CHECK(tensor.has_value());
    scopes_.front().graph.initializers.push_back(add_tensor({name, std::move(*tensor)}, model_));
    return constants_[key] = name;
}

std::string Exporter::constant(ir::TensorId id) {
    const ir::Tensor& tensor = program_.tensors[id];
    const ir::Operation nobody{};
    tensor::Shape shape;
    std::vector<ir::Scalar> extents;
    bool known = true;
    for (const ir::SymId extent : tensor.shape) {
        const auto number = program_.symbols.as_int(extent);
        known = known && number;
        shape.push_back(number.value_or(1));
        extents.push_back(number ? ir::Scalar(*number) : ir::Scalar(extent));
    }
    const bool plain = std::ranges::none_of(tensor.items, [](const ir::Scalar& item) {
        return std::holds_alternative<ir::SymId>(item);
    });
    // In a file, one number for all elements takes as many bytes as all of them.
    const auto volume = tensor::volume(shape);
    const bool many = !volume || *volume > kMaxRepeated;
    if (tensor.items.size() == 1 && plain && (!known || many) && tensor.dtype != DType::Str) {
        Attribute value;
        value.name = "value";
        value.type = AttributeType::Tensor;
        value.tensors.push_back(tensor_of(tensor.items, tensor.dtype, {1}));
        return helper_like(
            "ConstantOfShape", {list(nobody, extents, DType::I64)}, tensor, {std::move(value)});
    }
    if (!known || (tensor.items.size() == 1 && many)) {
        cannot(nullptr,
               fmt::format("the constant `{}` has a shape that ONNX cannot say", tensor.name));
        return unique(tensor.name);
    }
    if (plain) return initializer(tensor.items, tensor.dtype, std::move(shape));
    const std::string items = list(nobody, tensor.items, tensor.dtype);
    if (shape.size() == 1) return items;
    const std::string to = list(nobody, extents, DType::I64);
    return helper("Reshape", {items, to}, tensor.dtype, shape);
}

// ---- Types --------------------------------------------------------------------------------------

std::string Exporter::dimension_text(ir::SymId extent) const {
    // Readers of the text cannot distinguish symbols of one name.
    for (const ir::SymId symbol : program_.symbols.symbols_of(extent)) {
        const auto same = symbols_.find(program_.symbols.node(symbol).name);
        if (same == symbols_.end() || same->second.front() != symbol) return "";
    }
    return program_.symbols.text(extent);
}

ValueInfo Exporter::value_info(const std::string& name, const ir::Tensor& tensor) const {
    ValueInfo info{
        .name = name, .kind = TypeKind::Tensor, .elem_type = 0, .shape = {}, .place = {}};
    info.elem_type = tensor::onnx_type_of(tensor.dtype);
    info.shape.emplace();
    for (const ir::SymId extent : tensor.shape) {
        const auto number = program_.symbols.as_int(extent);
        info.shape->push_back({number, number ? "" : dimension_text(extent)});
    }
    return info;
}

ValueInfo Exporter::value_info(const std::string& name,
                               DType dtype,
                               const tensor::Shape& shape) const {
    ValueInfo info{
        .name = name, .kind = TypeKind::Tensor, .elem_type = 0, .shape = {}, .place = {}};
    info.elem_type = tensor::onnx_type_of(dtype);
    info.shape.emplace();
    for (const int64_t extent : shape) info.shape->push_back({extent, ""});
    return info;
}

// Records the sources of runtime extents.
void Exporter::learn_extents(const std::string& name, const std::vector<ir::SymId>& shape) {
    for (size_t i = 0; i < shape.size(); ++i) {
        if (program_.symbols.is_constant(shape[i])) continue;
        const ir::SymNode node = program_.symbols.node(shape[i]);
        if (node.kind == ir::SymKind::Symbol) {
            auto& same = symbols_[node.name];
            if (std::ranges::find(same, shape[i]) == same.end()) same.push_back(shape[i]);
        }
        scopes_.back().axes.try_emplace(shape[i], name, i);
    }
}

}  // namespace lemma::onnx
