#include "sonnx/reference/weights.h"

#include <fmt/format.h>

#include <cmath>

namespace lemma::sonnx::reference {

namespace {

std::string real_literal(const CType& type, double value) {
    const bool narrow = type.bytes == 4;
    if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
    return fmt::format("{:a}{}", value, narrow ? "F" : "");
}

std::string integer_literal(const CType& type, int64_t value) {
    if (type.name == "uint64_t") return fmt::format("{}ULL", static_cast<uint64_t>(value));
    if (value == INT64_MIN) return "(-9223372036854775807LL - 1)";  // C has no negative literals
    return type.bytes == 8 ? fmt::format("{}LL", value) : fmt::format("{}", value);
}

class Initializer {
public:
    Initializer(const CTensor& tensor, const tensor::Tensor& data) : tensor_(tensor), data_(data) {}

    bool put(size_t axis, std::string& text) {
        if (axis == tensor_.extents.size()) return put_element(text);
        const bool last = axis + 1 == tensor_.extents.size();
        text += last ? "{ " : "{\n";
        for (int64_t i = 0; i < tensor_.extents[axis]; ++i) {
            if (!put(axis + 1, text)) return false;
            if (i + 1 < tensor_.extents[axis]) text += last && i % 8 != 7 ? ", " : ",\n";
        }
        text += last ? " }" : "\n}";
        return true;
    }

private:
    bool put_element(std::string& text) {
        const int64_t at = next_++;
        if (!tensor_.type->real) {
            text += integer_literal(*tensor_.type, data_.integer(at));
            return true;
        }
        const double value = data_.real(at);
        if (std::isnan(value)) return false;
        text += real_literal(*tensor_.type, value);
        return true;
    }

    const CTensor& tensor_;
    const tensor::Tensor& data_;
    int64_t next_ = 0;
};

}  // namespace

std::optional<std::string> constant_definition(const CTensor& tensor, const tensor::Tensor& data) {
    std::string text = fmt::format("const {} = ", declaration(tensor));
    if (!Initializer(tensor, data).put(0, text)) return std::nullopt;
    return text + ";\n";
}

}  // namespace lemma::sonnx::reference
