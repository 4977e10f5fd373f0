// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/zeros.h"

#include <algorithm>

namespace lemma::loop {

namespace {

using Box = std::vector<StagePool::Range>;  // the elements that a stage writes, by axis

bool apart(const Box& a, const Box& b) {
    for (size_t axis = 0; axis < a.size(); ++axis) {
        if (a[axis].high < b[axis].low || b[axis].high < a[axis].low) return true;
    }
    return false;
}

// Whether the boxes follow each other along the axis, like the parts of a concatenation.
bool in_a_row(std::vector<Box>& boxes, size_t axis) {
    std::ranges::sort(boxes, {}, [axis](const Box& box) { return box[axis].low; });
    for (size_t i = 1; i < boxes.size(); ++i) {
        if (boxes[i - 1][axis].high >= boxes[i][axis].low) return false;
    }
    return true;
}

bool all_apart(std::vector<Box> boxes) {
    if (boxes.size() < 2) return true;
    for (size_t axis = 0; axis < boxes[0].size(); ++axis) {
        if (in_a_row(boxes, axis)) return true;
    }
    // Parts along several axes are few. With more boxes, zeros are added that may not be needed.
    constexpr size_t kMostCompared = 256;
    if (boxes.size() > kMostCompared) return false;
    for (size_t i = 0; i < boxes.size(); ++i) {
        for (size_t k = 0; k < i; ++k) {
            if (!apart(boxes[k], boxes[i])) return false;
        }
    }
    return true;
}

// Whether plain assignments cover the tensor without overlap, like those of a concatenation.
bool covers_in_parts(const std::vector<const Stage*>& stages, ir::TensorId id, StageGraph& graph) {
    int64_t written = 0;
    std::vector<Box> boxes;
    for (const Stage* each : stages) {
        const Stage& stage = *each;
        const bool plain = stage.combine == ir::FormulaOp::Assign && stage.guards.empty() &&
                           !stage.condition.valid() && stage.writes.size() == 1;
        if (!plain) return false;
        if (stage.empty) continue;
        const WriteShape shape = write_shape(stage, stage.writes[0], graph.pool);
        if (!shape.injective || shape.vars.size() != stage.loops.size()) return false;
        Box& box = boxes.emplace_back();
        for (const ExprId index : stage.writes[0].index) box.push_back(graph.pool.range(index));
        int64_t steps = 1;
        for (const StageLoop& loop : stage.loops) steps *= loop.extent;
        written += steps;
    }
    return written == tensor::volume(graph.shapes.at(id)) && all_apart(std::move(boxes));
}

bool starts_itself(const FusionGroup& group, ir::TensorId id, StageGraph& graph) {
    std::vector<const Stage*> stages;
    for (const Stage& stage : group.stages) {
        for (const StageWrite& write : stage.writes) {
            if (write.tensor == id) stages.push_back(&stage);
        }
    }
    if (stages.empty()) return false;
    const Stage& first = *stages.front();
    const bool plain =
        first.combine == ir::FormulaOp::Assign && first.guards.empty() && !first.condition.valid();
    if (covers(first, graph) && (plain || first.initial.valid())) return true;
    return covers_in_parts(stages, id, graph);
}

Stage zero_stage(ir::TensorId id, StageGraph& graph) {
    Stage stage = assign_all(graph, id);
    Builder& build = graph.pool.build;
    const Kind kind = kind_of(graph.dtypes.at(id));
    stage.writes[0].value = kind == Kind::Bool  ? build.boolean(false)
                            : kind == Kind::Int ? build.integer(0)
                                                : build.real(0, kind);
    return stage;
}

}  // namespace

int add_zeros(StageGraph& graph) {
    int count = 0;
    for (FusionGroup& group : graph.groups) {
        for (const ir::TensorId id : group.writes) {
            if (!group.compiled() || starts_itself(group, id, graph)) continue;
            group.stages.insert(group.stages.begin(), zero_stage(id, graph));
            ++count;
        }
    }
    return count;
}

}  // namespace lemma::loop
