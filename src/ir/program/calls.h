// ir/program/calls.h — where the front ends meet (design D2). A front end tells its model call by
// call, and learns the dtypes and shapes of the results at once; who builds the program gives each
// call its shape and its formula from the definition of the operator (sknd/compose/calls.h).
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
    std::vector<Attribute> attributes;  // those left out take their defaults
    std::vector<Operand> inputs;        // in order of declaration; may be fewer than declared
    // What the results are called, in order of declaration; those without a name are named by the
    // definition. A pack `ys` has the items `ys.0`, `ys.1`, …
    std::vector<std::string> results;
    Span span;
};

class CallBuilder {
public:
    virtual ~CallBuilder() = default;

    // What was built so far: tensors with their dtypes and shapes.
    virtual const Program& program() const = 0;
    virtual SymbolPool& symbols() = 0;
    // Whether the library has the operator.
    virtual bool has_operator(const std::string& op) const = 0;

    // An input, a variable or a constant; it gets an identity of its own.
    virtual TensorId add_tensor(Tensor tensor) = 0;
    // The outputs in order of declaration. Empty when the call is wrong, which is reported then at
    // `call.span`, with the rule of the definition that it breaks.
    virtual std::optional<std::vector<Operand>> call(const Call& call) = 0;

    // Calls between the two go into a graph of their own: the body of a branch or a loop. They may
    // use tensors from outside.
    virtual void begin_graph() = 0;
    virtual GraphId end_graph(Graph graph) = 0;  // takes its operations from the calls
    // A branch or a loop over such graphs; its tensors were added before.
    virtual OpId add_control(Operation operation) = 0;

    // The program with `graph` as the main one (its operations are the calls); empty when a call
    // failed. Nothing can be added afterwards.
    virtual std::optional<Program> finish(Graph graph, std::vector<Update> updates) = 0;
};

}  // namespace lemma::ir
