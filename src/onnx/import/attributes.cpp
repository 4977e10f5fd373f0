// SPDX-License-Identifier: Apache-2.0
#include "onnx/import/attributes.h"

#include "onnx/import/constant_value.h"

namespace lemma::onnx {

void Attributes::set_ints(const std::string& name, const std::vector<int64_t>& values) {
    ir::Pack pack{.items = {values.begin(), values.end()}, .type = ir::ScalarType::Int};
    set(name, std::move(pack));
}

void Attributes::rename(const std::string& from, const std::string& to) {
    auto node = values_.extract(from);
    if (node.empty()) return;
    node.key() = to;
    values_.insert(std::move(node));
}

namespace {

const ir::Scalar* scalar_of(const std::map<std::string, ir::Value>& values,
                            const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : std::get_if<ir::Scalar>(&found->second);
}

template <class T>
ir::Pack pack_of(const std::vector<T>& values, ir::ScalarType type) {
    ir::Pack pack{.type = type};
    for (const T& value : values) {
        if constexpr (std::is_same_v<T, float>) {
            pack.items.emplace_back(static_cast<double>(value));
        } else {
            pack.items.emplace_back(value);
        }
    }
    return pack;
}

}  // namespace

std::optional<int64_t> Attributes::integer(const std::string& name) const {
    const ir::Scalar* const scalar = scalar_of(values_, name);
    return scalar ? as_int(*scalar) : std::nullopt;
}

std::optional<double> Attributes::real(const std::string& name) const {
    const ir::Scalar* const scalar = scalar_of(values_, name);
    return scalar ? as_real(*scalar) : std::nullopt;
}

std::optional<std::string> Attributes::text(const std::string& name) const {
    const ir::Scalar* const scalar = scalar_of(values_, name);
    const auto* const text = scalar ? std::get_if<std::string>(scalar) : nullptr;
    return text ? std::optional(*text) : std::nullopt;
}

std::optional<std::vector<ir::Scalar>> Attributes::list(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    const auto* const pack = std::get_if<ir::Pack>(&found->second);
    return pack ? std::optional(pack->items) : std::nullopt;
}

std::optional<std::vector<int64_t>> Attributes::ints(const std::string& name) const {
    const auto items = list(name);
    return items ? as_ints(*items) : std::nullopt;
}

std::optional<ir::Value> plain_value(const Attribute& attribute) {
    switch (attribute.type) {
        case AttributeType::Float:
            return ir::Scalar(static_cast<double>(attribute.floats.back()));
        case AttributeType::Int:
            return ir::Scalar(attribute.ints.back());
        case AttributeType::String:
            return ir::Scalar(attribute.strings.back());
        case AttributeType::Floats:
            return pack_of(attribute.floats, ir::ScalarType::Real);
        case AttributeType::Ints:
            return pack_of(attribute.ints, ir::ScalarType::Int);
        case AttributeType::Strings:
            return pack_of(attribute.strings, ir::ScalarType::Str);
        default:
            return std::nullopt;
    }
}

}  // namespace lemma::onnx
