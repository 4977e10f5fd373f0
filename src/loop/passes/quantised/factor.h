// SPDX-License-Identifier: Apache-2.0
// loop/passes/quantised/factor.h — finds the quantised bytes in a value.
#pragma once

#include <optional>

#include "loop/passes/graph.h"

namespace lemma::loop {

// The value (read - zero) * scale.
struct QuantisedFactor {
    ExprId read;   // an element of a tensor of bytes
    ExprId zero;   // an int; missing: 0
    ExprId scale;  // a float; missing: 1
};

class FactorFinder {
public:
    explicit FactorFinder(StageGraph& graph);

    // `summed`: variables that neither the scale nor the zero point may depend on. Elements of maps
    // are replaced by what the maps compute.
    std::optional<QuantisedFactor> find(ExprId value, const std::vector<VarId>& summed);

    // The factors of a product, which may be multiplied out.
    struct Product {
        QuantisedFactor a, b;
    };
    std::optional<Product> find_product(ExprId value, const std::vector<VarId>& summed);

private:
    bool add_term(ExprId term, std::vector<ExprId>& elements, ExprId& factor);
    std::optional<Product> multiplied_out(ExprId value);
    std::optional<QuantisedFactor> find_in(ExprId value, int depth);
    std::optional<QuantisedFactor> of_read(const Expr& e, int depth);
    std::optional<QuantisedFactor> of_product(const Expr& e, int depth);
    std::optional<QuantisedFactor> of_difference(ExprId from, ExprId zero, int depth);
    ExprId as_int(ExprId value);
    ExprId negated(ExprId value);
    bool is_free(ExprId value) const { return !pool_.depends_on_any(value, *summed_); }

    StageGraph& graph_;
    StagePool& pool_;
    Builder& build_;
    std::unordered_map<ir::TensorId, const Stage*, IdHash> maps_;  // that make tensors
    const std::vector<VarId>* summed_ = nullptr;
};

}  // namespace lemma::loop
