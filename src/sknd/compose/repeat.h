// SPDX-License-Identifier: Apache-2.0
// sknd/compose/repeat.h — what later calls reuse of an earlier one.
#pragma once

#include <cstdint>
#include <vector>

#include "sknd/compose/frame.h"

namespace lemma::sknd {

// The tensors of a call by number: inputs, constants, variables and outputs in the order of their
// declarations, each tensor once.
struct CallTensors {
    std::vector<ir::TensorId> ids;
    // What formulas can depend on besides the names of the call: types, shapes of new tensors, and
    // which tensors are the same.
    std::vector<uint32_t> signature;
};

struct KnownCall {
    struct Shapes {
        const ParamDecl* decl;
        std::vector<std::vector<ir::SymId>> shapes;  // of the tensors of a pack, or of one tensor
        size_t work;
    };
    struct Formulas {
        std::vector<uint32_t> signature;
        std::vector<ir::Formula> formulas;  // over the numbers of tensors
        size_t work;
    };

    Frame::Values values;  // of its names
    std::vector<ir::Assertion> assertions;
    size_t work;
    std::vector<Shapes> shapes;      // of the tensors that it declares
    std::vector<Formulas> formulas;  // by signature; few calls have several
};

}  // namespace lemma::sknd
