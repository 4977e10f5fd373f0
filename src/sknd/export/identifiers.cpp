#include "sknd/export/identifiers.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace lemma::sknd {

namespace {

// Words of the language, and those that would read as something else in front of a bracket.
constexpr std::array<std::string_view, 31> kWords = {
    "import", "graph", "public", "operator", "optional", "type",   "arith",  "num",
    "int",    "real",  "bool",   "str",      "inf",      "pi",     "true",   "false",
    "as",     "is",    "in",     "if",       "then",     "else",   "elif",   "do",
    "for",    "while", "with",   "yield",    "unroll",   "static", "dynamic"};

bool is_word(std::string_view text) {
    return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

}  // namespace

std::string Identifiers::make(std::string_view name) {
    std::string text;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        text += byte < 128 && std::isalnum(byte) ? c : '_';
    }
    if (text.empty() || text == "_" || std::isdigit(static_cast<unsigned char>(text[0]))) {
        text = "t" + text;
    }
    if (is_word(text)) text += '_';
    std::string unique = text;
    for (size_t n = 2; !used_.insert(unique).second; ++n) unique = text + "_" + std::to_string(n);
    return unique;
}

}  // namespace lemma::sknd
