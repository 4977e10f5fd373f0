// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "sknd/print/printer_impl.h"

namespace lemma::sknd {

namespace {

// The shortest text that reads back as the same value of type real.
std::string real_text(double value) {
    if (std::isnan(value)) return "(inf - inf)";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == text.npos) text += ".0";
    return text;
}

std::string escaped(std::string_view text, char quote) {
    std::string result;
    for (const char c : text) {
        if (c == quote || c == '\\' || c == '{' || c == '}') result += '\\';
        if (c == '\n') {
            result += "\\n";
        } else if (c == '\t') {
            result += "\\t";
        } else {
            result += c;
        }
    }
    return result;
}

// The end of the brace pair that the text begins with. Braces nest; quotes hide them.
size_t matching_brace(std::string_view text) {
    int depth = 0;
    char quote = '\0';
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != '\0') {
            if (c == quote) quote = '\0';
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '{') {
            ++depth;
        } else if (c == '}' && --depth == 0) {
            return i;
        }
    }
    return text.npos;
}

}  // namespace

std::string quoted(std::string_view text, char quote) {
    return fmt::format("{}{}{}", quote, escaped(text, quote), quote);
}

void Printer::node_of(const IntLiteral& literal, ExprId) {
    out_.text(fmt::format("{}", literal.value));
}

void Printer::node_of(const RealLiteral& literal, ExprId) {
    out_.text(literal.text.empty() ? real_text(literal.value) : std::string(literal.text));
}

void Printer::node_of(const BoolLiteral& literal, ExprId) {
    out_.text(literal.value ? "true" : "false");
}

void Printer::node_of(const StringLiteral& literal, ExprId) {
    const std::vector<std::string> pieces = pieces_of(literal);
    out_.group([&] {
        out_.align([&] {
            for (size_t i = 0; i < pieces.size(); ++i) {
                if (i > 0) out_.line();
                out_.text(pieces[i]);
            }
        });
    });
}

// One literal made from parts. The expressions inside it must not contain its quote.
std::string Printer::piece_of(const std::vector<StringLiteral::Part>& parts) const {
    std::vector<std::string> formatted;
    char quote = '"';
    for (const StringLiteral::Part& part : parts) {
        formatted.push_back(part.expr ? print(module_, part.expr, options_.spelling) : "");
        if (formatted.back().find('"') != std::string::npos) quote = '\'';
    }
    std::string piece(1, quote);
    for (size_t i = 0; i < parts.size(); ++i) {
        piece += parts[i].expr ? '{' + formatted[i] + '}' : escaped(parts[i].text, quote);
    }
    return piece + quote;
}

// The literals as written, except that formatted expressions get the requested spelling.
std::vector<std::string> Printer::pieces_of(const StringLiteral& literal) const {
    if (literal.piece_count == 0) return {piece_of(literal.parts)};
    const auto pieces = std::span(module_.pieces).subspan(literal.first_piece, literal.piece_count);
    std::vector<ExprId> formatted;
    for (const StringLiteral::Part& part : literal.parts) {
        if (part.expr) formatted.push_back(part.expr);
    }
    if (formatted.empty()) return {pieces.begin(), pieces.end()};
    std::vector<std::string> result;
    std::span<const ExprId> left = formatted;
    for (const std::string_view piece : pieces) result.push_back(respelled(piece, left));
    return result;
}

// Replaces each `{…}` whose text depends on the spelling. Removes the used items of `formatted`.
std::string Printer::respelled(std::string_view piece, std::span<const ExprId>& formatted) const {
    std::string result;
    while (!piece.empty()) {
        const size_t close = piece[0] == '{' ? matching_brace(piece) : piece.npos;
        const size_t size = piece[0] == '\\' ? 2 : 1;
        if (close == piece.npos || formatted.empty()) {
            result += piece.substr(0, size);
            piece.remove_prefix(std::min(size, piece.size()));
            continue;
        }
        const std::string spec = print(module_, formatted.front(), Spelling::Spec);
        const std::string other = print(module_, formatted.front(), Spelling::Khronos);
        const std::string_view written = piece.substr(1, close - 1);
        result += '{';
        result += spec == other ? written : khronos() ? other : spec;
        result += '}';
        formatted = formatted.subspan(1);
        piece.remove_prefix(close + 1);
    }
    return result;
}

}  // namespace lemma::sknd
