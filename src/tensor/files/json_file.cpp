// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/json_file.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace lemma::tensor {

namespace {

using nlohmann::json;

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

bool is_word_for_number(const json& item) {
    if (!item.is_string()) return false;
    const std::string& word = item.get_ref<const std::string&>();
    return word == "nan" || word == "inf" || word == "-inf";
}

double number_of(const json& item) {
    if (!item.is_string()) return item.get<double>();
    const std::string& word = item.get_ref<const std::string&>();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    return word == "inf" ? infinity : -infinity;
}

class Reader {
public:
    Result<Tensor> read(const json& document);

private:
    Result<void> find_shape(const json& document);
    Result<void> collect(const json& item, size_t axis);
    Result<DType> find_dtype() const;

    Shape shape_;
    std::vector<const json*> items_;
};

Result<void> Reader::find_shape(const json& document) {
    for (const json* item = &document; item->is_array(); item = &item->front()) {
        if (shape_.size() == kMaxRank) return bad("its lists are nested too deep");
        shape_.push_back(static_cast<int64_t>(item->size()));
        if (item->empty()) break;
    }
    return {};
}

Result<void> Reader::collect(const json& item, size_t axis) {
    if (axis == shape_.size()) {
        if (item.is_array() || item.is_object() || item.is_null()) {
            return bad("its lists are not all nested alike");
        }
        items_.push_back(&item);
        return {};
    }
    const bool fits = item.is_array() && static_cast<int64_t>(item.size()) == shape_[axis];
    if (!fits) {
        return bad(fmt::format(
            "its lists differ in length along axis {}: expected {}", axis, shape_[axis]));
    }
    for (const json& inner : item) {
        LEMMA_TRY(collect(inner, axis + 1));
    }
    return {};
}

Result<DType> Reader::find_dtype() const {
    size_t whole = 0;
    size_t reals = 0;
    size_t words = 0;
    size_t bools = 0;
    size_t strings = 0;
    for (const json* item : items_) {
        whole += item->is_number_integer();
        reals += item->is_number_float();
        words += is_word_for_number(*item);
        bools += item->is_boolean();
        strings += item->is_string();
    }
    const size_t count = items_.size();
    if (strings == count && (words < count || count == 0)) {
        return count == 0 ? DType::F32 : DType::Str;
    }
    if (whole == count) return DType::I64;
    if (whole + reals + words == count) return DType::F32;
    if (bools == count) return DType::Bool;
    return bad("its items are of different kinds");
}

Result<Tensor> Reader::read(const json& document) {
    LEMMA_TRY(find_shape(document));
    LEMMA_TRY(collect(document, 0));
    LEMMA_TRY(const DType dtype, find_dtype());
    LEMMA_TRY(Tensor tensor, Tensor::zeros(dtype, shape_));
    for (size_t i = 0; i < items_.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        if (dtype == DType::Str) {
            tensor.strings()[i] = items_[i]->get<std::string>();
        } else if (dtype == DType::F32) {
            tensor.set_real(at, number_of(*items_[i]));
        } else if (dtype == DType::Bool) {
            tensor.set_integer(at, items_[i]->get<bool>());
        } else {
            tensor.set_integer(at, items_[i]->get<int64_t>());
        }
    }
    return tensor;
}

std::string item_json(const Tensor& tensor, int64_t index) {
    if (tensor.dtype() == DType::Str) {
        return json(tensor.strings()[static_cast<size_t>(index)])
            .dump(-1, ' ', false, json::error_handler_t::replace);
    }
    if (tensor.dtype() == DType::Bool) return tensor.integer(index) ? "true" : "false";
    if (!is_real(tensor.dtype())) return fmt::format("{}", tensor.integer(index));
    const double value = tensor.real(index);
    if (std::isnan(value)) return "\"nan\"";
    if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
    const std::string text = fmt::format("{}", value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

void append_json(const Tensor& tensor, size_t axis, int64_t& next, std::string& text) {
    const Shape& shape = tensor.shape();
    if (axis == shape.size()) {
        text += item_json(tensor, next++);
        return;
    }
    const bool row = axis + 1 == shape.size();
    text += "[";
    for (int64_t i = 0; i < shape[axis]; ++i) {
        if (i > 0) text += row ? ", " : ",\n" + std::string(axis + 1, ' ');
        append_json(tensor, axis + 1, next, text);
    }
    text += "]";
}

}  // namespace

Result<Tensor> decode_json(std::string_view text) {
    // The parser's stack is on the heap; find_shape limits the nesting.
    const json document = json::parse(text.begin(), text.end(), nullptr, false, true);
    if (document.is_discarded()) return bad("it is not JSON");
    return Reader().read(document);
}

std::string encode_json(const Tensor& tensor) {
    std::string text;
    int64_t next = 0;
    append_json(tensor, 0, next, text);
    return text + "\n";
}

}  // namespace lemma::tensor
