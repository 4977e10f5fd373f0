// SPDX-License-Identifier: Apache-2.0
#include "serve/core/json_reader.h"

#include <fmt/format.h>

#include <charconv>

namespace lemma::serve {

namespace {

constexpr int kMaxDepth = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether the bytes are UTF-8, as JSON requires.
bool is_utf8(std::string_view text) {
    for (size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i++]);
        if (lead < 0x80) continue;
        const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
        if (lead < 0xC2 || lead > 0xF4) return false;
        unsigned code = lead & (0x3Fu >> more);
        for (int k = 0; k < more; ++k, ++i) {
            const auto byte = i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
            if ((byte & 0xC0u) != 0x80u) return false;
            code = code << 6 | (byte & 0x3Fu);
        }
        const unsigned least = more == 3 ? 0x10000u : more == 2 ? 0x800u : 0x80u;
        if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
    }
    return true;
}

void append_utf8(std::string& text, unsigned code) {
    const auto put = [&](unsigned byte) { text += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | code >> 6);
        put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    }
}

}  // namespace

Failure JsonReader::failure() const {
    return {Code::Invalid, fmt::format("the JSON is wrong at byte {}: {}", fault_at_, message_)};
}

void JsonReader::fail(std::string_view what) {
    if (failed()) return;
    message_ = what;
    fault_at_ = at_;
}

void JsonReader::space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
        ++at_;
    }
}

char JsonReader::peek() {
    if (failed()) return '\0';
    space();
    return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonReader::take(char wanted) {
    if (peek() != wanted || wanted == '\0') return false;
    ++at_;
    return true;
}

void JsonReader::expect(char wanted) {
    if (!take(wanted)) fail(fmt::format("`{}` is missing", wanted));
}

bool JsonReader::first(char open, char close) {
    expect(open);
    return !failed() && !take(close);
}

bool JsonReader::next(char close) {
    if (failed() || take(close)) return false;
    expect(',');
    return !failed();
}

std::string JsonReader::key() {
    std::string text = string();
    expect(':');
    return text;
}

unsigned JsonReader::hex4() {
    unsigned value = 0;
    const char* const begin = text_.data() + at_;
    const bool enough = text_.size() - at_ >= 4;
    const auto read =
        enough ? std::from_chars(begin, begin + 4, value, 16) : std::from_chars_result{begin, {}};
    if (read.ptr != begin + 4) {
        fail("`\\u` needs four hexadecimal digits");
        return 0;
    }
    at_ += 4;
    return value;
}

void JsonReader::append_escape(std::string& text) {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (const size_t found = kLetters.find(c); c != '\0' && found != std::string_view::npos) {
        text += kMeanings[found];
        ++at_;
        return;
    }
    if (c != 'u') return fail("unknown escape in a string");
    ++at_;
    unsigned code = hex4();
    if (code >= 0xD800 && code < 0xDC00) {
        const bool pair = text_.substr(at_).starts_with("\\u");
        at_ += pair ? 2 : 0;
        const unsigned low = pair ? hex4() : 0;
        if (low < 0xDC00 || low > 0xDFFF) return fail("half of a surrogate pair");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
        return fail("half of a surrogate pair");
    }
    if (!failed()) append_utf8(text, code);
}

std::string JsonReader::string() {
    std::string text;
    expect('"');
    while (!failed()) {
        const size_t end = text_.find_first_of("\"\\", at_);
        if (end == std::string_view::npos) {
            fail("a string does not end");
            break;
        }
        for (; at_ < end; ++at_) {
            if (static_cast<unsigned char>(text_[at_]) < 0x20) {
                fail("a control character in a string");
                return text;
            }
            text += text_[at_];
        }
        ++at_;
        if (text_[end] == '"') break;
        append_escape(text);
    }
    if (!failed() && !is_utf8(text)) fail("a string is not UTF-8");
    return text;
}

void JsonReader::word(std::string_view wanted) {
    space();
    if (text_.substr(at_).starts_with(wanted)) {
        at_ += wanted.size();
    } else {
        fail("a value is missing");
    }
}

bool JsonReader::boolean() {
    const bool yes = peek() == 't';
    if (!failed()) word(yes ? "true" : "false");
    return yes && !failed();
}

std::string_view JsonReader::number() {
    if (failed()) return {};
    space();
    size_t i = at_;
    const auto digits = [&] {
        const size_t begin = i;
        while (i < text_.size() && is_digit(text_[i])) ++i;
        return i > begin;
    };
    const auto is = [&](char c) { return i < text_.size() && text_[i] == c; };
    if (is('-')) ++i;
    const bool zero = is('0');
    const size_t whole = i;
    bool good = digits() && !(zero && i > whole + 1);
    if (good && is('.')) {
        ++i;
        good = digits();
    }
    if (good && (is('e') || is('E'))) {
        ++i;
        if (is('+') || is('-')) ++i;
        good = digits();
    }
    if (!good) {
        fail("a number is missing or wrong");
        return {};
    }
    const std::string_view found = text_.substr(at_, i - at_);
    at_ = i;
    return found;
}

int64_t JsonReader::integer() {
    const std::string_view text = number();
    int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!failed() && (read.ec != std::errc() || read.ptr != text.data() + text.size())) {
        fail(fmt::format("`{}` is not an integer of 64 bits", text.substr(0, 40)));
    }
    return value;
}

void JsonReader::skip_below(int depth) {
    if (depth > kMaxDepth) return fail("too many brackets");
    switch (peek()) {
        case '{':
            for (bool more = first('{', '}'); more; more = next('}')) {
                key();
                skip_below(depth + 1);
            }
            break;
        case '[':
            for (bool more = first('[', ']'); more; more = next(']')) skip_below(depth + 1);
            break;
        case '"':
            string();
            break;
        case 't':
            word("true");
            break;
        case 'f':
            word("false");
            break;
        case 'n':
            word("null");
            break;
        default:
            number();
    }
}

void JsonReader::skip() { skip_below(0); }

std::string_view JsonReader::array_text() {
    if (peek() != '[') {
        fail("an array is missing");
        return {};
    }
    const size_t begin = at_;
    int depth = 0;
    while (!failed()) {
        at_ = text_.find_first_of("[]\"", at_);
        if (at_ == std::string_view::npos) {
            at_ = text_.size();
            fail("an array does not end");
        } else if (text_[at_] == '"') {
            string();
        } else if (text_[at_++] == '[') {
            if (++depth > kMaxDepth) fail("too many brackets");
        } else if (--depth == 0) {
            return text_.substr(begin, at_ - begin);
        }
    }
    return {};
}

void JsonReader::end() {
    if (peek() != '\0' || at_ < text_.size()) fail("text after the end of the document");
}

std::string json_string(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') {
            quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            quoted += c;
        }
    }
    return quoted + "\"";
}

}  // namespace lemma::serve
