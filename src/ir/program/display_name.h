// SPDX-License-Identifier: Apache-2.0
// ir/program/display_name.h — the name of an operator for readers. Tables, drawings and messages
// use it; documents for programs keep the full name.
#pragma once

#include <string>
#include <string_view>

namespace lemma::ir {

// The name in the model's own format: `Relu` for `onnx.activation.Relu`, `TopK` for
// `onnx.indexing.TopK_int`, `com.microsoft.QGemm` for `onnx.com.microsoft.quantized.QGemm`, `conv`
// for `nnef1.filter.conv`. Operators of SkriptND and helpers of the library keep their full name.
std::string display_name(std::string_view op);

}  // namespace lemma::ir
