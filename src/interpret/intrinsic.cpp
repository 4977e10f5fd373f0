// SPDX-License-Identifier: Apache-2.0
#include "interpret/intrinsic.h"

#include <array>
#include <utility>

#include "base/check.h"

namespace lemma::interpret {

Intrinsic find_intrinsic(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, Intrinsic>, 12> kIntrinsics = {{
        {"algo.top_k", top_k},
        {"algo.nonmax_suppress", nonmax_suppress},
        {"layout.nonzero", nonzero},
        {"image.cubic_resize", cubic_resize},
        {"image.max_roi_pool", max_roi_pool},
        {"image.avg_roi_pool", avg_roi_pool},
        {"image.roi_align", roi_align},
        {"rand.uniform", random_uniform},
        {"rand.normal", random_normal},
        {"rand.bernoulli", random_bernoulli},
        {"onnx.elementwise.BitCast", bit_cast},
        {"onnx.strings.StringNormalizer", string_normalizer},
    }};
    for (const auto& [known, intrinsic] : kIntrinsics) {
        if (known == name) return intrinsic;
    }
    return nullptr;
}

const ir::Value* IntrinsicCall::find(std::string_view name) const {
    for (const ir::Attribute& attribute : op_.attributes) {
        if (attribute.name == name) return &attribute.value;
    }
    return nullptr;
}

bool IntrinsicCall::has(std::string_view name) const {
    const ir::Value* const value = find(name);
    return value && !std::holds_alternative<ir::Null>(*value);
}

std::vector<ir::Scalar> IntrinsicCall::items(std::string_view name) const {
    const ir::Value* const value = find(name);
    LEMMA_CHECK(value != nullptr);
    std::vector<ir::Scalar> items;
    if (const auto* pack = std::get_if<ir::Pack>(value)) {
        for (const ir::Scalar& item : pack->items) items.push_back(settle(item));
    } else if (const auto* scalar = std::get_if<ir::Scalar>(value)) {
        items.push_back(settle(*scalar));
    }
    return items;
}

std::vector<int64_t> IntrinsicCall::integers(std::string_view name) const {
    std::vector<int64_t> numbers;
    for (const ir::Scalar& item : items(name)) numbers.push_back(std::get<int64_t>(item));
    return numbers;
}

std::vector<double> IntrinsicCall::reals(std::string_view name) const {
    std::vector<double> numbers;
    for (const ir::Scalar& item : items(name)) {
        const auto* integer = std::get_if<int64_t>(&item);
        numbers.push_back(integer ? static_cast<double>(*integer) : std::get<double>(item));
    }
    return numbers;
}

std::vector<std::string> IntrinsicCall::texts(std::string_view name) const {
    std::vector<std::string> texts;
    for (const ir::Scalar& item : items(name)) texts.push_back(std::get<std::string>(item));
    return texts;
}

int64_t IntrinsicCall::integer(std::string_view name) const { return integers(name).at(0); }
double IntrinsicCall::real(std::string_view name) const { return reals(name).at(0); }
bool IntrinsicCall::boolean(std::string_view name) const {
    return std::get<bool>(items(name).at(0));
}
std::string IntrinsicCall::text(std::string_view name) const {
    return std::get<std::string>(items(name).at(0));
}

}  // namespace lemma::interpret
