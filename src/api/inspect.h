// api/inspect.h — the inspection part of the public headers, for a composed model.
#pragma once

#include <lemma/lemma.hpp>
#include <vector>

#include "ir/program/program.h"

namespace lemma::api {

// The items of packs are separate tensors.
struct Inspection {
    std::vector<TensorInfo> inputs;
    std::vector<TensorInfo> outputs;
    std::vector<TensorInfo> variables;
    std::vector<Operation> operations;  // operations of the main graph
};
Inspection inspect(const ir::Program& program);

}  // namespace lemma::api
