// SPDX-License-Identifier: Apache-2.0
#include "ir/text/text_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "diag/utf8.h"

namespace lemma::ir {

namespace {

constexpr std::array<std::string_view, 8> kExpressionWords = {
    "append", "false", "for", "if", "in", "inf", "nan", "true"};
constexpr std::array<std::string_view, 9> kStatementWords = {
    "body", "condition", "else", "let", "over", "require", "then", "while", "yield"};

constexpr std::array<std::string_view, 8> kFormulaOps = {
    "=", "+=", "*=", "&=", "|=", "min=", "max=", ":="};
constexpr std::array<std::string_view, 4> kScalarTypes = {"int", "real", "bool", "str"};
constexpr std::array<std::string_view, 4> kRoles = {"input", "constant", "variable", "tensor"};
constexpr std::array<std::string_view, 4> kKinds = {
    "primitive", "compound", "intrinsic", "control"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <class Enum, size_t N>
std::optional<Enum> find_in(const std::array<std::string_view, N>& texts, std::string_view text) {
    const auto at = std::ranges::find(texts, text);
    if (at == texts.end()) return std::nullopt;
    return static_cast<Enum>(at - texts.begin());
}

}  // namespace

bool is_word(std::string_view text) {
    bool first = true;  // of a part
    for (const char c : text) {
        if (c == '.' ? first : !is_letter(c) && !(is_digit(c) && !first)) return false;
        first = c == '.';
    }
    return !first;
}

bool is_symbol_word(std::string_view text) {
    return is_word(text) && text.find('.') == std::string_view::npos &&
           std::ranges::find(kExpressionWords, text) == kExpressionWords.end();
}

bool is_tensor_char(char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '/' || c == '#';
}

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (size_t at = 0; at < text.size();) {
        const diag::Character character = diag::character_at(text, at);
        const std::string_view bytes = text.substr(at, character.size);
        const char c = bytes[0];
        if (c == '\n') {
            result += "\\n";
        } else if (c == '\t') {
            result += "\\t";
        } else if (diag::glyph(text, at, character).text != bytes) {
            // Control characters would act on a terminal.
            for (const char byte : bytes)
                result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
        } else {
            if (c == '"' || c == '\\') result += '\\';
            result += bytes;
        }
        at += character.size;
    }
    return result + '"';
}

std::string name_text(std::string_view name) {
    const bool digits = !name.empty() && std::ranges::all_of(name, is_digit);
    return digits || is_word(name) ? std::string(name) : quoted(name);
}

std::string operator_text(std::string_view name) {
    const bool plain =
        is_word(name) && std::ranges::find(kStatementWords, name) == kStatementWords.end();
    return plain ? std::string(name) : quoted(name);
}

std::string number_text(double value) {
    if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
    return real_text(value);
}

std::string_view formula_op_text(FormulaOp op) { return kFormulaOps[static_cast<size_t>(op)]; }
std::optional<FormulaOp> formula_op_from_text(std::string_view text) {
    return find_in<FormulaOp>(kFormulaOps, text);
}

std::string_view scalar_type_text(ScalarType type) {
    return kScalarTypes[static_cast<size_t>(type)];
}
std::optional<ScalarType> scalar_type_from_text(std::string_view text) {
    return find_in<ScalarType>(kScalarTypes, text);
}

std::string_view role_text(TensorRole role) { return kRoles[static_cast<size_t>(role)]; }
std::optional<TensorRole> role_from_text(std::string_view text) {
    return find_in<TensorRole>(kRoles, text);
}

std::string_view kind_text(OperationKind kind) { return kKinds[static_cast<size_t>(kind)]; }
std::optional<OperationKind> kind_from_text(std::string_view text) {
    return find_in<OperationKind>(kKinds, text);
}
std::optional<OperationKind> kind_from_body(const Operation& op) {
    if (!std::holds_alternative<std::monostate>(op.control)) return OperationKind::Control;
    if (!op.formulas.empty()) return OperationKind::Primitive;
    if (!op.parts.empty()) return OperationKind::Compound;
    return std::nullopt;
}

ScalarType scalar_type_of(DType dtype) {
    if (dtype == DType::Bool) return ScalarType::Bool;
    if (dtype == DType::Str) return ScalarType::Str;
    return tensor::is_real(dtype) ? ScalarType::Real : ScalarType::Int;
}

Interval index_range(const SymbolPool& symbols, SymId extent) {
    return {0, std::max<int64_t>(symbols.range(extent).high, 1) - 1};
}

}  // namespace lemma::ir
