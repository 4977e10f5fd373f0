// SPDX-License-Identifier: Apache-2.0
// ir/program/splice.h — copies the operations of one program into another, onto existing tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program/program.h"

namespace lemma::ir {

struct Spliced {
    std::vector<OpId> operations;  // copies of the main graph's operations; no graph lists them yet
    std::vector<TensorId> outputs;  // outputs of the main graph, in order
};

// Copies the main graph of `from` onto `inputs`, a tensor for each input port. The symbols in the
// shapes of the ports take the extents of the given tensors. New tensors are called `scope.NAME`.
// Empty if `from` has control flow, variables or packs as ports, or if an expression has no value
// for the given extents; `into` then only gains unused tensors.
std::optional<Spliced> splice(Program& into,
                              const Program& from,
                              const std::vector<TensorId>& inputs,
                              const std::string& scope);

}  // namespace lemma::ir
