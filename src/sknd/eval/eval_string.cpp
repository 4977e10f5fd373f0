// SPDX-License-Identifier: Apache-2.0
// sknd/eval/eval_string.cpp — formatted strings and parts of strings. An index counts characters
// (code points); the result is always a string.
#include "diag/utf8.h"
#include "sknd/eval/positions.h"

namespace lemma::sknd {

MaybeValue Evaluator::eval_string(const StringLiteral& literal, Span span) {
    std::string text;
    bool null = false;
    for (const StringLiteral::Part& part : literal.parts) {
        if (!part.expr) {
            text += part.text;
        } else {
            MaybeValue storage;
            const CompileValue* value = borrow(part.expr, storage);
            if (!value) return std::nullopt;
            null = null || is_null(*value);
            text += to_text(*value, symbols_);
        }
        if (!check_bytes(text.size(), span)) return std::nullopt;
    }
    if (null) return Null{};
    return CompileValue(Scalar(std::move(text)));
}

MaybeValue Evaluator::index_string(const std::string& text, const Index& index, Span span) {
    std::vector<size_t> begins;
    for (size_t offset = 0; offset < text.size();) {
        begins.push_back(offset);
        offset += diag::character_at(text, offset).size;
    }
    const auto chosen = positions(index.index, {begins.size(), true});
    if (!chosen) return std::nullopt;
    if (chosen->null) return Null{};
    begins.push_back(text.size());
    std::string result;
    for (const size_t at : chosen->at()) {
        result.append(text, begins[at], begins[at + 1] - begins[at]);
        if (!check_bytes(result.size(), span)) return std::nullopt;
    }
    return CompileValue(Scalar(std::move(result)));
}

}  // namespace lemma::sknd
