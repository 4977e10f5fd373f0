// SPDX-License-Identifier: Apache-2.0
#include "onnx/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "onnx/import/importer.h"

namespace lemma::onnx {

namespace {

std::string_view kind_text(TypeKind kind) {
    switch (kind) {
        case TypeKind::SparseTensor:
            return "a sparse tensor";
        case TypeKind::Sequence:
            return "a sequence";
        case TypeKind::Map:
            return "a map";
        case TypeKind::Optional:
            return "an optional value";
        default:
            return "without a type";
    }
}

}  // namespace

Importer::Importer(const Model& model,
                   diag::FileId file,
                   ir::CallBuilder& builder,
                   const ImportOptions& options,
                   Diagnostics& diag)
    : model_(model), file_(file), builder_(builder), options_(options), diag_(diag) {
    for (const Function& function : model.functions) {
        functions_.emplace(function.domain + ":" + function.name + ":" + function.overload,
                           &function);
    }
}

ir::SymId Importer::extent_of(const Dimension& dimension, const std::string& name) {
    // Some exporters write -1 for an unknown extent.
    if (dimension.value && *dimension.value >= 0) return symbols().integer(*dimension.value);
    const auto fresh = [&](const std::string& text) {
        return symbols().symbol(text, ir::ScalarType::Int, {0, INT64_MAX});
    };
    if (dimension.param.empty()) return fresh(name);
    const auto found = dimensions_.find(dimension.param);
    if (found != dimensions_.end()) return found->second;
    return dimensions_[dimension.param] = fresh(dimension.param);
}

// Older files list initialisers among the inputs, too. Those do not count as inputs.
void Importer::import_inputs(const Graph& graph, Scope& scope) {
    for (const ValueInfo& input : graph.inputs) {
        if (scope.names.contains(input.name)) continue;
        const auto wrong = [&](DiagKind kind, std::string message) {
            diag_.error(span(input.place), kind, std::move(message));
            failed_ = true;
            scope.names[input.name] = broken_value(input.name);
        };
        if (input.kind != TypeKind::Tensor) {
            wrong(DiagKind::NotSupported,
                  fmt::format("the input `{}` is {}, which is not supported",
                              input.name,
                              kind_text(input.kind)));
            continue;
        }
        const auto dtype = tensor::dtype_of_onnx(input.elem_type);
        if (!dtype) {
            wrong(DiagKind::NotSupported,
                  fmt::format("the input `{}` has elements of type {}, which is not supported",
                              input.name,
                              tensor::onnx_type_name(input.elem_type)));
            continue;
        }
        const auto given = options_.inputs.find(input.name);
        const bool fixed =
            given != options_.inputs.end() && (options_.fixed_shapes || !input.shape);
        if (!input.shape && !fixed) {
            undecided_.insert(input.name);
            failed_ = true;
            scope.names[input.name] = broken_value(input.name);
            continue;
        }
        ir::Tensor tensor;
        tensor.name = input.name;
        tensor.dtype = *dtype;
        tensor.role = ir::TensorRole::Input;
        const size_t rank = fixed ? given->second.shape().size() : input.shape->size();
        for (size_t i = 0; i < rank; ++i) {
            tensor.shape.push_back(
                fixed ? symbols().integer(given->second.shape()[i])
                      : extent_of((*input.shape)[i], fmt::format("{}_{}", input.name, i)));
        }
        const ValueId id = tensor_value(builder_.add_tensor(std::move(tensor)), input.name);
        values_[id].graph_input = true;
        scope.names[input.name] = id;
    }
}

void Importer::import_initializers(const Graph& graph, Scope& scope) {
    for (const TensorData& data : graph.initializers) {
        const std::string& name = data.proto.name;
        if (data.proto.data_type == 0) {  // reported when it was read
            scope.names[name] = broken_value(name);
            failed_ = true;
            continue;
        }
        if (!memory_type(data.proto.data_type)) {
            diag_.error(span(data.place),
                        DiagKind::NotSupported,
                        fmt::format("its elements have the type {}, which is not supported",
                                    tensor::onnx_type_name(data.proto.data_type)));
            scope.names[name] = broken_value(name);
            failed_ = true;
            continue;
        }
        Value value{.name = name};
        value.data = &data;
        scope.names[name] = add_value(std::move(value));
    }
}

std::optional<ir::Graph> Importer::main_graph(const Graph& graph, const Scope& scope) {
    ir::Graph result;
    result.name = graph.name.empty() ? "main" : graph.name;
    for (const ValueInfo& input : graph.inputs) {
        const ValueId id = find(scope, input.name);
        if (!id.valid() || values_[id].broken || !values_[id].graph_input) continue;
        result.inputs.push_back({input.name, ir::Operand::single(tensor(id))});
    }
    for (const ValueInfo& output : graph.outputs) {
        const ValueId id = find(scope, output.name);
        if (!id.valid() || values_[id].broken) return std::nullopt;
        if (values_[id].items) {
            diag_.error(
                span(output.place),
                DiagKind::NotSupported,
                fmt::format("the output `{}` is a sequence, which is not supported", output.name));
            return std::nullopt;
        }
        result.outputs.push_back({output.name, ir::Operand::single(tensor(id))});
    }
    return result;
}

// A wrong output type is an error, because readers rely on it. Wrong shapes are common in models
// that were edited after export, and no reader relies on them: a warning.
void Importer::check_declared(const ValueInfo& declared, const Scope& scope, Declared what) {
    const ValueId id = find(scope, declared.name);
    if (declared.kind != TypeKind::Tensor || !id.valid()) return;
    const Value& value = values_[id];
    if (value.broken || value.items) return;
    const auto type = memory_type(declared.elem_type);
    if (type && *type != dtype(id)) {
        std::string message = fmt::format("`{}` is declared as {}, but its elements are {}",
                                          declared.name,
                                          tensor::dtype_name(*type),
                                          tensor::dtype_name(dtype(id)));
        if (what == Declared::Output) {
            diag_.error(span(declared.place), DiagKind::TypeMismatch, std::move(message));
            failed_ = true;
        } else {
            diag_.warning(span(declared.place), DiagKind::TypeMismatch, std::move(message));
        }
    }
    if (!declared.shape) return;
    const std::vector<ir::SymId> extents = shape(id);
    if (extents.size() != declared.shape->size()) {
        diag_.warning(span(declared.place),
                      DiagKind::RankMismatch,
                      fmt::format("`{}` is declared with rank {}, but has rank {}",
                                  declared.name,
                                  declared.shape->size(),
                                  extents.size()));
        return;
    }
    for (size_t i = 0; i < extents.size(); ++i) {
        const auto said = (*declared.shape)[i].value;
        const auto is = symbols().as_int(extents[i]);
        if (!said || !is || *said == *is || *said < 0) continue;
        diag_.warning(span(declared.place),
                      DiagKind::ExtentMismatch,
                      fmt::format("axis {} of `{}` is declared with extent {}, but has {}",
                                  i,
                                  declared.name,
                                  *said,
                                  *is));
    }
}

Imported Importer::run() {
    const Graph& graph = model_.graphs[model_.main];
    Scope scope;
    scope.opsets = &model_.opsets;
    import_initializers(graph, scope);
    import_inputs(graph, scope);
    import_nodes(graph.nodes, scope);
    for (const ValueInfo& value : graph.values) check_declared(value, scope, Declared::Value);
    for (const ValueInfo& output : graph.outputs) check_declared(output, scope, Declared::Output);
    Imported result;
    auto main = main_graph(graph, scope);
    if (!failed_ && main) result.program = builder_.finish(std::move(*main), {});
    result.bytes = model_.bytes;
    result.data = std::move(data_);
    result.reads_files = reads_files_;
    result.deciding.assign(deciding_.begin(), deciding_.end());
    if (!result.program) result.undecided.assign(undecided_.begin(), undecided_.end());
    for (const auto& [name, id] : scope.names) {
        if (!result.program || !id.valid() || !values_[id].tensor.valid()) continue;
        const std::string& called = result.program->tensors[values_[id].tensor].name;
        if (called != name) result.aliases.emplace(name, called);
    }
    return result;
}

Imported import_model(const Model& model,
                      diag::FileId file,
                      ir::CallBuilder& builder,
                      const ImportOptions& options,
                      Diagnostics& diag) {
    return Importer(model, file, builder, options, diag).run();
}

}  // namespace lemma::onnx
