// SPDX-License-Identifier: Apache-2.0
#include "edit/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "diag/diagnostic.h"
#include "diag/utf8.h"
#include "edit/uses.h"

namespace lemma::edit {

namespace {

using diag::printable;

// The operations of the main graph and their parts, without sub-graphs.
void collect(const ir::Program& program,
             const std::vector<ir::OpId>& list,
             const std::function<void(ir::OpId)>& action) {
    for (const ir::OpId id : list) {
        action(id);
        collect(program, program.operations[id].parts, action);
    }
}

}  // namespace

Names::Names(const model::LoadedModel& model) : model_(model) {
    const ir::Program& program = model.program;
    const ir::Graph& main = program.graphs[program.main];
    for (const auto* ports : {&main.inputs, &main.outputs}) {
        for (const ir::Port& port : *ports) {
            std::vector<NamedTensor>& whole = ports_[port.name];
            if (!whole.empty()) continue;  // an input of the same name
            for (size_t i = 0; i < port.operand.items.size(); ++i) {
                const NamedTensor item{
                    port.operand.packed ? fmt::format("{}.{}", port.name, i) : port.name,
                    port.operand.items[i]};
                whole.push_back(item);
                if (port.operand.packed) ports_[item.name] = {item};
            }
        }
    }
    collect(program, main.operations, [&](ir::OpId id) {
        const ir::Operation& op = program.operations[id];
        for (const auto* ports : {&op.inputs, &op.outputs}) {
            for (const ir::TensorId item : items_of(*ports))
                tensors_.emplace(program.tensors[item].name, item);
        }
        std::vector<ir::OpId>& same = labels_[op.label];
        // The parts of a compound may have its label.
        if (same.empty()) same.push_back(id);
        for (const ir::GraphId graph : graphs_of(op)) {
            visit_graph(program, graph, [&](const ir::Operation& inner) {
                for (const ir::TensorId item : items_of(inner.outputs))
                    inside_.insert(program.tensors[item].name);
                inside_.insert(inner.label);
            });
        }
    });
    labels_.erase("");
    for (const auto& [name, other] : model.aliases) file_names_.emplace(other, name);
}

bool Names::is_known(const std::string& name) const {
    return ports_.contains(name) || tensors_.contains(name) || labels_.contains(name) ||
           model_.aliases.contains(name);
}

std::string Names::suggestion(const std::string& name) const {
    std::vector<std::string_view> known;
    for (const auto& [text, items] : ports_) known.push_back(text);
    for (const auto& [text, id] : tensors_) known.push_back(text);
    for (const auto& [text, ops] : labels_) known.push_back(text);
    for (const auto& [text, other] : model_.aliases) known.push_back(text);
    const std::string_view near = diag::nearest_name(name, known);
    return near.empty() ? "; `lemma show` lists them"
                        : fmt::format("; did you mean `{}`?", printable(near));
}

Result<void> Names::add(const std::string& name, Side side, std::vector<NamedTensor>& found) const {
    const ir::Program& program = model_.program;
    const auto take = [&](NamedTensor item) {
        const bool known = std::ranges::any_of(
            found, [&](const NamedTensor& other) { return other.tensor == item.tensor; });
        if (!known) found.push_back(std::move(item));
    };
    if (const auto port = ports_.find(name); port != ports_.end()) {
        for (const NamedTensor& item : port->second) take(item);
        return {};
    }
    if (const auto tensor = tensors_.find(name); tensor != tensors_.end()) {
        take({name, tensor->second});
        return {};
    }
    if (const auto alias = model_.aliases.find(name); alias != model_.aliases.end()) {
        const auto tensor = tensors_.find(alias->second);
        if (tensor != tensors_.end()) {
            take({name, tensor->second});
            return {};
        }
    }
    if (const auto label = labels_.find(name); label != labels_.end()) {
        const ir::Operation& op = program.operations[label->second[0]];
        for (const ir::TensorId id : items_of(side == Side::From ? op.inputs : op.outputs)) {
            const ir::Tensor& tensor = program.tensors[id];
            const bool data =
                tensor.role == ir::TensorRole::Constant || tensor.role == ir::TensorRole::Variable;
            if (side == Side::From && data) continue;
            // `#` marks names that the program made.
            const auto in_file = tensor.name.find('#') == std::string::npos
                                     ? file_names_.end()
                                     : file_names_.find(tensor.name);
            take({in_file == file_names_.end() ? tensor.name : in_file->second, id});
        }
        return {};
    }
    if (inside_.contains(name)) {
        return std::unexpected(Error{fmt::format(
            "`{}` is inside of a loop or branch: cut before or after it", printable(name))});
    }
    return std::unexpected(Error{fmt::format(
        "the model has no tensor or operation `{}`{}", printable(name), suggestion(name))});
}

Result<std::vector<NamedTensor>> Names::find(const std::vector<std::string>& words,
                                             Side side) const {
    std::vector<NamedTensor> found;
    for (const std::string& word : words) {
        if (is_known(word)) {
            LEMMA_TRY(add(word, side, found));
            continue;
        }
        for (size_t begin = 0; begin <= word.size();) {
            const size_t end = std::min(word.find(',', begin), word.size());
            LEMMA_TRY(add(word.substr(begin, end - begin), side, found));
            begin = end + 1;
        }
    }
    return found;
}

}  // namespace lemma::edit
