// SPDX-License-Identifier: Apache-2.0
// certify/expression.h — a formula prepared for evaluation: its expressions as numbered nodes, each
// with the innermost loop that it depends on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program/program.h"
#include "tensor/shape.h"

namespace lemma::certify {

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;

enum class NodeKind : uint8_t {
    Constant,
    Index,       // of a loop
    Load,        // an element of a tensor
    Polynomial,  // of ints
    Compare,     // left <= 0 or left == 0 of polynomials
    Operation,
};

struct NodeTerm {
    int64_t coefficient = 0;
    std::vector<NodeId> factors = {};  // with repetition
};

struct Node {
    NodeKind kind{};
    ir::SymOp op{};
    ir::ScalarType type{};
    // An int or bool that depends on loop indices only: it has a number, not bounds.
    bool concrete = false;
    size_t depth = 0;       // of the innermost loop that it depends on; 0: none
    std::string name = {};  // of a function
    std::vector<NodeId> operands = {};
    std::vector<NodeTerm> terms = {}, right = {};  // Polynomial; Compare: both sides
    bool strict = false;                           // Compare: left < right
    int64_t integer = 0;                           // Constant of int or bool
    double real = 0;                               // Constant of real
    size_t position = 0;                           // Index: loop; Load: access
    NodeId sigmoid = kNoNode;                      // x, if this is 1 / (exp(-x) + 1)
};

struct AccessIndex {
    ir::Guard guard{};
    NodeId value = kNoNode, below = kNoNode, above = kNoNode;
};

// The element of a tensor that a load reads or a write changes.
struct Place {
    ir::TensorId tensor;
    tensor::Shape shape = {};
    std::vector<AccessIndex> indices = {};
    // offset = base + sum of factor * loop index; valid if `affine`.
    bool affine = false;
    int64_t base = 0;
    std::vector<int64_t> factors = {};  // by loop
};

struct Expression {
    ir::FormulaOp op{};
    std::vector<int64_t> extents;  // of the loops, outermost first
    std::vector<Node> nodes;
    std::vector<Place> accesses;
    struct Write {
        Place place;
        NodeId value = kNoNode;
    };
    std::vector<Write> writes;
    NodeId condition = kNoNode;
};

using Shapes = std::map<ir::TensorId, tensor::Shape>;

// All extents must be known; the error says what is not.
Result<Expression> make_expression(const ir::Program& program,
                                   const ir::Formula& formula,
                                   const Shapes& shapes);

}  // namespace lemma::certify
