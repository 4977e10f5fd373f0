// sonnx/reference/node.h — the operators with a reference; each writes the C code of one node.
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

// The C code, or why there is none.
using NodeResult = std::expected<NodeCode, std::string>;

NodeResult conv_code(const NodeContext& context);
NodeResult concat_code(const NodeContext& context);
NodeResult expand_code(const NodeContext& context);
NodeResult arithmetic_code(const NodeContext& context);  // Add, Sub, Mul, Div

// A value as double, the type of all arithmetic: `(double)t_x[n]`.
std::string as_double(const CTensor& tensor, const std::string& value);
// Converts double to the type of the tensor; `suffix` is "" in C and "_of" in contracts.
std::string rounded(const CTensor& tensor, const std::string& value, std::string_view suffix);

// Checks that extents are at least one and that an int can count the elements; returns the problem.
std::optional<std::string> extents_problem(const Extents& extents);

}  // namespace lemma::sonnx::reference
