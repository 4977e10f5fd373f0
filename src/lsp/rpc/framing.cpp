// SPDX-License-Identifier: Apache-2.0
#include "lsp/rpc/framing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace lemma::lsp {

namespace {

bool same_word(std::string_view a, std::string_view b) {
    return std::ranges::equal(
        a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return "";
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

bool is_field_name(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-';
    });
}

}  // namespace

void FrameReader::add(std::string_view bytes) {
    while (!bytes.empty()) {
        if (in_body_)
            add_to_body(bytes);
        else
            add_to_line(bytes);
    }
}

Frame FrameReader::next() {
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
}

void FrameReader::add_to_line(std::string_view& bytes) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() > limits_.max_header_bytes) {
        problem("a header line is too long");
        line_.clear();
    } else {
        line_ += part;
    }
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (end != std::string_view::npos) end_line();
}

void FrameReader::end_line() {
    if (line_.ends_with('\r')) line_.pop_back();
    const std::string line = std::exchange(line_, {});
    if (line.empty()) {
        end_header();
        return;
    }
    const size_t colon = line.find(':');
    const std::string_view name = std::string_view(line).substr(0, colon);
    if (colon == std::string::npos || !is_field_name(name)) {
        problem("expected a header line such as `Content-Length: 42`");
        return;
    }
    field(name, trimmed(std::string_view(line).substr(colon + 1)));
}

void FrameReader::field(std::string_view name, std::string_view value) {
    any_field_ = true;
    if (!same_word(name, "Content-Length")) return;
    const char* const end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, length_);
    has_length_ = parsed.ec == std::errc() && parsed.ptr == end;
    bad_length_ = !has_length_;
}

void FrameReader::end_header() {
    const bool any_field = std::exchange(any_field_, false);
    const bool has_length = std::exchange(has_length_, false);
    const bool bad_length = std::exchange(bad_length_, false);
    if (!has_length) {
        if (any_field) {
            problem(bad_length ? "`Content-Length` is not a number"
                               : "a header without `Content-Length`");
        }
        garbage_ = false;
        return;
    }
    garbage_ = false;
    missing_ = length_;
    skip_body_ = length_ > limits_.max_body_bytes;
    if (skip_body_) {
        problem(fmt::format(
            "a message of {} bytes, at most {} are read", length_, limits_.max_body_bytes));
        garbage_ = false;
    }
    in_body_ = missing_ > 0;
    if (!in_body_) frames_.push_back({});
}

void FrameReader::add_to_body(std::string_view& bytes) {
    const size_t count = std::min(missing_, bytes.size());
    if (!skip_body_) body_ += bytes.substr(0, count);
    bytes.remove_prefix(count);
    missing_ -= count;
    if (missing_ > 0) return;
    in_body_ = false;
    if (!skip_body_) frames_.push_back({.body = std::move(body_), .problem = ""});
    body_ = {};
}

// Neighbouring lines of garbage are one problem.
void FrameReader::problem(std::string text) {
    if (!std::exchange(garbage_, true)) frames_.push_back({.body = "", .problem = std::move(text)});
}

std::string framed(std::string_view body) {
    return fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
}

}  // namespace lemma::lsp
