// SPDX-License-Identifier: Apache-2.0
// model/checked_model.h — what a check finds out about a model besides its faults: trees, types and
// programs, for tools that describe a text while it is written. Parts that were not reached are
// missing. Views point into the sources of the finding, which must outlive it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/nnef1/model.h"
#include "model/sknd/model.h"

namespace lemma::model {

struct CheckedModel {
    // SkriptND
    std::optional<SkndModel> sknd;
    std::vector<ir::Program> programs;  // of the graphs that no other one invokes
    // NNEF 1.0
    std::unique_ptr<Nnef1Model> nnef1;
    nnef1::Imported imported;
};

}  // namespace lemma::model
