// SPDX-License-Identifier: Apache-2.0
// lsp/features/facts.h — what the analysis of a text knows about a name or a call: types, dtypes
// and shapes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lsp/features/feature.h"

namespace lemma::lsp {

// The types of the tensors of one graph, such as `f32[1,64,n]`.
class TensorTypes {
public:
    TensorTypes(const Analysis& analysis, std::string_view graph);
    std::optional<std::string> find(std::string_view tensor) const;

private:
    const ir::Program* program_ = nullptr;  // null: the graph has none
    std::unordered_map<std::string_view, ir::Operand> operands_;
};
// The type of the expression at this place: `real tensor of rank 2`.
std::optional<std::string> expression_type(const Analysis& analysis, TextSpan place);

// The operation of the call that contains this place.
struct CallFacts {
    std::string op;
    std::vector<std::pair<std::string, std::string>> types;       // `T`, `f32`
    std::vector<std::pair<std::string, std::string>> attributes;  // with their values
    std::vector<std::pair<std::string, std::string>> inputs;      // with their types
    std::vector<std::pair<std::string, std::string>> outputs;
};
std::optional<CallFacts> call_facts(const Analysis& analysis, uint32_t offset);

}  // namespace lemma::lsp
