// SPDX-License-Identifier: Apache-2.0
// lsp/rpc/framing.h — messages in a stream of bytes: header lines, a blank line, and as many bytes
// as `Content-Length` says. Bytes that are no message are reported and skipped.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace lemma::lsp {

struct FrameLimits {
    size_t max_header_bytes = 8 << 10;  // of one line
    size_t max_body_bytes = 64 << 20;
};

// A message, or what is wrong with the bytes at this place.
struct Frame {
    std::string body;
    std::string problem;  // empty: a message
};

class FrameReader {
public:
    explicit FrameReader(FrameLimits limits = {}) : limits_(limits) {}

    void add(std::string_view bytes);
    // Whether a frame is complete.
    bool ready() const { return !frames_.empty(); }
    Frame next();

private:
    void add_to_line(std::string_view& bytes);
    void add_to_body(std::string_view& bytes);
    void end_line();
    void end_header();
    void problem(std::string text);
    void field(std::string_view name, std::string_view value);

    FrameLimits limits_;
    std::deque<Frame> frames_;
    std::string line_;  // of the header, so far
    bool in_body_ = false;
    bool garbage_ = false;    // the lines so far are no header, which is reported
    bool any_field_ = false;  // of this header
    bool bad_length_ = false;
    bool has_length_ = false;
    size_t length_ = 0;       // of the body
    bool skip_body_ = false;  // it is over the limit
    std::string body_;
    size_t missing_ = 0;  // bytes of the body still to come
};

// The message with its header.
std::string framed(std::string_view body);

}  // namespace lemma::lsp
