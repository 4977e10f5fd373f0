// SPDX-License-Identifier: Apache-2.0
// ir/program/calls.h — where the front ends meet (design D2). A front end passes its model call by
// call and gets the dtypes and shapes of the results at once. The builder takes shapes and formulas
// from the definitions of the operators (sknd/compose/calls.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program/program.h"

namespace lemma::ir {

struct Call {
    std::string op;                     // `nnef1.conv`, `onnx.Conv`: a library and its operator
    std::string label;                  // path of the call; names the operation in messages
    std::vector<DType> types;           // generic types given explicitly, in order of declaration
    std::vector<Attribute> attributes;  // omitted ones take their defaults
    std::vector<Operand> inputs;        // in order of declaration; may be fewer than declared
    // The names of the results, in order of declaration; the definition names the others. The items
    // of a pack `ys` are `ys.0`, `ys.1`, …
    std::vector<std::string> results;
    Span span;
};

class CallBuilder {
public:
    virtual ~CallBuilder() = default;

    // The program so far: tensors with their dtypes and shapes.
    virtual const Program& program() const = 0;
    virtual SymbolPool& symbols() = 0;
    // Whether the library has the operator.
    virtual bool has_operator(const std::string& op) const = 0;

    // Adds an input, a variable or a constant with a new identity.
    virtual TensorId add_tensor(Tensor tensor) = 0;
    // Returns the outputs in order of declaration. Empty if the call is wrong; the error is
    // reported at `call.span` with the violated rule of the definition.
    virtual std::optional<std::vector<Operand>> call(const Call& call) = 0;

    // Calls between these two belong to a separate graph: the body of a branch or a loop. They may
    // use tensors from outside.
    virtual void begin_graph() = 0;
    virtual GraphId end_graph(Graph graph) = 0;  // its operations are the calls
    // Adds a branch or a loop over such graphs; its tensors already exist.
    virtual OpId add_control(Operation operation) = 0;

    // The program with `graph` as the main graph (its operations are the calls); empty if a call
    // failed. Nothing can be added afterwards.
    virtual std::optional<Program> finish(Graph graph, std::vector<Update> updates) = 0;
};

}  // namespace lemma::ir
