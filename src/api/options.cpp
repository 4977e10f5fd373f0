// SPDX-License-Identifier: Apache-2.0
#include "api/options.h"

#include <lemma/lemma.h>

#include "api/convert.h"

namespace lemma::api {

std::string text_of(const char* text) { return text ? text : ""; }

Result<std::vector<std::string>> texts_of(const char* const* texts,
                                          size_t count,
                                          std::string_view what) {
    std::vector<std::string> result;
    if (count > 0 && !texts)
        return bad(
            fmt::format("the options have a number of {}s, but their pointer is NULL", what));
    for (size_t i = 0; i < count; ++i) {
        if (!texts[i]) return bad(fmt::format("the {} {} of the options is NULL", what, i));
        result.emplace_back(texts[i]);
    }
    return result;
}

Result<std::vector<std::string>> attributes_of(const char* const* texts, size_t count) {
    LEMMA_TRY(std::vector<std::string> attributes, texts_of(texts, count, "attribute"));
    for (const std::string& attribute : attributes) {
        const size_t middle = attribute.find('=');
        if (middle == 0 || middle == std::string::npos)
            return bad(fmt::format("`{}` is not of the form NAME=VALUE", attribute));
    }
    return attributes;
}

Result<tensor::DType> real_of(int type) {
    if (type == LEMMA_NO_TYPE) return tensor::DType::F32;
    if (!is_type(type) || !tensor::is_real(internal_type(type)))
        return bad("`real` can be computed in f16, bf16, f32 and f64 only");
    return internal_type(type);
}

Result<std::optional<loop::Numerics>> numerics_of(int numerics) {
    switch (numerics) {
        case LEMMA_NUMERICS_DEFAULT:
            return std::nullopt;
        case LEMMA_NUMERICS_STRICT:
            return loop::Numerics::Strict;
        case LEMMA_NUMERICS_FAST:
            return loop::Numerics::Fast;
        default:
            return bad(fmt::format("there are no numerics {}", numerics));
    }
}

}  // namespace lemma::api
