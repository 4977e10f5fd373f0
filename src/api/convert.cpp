// SPDX-License-Identifier: Apache-2.0
#include "api/convert.h"

#include <fmt/format.h>

#include <cstring>

#include "base/checked.h"

namespace lemma::api {

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

// The public values are the internal ones plus 1, so that 0 is no type.
constexpr bool same(lemma_type type, tensor::DType dtype) {
    return static_cast<int>(type) - LEMMA_F16 == static_cast<int>(dtype);
}
static_assert(same(LEMMA_F16, tensor::DType::F16) && same(LEMMA_F64, tensor::DType::F64) &&
              same(LEMMA_I64, tensor::DType::I64) && same(LEMMA_U64, tensor::DType::U64) &&
              same(LEMMA_BOOL, tensor::DType::Bool) && same(LEMMA_STR, tensor::DType::Str));

size_t element_size(int type) {
    return type == LEMMA_STR ? sizeof(char*)
                             : static_cast<size_t>(tensor::dtype_size(internal_type(type)));
}

tensor::Shape shape_of(const lemma_tensor& given) {
    return given.rank > 0 ? tensor::Shape(given.shape, given.shape + given.rank) : tensor::Shape();
}

}  // namespace

tensor::DType internal_type(int type) { return static_cast<tensor::DType>(type - LEMMA_F16); }

int public_type(tensor::DType dtype) { return static_cast<int>(dtype) + LEMMA_F16; }

bool is_type(int type) { return type >= LEMMA_F16 && type <= LEMMA_STR; }

Result<void> check_tensor(const std::string& name, const lemma_tensor& given) {
    if (given.rank > tensor::kMaxRank)
        return bad(fmt::format(
            "the tensor for `{}` has more than {} axes", name, static_cast<int>(tensor::kMaxRank)));
    if (given.rank > 0 && !given.shape)
        return bad(fmt::format("the tensor for `{}` has axes, but its `shape` is NULL", name));
    if (given.size > 0 && !given.data)
        return bad(fmt::format("the tensor for `{}` has a size, but its `data` is NULL", name));
    if (!is_type(given.type))
        return bad(fmt::format("`{}` is given data of type {}, which is none", name, given.type));
    const tensor::Shape shape = shape_of(given);
    const auto count = tensor::volume(shape);
    if (!count) return bad(fmt::format("`{}` has no shape {}", name, tensor::shape_text(shape)));
    const auto wanted = checked_mul(*count, static_cast<int64_t>(element_size(given.type)));
    if (!wanted || given.size != static_cast<size_t>(*wanted)) {
        return bad(
            fmt::format("`{}` is given {} bytes, too {} for {}{}",
                        name,
                        given.size,
                        !wanted || given.size < static_cast<size_t>(*wanted) ? "few" : "many",
                        tensor::dtype_name(internal_type(given.type)),
                        tensor::shape_text(shape)));
    }
    if (given.type != LEMMA_STR) return {};
    const auto* const texts = static_cast<const char* const*>(given.data);
    for (int64_t i = 0; i < *count; ++i) {
        if (!texts[i])
            return bad(fmt::format("the tensor for `{}` has NULL for the string {}", name, i));
    }
    return {};
}

Result<tensor::Tensor> internal_tensor(const std::string& name, const lemma_tensor& given) {
    LEMMA_TRY(check_tensor(name, given));
    LEMMA_TRY(tensor::Tensor copy,
              tensor::Tensor::zeros(internal_type(given.type), shape_of(given)));
    if (given.type == LEMMA_STR) {
        const auto* const texts = static_cast<const char* const*>(given.data);
        copy.strings().assign(texts, texts + copy.size());
    } else if (given.size > 0) {
        std::memcpy(copy.bytes().data(), given.data, given.size);
    }
    return copy;
}

Result<interpret::Array> internal_array(const std::string& name, const lemma_tensor& given) {
    LEMMA_TRY(const tensor::Tensor copy, internal_tensor(name, given));
    return interpret::to_array(copy);
}

LentTensor::LentTensor(tensor::Tensor tensor) : there_(true), tensor_(std::move(tensor)) {
    for (const std::string& text : tensor_.strings()) texts_.push_back(text.c_str());
}

lemma_tensor LentTensor::view() const {
    if (!there_) return {};
    const bool strings = tensor_.dtype() == tensor::DType::Str;
    const auto* const texts = static_cast<const void*>(texts_.data());
    const void* const data = strings ? texts : tensor_.bytes().data();
    return {.type = public_type(tensor_.dtype()),
            .rank = tensor_.shape().size(),
            .shape = tensor_.shape().data(),
            .data = const_cast<void*>(data),
            .size = strings ? texts_.size() * sizeof(char*) : tensor_.bytes().size()};
}

}  // namespace lemma::api

const char* lemma_type_name(int type) {
    namespace api = lemma::api;
    return api::is_type(type) ? lemma::tensor::dtype_name(api::internal_type(type)).data() : "";
}

size_t lemma_type_size(int type) {
    namespace api = lemma::api;
    const bool sized = api::is_type(type) && type != LEMMA_STR;
    return sized ? static_cast<size_t>(lemma::tensor::dtype_size(api::internal_type(type))) : 0;
}
