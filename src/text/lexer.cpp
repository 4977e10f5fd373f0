// SPDX-License-Identifier: Apache-2.0
#include "text/lexer.h"

namespace lemma::text {

Scanner::Number Scanner::number_at(uint32_t begin) const {
    Number number{.end = skip(begin, is_digit)};
    if (at(number.end) == '.') number = {skip(number.end + 1, is_digit), true};
    if (at(number.end) != 'e' && at(number.end) != 'E') return number;
    const bool sign = at(number.end + 1) == '+' || at(number.end + 1) == '-';
    const uint32_t digits = number.end + 1 + (sign ? 1 : 0);
    if (is_digit(at(digits))) number = {skip(digits, is_digit), true};
    return number;
}

Span Scanner::not_utf8(uint32_t begin, uint32_t end) const {
    for (uint32_t i = begin; i < end;) {
        const diag::Character character = diag::character_at(text_, i);
        if (!character.valid) return span(i, i + 1);
        i += character.size;
    }
    return {};
}

}  // namespace lemma::text
