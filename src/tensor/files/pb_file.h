// tensor/files/pb_file.h — ONNX's TensorProto: the tensors inside of a model, and of .pb files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/files/mapped_file.h"
#include "tensor/files/wire.h"
#include "tensor/tensor.h"

namespace lemma::tensor {

// Where the elements are if they are not in the message itself.
struct ExternalData {
    std::string location;  // a path, as the message has it: nobody has looked where it leads
    int64_t offset = 0;
    std::optional<int64_t> length;  // else to the end of the file
};
// Gets these bytes. Readers of models pass one that stays in the folder of the model.
using ReadExternal = std::function<Result<SharedBytes>(const ExternalData&)>;

// A message without its elements. It is good as long as the bytes that it was read from.
struct TensorProto {
    std::string name;
    Shape shape;
    int64_t data_type = 0;  // ONNX's code
    std::optional<ExternalData> external;
    WireReader message;  // from its first field
};

// "FLOAT16", or the number of a code that ONNX does not have.
std::string onnx_type_name(int64_t data_type);
// Empty for the types that tensors do not have in memory: complex, of 8 bits and less.
std::optional<DType> dtype_of_onnx(int64_t data_type);
int64_t onnx_type_of(DType dtype);

// Everything but the elements. Errors speak of `it`: "it has the negative extent -2".
Result<TensorProto> read_tensor_proto(const WireReader& message);
// The name of a message that cannot be read otherwise; empty if it cannot be found.
std::string tensor_proto_name(WireReader message);
// The elements, as many as the shape says; those in other files only with a function to get them.
// With a keeper of the message's bytes, they are shared where that is possible.
Result<Tensor> decode_elements(const TensorProto& proto,
                               const ReadExternal& read_external = {},
                               const SharedBytes& keeper = {});
// What decode_elements would complain about. Elements that are raw bytes, as those of all large
// tensors, are not looked at: nothing can be wrong with them but their number.
Result<void> check_elements(const TensorProto& proto, const ReadExternal& read_external = {});

// Whole files.
Result<NamedTensor> decode_pb(std::string_view bytes, const ReadExternal& read_external = {});
std::string encode_pb(const NamedTensor& named);
Result<NamedTensor> read_pb(const std::string& path, const ReadExternal& read_external = {});
Result<void> write_pb(const std::string& path, const NamedTensor& named);

}  // namespace lemma::tensor
