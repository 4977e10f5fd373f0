// SPDX-License-Identifier: Apache-2.0
// sonnx/parameters.h — a hash of the parameters of a model, which its metadata can state. It does
// not depend on how the file stores them.
#pragma once

#include <optional>
#include <string>

#include "onnx/model.h"

namespace lemma::sonnx {

// SHA-256 over the initialisers in the order of the graph: for each one a line
// `NAME TYPE SHAPE`, then its elements as little-endian bytes. Empty if one cannot be read.
std::optional<std::string> parameters_hash(const onnx::Graph& graph);

}  // namespace lemma::sonnx
