// SPDX-License-Identifier: Apache-2.0
// edit/merge.h — two models as one: outputs of the first are inputs of the second. The work of
// `lemma merge`.
#pragma once

#include <string>
#include <vector>

#include "convert/convert.h"
#include "edit/summary.h"

namespace lemma::edit {

struct MergeRequest {
    convert::ConvertRequest files;  // the first model, the output, and how both are handled
    std::string second;
    std::vector<std::string> connect;  // `OUT=IN`; none: equal names, or the one pair that fits
    // Put before names of the model that clash; empty: derived for the second, none for the first.
    std::string first_prefix, second_prefix;
    bool keep_outputs = false;  // connected outputs of the first model stay outputs
};

struct Merged {
    Size first, second, after;
    std::vector<std::string> connections;  // `features → x`
    std::vector<std::string> inputs, outputs;
    int64_t renamed = 0;  // names that got a prefix
};

// `finding` has the status and the problems.
Merged merge_models(const MergeRequest& request, model::Finding& finding);

}  // namespace lemma::edit
