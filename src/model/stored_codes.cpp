// SPDX-License-Identifier: Apache-2.0
#include "model/stored_codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lemma::model {

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

// The attributes of a quantiser; a pack has an item per channel.
class Attributes {
public:
    explicit Attributes(const ir::Quantizer& quantizer) : quantizer_(quantizer) {}

    double number(std::string_view name, size_t channel, double otherwise) const {
        const ir::Value* const value = find(name);
        if (!value) return otherwise;
        if (const auto* scalar = std::get_if<ir::Scalar>(value))
            return number_of(*scalar, otherwise);
        const auto* pack = std::get_if<ir::Pack>(value);
        if (!pack || pack->items.empty()) return otherwise;
        return number_of(pack->items[std::min(channel, pack->items.size() - 1)], otherwise);
    }
    bool flag(std::string_view name, bool otherwise) const {
        return number(name, 0, otherwise ? 1 : 0) != 0;
    }

private:
    static double number_of(const ir::Scalar& scalar, double otherwise) {
        if (const auto* integer = std::get_if<int64_t>(&scalar))
            return static_cast<double>(*integer);
        if (const auto* real = std::get_if<double>(&scalar)) return *real;
        if (const auto* flag = std::get_if<bool>(&scalar)) return *flag ? 1 : 0;
        return otherwise;
    }
    const ir::Value* find(std::string_view name) const {
        for (const ir::Attribute& attribute : quantizer_.attributes) {
            if (attribute.name == name) return &attribute.value;
        }
        return nullptr;
    }

    const ir::Quantizer& quantizer_;
};

// The real number for a code of a channel: the second half of the operator's formula.
using Decode = double (*)(const Attributes&, size_t channel, double code);

double decode_zero_point(const Attributes& attributes, size_t channel, double code) {
    return (code - attributes.number("zero_point", channel, 0)) *
           attributes.number("scale", channel, 1);
}

double decode_min_max(const Attributes& attributes, size_t channel, double code) {
    const double bits = attributes.number("bits", 0, 8);
    const bool is_signed = attributes.flag("signed", true);
    const bool symmetric = attributes.flag("symmetric", false);
    const double steps = std::exp2(bits) - (is_signed && symmetric ? 2 : 1);
    const double shift = is_signed ? std::exp2(bits - 1) - (symmetric ? 1 : 0) : 0;
    const double low = attributes.number("min", channel, 0);
    const double high = attributes.number("max", channel, 1);
    return (code + shift) / steps * (high - low) + low;
}

double decode_linear(const Attributes& attributes, size_t channel, double code) {
    const double steps = std::exp2(attributes.number("bits", 0, 8)) - 1;
    const double low = attributes.number("min", channel, 0);
    const double high = attributes.number("max", channel, 1);
    return code / steps * (high - low) + low;
}

// Codes count powers of two from the smallest one on (NNEF 1.0.4, 5.2); the sign is that of the
// value.
double decode_logarithmic(const Attributes& attributes, size_t channel, double code) {
    const double steps = std::exp2(attributes.number("bits", 0, 8)) - 1;
    const double top = std::ceil(std::log2(attributes.number("max", channel, 1)));
    return std::copysign(std::exp2(std::abs(code) + top - steps), code);
}

// The range of codes for the quantiser's bits.
struct CodeRange {
    double lowest = 0;
    double highest = 0;
};

CodeRange signed_codes(const Attributes& attributes) {
    const double bits = attributes.number("bits", 0, 8);
    if (!attributes.flag("signed", true)) return {0, std::exp2(bits) - 1};
    const double highest = std::exp2(bits - 1) - 1;
    return {attributes.flag("symmetric", false) ? -highest : -highest - 1, highest};
}

CodeRange unsigned_codes(const Attributes& attributes) {
    return {0, std::exp2(attributes.number("bits", 0, 8)) - 1};
}

CodeRange logarithmic_codes(const Attributes& attributes) {
    const double highest = unsigned_codes(attributes).highest;
    return {-highest, highest};
}

struct Decoder {
    Decode decode = nullptr;
    CodeRange (*range)(const Attributes&) = nullptr;
};

Decoder decoder_of(std::string_view op) {
    const std::string_view name = op.substr(op.rfind('.') + 1);
    // The quantisers of nnef1.quantizers have shorter names.
    if (name == "zero_point_linear_quantize" || name == "zero_point_linear") {
        return {decode_zero_point, signed_codes};
    }
    if (name == "min_max_linear_quantize" || name == "min_max_linear") {
        return {decode_min_max, signed_codes};
    }
    if (name == "linear_quantize") return {decode_linear, unsigned_codes};  // of NNEF 1.0
    if (name == "logarithmic_quantize" || name == "logarithmic") {
        return {decode_logarithmic, logarithmic_codes};
    }
    return {};
}

}  // namespace

Result<tensor::Tensor> decode_codes(const ir::Tensor& variable, const tensor::Tensor& codes) {
    if (!variable.quantizer) {
        return bad(
            "it holds quantised items, and nothing (`@quantize`, graph.quant) says what they stand "
            "for");
    }
    const Decoder decoder = decoder_of(variable.quantizer->op);
    if (!decoder.decode) {
        return bad(fmt::format("it holds quantised items, and what `{}` makes of them is not known",
                               variable.quantizer->op));
    }
    const Attributes attributes(*variable.quantizer);
    const CodeRange range = decoder.range(attributes);
    const auto rank = static_cast<int64_t>(codes.shape().size());
    const double given = attributes.number("channel_axis", 0, rank > 1 ? 1 : 0);
    const auto axis = static_cast<int64_t>(std::clamp(given, -1e9, 1e9));
    const int64_t channel_axis = axis < 0 ? axis + rank : axis;
    LEMMA_TRY(tensor::Tensor values, tensor::Tensor::zeros(tensor::DType::F32, codes.shape()));
    if (codes.size() == 0) return values;  // of any extents
    const bool has_axis = channel_axis >= 0 && channel_axis < rank;
    int64_t inner = 1;
    for (int64_t i = channel_axis + 1; has_axis && i < rank; ++i)
        inner *= codes.shape()[static_cast<size_t>(i)];
    const int64_t channels = has_axis ? codes.shape()[static_cast<size_t>(channel_axis)] : 1;
    for (int64_t i = 0; i < codes.size(); ++i) {
        const int64_t channel = has_axis ? i / std::max<int64_t>(inner, 1) % channels : 0;
        const auto code = static_cast<double>(codes.integer(i));
        if (code < range.lowest || code > range.highest) {
            return bad(fmt::format("item {} is the code {}, and codes of {} bits go from {} to {}",
                                   i,
                                   code,
                                   attributes.number("bits", 0, 8),
                                   range.lowest,
                                   range.highest));
        }
        values.set_real(i, decoder.decode(attributes, static_cast<size_t>(channel), code));
    }
    return values;
}

}  // namespace lemma::model
