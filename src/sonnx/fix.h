// SPDX-License-Identifier: Apache-2.0
// sonnx/fix.h — rewrites a model to the explicit form of the profile: defaults written out,
// explicit padding, axes from the front, broadcasts as nodes, types for every tensor. The results
// stay the same.
#pragma once

#include <string>
#include <vector>

#include "sonnx/rule.h"
#include "sonnx/view.h"

namespace lemma::sonnx {

struct Change {
    std::string_view rule;  // id of the rule that requires it
    onnx::PathSpan place;   // place in the original model
    std::string message;
};

struct Fixed {
    onnx::Model model;
    std::vector<Change> changes;  // in the order of the model
};

// The model must satisfy the rules of the format.
Fixed make_explicit(const Subject& subject);

}  // namespace lemma::sonnx
