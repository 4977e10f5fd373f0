// SPDX-License-Identifier: Apache-2.0
// emit/obstacle.h — what keeps a model from becoming C.
#pragma once

#include <string>
#include <vector>

#include "diag/diagnostic.h"
#include "ir/program/program.h"

namespace lemma::emit {

struct Obstacle {
    ir::OpId op;  // missing: the model as a whole
    std::string why;
};

// Reports all of them as one error: it names each operation in the way, and the place of the first.
void report_obstacles(const ir::Program& program,
                      const std::vector<Obstacle>& obstacles,
                      Diagnostics& diag);

}  // namespace lemma::emit
