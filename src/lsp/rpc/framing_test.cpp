// SPDX-License-Identifier: Apache-2.0
#include "lsp/rpc/framing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lsp/rpc/message.h"

namespace lemma::lsp {
namespace {

std::vector<std::string> read(const std::string& bytes, size_t step, FrameLimits limits = {}) {
    FrameReader reader(limits);
    std::vector<std::string> found;
    for (size_t i = 0; i < bytes.size(); i += step) {
        reader.add(std::string_view(bytes).substr(i, step));
        while (reader.ready()) {
            const Frame frame = reader.next();
            found.push_back(frame.problem.empty() ? frame.body : "! " + frame.problem);
        }
    }
    return found;
}

TEST(Framing, ReadsMessagesInPiecesOfAnySize) {
    const std::string bytes = framed("{}") + framed("") + framed("two\r\nlines");
    for (size_t step = 1; step <= bytes.size(); ++step) {
        EXPECT_EQ(read(bytes, step), (std::vector<std::string>{"{}", "", "two\r\nlines"}));
    }
}

TEST(Framing, AcceptsOtherHeadersAndCases) {
    EXPECT_EQ(read("content-length:  2 \nContent-Type: x; charset=utf-8\n\n{}", 1),
              (std::vector<std::string>{"{}"}));
}

TEST(Framing, ReportsGarbageOnceAndGoesOn) {
    const auto found = read("hello\nworld\n\n" + framed("{}"), 3);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_TRUE(found[0].starts_with("! expected a header line"));
    EXPECT_EQ(found[1], "{}");
}

TEST(Framing, ReportsAHeaderWithoutLength) {
    const auto found = read("Content-Type: x\r\n\r\n" + framed("{}"), 100);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0], "! a header without `Content-Length`");
}

TEST(Framing, RefusesNumbersThatAreNone) {
    for (const char* length : {"x", "-1", "1.5", "99999999999999999999999", ""}) {
        const auto found = read(std::string("Content-Length: ") + length + "\r\n\r\n", 100);
        ASSERT_EQ(found.size(), 1u) << length;
        EXPECT_EQ(found[0], "! `Content-Length` is not a number") << length;
    }
}

TEST(Framing, SkipsABodyOverTheLimit) {
    const auto found =
        read(framed(std::string(100, 'x')) + framed("{}"), 7, {.max_body_bytes = 99});
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0], "! a message of 100 bytes, at most 99 are read");
    EXPECT_EQ(found[1], "{}");
}

TEST(Framing, LimitsTheLengthOfAHeaderLine) {
    const auto found = read(std::string(100'000, 'x'), 1000);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0], "! a header line is too long");
}

TEST(Message, KeepsTheIdOfABadRequest) {
    const auto message = read_message(R"({"jsonrpc": "1.0", "id": 7, "method": "x"})");
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().id, 7);
    EXPECT_EQ(message.error().error.code, kInvalidRequest);
}

TEST(Message, TellsRequestsNotificationsAndResponsesApart) {
    const auto kind = [](const std::string& text) { return read_message(text)->kind; };
    EXPECT_EQ(kind(R"({"jsonrpc": "2.0", "id": "a", "method": "x"})"), MessageKind::Request);
    EXPECT_EQ(kind(R"({"jsonrpc": "2.0", "method": "x"})"), MessageKind::Notification);
    EXPECT_EQ(kind(R"({"jsonrpc": "2.0", "id": 1, "result": null})"), MessageKind::Response);
}

}  // namespace
}  // namespace lemma::lsp
