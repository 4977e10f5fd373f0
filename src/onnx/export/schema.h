// SPDX-License-Identifier: Apache-2.0
// onnx/export/schema.h — the operator table (onnx/operators.h), as the exporter queries it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/program/program.h"
#include "onnx/operators.h"

namespace lemma::onnx {

// The ONNX operator of an operator of the library: `onnx.pool.MaxPool` is MaxPool,
// `onnx.indexing.TopK_int` is TopK. Null for helpers of the library.
const Operator* written_operator(std::string_view op);
// The name without the domain, as a node has it.
std::string node_name(std::string_view op);

// The default of an attribute that came after the oldest opset that is written. A node may leave it
// out. Null: the attribute is always written.
const AttributeDefault* find_late_attribute(const Operator& op, std::string_view name);
bool has_default_value(const AttributeDefault& attribute, const ir::Value& value);

// The version of the file format that came with an operator set.
int64_t ir_version_of(int64_t opset);

}  // namespace lemma::onnx
