// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "loop/plan/plan.h"

namespace lemma::loop {

namespace {

class StepCounter {
public:
    StepCounter(const ir::Program& program, double enough) : program_(program), enough_(enough) {}

    double count() {
        visit(program_.main, 1);
        return total_;
    }

private:
    double extent(ir::SymId id) const {
        const auto known = program_.symbols.as_int(id);
        const int64_t value = known ? *known : program_.symbols.range(id).high;
        return static_cast<double>(std::max<int64_t>(value, 0));
    }
    void visit(ir::GraphId id, double times) {
        if (!id.valid()) return;
        for (const ir::OpId op : program_.graphs[id].operations) visit(op, times);
    }
    void visit(ir::OpId id, double times) {
        if (total_ >= enough_) return;
        const ir::Operation& op = program_.operations[id];
        for (const ir::Formula& formula : op.formulas) {
            double steps = times;
            for (const ir::Bound& bound : formula.bounds) steps *= extent(bound.extent);
            total_ += steps;
        }
        for (const ir::OpId part : op.parts) visit(part, times);
        if (const auto* branch = std::get_if<ir::Branch>(&op.control)) {
            for (const ir::Branch::Arm& arm : branch->arms) {
                visit(arm.condition, times);
                visit(arm.consequent, times);
            }
            visit(branch->alternative, times);
        } else if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
            // Guess for a loop that a condition ends: its count is unknown, and most end soon.
            constexpr double kSome = 16;
            if (loop->static_count.valid()) {
                const double most = extent(loop->static_count);
                times *= loop->dynamic_count.valid() ? std::min(most, kSome) : most;
            } else {
                times *= kSome;
            }
            for (const ir::GraphId graph :
                 {loop->pre_condition, loop->body, loop->post_condition}) {
                visit(graph, times);
            }
        }
    }

    const ir::Program& program_;
    double enough_;
    double total_ = 0;
};

}  // namespace

double steps_of(const ir::Program& program, double enough) {
    return StepCounter(program, enough).count();
}

}  // namespace lemma::loop
