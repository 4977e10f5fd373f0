// SPDX-License-Identifier: Apache-2.0
// onnx/import.h — a model as operator calls. Import brings older opsets to the newest one,
// evaluates arithmetic on shapes, and makes inputs that decide shapes attributes of the calls.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diag/diagnostic.h"
#include "ir/program/calls.h"
#include "onnx/model.h"
#include "tensor/tensor.h"

namespace lemma::onnx {

struct ImportLimits {
    int64_t max_calls = 200'000;  // after inlining functions and unrolling loops
    int max_function_depth = 64;
    int64_t max_unrolled = 20'000;  // nodes of one unrolled loop
};

struct ImportOptions {
    // Values of graph inputs. Import fixes those that decide shapes.
    std::map<std::string, tensor::Tensor> inputs;
    bool fixed_shapes = false;  // inputs have the shapes of these values
    tensor::ReadExternal read_external;
    ImportLimits limits;
};

// The elements of a variable, still in the file.
struct VariableData {
    ir::TensorId tensor;
    TensorData data;
};

struct Imported {
    std::optional<ir::Program> program;  // empty: reported, or `undecided` inputs are missing
    tensor::SharedBytes bytes;           // owns the bytes of `data`
    std::vector<VariableData> data;
    // Graph inputs whose values were used. The program is valid for these values only.
    std::vector<std::string> deciding;
    // Graph inputs that decide shapes and had no value. If there are any, nothing else is wrong.
    std::vector<std::string> undecided;
    // Names of the main graph whose tensors have other names in the program.
    std::map<std::string, std::string> aliases;
    // Whether the program depends on tensors in other files.
    bool reads_files = false;
};

// `file` holds the paths of the model (diag::SourceMap::add_paths). The model passed `validate`.
Imported import_model(const Model& model,
                      diag::FileId file,
                      ir::CallBuilder& builder,
                      const ImportOptions& options,
                      Diagnostics& diag);

// The operators that most models like this one need, so that only a part of the library is loaded.
// If import fails, repeat it with the whole library. Empty: load the whole library.
std::vector<std::string> called_operators(const Model& model);

// The elements of a tensor of a model. They share the model's bytes if the caller passes their
// owner. Integers of 4 and 2 bits are widened to 8.
Result<tensor::Tensor> decode_tensor(const TensorData& data,
                                     const tensor::ReadExternal& read_external,
                                     const tensor::SharedBytes& keeper = {});
// The errors of decode_tensor, found without reading raw elements.
Result<void> check_tensor(const TensorData& data, const tensor::ReadExternal& read_external);
// The type of the elements in memory; empty for unsupported types.
std::optional<tensor::DType> memory_type(int64_t onnx_type);

}  // namespace lemma::onnx
