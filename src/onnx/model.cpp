// SPDX-License-Identifier: Apache-2.0
#include "onnx/model.h"

#include <algorithm>

namespace lemma::onnx {

std::string_view attribute_type_text(AttributeType type) {
    switch (type) {
        case AttributeType::Undefined:
            return "nothing";
        case AttributeType::Float:
            return "a float";
        case AttributeType::Int:
            return "an int";
        case AttributeType::String:
            return "a string";
        case AttributeType::Tensor:
            return "a tensor";
        case AttributeType::Graph:
            return "a graph";
        case AttributeType::Floats:
            return "a list of floats";
        case AttributeType::Ints:
            return "a list of ints";
        case AttributeType::Strings:
            return "a list of strings";
        case AttributeType::Tensors:
            return "a list of tensors";
        case AttributeType::Graphs:
            return "a list of graphs";
        case AttributeType::SparseTensor:
            return "a sparse tensor";
        case AttributeType::SparseTensors:
            return "a list of sparse tensors";
        case AttributeType::Type:
            return "a type";
        case AttributeType::Types:
            return "a list of types";
    }
    return "";
}

bool is_default_domain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

const Attribute* find_attribute(const Node& node, std::string_view name) {
    const auto found = std::ranges::find(node.attributes, name, &Attribute::name);
    return found == node.attributes.end() ? nullptr : &*found;
}

}  // namespace lemma::onnx
