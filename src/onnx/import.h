// onnx/import.h — a model as operator calls: older opsets become the newest one, arithmetic on
// shapes is done here, and inputs that steer shapes become attributes of the calls.
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
    int64_t max_calls = 200'000;  // functions and loops are written out
    int max_function_depth = 64;
    int64_t max_unrolled = 20'000;  // nodes of one loop that is written out
};

struct ImportOptions {
    // Values of inputs of the graph. Those that decide shapes are taken as they are here.
    std::map<std::string, tensor::Tensor> inputs;
    bool fixed_shapes = false;  // inputs have the shapes of those values
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
    tensor::SharedBytes bytes;           // what `data` refers to
    std::vector<VariableData> data;
    // Inputs of the graph whose values were used: the program is good for these values only.
    std::vector<std::string> deciding;
    // Inputs of the graph whose values decide shapes, and were not given; nothing else is wrong.
    std::vector<std::string> undecided;
};

// `file` holds the paths of the model (diag::SourceMap::add_paths). The model passed `validate`.
Imported import_model(const Model& model,
                      diag::FileId file,
                      ir::CallBuilder& builder,
                      const ImportOptions& options,
                      Diagnostics& diag);

// The operators that suffice for most models like this one, so that a part of the library can be
// loaded: an import that fails is repeated with all of it. Empty: nothing less than all.
std::vector<std::string> called_operators(const Model& model);

// The elements of a tensor of a model, shared with those who keep the bytes of the model if they
// are told. Integers of 4 and 2 bits come in 8.
Result<tensor::Tensor> decode_tensor(const TensorData& data,
                                     const tensor::ReadExternal& read_external,
                                     const tensor::SharedBytes& keeper = {});
// What decode_tensor would complain about, found without reading raw elements.
Result<void> check_tensor(const TensorData& data, const tensor::ReadExternal& read_external);
// What the elements are in memory; empty for types that are not supported.
std::optional<tensor::DType> memory_type(int64_t onnx_type);

}  // namespace lemma::onnx
