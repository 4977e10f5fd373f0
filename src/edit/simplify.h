// SPDX-License-Identifier: Apache-2.0
// edit/simplify.h — a model with less to compute and the same results: the work of `lemma
// simplify`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convert/convert.h"
#include "edit/fold.h"
#include "edit/summary.h"

namespace lemma::edit {

struct SimplifyRequest {
    convert::ConvertRequest files;  // the model, the output, and how both are handled
    std::vector<std::string> set;   // `x=1,3,?,?`: extents of inputs; `?` stays as it is
    bool fold_batch_norm = false;
    FoldLimits limits;
    int64_t verify_runs = 2;  // 0: the result is not run
};

struct Simplified {
    Size before, after;
    int64_t folded = 0;                // constant operations that are computed
    int64_t left = 0;                  // constant operations beyond the limits
    int64_t removed = 0;               // operations that copied a tensor, or that nothing reads
    int64_t batch_norms = 0;           // that are folded
    std::optional<double> difference;  // the largest, if the result was run
    std::vector<std::string> inputs, outputs;
};

// `finding` has the status and the problems.
Simplified simplify_model(const SimplifyRequest& request, model::Finding& finding);

}  // namespace lemma::edit
