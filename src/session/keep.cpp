// SPDX-License-Identifier: Apache-2.0
#include "session/keep.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "diag/diagnostic.h"

namespace lemma::session {

namespace {

void collect(const ir::Program& program,
             const std::vector<ir::OpId>& operations,
             std::unordered_set<ir::OpId, IdHash>& seen,
             std::vector<ir::TensorId>& made) {
    for (const ir::OpId id : operations) {
        const ir::Operation& op = program.operations[id];
        seen.insert(id);
        if (op.compound()) {
            collect(program, op.parts, seen, made);
            continue;
        }
        for (const ir::Port& port : op.outputs) {
            made.insert(made.end(), port.operand.items.begin(), port.operand.items.end());
        }
    }
}

}  // namespace

MadeTensors made_tensors(const ir::Program& program) {
    MadeTensors made;
    std::unordered_set<ir::OpId, IdHash> seen;
    collect(program, program.graphs[program.main].operations, seen, made.outside);
    for (const ir::Graph& graph : program.graphs) {
        if (&graph == &program.graphs[program.main]) continue;
        collect(program, graph.operations, seen, made.inside);
    }
    return made;
}

Result<std::vector<ir::TensorId>> named_tensors(const ir::Program& program,
                                                std::span<const std::string> names) {
    const MadeTensors made = made_tensors(program);
    std::map<std::string_view, ir::TensorId> by_name;
    for (const ir::TensorId id : made.outside) by_name.emplace(program.tensors[id].name, id);
    for (const ir::TensorId id : made.inside) by_name.emplace(program.tensors[id].name, id);
    std::vector<ir::TensorId> found;
    for (const std::string& name : names) {
        if (const auto at = by_name.find(name); at != by_name.end()) {
            found.push_back(at->second);
            continue;
        }
        std::vector<std::string_view> known;
        for (const auto& [text, id] : by_name) known.push_back(text);
        const std::string_view near = diag::nearest_name(name, known);
        return std::unexpected(
            Error{fmt::format("no operation makes a tensor `{}`{}",
                              name,
                              near.empty() ? "; `lemma show` lists them"
                                           : fmt::format("; did you mean `{}`?", near))});
    }
    return found;
}

Result<std::vector<ir::TensorId>> named_tensors(const ir::Program& program,
                                                std::string_view names) {
    std::vector<std::string> list;
    for (size_t begin = 0; begin <= names.size();) {
        const size_t end = std::min(names.find(',', begin), names.size());
        list.emplace_back(names.substr(begin, end - begin));
        begin = end + 1;
    }
    return named_tensors(program, std::span<const std::string>(list));
}

void KeptOutputs::add(ir::Program& program, const std::vector<ir::TensorId>& tensors) {
    auto& ports = program.graphs[program.main].outputs;
    std::map<ir::TensorId, PortItem> places;
    prefix_ = "kept:";
    for (const ir::Port& port : ports) {
        while (port.name.starts_with(prefix_)) prefix_ += ':';
        if (port.operand.length.valid()) continue;  // it may return fewer items
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            places.emplace(port.operand.items[i], PortItem{port.name, i});
        }
    }
    for (const ir::TensorId id : tensors) {
        auto place = places.find(id);
        if (place == places.end()) {
            const std::string name = prefix_ + program.tensors[id].name;
            ports.push_back({name, ir::Operand::single(id)});
            place = places.emplace(id, PortItem{name, 0}).first;
            ++added_;
        }
        kept_.emplace_back(id, place->second);
    }
}

Result<void> KeptOutputs::hand_over(const ir::Program& program,
                                    interpret::NamedArrays& outputs,
                                    const KeepOptions& options) const {
    for (const auto& [id, place] : kept_) {
        LEMMA_TRY(options.receive(program.tensors[id], outputs.at(place.port).at(place.item)));
    }
    if (added_ > 0) {
        std::erase_if(outputs, [&](const auto& port) { return port.first.starts_with(prefix_); });
    }
    return {};
}

}  // namespace lemma::session
