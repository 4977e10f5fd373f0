// SPDX-License-Identifier: Apache-2.0
// interpret/intrinsic.h — the operators that no formula expresses (design D1): a SkriptND signature
// in stdlib/ and one C++ function each, found by name.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "interpret/array.h"
#include "ir/program/program.h"

namespace lemma::interpret {

// One call at run time. Inputs and outputs are in the order of the operator's declaration.
class IntrinsicCall {
public:
    IntrinsicCall(const ir::Operation& op, uint64_t seed) : op_(op), seed_(seed) {}

    struct Output {
        tensor::DType dtype{};
        tensor::Shape shape;  // as declared; a runtime extent has its upper bound
        Array array;          // set by the intrinsic; its shape is final
    };
    std::vector<std::vector<ArrayRef>> inputs;  // none: null, several: a pack
    std::vector<Output> outputs;

    const Array& input(size_t index) const { return *inputs[index][0]; }
    bool has_input(size_t index) const { return !inputs[index].empty(); }
    // Attributes by name; they exist and have the declared type.
    int64_t integer(std::string_view name) const;
    double real(std::string_view name) const;
    bool boolean(std::string_view name) const;
    std::string text(std::string_view name) const;
    std::vector<int64_t> integers(std::string_view name) const;
    std::vector<double> reals(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;
    // Whether the attribute has a value; `optional` ones may have none.
    bool has(std::string_view name) const;
    // The seed of this call in this run, for random numbers.
    uint64_t seed() const { return seed_; }
    // Substitutes extents that are known now for symbols.
    std::function<ir::Scalar(const ir::Scalar&)> settle;

private:
    const ir::Value* find(std::string_view name) const;
    std::vector<ir::Scalar> items(std::string_view name) const;

    const ir::Operation& op_;
    uint64_t seed_;
};

using Intrinsic = Result<void> (*)(IntrinsicCall&);

// By full operator name, `algo.top_k`; null if there is none.
Intrinsic find_intrinsic(std::string_view name);

// ---- One per operator ---------------------------------------------------------------------------

Result<void> top_k(IntrinsicCall& call);
Result<void> nonmax_suppress(IntrinsicCall& call);
Result<void> nonzero(IntrinsicCall& call);
Result<void> cubic_resize(IntrinsicCall& call);
Result<void> max_roi_pool(IntrinsicCall& call);
Result<void> avg_roi_pool(IntrinsicCall& call);
Result<void> roi_align(IntrinsicCall& call);
Result<void> random_uniform(IntrinsicCall& call);
Result<void> random_normal(IntrinsicCall& call);
Result<void> random_bernoulli(IntrinsicCall& call);
Result<void> bit_cast(IntrinsicCall& call);
Result<void> string_normalizer(IntrinsicCall& call);

}  // namespace lemma::interpret
