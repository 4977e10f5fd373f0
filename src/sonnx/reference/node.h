// sonnx/reference/node.h — the operators that have a reference: each writes the C of one node.
#pragma once

#include <expected>
#include <string>

#include "sonnx/reference/nest.h"
#include "sonnx/view.h"

namespace lemma::sonnx::reference {

struct NodeContext {
    const onnx::Node& node;
    const View& view;
    const CTensors& tensors;
    std::string id;  // `n0`

    const CTensor& input(size_t index) const { return tensors.at(node.inputs[index]); }
    const CTensor& output() const { return tensors.at(node.outputs[0]); }
};

// The C, or why there is none.
using NodeResult = std::expected<NodeCode, std::string>;

NodeResult conv_code(const NodeContext& context);
NodeResult concat_code(const NodeContext& context);
NodeResult expand_code(const NodeContext& context);
NodeResult arithmetic_code(const NodeContext& context);  // Add, Sub, Mul, Div

// A value as double, in which all arithmetic is done: `(double)t_x[n]`.
std::string as_double(const CTensor& tensor, const std::string& value);
// From double to the type of the tensor; `suffix` is "" in C and "_of" in contracts.
std::string rounded(const CTensor& tensor, const std::string& value, std::string_view suffix);

// Every extent one or more, and no more elements than an int counts; else why not.
std::optional<std::string> extents_problem(const Extents& extents);

}  // namespace lemma::sonnx::reference
