// SPDX-License-Identifier: Apache-2.0
// sonnx/live.h — the nodes on which an output of the graph depends.
#pragma once

#include <vector>

#include "onnx/model.h"

namespace lemma::sonnx {

// One item for each node. A node with a sub-graph counts as dependent on every name in it.
std::vector<bool> live_nodes(const onnx::Graph& graph, const onnx::Model& model);

}  // namespace lemma::sonnx
