// SPDX-License-Identifier: Apache-2.0
// emit/certified/certified.h — the certified form of a model: C99 with one function per operation,
// arrays at file scope, literal extents, and ACSL contracts that are derived from the formulas.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emit/c_text.h"
#include "emit/certified/stage_code.h"
#include "emit/obstacle.h"
#include "interpret/array.h"
#include "ir/program/accumulate.h"

namespace lemma::emit {

struct CertifiedInput {
    const ir::Program& program;
    // The value of a variable; null if it has none.
    std::function<const interpret::Array*(const ir::Tensor&)> variable;
    ir::Accumulate accumulate = ir::Accumulate::F64;
    std::string name = "model";  // the prefix of files and functions
    std::string origin;          // for comments: tool and model
};

// A function of the model, with what a proof of it needs besides sx.h.
struct CertifiedFunction {
    CFunction code;
    ir::OpId op;                            // may be missing
    std::vector<std::string> declarations;  // of the arrays that it uses: `static float t_x[4];`
};

struct CertifiedModel {
    std::vector<CFile> files;
    std::vector<CertifiedFunction> functions;  // in the order of their definition
    // Operations whose contract does not say what they compute.
    std::vector<ir::OpId> unspecified;
};

// Empty if there are obstacles. The same model gives the same bytes.
std::optional<CertifiedModel> write_certified(const CertifiedInput& input,
                                              std::vector<Obstacle>& obstacles);

}  // namespace lemma::emit
