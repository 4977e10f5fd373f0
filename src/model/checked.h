// SPDX-License-Identifier: Apache-2.0
// model/checked.h — the whole work of `lemma check` for one model.
#pragma once

#include <string>

#include "model/find_model.h"
#include "model/finding.h"
#include "model/options.h"

namespace lemma::model {

struct CheckedModel;

struct CheckLimits {
    size_t max_errors = Diagnostics::kDefaultMaxErrors;  // 0: no limit
    bool werror = false;                                 // warnings are errors
};

// The diagnostics in the order of their places, and the status.
Finding checked(const std::string& model, const LoadOptions& options, const CheckLimits& limits);
// The same for a model that was found.
Finding checked(const ModelFile& file, const LoadOptions& options, const CheckLimits& limits);

// The same; the trees, types and programs stay in `kept`.
Finding checked(const ModelFile& file,
                const LoadOptions& options,
                const CheckLimits& limits,
                CheckedModel& kept);

}  // namespace lemma::model
