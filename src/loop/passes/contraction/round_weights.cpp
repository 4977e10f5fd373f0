// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/round_weights.h"

#include <algorithm>
#include <limits>

#include "loop/passes/contraction/narrow_weights.h"

namespace lemma::loop {

namespace {

constexpr int64_t kLeastWeights = int64_t{1} << 16;  // fewer stay in a cache
constexpr double kLargest = 32768;                   // of rounded weights

class Rounding {
public:
    Rounding(StageGraph& graph, FusionGroup& group)
        : graph_(graph), pool_(graph.pool), group_(group), c_(*group.contraction) {}

    // The group that finds the largest weight of each channel, if the weights are rounded.
    std::optional<FusionGroup> run() {
        if (c_.narrow || !suits_narrow_weights(graph_, group_) || count() < kLeastWeights) {
            return std::nullopt;
        }
        Builder& build = pool_.build;
        ExprId weight = build.cast(c_.b, Kind::F32);
        if (group_.weight_factor.valid()) {
            weight = build.make(Op::Mul, {weight, group_.weight_factor});
        }
        std::vector<VarId> channel;
        for (const VarId var : c_.batch) {
            if (pool_.depends(weight, var)) channel.push_back(var);
        }
        channel.push_back(c_.lane);
        FusionGroup made = largest(weight, channel);
        std::vector<ExprId> index;
        for (const VarId var : channel) index.push_back(build.index(var));
        const ExprId most = build.read(made.writes[0].value, Kind::F32, std::move(index));
        const ExprId scale = scale_of(most);
        c_.narrow = NarrowWeights{.number = build.make(Op::Div, {weight, scale}),
                                  .dtype = tensor::DType::F16,
                                  .scale = scale};
        return made;
    }

private:
    int64_t count() const {
        int64_t product = pool_.extent(c_.lane);
        for (const VarId var : c_.reduced) product = total_elements(product, pool_.extent(var));
        return product;
    }

    FusionGroup largest(ExprId weight, const std::vector<VarId>& channel) {
        Builder& build = pool_.build;
        Stage stage;
        stage.combine = ir::FormulaOp::Max;
        stage.initial = build.real(0, Kind::F32);
        std::unordered_map<VarId, ExprId, IdHash> with;
        const auto add = [&](VarId var) {
            const int64_t extent = pool_.extent(var);
            const VarId own = pool_.new_var(extent);
            stage.loops.push_back({own, extent});
            return with[var] = build.index(own);
        };
        StageWrite write;
        write.tensor = new_constant(graph_, channel);
        for (const VarId var : channel) write.index.push_back(add(var));
        for (const VarId var : c_.reduced) add(var);
        write.value = build.make(Op::Abs, {pool_.substitute(weight, with)});
        FusionGroup made;
        made.op = group_.op;
        made.label = group_.label + " largest";
        made.once = true;
        made.writes = {write.tensor};
        stage.writes.push_back(std::move(write));
        made.stages.push_back(std::move(stage));
        find_reads(graph_, made);
        return made;
    }

    // Channels of zeros and those with infinite weights are not scaled.
    ExprId scale_of(ExprId most) {
        Builder& build = pool_.build;
        const auto real = [&](double value) { return build.real(value, Kind::F32); };
        // A smaller one would be subnormal.
        const ExprId some =
            build.make(Op::Less, {real(std::numeric_limits<float>::min() * kLargest), most});
        const ExprId finite =
            build.make(Op::LessEqual, {most, real(std::numeric_limits<float>::max())});
        return build.select(build.make(Op::And, {some, finite}),
                            build.make(Op::Mul, {most, real(1 / kLargest)}),
                            real(1));
    }

    StageGraph& graph_;
    StagePool& pool_;
    FusionGroup& group_;
    Contraction& c_;
};

}  // namespace

int round_weights(StageGraph& graph) {
    return add_before(graph, [&](FusionGroup& group) -> std::optional<FusionGroup> {
        return group.contraction ? Rounding(graph, group).run() : std::nullopt;
    });
}

}  // namespace lemma::loop
