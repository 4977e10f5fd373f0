// SPDX-License-Identifier: Apache-2.0
// onnx/export.h — a program as an ONNX model. Operations of the modules `onnx.…` become nodes of
// the same name. Compounds of other modules become their parts. convert/rewrite.h brings operations
// of other modules to this form first.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "diag/diagnostic.h"
#include "ir/program/program.h"
#include "onnx/model.h"
#include "tensor/tensor.h"

namespace lemma::onnx {

// Older operator sets have other forms of many operators.
inline constexpr int64_t kOldestWritten = 13;

struct ExportOptions {
    int64_t opset = 0;  // 0: the lowest from kOldestWritten on that can express the model
    // The elements of a variable. Without it, variables are inputs of the graph.
    std::function<Result<tensor::Tensor>(const ir::Tensor&)> data;
};

// Empty if the model cannot be written; one run reports all the reasons. An error is a problem with
// the data of a variable.
Result<std::optional<Model>> export_model(const ir::Program& program,
                                          const ExportOptions& options,
                                          Diagnostics& diag);

// Whether the operation becomes one or more nodes, regardless of its parts.
bool is_written_whole(const ir::Operation& operation);

}  // namespace lemma::onnx
