// SPDX-License-Identifier: Apache-2.0
// api/options.h — structures of options from callers with another version of the header.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "loop/ir/numerics.h"
#include "tensor/dtype.h"

namespace lemma::api {

// A copy of the caller's structure, which begins with its size. Fields that the caller does not
// know are zero. Fields that the library does not know must be zero.
template <class Options>
Result<Options> options_of(const Options* given, const char* type) {
    Options known = {};
    known.struct_size = sizeof(Options);
    if (!given) return known;
    const size_t size = given->struct_size;
    constexpr size_t kMost = size_t{1} << 16;  // more is no size, but memory that was not set
    if (size < sizeof(size_t) || size > kMost) {
        return std::unexpected(Error{fmt::format(
            "the `struct_size` of the {} is {}: set it to sizeof({})", type, size, type)});
    }
    const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
    for (size_t i = sizeof(Options); i < size; ++i) {
        if (bytes[i] == 0) continue;
        return std::unexpected(Error{
            fmt::format("the {} has a field that this version of Lemma does not know", type)});
    }
    std::memcpy(&known, bytes, size < sizeof(Options) ? size : sizeof(Options));
    return known;
}

inline std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

// NULL is empty.
std::string text_of(const char* text);
// The texts of an array; `what` names one of them in errors.
Result<std::vector<std::string>> texts_of(const char* const* texts,
                                          size_t count,
                                          std::string_view what);
// Graph attributes, each `NAME=VALUE`.
Result<std::vector<std::string>> attributes_of(const char* const* texts, size_t count);
// The type of `real`; LEMMA_NO_TYPE is f32.
Result<tensor::DType> real_of(int type);
// An enum lemma_numerics; empty for the default.
Result<std::optional<loop::Numerics>> numerics_of(int numerics);

}  // namespace lemma::api
