// SPDX-License-Identifier: Apache-2.0
// The graph and its tensors as text.
#include "nnef1/export/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "nnef1/export/exporter.h"
#include "nnef1/import/import.h"
#include "nnef1/syntax/parser.h"
#include "nnef1/syntax/printer.h"

namespace lemma::nnef1 {

namespace {

// Reports extents that are not fixed.
std::vector<int64_t> fixed_shape(const ir::Program& program,
                                 const ir::Tensor& tensor,
                                 Diagnostics& diag) {
    std::vector<int64_t> extents;
    for (const ir::SymId extent : tensor.shape) {
        const auto number = program.symbols.as_int(extent);
        if (!number || *number <= 0) {
            diag.error(Span{},
                       DiagKind::NotSupported,
                       fmt::format("`{}` has the extent {}, and extents of NNEF 1.0 are fixed "
                                   "positive numbers",
                                   tensor.name,
                                   program.symbols.text(extent)));
        }
        extents.push_back(number.value_or(1));
    }
    return extents;
}

// The type of the items. Reports types that NNEF 1.0 lacks.
std::optional<TypeName> check_type(const ir::Tensor& tensor, Diagnostics& diag) {
    const auto type = type_of(tensor.dtype);
    if (!type) {
        diag.error(Span{},
                   DiagKind::NotSupported,
                   fmt::format("`{}` is of {}, and NNEF 1.0 has tensors of f32, i64 and bool only",
                               tensor.name,
                               tensor::dtype_name(tensor.dtype)));
    }
    return type;
}

}  // namespace

bool check_inputs(const ir::Program& program, Diagnostics& diag) {
    const size_t errors = diag.error_count();
    const auto each = [&](const auto& check) {
        for (const ir::Port& port : program.graphs[program.main].inputs) {
            for (const ir::TensorId id : port.operand.items) check(program.tensors[id]);
        }
    };
    each([&](const ir::Tensor& tensor) { fixed_shape(program, tensor, diag); });
    const bool fixed = diag.error_count() == errors;
    each([&](const ir::Tensor& tensor) { check_type(tensor, diag); });
    return fixed;
}

std::optional<ExportedGraph> export_graph(const ir::Program& program,
                                          const Operations& operations,
                                          const ExportOptions& options,
                                          Diagnostics& diag) {
    return Exporter(program, operations, options, diag).run();
}

std::optional<std::string> document_text(const std::string& graph,
                                         const std::string& fragments,
                                         Diagnostics& diag) {
    diag::SourceMap sources;
    Diagnostics trouble;
    std::string text = "version 1.0;\n\n";
    if (!fragments.empty()) {
        text += fmt::format("extension {};\nextension {};\n\n{}\n",
                            kFragmentDefinitions,
                            kOperatorExpressions,
                            fragments);
    }
    const diag::FileId file = sources.add("graph.nnef", text + graph);
    ParseOptions options;
    options.limits.max_tokens = SIZE_MAX;
    const Document document = parse_document(sources, file, options, trouble);
    if (!trouble.has_errors()) return print(document, sources);
    diag.error(Span{},
               DiagKind::NotSupported,
               fmt::format("the model cannot be written as NNEF 1.0: {}",
                           trouble.items().front().message));
    return std::nullopt;
}

std::optional<ExportedGraph> Exporter::run() {
    const size_t errors = diag_.error_count();
    name_ports();
    for (const ir::OpId id : program_.graphs[program_.main].operations) {
        operation(program_.operations[id]);
    }
    current_ = nullptr;
    finish_updates();
    finish_outputs();
    graph_.text = assemble();
    for (const auto& [id, name] : names_) {
        if (is_known(id)) graph_.names[name] = id;
    }
    if (diag_.error_count() > errors) return std::nullopt;
    return std::move(graph_);
}

void Exporter::cannot(const ir::Operation* op, std::string message) {
    auto report = diag_.error(op ? op->span : Span{}, DiagKind::NotSupported, std::move(message));
    if (op && !op->label.empty()) report.note(fmt::format("in the operation `{}`", op->label));
}

// ---- The graph ----------------------------------------------------------------------------------

// Inputs and outputs keep their names if these are identifiers.
void Exporter::name_ports() {
    const ir::Graph& main = program_.graphs[program_.main];
    const auto item_name = [](const ir::Port& port, size_t i) {
        return port.operand.packed ? fmt::format("{}_{}", port.name, i) : port.name;
    };
    for (const ir::Port& port : main.inputs) {
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            const ir::TensorId id = port.operand.items[i];
            inputs_.push_back(identifiers_.make(item_name(port, i)));
            names_[id] = inputs_.back();
            declarations_.push_back(fmt::format(
                "{} = external{}(shape = {});", inputs_.back(), generic_text(id), shape_text(id)));
        }
    }
    if (inputs_.empty()) cannot(nullptr, "graphs of NNEF 1.0 have an input, and this one has none");
    for (const ir::Port& port : main.outputs) {
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            const ir::TensorId id = port.operand.items[i];
            outputs_.push_back(identifiers_.make(item_name(port, i)));
            const ir::TensorRole role = program_.tensors[id].role;
            const bool own =
                role == ir::TensorRole::Intermediate || role == ir::TensorRole::Constant;
            if (own) names_.emplace(id, outputs_.back());
        }
    }
    if (outputs_.empty()) cannot(nullptr, "graphs of NNEF 1.0 have an output, this one has none");
}

// Each output has its own identifier.
void Exporter::finish_outputs() {
    size_t next = 0;
    for (const ir::Port& port : program_.graphs[program_.main].outputs) {
        for (const ir::TensorId id : port.operand.items) {
            const std::string& output = outputs_[next++];
            const std::string& name = name_of(id);
            if (program_.tensors[id].role == ir::TensorRole::Constant) declare(id);
            if (name != output) body_.push_back(fmt::format("{} = copy({});", output, name));
        }
    }
}

// Writes the remaining updates. write_update has written those whose new value is copied.
void Exporter::finish_updates() {
    for (size_t i = 0; i < program_.updates.size(); ++i) {
        if (updated_.contains(i)) continue;
        const ir::Update& update = program_.updates[i];
        const std::string variable = name_of(update.variable);
        body_.push_back(fmt::format("{} = update({}, {});",
                                    identifiers_.make(variable + "_new"),
                                    variable,
                                    tensor_text(update.value)));
    }
}

std::string Exporter::assemble() {
    const std::string name = Identifiers().make(program_.name.empty() ? "model" : program_.name);
    std::string text = fmt::format("graph {}( {} ) -> ( {} )\n{{\n",
                                   name,
                                   fmt::join(inputs_, ", "),
                                   fmt::join(outputs_, ", "));
    for (const std::string& declaration : declarations_) text += declaration + "\n";
    for (const std::string& assignment : body_) text += assignment + "\n";
    return text + "}\n";
}

// ---- Tensors ------------------------------------------------------------------------------------

bool Exporter::is_known(ir::TensorId id) const {
    return program_.tensors[id].role != ir::TensorRole::Intermediate || written_.contains(id);
}

const std::string& Exporter::name_of(ir::TensorId id) {
    auto found = names_.find(id);
    const ir::Tensor& tensor = program_.tensors[id];
    if (found == names_.end()) {
        found = names_.emplace(id, identifiers_.make(tensor.name)).first;
    }
    const bool stored =
        tensor.role == ir::TensorRole::Constant || tensor.role == ir::TensorRole::Variable;
    if (stored) declare(id);
    return found->second;
}

void Exporter::declare(ir::TensorId id) {
    if (!written_.insert(id).second) return;
    const ir::Tensor& tensor = program_.tensors[id];
    if (tensor.role == ir::TensorRole::Variable) return declare_stored(id, options_.label(tensor));
    std::vector<std::string> items;
    const auto type = type_of(tensor.dtype);
    for (const ir::Scalar& item : tensor.items) {
        auto text = type ? scalar_text(program_.symbols, item, *type) : std::nullopt;
        // NNEF 1.0 has no literals for infinity and NaN, but its files can store them.
        if (!text) return declare_stored(id, "constants/" + names_[id]);
        items.push_back(std::move(*text));
    }
    declarations_.push_back(fmt::format("{} = constant{}(shape = {}, value = [{}]);",
                                        names_[id],
                                        generic_text(id),
                                        shape_text(id),
                                        fmt::join(items, ", ")));
}

void Exporter::declare_stored(ir::TensorId id, const std::string& label) {
    graph_.variables.push_back({labels_.make(label), id});
    declarations_.push_back(fmt::format("{} = variable{}(shape = {}, label = {});",
                                        names_[id],
                                        generic_text(id),
                                        shape_text(id),
                                        string_text(graph_.variables.back().label)));
}

// A tensor may be written as a number.
std::string Exporter::tensor_text(ir::TensorId id) {
    const ir::Tensor& tensor = program_.tensors[id];
    const auto type = type_of(tensor.dtype);
    const bool number =
        tensor.role == ir::TensorRole::Constant && tensor.shape.empty() && tensor.items.size() == 1;
    if (number && type && !names_.contains(id)) {
        if (auto text = scalar_text(program_.symbols, tensor.items[0], *type)) return *text;
    }
    if (!is_known(id)) {
        cannot(current_, fmt::format("NNEF 1.0 has no operation that makes `{}`", tensor.name));
    }
    return name_of(id);
}

// Tensors have scalar items by default.
std::string Exporter::generic_text(ir::TensorId id) {
    const auto type = check_type(program_.tensors[id], diag_);
    return !type || type == TypeName::Scalar ? "" : fmt::format("<{}>", spelling(*type));
}

void Exporter::check_rank(ir::TensorId id) {
    const ir::Tensor& tensor = program_.tensors[id];
    if (tensor.shape.size() <= kMaxRank) return;
    cannot(current_,
           fmt::format("`{}` is of rank {}, and NNEF 1.0 files hold at most {}",
                       tensor.name,
                       tensor.shape.size(),
                       kMaxRank));
}

std::string Exporter::shape_text(ir::TensorId id) {
    check_rank(id);
    return fmt::format("[{}]", fmt::join(fixed_shape(program_, program_.tensors[id], diag_), ", "));
}

}  // namespace lemma::nnef1
