// api/inspect.h — what a composed model says about itself, for the public headers.
#pragma once

#include <lemma/lemma.hpp>
#include <vector>

#include "ir/program/program.h"

namespace lemma::api {

// Packs item by item.
struct Inspection {
    std::vector<TensorInfo> inputs;
    std::vector<TensorInfo> outputs;
    std::vector<TensorInfo> variables;
    std::vector<Operation> operations;  // of the main graph
};
Inspection inspect(const ir::Program& program);

}  // namespace lemma::api
