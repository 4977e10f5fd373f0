// SPDX-License-Identifier: Apache-2.0
// sonnx/broadcast.h — the implicitly broadcast inputs of a node, and their target shapes. The rules
// report them; `--fix` inserts Expand nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonnx/view.h"

namespace lemma::sonnx {

struct Expansion {
    size_t input = 0;
    Extents from;
    Extents to;
};
struct BroadcastPlan {
    bool applies = false;    // the operator broadcasts
    bool undecided = false;  // a shape is not known
    std::string conflict;    // why the shapes do not fit; empty if they do
    std::vector<Expansion> expansions;
};
BroadcastPlan plan_broadcast(const onnx::Node& node, const View& view);

// The common shape (broadcast C1, as in note 66); empty if there is none.
std::optional<Extents> common_shape(const std::vector<Extents>& shapes);

}  // namespace lemma::sonnx
