// ir/program/splice.h — copies the operations of one program into another, on tensors that are
// there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program/program.h"

namespace lemma::ir {

struct Spliced {
    std::vector<OpId> operations;   // copies of those of the main graph; no graph lists them yet
    std::vector<TensorId> outputs;  // of the main graph, in order
};

// The main graph of `from` on `inputs`, a tensor for each of its input ports. The symbols in the
// shapes of those ports stand for the extents of the given tensors. Each new tensor is called
// `scope.NAME`. Empty, and `into` is as it was but for unused tensors, when `from` has control
// flow, variables or packs as ports, or when an expression has no value on the given extents.
std::optional<Spliced> splice(Program& into,
                              const Program& from,
                              const std::vector<TensorId>& inputs,
                              const std::string& scope);

}  // namespace lemma::ir
