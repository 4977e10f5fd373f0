// SPDX-License-Identifier: Apache-2.0
// view/statistics.h — a tensor for readers: range, mean, histogram and a slice (docs/view-json.md,
// TENSOR).
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "interpret/array.h"
#include "tensor/tensor.h"
#include "view/tree.h"

namespace lemma::view {

// The two axes that a slice shows, and the positions along the others.
struct SliceWish {
    std::optional<size_t> axis;  // of the columns; the rows are the axis before it
    std::vector<int64_t> index;  // a position for each axis; those of the two axes do not count
};

// Without `slice` there are statistics alone.
Json tensor_json(const tensor::Tensor& tensor, const SliceWish* slice);
Json tensor_json(const interpret::Array& array, const SliceWish* slice);

}  // namespace lemma::view
