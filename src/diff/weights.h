// SPDX-License-Identifier: Apache-2.0
// diff/weights.h — the data of variables and constants: hashes for matching, and the amount of
// change between two of them.
#pragma once

#include <optional>
#include <string>

#include "diff/hash.h"
#include "diff/side.h"

namespace lemma::diff {

struct WeightMode {
    bool ignore = false;
    double tolerance = 0;  // in parts of the largest magnitude of the weight
};

struct WeightChange {
    enum class Data { Both, OnlyA, OnlyB } data = Data::Both;
    int64_t changed = 0;  // elements beyond the tolerance
    int64_t elements = 0;
    double max_abs = 0;
    double max_rel = 0;  // the largest |a - b| / max(|a|, |b|)
    std::string where;   // of max_abs: `[1, 2]`
    std::string before, after;
};

// The values of variables and constants of one model. `squeezed`: axes of extent 1 do not count.
class Weights {
public:
    Weights(const Side& side, bool squeezed) : side_(side), squeezed_(squeezed) {}

    static bool is_weight(const ir::Tensor& tensor) {
        return tensor.role == ir::TensorRole::Variable || tensor.role == ir::TensorRole::Constant;
    }
    Hash content(ir::TensorId id);
    // Nothing if the model has no data for it.
    Result<std::optional<tensor::Tensor>> values(ir::TensorId id) const;
    bool has_data() const { return static_cast<bool>(side_.data); }
    // Why the data could not be read, if it could not.
    const std::optional<Error>& trouble() const { return trouble_; }

private:
    Hash computed(ir::TensorId id);

    const Side& side_;
    bool squeezed_;
    std::optional<Error> trouble_;
    Table<ir::TensorId, std::optional<Hash>> contents_;
};

// Of weights of the same dtype and number of elements; nothing if they agree.
std::optional<WeightChange> compare_values(const tensor::Tensor& a,
                                           const tensor::Tensor& b,
                                           double tolerance);

}  // namespace lemma::diff
