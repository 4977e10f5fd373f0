// SPDX-License-Identifier: Apache-2.0
#include "sonnx/metadata.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace lemma::sonnx {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

// Runs of letters, digits and slashes, in lower case.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    bool inside = false;
    for (const char c : lower(text)) {
        const bool part = is_letter(c) || is_digit(c) || c == '/';
        if (part && !inside) words.emplace_back();
        if (part) words.back() += c;
        inside = part;
    }
    return words;
}

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

// The number that `count` digits at the front stand for; -1 if there are others.
int take_digits(std::string_view& text, size_t count) {
    if (text.size() < count) return -1;
    int value = 0;
    for (size_t i = 0; i < count; ++i) {
        if (!is_digit(text[i])) return -1;
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return value;
}

bool take(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}

// "09:30", "09:30:00", "09:30:00.25"
bool take_time(std::string_view& text) {
    const int hour = take_digits(text, 2);
    if (hour < 0 || hour > 23 || !take(text, ':')) return false;
    const int minute = take_digits(text, 2);
    if (minute < 0 || minute > 59) return false;
    if (!take(text, ':')) return true;
    const int second = take_digits(text, 2);
    if (second < 0 || second > 60) return false;
    if (take(text, '.')) {
        if (text.empty() || !is_digit(text.front())) return false;
        while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
    }
    return true;
}

}  // namespace

bool is_placeholder(std::string_view text) {
    text = trimmed(text);
    static constexpr std::array<std::string_view, 14> kWhole = {"none",
                                                                "null",
                                                                "nil",
                                                                "na",
                                                                "n/a",
                                                                "unknown",
                                                                "unspecified",
                                                                "undefined",
                                                                "empty",
                                                                "nothing",
                                                                "anything",
                                                                "foo",
                                                                "bar",
                                                                "asdf"};
    static constexpr std::array<std::string_view, 7> kAnywhere = {
        "todo", "tbd", "tbc", "fixme", "xxx", "changeme", "placeholder"};
    const std::vector<std::string> words = words_of(text);
    if (words.empty()) return true;  // nothing but signs
    if (words.size() == 1 && is_one_of(kWhole, words[0])) return true;
    if (std::ranges::any_of(words, [](const auto& word) { return is_one_of(kAnywhere, word); }))
        return true;
    const bool in_brackets = (text.front() == '<' && text.back() == '>') ||
                             (text.front() == '{' && text.back() == '}') ||
                             (text.front() == '[' && text.back() == ']');
    const auto first = std::ranges::search(words, std::array<std::string, 2>{"lorem", "ipsum"});
    return in_brackets || !first.empty();
}

bool is_version(std::string_view text) {
    if (text.starts_with('v') || text.starts_with('V')) text.remove_prefix(1);
    if (text.empty() || !is_digit(text.front())) return false;
    return text.size() <= 64 && std::ranges::all_of(text, [](char c) {
               return is_digit(c) || is_letter(c) || c == '.' || c == '-' || c == '+' || c == '_';
           });
}

bool is_date(std::string_view text) {
    const int year = take_digits(text, 4);
    if (year < 1 || !take(text, '-')) return false;
    const int month = take_digits(text, 2);
    if (month < 1 || !take(text, '-')) return false;
    const int day = take_digits(text, 2);
    if (day < 1) return false;
    const std::chrono::year_month_day date{std::chrono::year{year},
                                           std::chrono::month{static_cast<unsigned>(month)},
                                           std::chrono::day{static_cast<unsigned>(day)}};
    if (!date.ok()) return false;
    if (text.empty()) return true;
    if (!take(text, 'T') && !take(text, ' ')) return false;
    if (!take_time(text)) return false;
    if (text.empty() || text == "Z") return true;
    if (!take(text, '+') && !take(text, '-')) return false;
    return take_time(text) && text.empty();
}

bool is_sha256(std::string_view text) {
    if (text.starts_with("sha256:")) text.remove_prefix(7);
    return text.size() == 64 && std::ranges::all_of(text, [](char c) {
               return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
           });
}

bool is_criterion(std::string_view text) {
    if (lower(trimmed(text)) == "exact") return true;
    static constexpr std::array<std::string_view, 10> kKinds = {"abs",
                                                                "absolute",
                                                                "atol",
                                                                "rel",
                                                                "relative",
                                                                "rtol",
                                                                "ulp",
                                                                "ulps",
                                                                "epsilon",
                                                                "tolerance"};
    const std::vector<std::string> words = words_of(text);
    if (std::ranges::none_of(words, [](const auto& word) { return is_one_of(kKinds, word); }))
        return false;
    const std::string copy(text);
    const size_t at = copy.find_first_of("0123456789");
    if (at == std::string::npos) return false;
    const double value = std::strtod(copy.c_str() + at, nullptr);
    return std::isfinite(value) && value > 0;
}

}  // namespace lemma::sonnx
