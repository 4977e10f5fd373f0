// SPDX-License-Identifier: Apache-2.0
// api/inspect.h — the declarations of a composed model, as the public header returns them.
#pragma once

#include <lemma/lemma.h>

#include <deque>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "tensor/shape.h"

namespace lemma::api {

// A declaration and its texts; the group never moves them.
struct TensorDeclaration {
    std::string name;
    tensor::Shape shape, bounds;
    std::vector<std::string> extents;
    std::vector<const char*> extent_texts;
    ir::TensorId tensor;
    lemma_tensor_info view = {};
};
using Declarations = std::deque<TensorDeclaration>;

struct OperationName {
    std::string op, label;
};

// The items of packs are separate tensors.
struct Inspection {
    Declarations inputs, outputs, variables;
    std::vector<OperationName> operations;  // operations of the main graph

    // By an enum lemma_group; null if there is no such group.
    const Declarations* group(int which) const;
};
Inspection inspect(const ir::Program& program);

}  // namespace lemma::api
