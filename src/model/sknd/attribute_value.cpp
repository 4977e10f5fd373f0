// SPDX-License-Identifier: Apache-2.0
#include "model/sknd/attribute_value.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::model {

namespace {

using sknd::BaseType;

class ValueReader {
public:
    ValueReader(const diag::SourceMap& sources, const sknd::Parameter& declared, Diagnostics& diag)
        : sources_(sources), declared_(declared), diag_(diag) {}

    // value = item | "[" [item {"," item}] "]"
    std::optional<ir::Value> value(Span span);

private:
    std::optional<ir::Value> list(Span span);
    std::optional<ir::Scalar> item(Span span);
    std::optional<ir::Scalar> int_item(std::string_view text, Span span);
    std::optional<ir::Scalar> real_item(std::string_view text, Span span);
    std::optional<ir::Scalar> bool_item(std::string_view text, Span span);
    std::optional<ir::Scalar> str_item(std::string_view text, Span span);

    std::vector<Span> split_items(Span inside) const;
    Span trimmed(Span span) const;
    std::nullopt_t wrong(Span span, DiagKind kind, const std::string& message) {
        diag_.error(span, kind, message)
            .note(declared_.span, fmt::format("`{}` declared here", declared_.name));
        return std::nullopt;
    }

    const diag::SourceMap& sources_;
    const sknd::Parameter& declared_;
    Diagnostics& diag_;
};

bool is_quote(char c) { return c == '\'' || c == '"'; }

Span ValueReader::trimmed(Span span) const {
    const std::string_view text = sources_.text(span);
    const size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return {span.file, span.end, span.end};
    const size_t end = text.find_last_not_of(' ') + 1;
    return {span.file,
            span.begin + static_cast<uint32_t>(begin),
            span.begin + static_cast<uint32_t>(end)};
}

std::optional<ir::Value> ValueReader::value(Span span) {
    const std::string_view text = sources_.text(span);
    const bool is_list = text.starts_with('[') && text.ends_with(']');
    // A bare word may look like a list where a single string is expected.
    if (is_list && !declared_.type.packed && declared_.type.base != BaseType::Str) {
        return wrong(span, DiagKind::PackMismatch, "a list where a single value is wanted");
    }
    if (is_list && declared_.type.packed) return list(span);
    if (declared_.type.packed && !declared_.length_marked) {
        return wrong(span,
                     DiagKind::PackMismatch,
                     fmt::format("a single value where a list is wanted, such as `[{}]`", text));
    }
    const auto single = item(span);
    if (!single) return std::nullopt;
    return ir::Value(*single);
}

std::optional<ir::Value> ValueReader::list(Span span) {
    ir::Pack pack;
    for (const Span one : split_items({span.file, span.begin + 1, span.end - 1})) {
        const auto scalar = item(one);
        if (!scalar) return std::nullopt;
        pack.items.push_back(*scalar);
    }
    return ir::Value(std::move(pack));
}

// Splits at the commas outside quotes.
std::vector<Span> ValueReader::split_items(Span inside) const {
    const std::string_view text = sources_.text(inside);
    std::vector<Span> items;
    uint32_t begin = inside.begin;
    char quote = '\0';
    for (size_t i = 0; i < text.size(); ++i) {
        if (quote != '\0') {
            if (text[i] == '\\')
                ++i;
            else if (text[i] == quote)
                quote = '\0';
        } else if (is_quote(text[i])) {
            quote = text[i];
        } else if (text[i] == ',') {
            const uint32_t end = inside.begin + static_cast<uint32_t>(i);
            items.push_back(trimmed({inside.file, begin, end}));
            begin = end + 1;
        }
    }
    const Span last = trimmed({inside.file, begin, inside.end});
    const bool empty_list = items.empty() && last.begin == last.end;
    if (!empty_list) items.push_back(last);
    return items;
}

std::optional<ir::Scalar> ValueReader::item(Span span) {
    const std::string_view text = sources_.text(span);
    if (text.empty() && declared_.type.base != BaseType::Str) {
        return wrong(span, DiagKind::MissingValue, "no value is given");
    }
    switch (declared_.type.base) {
        case BaseType::Int:
            return int_item(text, span);
        case BaseType::Real:
            return real_item(text, span);
        case BaseType::Bool:
            return bool_item(text, span);
        default:
            return str_item(text, span);
    }
}

std::optional<ir::Scalar> ValueReader::int_item(std::string_view text, Span span) {
    int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec == std::errc() && parsed.ptr == end) return ir::Scalar(number);
    if (parsed.ec == std::errc::result_out_of_range && parsed.ptr == end) {
        return wrong(span, DiagKind::IntRange, fmt::format("`{}` does not fit 64 bits", text));
    }
    return wrong(span, DiagKind::TypeMismatch, fmt::format("`{}` is not an int", text));
}

std::optional<ir::Scalar> ValueReader::real_item(std::string_view text, Span span) {
    double number = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    const bool read = parsed.ec == std::errc() && parsed.ptr == end && !std::isnan(number);
    if (read) return ir::Scalar(number);
    return wrong(span, DiagKind::TypeMismatch, fmt::format("`{}` is not a real number", text));
}

std::optional<ir::Scalar> ValueReader::bool_item(std::string_view text, Span span) {
    if (text == "true") return ir::Scalar(true);
    if (text == "false") return ir::Scalar(false);
    return wrong(
        span, DiagKind::TypeMismatch, fmt::format("`{}` is neither `true` nor `false`", text));
}

// A bare word stands for itself; in quotes, `\` escapes the next character.
std::optional<ir::Scalar> ValueReader::str_item(std::string_view text, Span span) {
    if (text.empty() || !is_quote(text.front())) return ir::Scalar(std::string(text));
    std::string inside;
    for (size_t i = 1; i < text.size(); ++i) {
        if (text[i] == text.front()) {
            if (i + 1 == text.size()) return ir::Scalar(inside);
            break;
        }
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
        inside += text[i];
    }
    return wrong(span, DiagKind::UnclosedString, fmt::format("`{}` is not one string", text));
}

}  // namespace

std::optional<ir::Value> read_attribute_value(const diag::SourceMap& sources,
                                              Span span,
                                              const sknd::Parameter& declared,
                                              Diagnostics& diag) {
    return ValueReader(sources, declared, diag).value(span);
}

}  // namespace lemma::model
