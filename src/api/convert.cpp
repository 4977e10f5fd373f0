#include "api/convert.h"

#include <fmt/format.h>

#include <cstring>

#include "base/checked.h"

namespace lemma::api {

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

constexpr int kFirstType = static_cast<int>(DataType::F16);
// The public values are the internal ones plus 1, so that 0 is no type.
constexpr bool same(DataType type, tensor::DType dtype) {
    return static_cast<int>(type) - kFirstType == static_cast<int>(dtype);
}
static_assert(same(DataType::F16, tensor::DType::F16) && same(DataType::F64, tensor::DType::F64) &&
              same(DataType::I64, tensor::DType::I64) && same(DataType::U64, tensor::DType::U64) &&
              same(DataType::Bool, tensor::DType::Bool) && same(DataType::Str, tensor::DType::Str));

}  // namespace

tensor::DType internal_type(DataType type) {
    return static_cast<tensor::DType>(static_cast<int>(type) - kFirstType);
}

DataType public_type(tensor::DType dtype) {
    return static_cast<DataType>(static_cast<int>(dtype) + kFirstType);
}

bool is_type(DataType type) { return type >= DataType::F16 && type <= DataType::Str; }

Result<interpret::Array> internal_array(const std::string& name, const Tensor& tensor) {
    if (!is_type(tensor.type)) {
        return bad(fmt::format(
            "`{}` is given data of type {}, which is none", name, static_cast<int>(tensor.type)));
    }
    const tensor::DType dtype = internal_type(tensor.type);
    const auto count = tensor::volume(tensor.shape);
    if (!count) {
        return bad(fmt::format("`{}` has no shape {}", name, tensor::shape_text(tensor.shape)));
    }
    const bool strings = dtype == tensor::DType::Str;
    const auto wanted = strings ? count : checked_mul(*count, tensor::dtype_size(dtype));
    const size_t given = strings ? tensor.strings.size() : tensor.bytes.size();
    if (!wanted || given != static_cast<size_t>(*wanted)) {
        return bad(fmt::format("`{}` is given {} {}, too {} for {}{}",
                               name,
                               given,
                               strings ? "strings" : "bytes",
                               !wanted || given < static_cast<size_t>(*wanted) ? "few" : "many",
                               tensor::dtype_name(dtype),
                               tensor::shape_text(tensor.shape)));
    }
    LEMMA_TRY(tensor::Tensor copy, tensor::Tensor::zeros(dtype, tensor.shape));
    if (strings) copy.strings() = tensor.strings;
    if (!copy.bytes().empty()) std::memcpy(copy.bytes().data(), tensor.bytes.data(), given);
    return interpret::to_array(copy);
}

Result<Tensor> public_tensor(const interpret::Array& array) {
    LEMMA_TRY(const tensor::Tensor made, interpret::to_tensor(array));
    Tensor tensor;
    tensor.type = public_type(made.dtype());
    tensor.shape = made.shape();
    tensor.strings = made.strings();
    if (!made.bytes().empty()) tensor.bytes.assign(made.bytes().begin(), made.bytes().end());
    return tensor;
}

}  // namespace lemma::api
