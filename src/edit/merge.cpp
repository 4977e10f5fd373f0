// SPDX-License-Identifier: Apache-2.0
#include "edit/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/unique_names.h"
#include "diag/utf8.h"
#include "edit/connect.h"
#include "edit/part.h"
#include "edit/uses.h"
#include "ir/verify/verify.h"

namespace lemma::edit {

namespace {

std::set<std::string> tensor_names(const ir::Program& program) {
    std::set<std::string> names;
    for (const ir::Tensor& tensor : program.tensors) names.insert(tensor.name);
    return names;
}

std::set<std::string> labels(const ir::Program& program) {
    std::set<std::string> names;
    for (const ir::Operation& op : program.operations) names.insert(op.label);
    names.erase("");
    return names;
}

std::set<std::string> in_both(const std::set<std::string>& a, const std::set<std::string>& b) {
    std::set<std::string> both;
    std::ranges::set_intersection(a, b, std::inserter(both, both.end()));
    return both;
}

// `head_` for `models/head.onnx`; letters, digits and `_`, which all formats accept.
std::string derived_prefix(const std::string& path) {
    std::string stem = std::filesystem::path(path).filename().string();
    stem = stem.substr(0, stem.find('.'));
    for (char& c : stem) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!plain) c = '_';
    }
    const bool usable = !stem.empty() && (stem[0] < '0' || stem[0] > '9');
    return usable ? stem + "_" : "second_";
}

class Merger {
public:
    Merger(const MergeRequest& request, model::LoadedModel& first, model::LoadedModel& second)
        : request_(request),
          first_(first),
          second_(second),
          from_first_(first.program, made_),
          from_second_(second.program, made_) {}

    Result<Merged> run();
    // After run: the first model becomes the merged one.
    model::LoadedModel take();

private:
    void choose_names();
    void add_first();
    void add_second();
    void add_ports();
    void add_updates(const ir::Program& from, Copier& copier);
    void join_packages();
    bool is_connected(ir::TensorId output) const {
        return std::ranges::any_of(connections_, [&](const Connection& connection) {
            return connection.output.tensor == output;
        });
    }

    const MergeRequest& request_;
    model::LoadedModel& first_;
    model::LoadedModel& second_;
    ir::Program made_;
    ir::Graph main_;
    Copier from_first_, from_second_;
    std::vector<Connection> connections_;
    std::string first_prefix_, second_prefix_;
    std::set<std::string> tensor_clashes_, label_clashes_;
    UniqueNames names_;
    std::string second_main_;  // the module name of the second model's own operators
    Merged done_;
};

void Merger::choose_names() {
    first_prefix_ = request_.first_prefix;
    second_prefix_ =
        request_.second_prefix.empty() ? derived_prefix(request_.second) : request_.second_prefix;
    tensor_clashes_ = in_both(tensor_names(first_.program), tensor_names(second_.program));
    label_clashes_ = in_both(labels(first_.program), labels(second_.program));
    const auto rename = [this](const std::string& prefix) -> Copier::Rename {
        return [this, prefix](const std::string& name) {
            const bool clash = tensor_clashes_.contains(name) && !prefix.empty();
            const std::string made = names_.make(clash ? prefix + name : name);
            done_.renamed += made != name ? 1 : 0;
            return made;
        };
    };
    from_first_.rename_tensors(rename(first_prefix_));
    from_second_.rename_tensors(rename(second_prefix_));
    const auto relabel = [this](const std::string& prefix) -> Copier::Rename {
        return [this, prefix](const std::string& label) {
            return label_clashes_.contains(label) ? prefix + label : label;
        };
    };
    from_first_.rename_labels(relabel(first_prefix_));
    from_second_.rename_labels(relabel(second_prefix_));
}

void Merger::add_first() {
    const ir::Graph& main = first_.program.graphs[first_.program.main];
    for (const ir::Port& port : main.inputs) main_.inputs.push_back(from_first_.port(port));
    for (const ir::OpId id : main.operations) main_.operations.push_back(from_first_.operation(id));
    add_updates(first_.program, from_first_);
}

void Merger::add_second() {
    const ir::Graph& main = second_.program.graphs[second_.program.main];
    for (const Connection& connection : connections_)
        from_second_.put(connection.input.tensor, from_first_.tensor(connection.output.tensor));
    UniqueNames ports;
    for (ir::Port& port : main_.inputs) ports.take(port.name);
    for (const ir::Port& port : main.inputs) {
        std::vector<ir::TensorId> open;
        for (const ir::TensorId id : port.operand.items) {
            if (!from_second_.has(id)) open.push_back(id);
        }
        if (open.empty()) continue;
        const bool whole = open.size() == port.operand.items.size();
        const std::string name =
            ports.take(port.name) ? port.name : ports.make(second_prefix_ + port.name);
        if (whole) {
            ir::Port copied = from_second_.port(port);
            copied.name = name;
            main_.inputs.push_back(std::move(copied));
            continue;
        }
        // Some items of a pack are connected; the others become inputs of their own.
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            const ir::TensorId id = port.operand.items[i];
            if (std::ranges::find(open, id) == open.end()) continue;
            main_.inputs.push_back({ports.make(fmt::format("{}.{}", name, i)),
                                    ir::Operand::single(from_second_.tensor(id))});
        }
    }
    for (const ir::OpId id : main.operations)
        main_.operations.push_back(from_second_.operation(id));
    add_updates(second_.program, from_second_);
}

void Merger::add_updates(const ir::Program& from, Copier& copier) {
    for (const ir::Update& update : from.updates)
        made_.updates.push_back({copier.tensor(update.variable), copier.tensor(update.value)});
}

// Outputs of the first model that nobody reads stay. Those of the second model keep their names.
void Merger::add_ports() {
    UniqueNames names;
    for (const ir::Port& port : second_.program.graphs[second_.program.main].outputs) {
        main_.outputs.push_back(from_second_.port(port));
        names.take(port.name);
    }
    for (const ir::Port& port : first_.program.graphs[first_.program.main].outputs) {
        const bool connected = std::ranges::all_of(
            port.operand.items, [&](ir::TensorId id) { return is_connected(id); });
        if (connected && !request_.keep_outputs) continue;
        ir::Port copied = from_first_.port(port);
        const std::string prefix =
            first_prefix_.empty() ? derived_prefix(request_.files.model) : first_prefix_;
        if (!names.take(copied.name)) copied.name = names.make(prefix + copied.name);
        main_.outputs.push_back(std::move(copied));
    }
}

Result<Merged> Merger::run() {
    LEMMA_TRY(connections_, find_connections(first_.program, second_.program, request_.connect));
    for (const Connection& connection : connections_) {
        done_.connections.push_back(
            fmt::format("{} → {}", connection.output.name, connection.input.name));
    }
    done_.first = size_of(first_.program);
    done_.second = size_of(second_.program);
    choose_names();
    join_packages();
    made_.name = first_.program.name;
    main_.name = first_.program.graphs[first_.program.main].name;
    LEMMA_TRY(fix_first(connections_, first_.program, second_.program, made_, from_first_));
    add_first();
    LEMMA_TRY(fix_second(connections_, second_.program, made_, from_first_, from_second_));
    add_second();
    add_ports();
    for (auto [from, copier] :
         {std::pair(&first_.program, &from_first_), std::pair(&second_.program, &from_second_)}) {
        for (ir::Assertion& assertion : copier->known_assertions(from->assertions))
            made_.assertions.push_back(std::move(assertion));
    }
    if (from_first_.failed() || from_second_.failed())
        return std::unexpected(Error{"an extent has no value for these connections"});
    done_.inputs = port_texts(made_, main_.inputs);
    done_.outputs = port_texts(made_, main_.outputs);
    made_.main = made_.graphs.add(main_);
    done_.after = size_of(made_);
    const auto problems = ir::verify(made_);
    if (problems.empty()) return std::move(done_);
    return std::unexpected(Error{fmt::format("the models do not fit together: {}", problems[0])});
}

// The second model's own operators move to a module of their own, so that both may have operators
// of the same name.
void Merger::join_packages() {
    std::vector<sknd::LoadedModule>& modules = first_.package.modules;
    std::set<std::string> taken;
    for (const sknd::LoadedModule& module : modules) taken.insert(module.name);
    for (const sknd::LoadedModule& module : second_.package.modules) taken.insert(module.name);
    second_main_ = "second";
    while (taken.contains(second_main_)) second_main_ += "_";
    const bool own = second_.file.format == model::Format::SkriptND;
    if (own) {
        from_second_.rename_operators([this](const std::string& op) {
            const bool control = op == "if" || op == "loop" || op == "constant";
            return op.find('.') == std::string::npos && !control ? second_main_ + "." + op : op;
        });
    }
    const size_t shift = modules.size();
    bool main = true;
    for (sknd::LoadedModule& module : second_.package.modules) {
        for (auto& [name, id] : module.imports) id.value += static_cast<uint32_t>(shift);
        if (main && own) module.name = second_main_;
        main = false;
        modules.push_back(std::move(module));
    }
}

model::LoadedModel Merger::take() {
    struct Origin {
        model::DataReader data;
        std::function<std::string(const ir::Tensor&)> data_name;
        ir::Tensor variable;
    };
    auto origins = std::make_shared<std::map<std::string, Origin>>();
    for (auto [model, copier] :
         {std::pair(&first_, &from_first_), std::pair(&second_, &from_second_)}) {
        for (const auto& [from, to] : copier->tensors()) {
            const ir::Tensor& variable = model->program.tensors[from];
            if (variable.role != ir::TensorRole::Variable) continue;
            origins->emplace(made_.tensors[to].name,
                             Origin{model->data, model->data_name, variable});
        }
    }
    model::LoadedModel merged = std::move(first_);
    if (second_.file.format == model::Format::Nnef1)
        merged.file.format = model::Format::Nnef1;  // its variables have labels
    merged.data = [origins](const ir::Tensor& variable) -> Result<std::optional<tensor::Tensor>> {
        const auto origin = origins->find(variable.name);
        if (origin == origins->end()) return std::nullopt;
        return origin->second.data(origin->second.variable);
    };
    // A file of its own for each variable, even if both models have the same ones.
    auto files = std::make_shared<UniqueNames>();
    auto chosen = std::make_shared<std::map<std::string, std::string>>();
    merged.data_name = [files, chosen](const ir::Tensor& variable) {
        std::string& name = (*chosen)[variable.name];
        if (name.empty()) name = files->make(variable.name) + ".dat";
        return name;
    };
    for (const std::string& name : second_.deciding) merged.deciding.push_back(name);
    merged.aliases.clear();
    merged.program = std::move(made_);
    return merged;
}

Result<Merged> merge(const MergeRequest& request, model::Finding& finding) {
    LEMMA_TRY(check_apart(request.files.out, {request.files.model, request.second}));
    LEMMA_TRY(convert::check_output(request.files));
    auto first = model::load_model(request.files.model, request.files.load, finding);
    if (!first) return Merged{};
    auto second = model::load_model(request.second, request.files.load, finding);
    if (!second) return Merged{};
    Merger merger(request, *first, *second);
    LEMMA_TRY(Merged done, merger.run());
    model::LoadedModel merged = merger.take();
    LEMMA_TRY(convert::write_model(merged, request.files, finding));
    return done;
}

}  // namespace

Merged merge_models(const MergeRequest& request, model::Finding& finding) {
    auto done = merge(request, finding);
    if (done) return std::move(*done);
    finding.fail(std::move(done).error());
    return {};
}

}  // namespace lemma::edit
