// SPDX-License-Identifier: Apache-2.0
// diff/compare.h — the differences of two models: what was changed, added and removed, up to the
// names of operations and tensors and up to their order.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diff/graph.h"
#include "diff/match.h"
#include "diff/weights.h"

namespace lemma::diff {

struct CompareOptions {
    Level level = Level::Auto;
    WeightMode weights;
};

enum class What { Operator, Attribute, Dtype, Shape, Weight, Input, Definition, Quantizer };
const char* what_text(What what);

struct Change {
    size_t a = kNone, b = kNone;  // nodes; kNone for an input or output of the model
    What what{};
    std::string name;  // of the attribute, port or tensor
    std::string before, after;
    std::optional<WeightChange> amount;  // of weights
};
struct Rename {
    const char* role;  // `operation`, `input`, `output`, `weight`
    std::string before, after;
};
struct TensorPair {
    ir::TensorId a, b;
};

struct Comparison {
    Level level{};  // never Auto
    Graph a, b;
    std::vector<std::pair<size_t, size_t>> pairs;   // nodes, in the order of A
    std::vector<std::pair<size_t, size_t>> inputs;  // of the models
    std::vector<size_t> only_a, only_b;
    std::vector<Change> changes;                        // in the order of A
    std::vector<std::string> terminals_a, terminals_b;  // inputs and outputs of one model alone
    std::vector<Rename> renames;
    std::vector<size_t> moved;         // positions in `pairs`
    bool terminals_moved = false;      // inputs or outputs of the models
    std::vector<std::string> remarks;  // what was not compared
    std::vector<TensorPair> tensors;   // results and inputs of partners, for numbers

    bool equal() const {
        return changes.empty() && only_a.empty() && only_b.empty() && terminals_a.empty() &&
               terminals_b.empty();
    }
};

// An error concerns the data of a model. Level::Formula adds expressions to the programs, which
// must outlive the comparison.
Result<Comparison> compare(Side& a, Side& b, const CompareOptions& options);

}  // namespace lemma::diff
