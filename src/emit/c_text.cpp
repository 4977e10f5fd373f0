// SPDX-License-Identifier: Apache-2.0
#include "emit/c_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lemma::emit {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string CNames::make(std::string_view prefix, std::string_view name) {
    constexpr size_t kMostLetters = 24;
    std::string text(prefix);
    for (const char c : name.substr(0, kMostLetters)) text += is_letter(c) || is_digit(c) ? c : '_';
    return taken_.make(text);
}

bool is_identifier(std::string_view text) {
    constexpr size_t kMostLetters = 40;
    if (text.empty() || text.size() > kMostLetters || !is_letter(text[0])) return false;
    if (!std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; }))
        return false;
    constexpr std::string_view kTaken[] = {
        "auto",   "break",    "case",   "char",   "const",    "continue", "default", "do",
        "double", "else",     "enum",   "extern", "float",    "for",      "goto",    "if",
        "inline", "int",      "long",   "main",   "register", "restrict", "return",  "short",
        "signed", "sizeof",   "static", "struct", "switch",   "typedef",  "union",   "unsigned",
        "void",   "volatile", "while",  "sx"};
    return std::ranges::find(kTaken, text) == std::end(kTaken);
}

std::string comment_text(std::string_view text) {
    constexpr size_t kMostShown = 200;
    std::string safe;
    for (const char c : text.substr(0, kMostShown)) {
        const bool fine =
            is_letter(c) || is_digit(c) || std::string_view(" .,-_:/()[]=<>").contains(c);
        safe += fine ? c : '_';
    }
    for (size_t at; (at = safe.find("*/")) != std::string::npos;) safe[at] = '_';
    for (size_t at; (at = safe.find("/*")) != std::string::npos;) safe[at] = '_';
    return safe;
}

std::string_view c_type(tensor::DType dtype) {
    using tensor::DType;
    switch (dtype) {
        case DType::F16:
        case DType::BF16:
        case DType::U16:
            return "uint16_t";
        case DType::F32:
            return "float";
        case DType::F64:
            return "double";
        case DType::I8:
            return "int8_t";
        case DType::I16:
            return "int16_t";
        case DType::I32:
            return "int32_t";
        case DType::I64:
            return "int64_t";
        case DType::U8:
        case DType::Bool:
            return "uint8_t";
        case DType::U32:
            return "uint32_t";
        case DType::U64:
            return "uint64_t";
        case DType::Str:
            break;
    }
    return "char";
}

std::string array_of(std::string_view name, const tensor::Shape& shape) {
    std::string text(name);
    for (const int64_t extent : shape) text += fmt::format("[{}]", std::max<int64_t>(extent, 1));
    return text;
}

std::string real_literal(double value, bool single) {
    if (std::isnan(value)) return "NAN";
    if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
    if (value == 0)
        return std::signbit(value) ? (single ? "-0.0F" : "-0.0") : (single ? "0.0F" : "0.0");
    return fmt::format("{:a}{}", value, single ? "F" : "");
}

std::string integer_literal(tensor::DType dtype, int64_t value) {
    using tensor::DType;
    if (dtype == DType::U64) return fmt::format("{}ULL", static_cast<uint64_t>(value));
    if (value == INT64_MIN) return "(-9223372036854775807LL - 1)";  // C has no negative literals
    if (dtype == DType::I64) return fmt::format("{}LL", value);
    if (dtype == DType::U32 || dtype == DType::U16 || dtype == DType::U8 || dtype == DType::Bool) {
        return fmt::format("{}U", value);
    }
    if (value == INT32_MIN) return "(-2147483647 - 1)";
    return fmt::format("{}", value);
}

void CLines::put(std::string_view line) {
    if (!line.empty()) text_.append(4 * depth_, ' ');
    text_ += line;
    text_ += '\n';
}

void CLines::open(std::string_view line) {
    put(line);
    ++depth_;
}

void CLines::close(std::string_view line) {
    --depth_;
    put(line);
}

void CLines::between(std::string_view line) {
    --depth_;
    put(line);
    ++depth_;
}

void CLines::annotate(const std::vector<std::string>& clauses) {
    for (size_t i = 0; i < clauses.size(); ++i) put((i == 0 ? "/*@ " : "  @ ") + clauses[i]);
    put("  @*/");
}

}  // namespace lemma::emit
