// SPDX-License-Identifier: Apache-2.0
#include "model/data_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/match.h"
#include "tensor/files/nnef_file.h"

namespace lemma::model {

namespace {

std::string with_slashes(std::string text) {
    std::ranges::replace(text, '.', '/');
    return text;
}

// ---- Places of variables in the text ------------------------------------------------------------

// Both are in the user's modules. The call is invalid for variables of the graph itself, the
// declaration for those of library operators.
struct VariableSite {
    Span declaration;
    Span call;
    Span best() const { return declaration.valid() ? declaration : call; }
};

class VariableSites {
public:
    VariableSites(const sknd::Package& package, const ir::Program& program);
    VariableSite of(const std::string& variable) const;

private:
    void add(const sknd::LoadedModule& module,
             const sknd::Definition& definition,
             const std::string& scope,
             Span call);
    void find_callers();
    Span user_call(ir::OpId op) const;
    bool is_standard(Span span) const;

    const sknd::Package& package_;
    const ir::Program& program_;
    std::vector<ir::OpId> callers_;  // by operation: the compound or control flow around it
    std::map<std::string, VariableSite, std::less<>> places_;
    Span graph_;
};

VariableSites::VariableSites(const sknd::Package& package, const ir::Program& program)
    : package_(package), program_(program) {
    const auto add_named = [&](const sknd::LoadedModule& module,
                               std::string_view name,
                               const std::string& scope,
                               Span call) {
        const auto found = module.definition_index.find(name);
        if (found == module.definition_index.end()) return;
        add(module, module.module.definitions[found->second], scope, call);
    };
    const sknd::LoadedModule& main = package[package.main()];
    const auto graph = main.definition_index.find(program.name);
    if (graph != main.definition_index.end()) {
        graph_ = main.module.definitions[graph->second].name.span;
    }
    add_named(main, program.name, "", {});
    find_callers();
    for (uint32_t i = 0; i < program.operations.size(); ++i) {
        const auto id = make_id<ir::OpId>(i);
        const ir::Operation& op = program.operations[id];
        const size_t point = op.op.rfind('.');
        if (point == std::string::npos) {
            add_named(main, op.op, op.label, user_call(id));
            continue;
        }
        for (const sknd::LoadedModule& module : package.modules) {
            if (module.name != std::string_view(op.op).substr(0, point)) continue;
            add_named(module, std::string_view(op.op).substr(point + 1), op.label, user_call(id));
        }
    }
}

void VariableSites::add(const sknd::LoadedModule& module,
                        const sknd::Definition& definition,
                        const std::string& scope,
                        Span call) {
    for (const sknd::ParamDecl& decl : definition.variables) {
        const std::string name =
            fmt::format("{}{}{}", scope, scope.empty() ? "" : ".", decl.name.text);
        places_[name] = {.declaration = module.standard ? Span{} : decl.name.span, .call = call};
    }
}

void VariableSites::find_callers() {
    callers_.resize(program_.operations.size());
    for (uint32_t i = 0; i < program_.operations.size(); ++i) {
        const auto caller = make_id<ir::OpId>(i);
        const auto calls = [&](const std::vector<ir::OpId>& parts) {
            for (const ir::OpId part : parts) callers_[part.value] = caller;
        };
        const auto runs = [&](ir::GraphId graph) {
            if (graph.valid()) calls(program_.graphs[graph].operations);
        };
        const ir::Operation& op = program_.operations[caller];
        calls(op.parts);
        match(
            op.control,
            [](const std::monostate&) {},
            [&](const ir::Branch& branch) {
                for (const ir::Branch::Arm& arm : branch.arms) {
                    runs(arm.condition);
                    runs(arm.consequent);
                }
                runs(branch.alternative);
            },
            [&](const ir::Loop& loop) {
                for (const ir::GraphId graph :
                     {loop.pre_condition, loop.body, loop.post_condition}) {
                    runs(graph);
                }
            });
    }
}

bool VariableSites::is_standard(Span span) const { return sknd::is_standard(package_, span); }

// The innermost call around the operation in the user's text.
Span VariableSites::user_call(ir::OpId op) const {
    for (size_t steps = 0; op.valid() && steps <= callers_.size(); ++steps) {
        const Span span = program_.operations[op].span;
        if (span.valid() && !is_standard(span)) return span;
        op = callers_[op.value];
    }
    return graph_;
}

VariableSite VariableSites::of(const std::string& variable) const {
    auto found = places_.find(variable);
    // `ws.3` is an item of the pack `ws`.
    if (found == places_.end()) found = places_.find(variable.substr(0, variable.rfind('.')));
    return found == places_.end() ? VariableSite{.declaration = graph_, .call = {}} : found->second;
}

// ---- Checks -------------------------------------------------------------------------------------

std::string_view type_text(ir::DType dtype) {
    if (tensor::is_real(dtype)) return "real";
    if (tensor::is_integer(dtype)) return "int";
    return dtype == ir::DType::Bool ? "bool" : "str";
}

}  // namespace

std::string shape_text(const ir::Program& program, const ir::Tensor& variable) {
    std::string text;
    for (const ir::SymId extent : variable.shape) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", program.symbols.text(extent));
    }
    return "[" + text + "]";
}

bool shape_fits(const ir::Program& program,
                const ir::Tensor& variable,
                const tensor::Shape& shape) {
    if (variable.shape.size() != shape.size()) return false;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        const ir::Interval range = program.symbols.range(variable.shape[axis]);
        if (shape[axis] < range.low || shape[axis] > range.high) return false;
    }
    return true;
}

std::vector<bool> read_tensors(const ir::Program& program) {
    std::vector<bool> read(program.tensors.size());
    const auto add = [&](const std::vector<ir::Port>& ports) {
        for (const ir::Port& port : ports) {
            for (const ir::TensorId id : port.operand.items) read[id.value] = true;
        }
    };
    for (const ir::Operation& op : program.operations) {
        add(op.inputs);
        for (const ir::Formula& formula : op.formulas) {
            for (const ir::Access& access : formula.accesses) read[access.tensor.value] = true;
        }
    }
    for (const ir::Graph& graph : program.graphs) add(graph.outputs);
    for (const ir::Update& update : program.updates) read[update.value.value] = true;
    return read;
}

std::set<std::string, std::less<>> root_graphs(const sknd::Package& package,
                                               const ir::Program& program) {
    std::set<std::string, std::less<>> roots;
    const sknd::LoadedModule& main = package[package.main()];
    for (const ir::Operation& op : program.operations) {
        if (op.op != op.label) continue;
        const auto found = main.definition_index.find(op.op);
        if (found == main.definition_index.end()) continue;
        if (main.module.definitions[found->second].graph) roots.insert(op.op);
    }
    return roots;
}

VariableName variable_name(const std::string& module,
                           const std::string& graph,
                           const std::set<std::string, std::less<>>& roots,
                           const std::string& tensor) {
    const bool rooted = roots.contains(std::string_view(tensor).substr(0, tensor.find('.')));
    return {module, rooted ? "" : graph, tensor};
}

std::vector<std::string> data_names(const VariableName& variable) {
    if (variable.graph.empty()) {
        return {fmt::format("{}.{}.dat", variable.module, variable.path),
                fmt::format("{}.dat", variable.path)};
    }
    return {fmt::format("{}.{}.{}.dat", variable.module, variable.graph, variable.path),
            fmt::format("{}.{}.dat", variable.graph, variable.path),
            fmt::format("{}.dat", variable.path)};
}

std::vector<std::string> data_names_with_folders(const VariableName& variable) {
    std::vector<std::string> names;
    const auto add = [&](std::string name) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    };
    const std::string graph = variable.graph.empty() ? "" : variable.graph + ".";
    for (const std::string& prefix : {variable.module + "." + graph, graph, std::string()}) {
        add(prefix + variable.path + ".dat");
        add(prefix + with_slashes(variable.path) + ".dat");
        add(with_slashes(prefix + variable.path) + ".dat");
    }
    return names;
}

std::optional<std::string> find_data(const tensor::ModelSource& source,
                                     const VariableName& variable) {
    for (std::string& name : data_names_with_folders(variable)) {
        if (source.has(name)) return std::move(name);
    }
    return std::nullopt;
}

DataHeader read_data_header(const tensor::ModelSource& source,
                            const std::string& file,
                            ir::DType dtype) {
    const auto size = source.size(file);
    if (!size) return {.misfit = size.error().message};
    const auto begin = source.read(file, tensor::kNnefHeaderBytes);
    if (!begin) return {.misfit = begin.error().message};
    auto header = tensor::decode_nnef_header(*begin, *size);
    if (!header) return {.misfit = header.error().message};
    DataHeader result{
        .misfit = "", .shape = std::move(header->shape), .oddities = std::move(header->oddities)};
    const bool quantised =
        header->type == tensor::ItemType::QuantInt || header->type == tensor::ItemType::QuantUint;
    result.codes = quantised && !header->range;
    result.any_item =
        !result.codes && !(header->type == tensor::ItemType::Uint && header->bits == 64);
    if (!tensor::can_store(header->type, dtype)) {
        result.misfit = fmt::format(
            "its items are {}, expected {}", tensor::item_text(*header), type_text(dtype));
    }
    return result;
}

// A variable of the graph under check.
struct DataCheck::Variable {
    const ir::Program& program;
    const ir::Tensor& tensor;
    VariableName name;
    VariableSite place;
};

DataCheck::DataCheck(const ModelFile& model,
                     const sknd::Package& package,
                     DataMode mode,
                     Diagnostics& diag)
    : model_(model), package_(package), mode_(mode), diag_(diag) {
    if (mode_ != DataMode::Ignore) list_files();
}

// A single file other than `main.sknd` shares its folder with other files. Only files that begin
// with its name certainly belong to it.
bool DataCheck::is_own(const std::string& file) const {
    return file.ends_with(".dat") &&
           (model_.name == "main" || file.starts_with(model_.name + ".") ||
            file.starts_with(model_.name + "/"));
}

void DataCheck::list_files() {
    auto names = model_.source->list();
    if (!names) {
        diag_.error({package_[package_.main()].module.file, 0, 0},
                    DiagKind::UnreadableFile,
                    names.error().message);
        return;
    }
    for (std::string& name : *names) {
        if (is_own(name)) files_.push_back(std::move(name));
    }
}

void DataCheck::check(const ir::Program& program) {
    if (mode_ == DataMode::Ignore) return;
    std::vector<Variable> missing;
    std::optional<VariableSites> places;  // made for the first variable
    std::set<std::string, std::less<>> roots;
    std::vector<bool> read;
    for (uint32_t i = 0; i < program.tensors.size(); ++i) {
        const ir::Tensor& tensor = program.tensors[make_id<ir::TensorId>(i)];
        if (tensor.role != ir::TensorRole::Variable) continue;
        if (!places) {
            places.emplace(package_, program);
            roots = root_graphs(package_, program);
            read = read_tensors(program);
        }
        Variable variable = {.program = program,
                             .tensor = tensor,
                             .name = variable_name(model_.name, program.name, roots, tensor.name),
                             .place = places->of(tensor.name)};
        if (const auto file = find_data(*model_.source, variable.name)) {
            used_.insert(*file);
            check_file(variable, *file);
        } else if (read[i]) {
            missing.push_back(std::move(variable));
        }
    }
    // A model without any data is a structure to be trained or filled; that is no fault.
    if (mode_ == DataMode::Auto && files_.empty() && used_.empty()) return;
    for (const Variable& variable : missing) report_missing(variable);
}

// The reason why the file cannot be the variable's data; empty if it can. Reports oddities.
std::string DataCheck::misfit(const Variable& variable, const std::string& file) {
    const tensor::ModelSource& source = *model_.source;
    const DataHeader header = read_data_header(source, file, variable.tensor.dtype);
    if (!header.misfit.empty()) return header.misfit;
    if (!shape_fits(variable.program, variable.tensor, header.shape)) {
        return fmt::format("it has the shape {}, expected {}",
                           tensor::shape_text(header.shape),
                           shape_text(variable.program, variable.tensor));
    }
    for (const std::string& oddity : header.oddities) {
        diag_.warning(
            variable.place.best(),
            DiagKind::BadData,
            fmt::format(
                "`{}`, the data of `{}`: {}", source.path_of(file), variable.name.path, oddity));
    }
    return "";
}

void DataCheck::check_file(const Variable& variable, const std::string& file) {
    const std::string reason = misfit(variable, file);
    if (reason.empty()) return;
    auto report = diag_.error(variable.place.best(),
                              DiagKind::BadData,
                              fmt::format("`{}` cannot be the data of `{}`: {}",
                                          model_.source->path_of(file),
                                          variable.name.path,
                                          reason));
    if (variable.place.declaration.valid() && variable.place.call.valid()) {
        report.note(variable.place.call, "called here");
    }
}

void DataCheck::report_missing(const Variable& variable) {
    const std::vector<std::string> names = data_names(variable.name);
    wanted_.push_back(names[0]);
    auto report = diag_.error(variable.place.best(),
                              DiagKind::MissingData,
                              fmt::format("no data for the variable `{}`: no file `{}`",
                                          variable.name.path,
                                          model_.source->path_of(names[0])));
    if (variable.place.declaration.valid() && variable.place.call.valid()) {
        report.note(variable.place.call, "called here");
    }
    std::string others;
    for (size_t i = 1; i < names.size(); ++i) {
        others += fmt::format("{}`{}`", i == 1 ? "" : " or ", names[i]);
    }
    report.note(fmt::format("{} would do; `/` may stand for `.`", others));
    if (wanted_.size() == 1)
        report.note(
            "`lemma run --random-weights` runs without data, `--weights=FILE.safetensors` "
            "with that of a file");
}

void DataCheck::report_unused() {
    const std::vector<std::string_view> wanted(wanted_.begin(), wanted_.end());
    for (const std::string& file : files_) {
        if (used_.contains(file)) continue;
        auto report = diag_.add({.severity = diag::Severity::Warning,
                                 .kind = DiagKind::UnusedData,
                                 .span = {},
                                 .path = model_.source->path_of(file),
                                 .message = "this data belongs to no variable",
                                 .notes = {},
                                 .fixes = {}});
        const std::string_view nearest = diag::nearest_name(file, wanted);
        if (!nearest.empty()) report.note(fmt::format("did you mean `{}`?", nearest));
    }
}

}  // namespace lemma::model
