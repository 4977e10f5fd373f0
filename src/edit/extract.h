// SPDX-License-Identifier: Apache-2.0
// edit/extract.h — a part of a model as a model of its own: the work of `lemma extract`.
#pragma once

#include <string>
#include <vector>

#include "convert/convert.h"
#include "edit/summary.h"

namespace lemma::edit {

struct ExtractRequest {
    convert::ConvertRequest files;  // the model, the output, and how both are read and written
    std::vector<std::string> from;  // tensors or operations; none: the inputs of the model
    std::vector<std::string> to;    // none: its outputs
    bool add_inputs = false;        // adds inputs of the model that `from` misses
};

struct Extracted {
    Size before, after;
    std::vector<std::string> inputs, outputs;  // `x: f32[1,3]`
};

// `finding` has the status and the problems.
Extracted extract_model(const ExtractRequest& request, model::Finding& finding);

}  // namespace lemma::edit
