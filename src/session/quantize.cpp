// SPDX-License-Identifier: Apache-2.0
#include "session/quantize.h"

#include <fmt/format.h>

#include <unordered_map>

#include "ir/program/splice.h"

namespace lemma::session {

namespace {

using Rounded = std::unordered_map<ir::TensorId, ir::TensorId, IdHash>;

class Inserter {
public:
    explicit Inserter(ir::Program& program) : program_(program) {
        for (uint32_t i = 0; i < program.operations.size(); ++i) {
            const auto id = make_id<ir::OpId>(i);
            if (program.operations[id].compound()) continue;
            for (const ir::Port& port : program.operations[id].outputs) {
                for (const ir::TensorId item : port.operand.items) makers_[item] = id;
            }
        }
    }

    Result<void> add(ir::TensorId id, const ir::Program& quantizer) {
        const std::string name = program_.tensors[id].name;
        const auto scope = fmt::format("quantize({})", name);
        const auto spliced = ir::splice(program_, quantizer, {id}, scope);
        if (!spliced || spliced->outputs.size() != 1) {
            return std::unexpected(
                Error{fmt::format("the quantiser of `{}` does not fit its shape", name)});
        }
        const ir::TensorId rounded = spliced->outputs[0];
        const auto maker = makers_.find(id);
        if (maker == makers_.end()) {
            first_.insert(first_.end(), spliced->operations.begin(), spliced->operations.end());
        } else {
            behind_[maker->second] = spliced->operations;
            program_.tensors[id].name = scope;
            program_.tensors[rounded].name = name;
        }
        rounded_[id] = rounded;
        return {};
    }

    // `count`: the number of operations before quantisers were added.
    void rewire(size_t count) {
        for (uint32_t i = 0; i < count; ++i) rewire(program_.operations[make_id<ir::OpId>(i)]);
        for (ir::Graph& graph : program_.graphs) {
            replace(graph.outputs);
            insert(graph.operations);
        }
        auto& main = program_.graphs[program_.main].operations;
        main.insert(main.begin(), first_.begin(), first_.end());
        for (ir::Update& update : program_.updates) replace(update.value);
    }

private:
    void replace(ir::TensorId& id) const {
        if (const auto found = rounded_.find(id); found != rounded_.end()) id = found->second;
    }
    void replace(std::vector<ir::Port>& ports) const {
        for (ir::Port& port : ports) {
            for (ir::TensorId& item : port.operand.items) replace(item);
        }
    }
    void insert(std::vector<ir::OpId>& operations) const {
        std::vector<ir::OpId> result;
        for (const ir::OpId id : operations) {
            result.push_back(id);
            const auto found = behind_.find(id);
            if (found == behind_.end()) continue;
            result.insert(result.end(), found->second.begin(), found->second.end());
        }
        operations = std::move(result);
    }
    // Formulas may read the tensors that they write: a sum reads its own output.
    void rewire(ir::Operation& op) const {
        replace(op.inputs);
        insert(op.parts);
        if (op.compound()) replace(op.outputs);
        for (ir::Formula& formula : op.formulas) {
            for (ir::Access& access : formula.accesses) {
                const auto maker = makers_.find(access.tensor);
                const bool own =
                    maker != makers_.end() && &program_.operations[maker->second] == &op;
                if (!own) replace(access.tensor);
            }
        }
    }

    ir::Program& program_;
    std::unordered_map<ir::TensorId, ir::OpId, IdHash> makers_;
    std::unordered_map<ir::OpId, std::vector<ir::OpId>, IdHash> behind_;
    std::vector<ir::OpId> first_;  // on inputs, variables and constants
    Rounded rounded_;
};

}  // namespace

Result<void> insert_quantizers(ir::Program& program, const model::Quantizers& quantizers) {
    const size_t tensors = program.tensors.size();
    const size_t operations = program.operations.size();
    Inserter inserter(program);
    for (uint32_t i = 0; i < tensors; ++i) {
        const auto id = make_id<ir::TensorId>(i);
        const auto found = quantizers.find(program.tensors[id].name);
        if (found == quantizers.end()) continue;
        LEMMA_TRY(inserter.add(id, found->second));
    }
    inserter.rewire(operations);
    return {};
}

}  // namespace lemma::session
