// SPDX-License-Identifier: Apache-2.0
#include "loop/plan/plan.h"

#include <unordered_set>

namespace lemma::loop {

namespace {

class UsedTensors {
public:
    explicit UsedTensors(const ir::Program& program) : program_(program) {}

    std::vector<ir::TensorId> of(ir::OpId id) {
        visit(id);
        return std::move(found_);
    }

private:
    void use(ir::TensorId id) {
        if (id.valid() && seen_.insert(id).second) found_.push_back(id);
    }
    void visit_ports(const std::vector<ir::Port>& ports) {
        for (const ir::Port& port : ports) {
            for (const ir::TensorId id : port.operand.items) use(id);
        }
    }
    void visit(ir::OpId id) {
        const ir::Operation& op = program_.operations[id];
        visit_ports(op.inputs);
        visit_ports(op.outputs);
        for (const ir::Formula& formula : op.formulas) {
            for (const ir::Access& access : formula.accesses) use(access.tensor);
        }
        for (const ir::OpId part : op.parts) visit(part);
        if (const auto* branch = std::get_if<ir::Branch>(&op.control)) {
            for (const ir::Branch::Arm& arm : branch->arms) {
                visit(arm.condition);
                visit(arm.consequent);
            }
            visit(branch->alternative);
        } else if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
            for (const ir::GraphId graph :
                 {loop->pre_condition, loop->body, loop->post_condition}) {
                visit(graph);
            }
            use(loop->dynamic_count);
        }
    }
    void visit(ir::GraphId id) {
        if (!id.valid()) return;
        visit_ports(program_.graphs[id].outputs);
        for (const ir::OpId op : program_.graphs[id].operations) visit(op);
    }

    const ir::Program& program_;
    std::vector<ir::TensorId> found_;
    std::unordered_set<ir::TensorId, IdHash> seen_;
};

}  // namespace

std::vector<ir::TensorId> used_tensors(const ir::Program& program, ir::OpId id) {
    return UsedTensors(program).of(id);
}

}  // namespace lemma::loop
