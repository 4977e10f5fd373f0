// onnx/export.h — a program as an ONNX model. Operations of the modules `onnx.…` become the nodes
// that they are named after, compounds of other modules their parts; whoever wants operations of
// other modules written brings them to this form first (convert/onnx/rewrite.h).
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
    int64_t opset = 0;  // 0: the lowest that says all that the model needs, from kOldestWritten
    // The elements of a variable. Without it, variables are inputs of the graph.
    std::function<Result<tensor::Tensor>(const ir::Tensor&)> data;
};

// Empty when the model cannot be written, which is reported, all of it in one run; an error is
// trouble with the data of a variable.
Result<std::optional<Model>> export_model(const ir::Program& program,
                                          const ExportOptions& options,
                                          Diagnostics& diag);

// Whether the operation is written as a node, or as nodes, whatever its parts are.
bool is_written_whole(const ir::Operation& operation);

}  // namespace lemma::onnx
