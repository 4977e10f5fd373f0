// SPDX-License-Identifier: Apache-2.0
#include "interpret/lifetimes.h"

#include <unordered_map>

namespace lemma::interpret {

namespace {

class UsedTensors {
public:
    explicit UsedTensors(const ir::Program& program) : program_(program) {}

    template <class Visit>
    void visit(ir::OpId id, const Visit& use) const {
        const ir::Operation& op = program_.operations[id];
        for (const auto* ports : {&op.inputs, &op.outputs}) visit_ports(*ports, use);
        for (const ir::Formula& formula : op.formulas) {
            for (const ir::Access& access : formula.accesses) use(access.tensor);
        }
        for (const ir::OpId part : op.parts) visit(part, use);
        if (const auto* branch = std::get_if<ir::Branch>(&op.control)) {
            for (const ir::Branch::Arm& arm : branch->arms) {
                visit(arm.condition, use);
                visit(arm.consequent, use);
            }
            visit(branch->alternative, use);
        } else if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
            for (const ir::GraphId graph :
                 {loop->pre_condition, loop->body, loop->post_condition}) {
                visit(graph, use);
            }
            if (loop->dynamic_count.valid()) use(loop->dynamic_count);
        }
    }

private:
    template <class Visit>
    void visit_ports(const std::vector<ir::Port>& ports, const Visit& use) const {
        for (const ir::Port& port : ports) {
            for (const ir::TensorId id : port.operand.items) use(id);
        }
    }
    template <class Visit>
    void visit(ir::GraphId id, const Visit& use) const {
        if (!id.valid()) return;
        const ir::Graph& graph = program_.graphs[id];
        visit_ports(graph.outputs, use);
        for (const ir::OpId op : graph.operations) visit(op, use);
    }

    const ir::Program& program_;
};

}  // namespace

std::vector<std::vector<ir::TensorId>> tensors_dead_after(const ir::Program& program) {
    const ir::Graph& main = program.graphs[program.main];
    std::unordered_map<ir::TensorId, size_t, IdHash> last;
    const UsedTensors used(program);
    for (size_t i = 0; i < main.operations.size(); ++i) {
        used.visit(main.operations[i], [&](ir::TensorId id) { last[id] = i; });
    }
    for (const ir::Port& port : main.outputs) {
        for (const ir::TensorId id : port.operand.items) last.erase(id);
    }
    for (const ir::Update& update : program.updates) last.erase(update.value);
    std::vector<std::vector<ir::TensorId>> dead(main.operations.size());
    for (const auto& [id, at] : last) {
        if (program.tensors[id].role != ir::TensorRole::Variable) dead[at].push_back(id);
    }
    return dead;
}

}  // namespace lemma::interpret
