// SPDX-License-Identifier: Apache-2.0
// loop/passes/quantised/padded.h — copies of quantised tensors with their zero point around them,
// for windows that reach over the edge.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "loop/passes/quantised/factor.h"

namespace lemma::loop {

class Paddings {
public:
    explicit Paddings(StageGraph& graph)
        : graph_(graph), pool_(graph.pool), build_(graph.pool.build) {}

    struct Padded {
        ExprId read;                       // of the copy; inside it in every step
        std::optional<FusionGroup> group;  // that makes the copy, unless there is one already
    };
    // Nothing if a guard of the stage is not about the factor's tensor.
    std::optional<Padded> find(const Stage& stage, const QuantisedFactor& factor);
    // The group that makes this copy is not used.
    void forget(ir::TensorId copy);

private:
    FusionGroup copy(ir::TensorId from,
                     ir::TensorId to,
                     ExprId zero,
                     const std::vector<int64_t>& below);
    Stage assign(ir::TensorId to, const tensor::Shape& part);

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    // By the tensor, the zero point and the widths of the borders.
    using Key = std::tuple<uint32_t, uint32_t, std::vector<int64_t>, std::vector<int64_t>>;
    std::map<Key, ir::TensorId> known_;
};

}  // namespace lemma::loop
