// SPDX-License-Identifier: Apache-2.0
// ir/program/program.h — a composed model: tensors with symbolic shapes, operations with formulas,
// and the graphs that order them (design D3). Operations keep the hierarchy of compound calls.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/store.h"
#include "diag/span.h"
#include "ir/program/formula.h"
#include "ir/program/value.h"
#include "tensor/dtype.h"

namespace lemma::ir {

using tensor::DType;

struct OpId : Id<OpId> {};
struct GraphId : Id<GraphId> {};

struct Attribute {
    std::string name;
    Value value;
};

enum class TensorRole : uint8_t { Input, Constant, Variable, Intermediate };

struct Quantizer {
    std::string op;
    std::vector<Attribute> attributes;
};

struct Tensor {
    std::string name;  // scoped by labels: `first.w`; unique in a program
    DType dtype{};
    std::vector<SymId> shape;
    TensorRole role = TensorRole::Intermediate;
    SymId identity;  // compared by `x is y`
    // Constants: one item for all elements, or each element in row-major order.
    std::vector<Scalar> items;
    std::optional<Quantizer> quantizer;
};

// One input or output of an operation: nothing, a tensor, or a pack of tensors.
struct Operand {
    bool packed = false;
    std::vector<TensorId> items;  // a single tensor: one item; null: none and not packed
    SymId length;                 // runtime length of a pack; `items` has the upper bound

    bool null() const { return !packed && items.empty(); }
    static Operand single(TensorId id) { return {false, {id}, {}}; }
};
struct Port {
    std::string name;
    Operand operand;
};

// A condition that is undecided at compile time; checked when the shapes are known.
struct Assertion {
    SymId condition;
    std::string message;
};

// The arms are tried in order; the chosen one yields the outputs of the operation.
struct Branch {
    struct Arm {
        GraphId condition;  // one bool tensor
        GraphId consequent;
    };
    std::vector<Arm> arms;
    GraphId alternative;
};
// The inputs of the operation are the count, if it is a tensor, the initial values of the carried
// tensors, and the scanned packs. The body yields the carried values, then one tensor for each scan
// output. The operation yields the same, with a pack for each scan output.
struct Loop {
    std::vector<TensorId> carried;  // inside the body
    std::vector<TensorId> items;    // items of the scanned packs, inside the body
    TensorId index;                 // may be missing
    SymId static_count;             // the count, or the upper bound of a dynamic one
    TensorId dynamic_count;         // may be missing
    GraphId pre_condition;          // may be missing
    GraphId body;
    GraphId post_condition;  // may be missing

    // The position of an initial value among the inputs of the operation.
    size_t initial_input(size_t carried_index) const {
        return (dynamic_count.valid() ? 1 : 0) + carried_index;
    }
    size_t pack_input(size_t item_index) const {
        return initial_input(carried.size() + item_index);
    }
};

// The kind of an operation decides which of its fields count.
enum class OperationKind : uint8_t {
    Primitive,  // its formulas write its outputs; without formulas they keep their initial values
    Compound,   // its parts make its outputs, or its outputs are existing tensors
    Intrinsic,  // a function makes its outputs, because no formula can express it
    Control,    // a branch or a loop makes its outputs
};

struct Operation {
    OperationKind kind = OperationKind::Primitive;
    std::string op;  // `nn.conv`; `if` and `loop` for control flow; `constant` for index formulas
    std::string label;  // path of labels
    std::vector<std::pair<std::string, DType>> dtypes;
    std::vector<Attribute> attributes;
    std::vector<Port> inputs;
    std::vector<Port> outputs;
    std::vector<Formula> formulas;  // of a primitive
    std::vector<OpId> parts;  // parts of a compound, in order; none if it only passes tensors on
    std::vector<Assertion> assertions;
    std::variant<std::monostate, Branch, Loop> control;
    Span span;  // the call in the user's source

    bool compound() const { return kind == OperationKind::Compound; }
};

struct Graph {
    std::string name;
    std::vector<Port> inputs;
    std::vector<Port> outputs;
    std::vector<OpId> operations;  // in execution order
};

// After a run of the main graph, the variable takes the value of the other tensor.
struct Update {
    TensorId variable;
    TensorId value;
};

struct Program {
    std::string name;
    SymbolPool symbols;
    Store<TensorId, Tensor> tensors;
    Store<OpId, Operation> operations;
    Store<GraphId, Graph> graphs;
    GraphId main;
    std::vector<Update> updates;
    std::vector<Assertion> assertions;  // on the inputs of the main graph
};

}  // namespace lemma::ir
