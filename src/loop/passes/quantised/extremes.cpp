// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/quantised/extremes.h"

#include <cmath>

#include "loop/passes/prepare/unused.h"
#include "loop/passes/quantised/factor.h"

namespace lemma::loop {

namespace {

bool is_extreme(const FusionGroup& group) {
    if (!group.compiled() || group.once || group.stages.size() != 1) return false;
    const Stage& stage = group.stages[0];
    const bool extreme = stage.combine == ir::FormulaOp::Max || stage.combine == ir::FormulaOp::Min;
    return extreme && stage.writes.size() == 1 && stage.initial.valid() && !stage.finish.valid() &&
           !stage.kept && stage.inverses.empty();
}

// Multiplying by the factor and adding to the product keep the order of numbers.
bool keeps_order(const StagePool& pool, const QuantisedFactor& factor) {
    if (factor.zero.valid() && pool[factor.zero].op != Op::Constant) return false;
    if (!factor.scale.valid()) return true;
    const Expr& scale = pool[factor.scale];
    return scale.op == Op::Constant && scale.real > 0 && std::isfinite(scale.real);
}

class ByteExtremes {
public:
    explicit ByteExtremes(StageGraph& graph)
        : graph_(graph), pool_(graph.pool), build_(graph.pool.build), finder_(graph) {}

    bool rewrite(FusionGroup& group) {
        Stage& stage = group.stages[0];
        StageWrite& write = stage.writes[0];
        const Kind kind = pool_[write.value].type.kind;
        const auto factor = finder_.find(write.value, {});
        if (!factor || !keeps_order(pool_, *factor)) return false;
        const Expr initial = pool_[stage.initial];
        if (initial.op != Op::Constant) return false;
        if (kind == Kind::F32) {
            // An infinity is one in both scales.
            if (!std::isinf(initial.real) || pool_[write.value].op == Op::Cast) return false;
        } else if (factor->zero.valid() || initial.integer < -128 || initial.integer > 255) {
            return false;
        }
        const ir::TensorId total =
            graph_.new_tensor(tensor::DType::F32, graph_.shapes.at(write.tensor));
        stage.total = build_.read(total.value, Kind::F32, write.index);
        stage.initial = build_.cast(stage.initial, Kind::F32);
        write.value = build_.cast(factor->read, Kind::F32);
        stage.finish = kind == Kind::Int ? whole(stage.total) : dequantised(stage.total, *factor);
        find_reads(graph_, group);
        return true;
    }

private:
    // The limits are those of all bytes. They tell that the number fits 32 bits.
    ExprId whole(ExprId byte) {
        const ExprId low = build_.make(Op::Max, {byte, build_.real(-128, Kind::F32)});
        return build_.cast(build_.make(Op::Min, {low, build_.real(255, Kind::F32)}), Kind::Int);
    }
    ExprId dequantised(ExprId byte, const QuantisedFactor& factor) {
        ExprId result = byte;
        if (factor.zero.valid()) {
            result = build_.make(Op::Sub, {result, build_.cast(factor.zero, Kind::F32)});
        }
        if (factor.scale.valid()) result = build_.make(Op::Mul, {result, factor.scale});
        return result;
    }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    FactorFinder finder_;
};

}  // namespace

int find_byte_extremes(StageGraph& graph) {
    ByteExtremes extremes(graph);
    int count = 0;
    for (FusionGroup& group : graph.groups) {
        if (is_extreme(group) && extremes.rewrite(group)) ++count;
    }
    if (count > 0) drop_unused(graph);
    return count;
}

}  // namespace lemma::loop
