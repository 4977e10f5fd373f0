// sonnx/fix.h — a model in the explicit form that the profile wants: defaults written out, padding
// explicit, axes from the front, broadcasts as nodes, types for every tensor. It computes the same.
#pragma once

#include <string>
#include <vector>

#include "sonnx/rule.h"
#include "sonnx/view.h"

namespace lemma::sonnx {

struct Change {
    std::string_view rule;  // the id of the rule that asks for it
    onnx::Place place;      // in the model as it was
    std::string message;
};

struct Fixed {
    onnx::Model model;
    std::vector<Change> changes;  // in the order of the model
};

// The model passed the rules of the format.
Fixed make_explicit(const Subject& subject);

}  // namespace lemma::sonnx
