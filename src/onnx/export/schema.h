// onnx/export/schema.h — what ONNX says about its operators that the definitions in stdlib/onnx do
// not: the operator set that a form of an operator needs, and its domain.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/program/program.h"

namespace lemma::onnx {

// The operator of ONNX that an operator of the library stands for; empty for helpers of the
// library: `onnx.pool.MaxPool` is MaxPool, `onnx.indexing.TopK_int` is TopK. Those of ONNX Runtime
// keep their domain: `com.microsoft.Attention`.
std::string operator_name(std::string_view op);
// The name without that domain, as a node has it.
std::string node_name(std::string_view op);
// Empty for the default domain.
std::string_view domain_of(std::string_view op);
// The operator set (of its domain) that has the operator in the form that is written.
int64_t since_of(std::string_view op);

// Attributes that operators got later on. With its usual value an attribute need not be written.
struct AttributeRow {
    std::string_view op;
    std::string_view name;
    int64_t since;
    std::string_view usual;  // a number or a text; lists consist of it
};
const AttributeRow* find_attribute_row(std::string_view op, std::string_view name);
bool has_usual_value(const AttributeRow& row, const ir::Value& value);
// Attributes that the library has for itself.
bool is_own_attribute(std::string_view op, std::string_view name);

// The version of the file format that came with an operator set.
int64_t ir_version_of(int64_t opset);

}  // namespace lemma::onnx
