// SPDX-License-Identifier: Apache-2.0
// sonnx/documents.h — what the working group's document of an operator says about types, shapes and
// versions. Operators without a row have no document yet.
#pragma once

#include <cstdint>
#include <string_view>

#include "onnx/model.h"

namespace lemma::sonnx {

enum class ResultShape : uint8_t {
    Other,
    First,   // that of the first input
    Common,  // the common shape of all inputs
};
enum class ResultType : uint8_t { Same, Bool, Int64 };

struct OperatorDocument {
    std::string_view op;
    int64_t version;         // version of the operator that the text names; 0: none
    int64_t since;           // first operator set with the inputs and the meaning of the text
    std::string_view types;  // "float int uint", see has_type; empty: every type of the profile
    ResultShape shape = ResultShape::Other;
    ResultType type = ResultType::Same;
    size_t typed_input = 0;  // the input that has the type
};
// Null if the operator has no document.
const OperatorDocument* find_document(std::string_view op);
// Whether the document allows elements of this type of ONNX.
bool has_type(const OperatorDocument& document, int64_t elem_type);

}  // namespace lemma::sonnx
