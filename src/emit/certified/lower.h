// SPDX-License-Identifier: Apache-2.0
// emit/certified/lower.h — a program as the certified form sees it: stages of strict numerics for
// each operation, in execution order, and copies, loops and branches around them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "emit/obstacle.h"
#include "ir/program/accumulate.h"
#include "ir/program/program.h"
#include "loop/passes/graph.h"

namespace lemma::emit {

struct Step;
using Steps = std::vector<Step>;

// The stages of an operation: a group of the graph.
struct GroupStep {
    size_t group = 0;
};
// Row-major, element by element; both have the same shape and type.
struct CopyStep {
    ir::TensorId from, to;
};
// A call of a function of the support library.
struct IntrinsicStep {
    ir::OpId op;
};
struct LoopStep {
    ir::OpId op;
    int64_t count = 0;
    bool must_end = false;       // a condition ends it before the count
    ir::TensorId dynamic_count;  // may be missing
    ir::TensorId index;          // may be missing
    // Before the loop; in each iteration, from item number i of the pack; after each iteration, in
    // order; and item number i of the pack, after each iteration.
    std::vector<CopyStep> before, after_body;
    struct Item {
        std::vector<ir::TensorId> pack;
        ir::TensorId item;
    };
    std::vector<Item> taken, collected;
    std::vector<CopyStep> after;
    Steps pre, body, post;
    ir::TensorId pre_value, post_value;  // may be missing
};
struct BranchStep {
    ir::OpId op;
    struct Arm {
        Steps condition;
        ir::TensorId value;  // missing: the alternative
        Steps body;
        std::vector<CopyStep> results;
    };
    std::vector<Arm> arms;
};
struct Step {
    std::variant<GroupStep, CopyStep, IntrinsicStep, LoopStep, BranchStep> kind;
};

struct LoweredProgram {
    loop::StageGraph graph;  // its groups are in no particular order
    Steps steps;
    Steps updates;  // of the variables, after a run
    // Outputs that are constants or variables: the tensor with their copy.
    std::unordered_map<ir::TensorId, ir::TensorId, IdHash> outputs;
};

// Each operation that the certified form cannot express becomes an obstacle.
std::unique_ptr<LoweredProgram> lower(const ir::Program& program,
                                      ir::Accumulate accumulate,
                                      std::vector<Obstacle>& obstacles);

}  // namespace lemma::emit
