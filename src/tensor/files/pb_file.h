// SPDX-License-Identifier: Apache-2.0
// tensor/files/pb_file.h — ONNX's TensorProto: tensors inside a model, and .pb files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/files/mapped_file.h"
#include "tensor/files/wire.h"
#include "tensor/tensor.h"

namespace lemma::tensor {

// The location of elements outside of the message.
struct ExternalData {
    std::string location;  // a path as written in the message; not validated
    int64_t offset = 0;
    std::optional<int64_t> length;  // empty: to the end of the file
};
// Reads these bytes. Readers of models pass a function that stays in the folder of the model.
using ReadExternal = std::function<Result<SharedBytes>(const ExternalData&)>;

// A message without its elements. It is valid as long as the bytes that it was read from.
struct TensorProto {
    std::string name;
    Shape shape;
    int64_t data_type = 0;  // ONNX's code
    std::optional<ExternalData> external;
    WireReader message;  // positioned at its first field
};

// "FLOAT16", or the number of an unknown code.
std::string onnx_type_name(int64_t data_type);
// Empty for types without a counterpart in memory: complex numbers, 8-bit floats, and types below 8
// bits.
std::optional<DType> dtype_of_onnx(int64_t data_type);
int64_t onnx_type_of(DType dtype);

// Everything except the elements. Errors call the tensor `it`: "it has the negative extent -2".
Result<TensorProto> read_tensor_proto(const WireReader& message);
// The name in a message that is otherwise unreadable; empty if it cannot be found.
std::string tensor_proto_name(WireReader message);
// The elements; their number must match the shape. Elements in other files need the function. With
// a keeper of the message's bytes, they are shared if possible.
Result<Tensor> decode_elements(const TensorProto& proto,
                               const ReadExternal& read_external = {},
                               const SharedBytes& keeper = {});
// Reports the errors of decode_elements. It does not read raw bytes, which all large tensors have:
// only their number can be wrong.
Result<void> check_elements(const TensorProto& proto, const ReadExternal& read_external = {});

// Whole files.
Result<NamedTensor> decode_pb(std::string_view bytes, const ReadExternal& read_external = {});
std::string encode_pb(const NamedTensor& named);
Result<NamedTensor> read_pb(const std::string& path, const ReadExternal& read_external = {});
Result<void> write_pb(const std::string& path, const NamedTensor& named);

}  // namespace lemma::tensor
