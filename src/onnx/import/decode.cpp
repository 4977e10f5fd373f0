// SPDX-License-Identifier: Apache-2.0
// Elements of tensors, including packed ones.
#include <fmt/format.h>

#include "base/checked.h"
#include "onnx/import.h"
#include "tensor/files/mapped_file.h"

namespace lemma::onnx {

namespace {

// ONNX codes of types with several elements per byte.
struct PackedType {
    int64_t code;
    int bits;
    tensor::DType dtype;
};
constexpr PackedType kPackedTypes[] = {{21, 4, tensor::DType::U8},
                                       {22, 4, tensor::DType::I8},
                                       {25, 2, tensor::DType::U8},
                                       {26, 2, tensor::DType::I8}};

const PackedType* packed_type(int64_t code) {
    for (const PackedType& type : kPackedTypes) {
        if (type.code == code) return &type;
    }
    return nullptr;
}

constexpr uint32_t kInt32Data = 5;
constexpr uint32_t kRawData = 9;

// The bytes: raw data, or numbers of one byte each.
Result<tensor::SharedBytes> packed_bytes(const tensor::TensorProto& proto,
                                         const tensor::ReadExternal& read_external) {
    if (proto.external) {
        if (!read_external) {
            return std::unexpected(Error{"its data is in another file, which is not read here"});
        }
        LEMMA_TRY(tensor::SharedBytes shared, read_external(*proto.external));
        LEMMA_TRY(tensor::hold_bytes(*shared));
        return shared;
    }
    LEMMA_TRY(tensor::hold_bytes(proto.message.bytes()));
    std::string bytes;
    tensor::WireReader message = proto.message;
    tensor::WireField field;
    while (true) {
        LEMMA_TRY(const bool more, message.next(field));
        if (!more) return tensor::share(std::move(bytes));
        if (field.number == kRawData) {
            LEMMA_TRY(bytes, tensor::wire_bytes(field));
        }
        if (field.number != kInt32Data) continue;
        std::vector<int64_t> numbers;
        LEMMA_TRY(tensor::append_ints(field, numbers));
        for (const int64_t number : numbers) bytes += static_cast<char>(number);
    }
}

// The first element is in the lowest bits.
Result<tensor::Tensor> unpack(const tensor::TensorProto& proto,
                              const PackedType& type,
                              const tensor::ReadExternal& read_external) {
    LEMMA_TRY(const tensor::SharedBytes shared, packed_bytes(proto, read_external));
    const std::string_view bytes = *shared;
    const int64_t count = *tensor::volume(proto.shape);
    const int64_t per_byte = 8 / type.bits;
    const int64_t wanted = count / per_byte + (count % per_byte != 0 ? 1 : 0);
    if (wanted != static_cast<int64_t>(bytes.size())) {
        return std::unexpected(
            Error{fmt::format("it has {} bytes of data, but {} of shape {} needs {}",
                              bytes.size(),
                              tensor::onnx_type_name(proto.data_type),
                              tensor::shape_text(proto.shape),
                              wanted)});
    }
    LEMMA_TRY(tensor::Tensor result, tensor::Tensor::zeros(type.dtype, proto.shape));
    const int mask = (1 << type.bits) - 1;
    for (int64_t i = 0; i < count; ++i) {
        const auto byte = static_cast<uint8_t>(bytes[static_cast<size_t>(i / per_byte)]);
        int value = byte >> (i % per_byte * type.bits) & mask;
        const bool negative = tensor::is_signed(type.dtype) && value > mask / 2;
        if (negative) value -= mask + 1;
        result.set_integer(i, value);
    }
    return result;
}

}  // namespace

std::optional<tensor::DType> memory_type(int64_t onnx_type) {
    if (const PackedType* const packed = packed_type(onnx_type)) return packed->dtype;
    return tensor::dtype_of_onnx(onnx_type);
}

Result<tensor::Tensor> decode_tensor(const TensorData& data,
                                     const tensor::ReadExternal& read_external,
                                     const tensor::SharedBytes& keeper) {
    if (const PackedType* const packed = packed_type(data.proto.data_type))
        return unpack(data.proto, *packed, read_external);
    return tensor::decode_elements(data.proto, read_external, keeper);
}

Result<void> check_tensor(const TensorData& data, const tensor::ReadExternal& read_external) {
    if (!packed_type(data.proto.data_type))
        return tensor::check_elements(data.proto, read_external);
    LEMMA_TRY(decode_tensor(data, read_external));
    return {};
}

}  // namespace lemma::onnx
