// SPDX-License-Identifier: Apache-2.0
#include "view/guard.h"

#include <gtest/gtest.h>

#include "view/page.h"

namespace lemma::view {
namespace {

int status(std::map<std::string, std::string> headers, const std::string& path = "/api/document") {
    const HttpRequest request{.method = "GET", .path = path, .headers = std::move(headers)};
    const auto refused = refuse(request, 8080, "secret");
    return refused ? refused->status : 200;
}

TEST(Guard, LetsThePageIn) {
    EXPECT_EQ(status({{"host", "127.0.0.1:8080"}, {"x-lemma-token", "secret"}}), 200);
    EXPECT_EQ(status({{"host", "localhost:8080"},
                      {"origin", "http://localhost:8080"},
                      {"sec-fetch-site", "same-origin"},
                      {"x-lemma-token", "secret"}}),
              200);
    EXPECT_EQ(status({{"host", "[::1]:8080"}}, "/"), 200);
    EXPECT_EQ(status({{"host", "localhost:8080"}, {"sec-fetch-site", "cross-site"}}, "/"), 200);
}

TEST(Guard, RefusesOtherHosts) {
    for (const char* const host : {"",
                                   "127.0.0.1",
                                   "127.0.0.1:80",
                                   "evil.example:8080",
                                   "localhost.evil.example:8080",
                                   "127.0.0.1:8080, evil.example",
                                   "127.0.0.1:8080.evil.example"})
        EXPECT_EQ(status({{"host", host}, {"x-lemma-token", "secret"}}, "/"), 421) << host;
}

TEST(Guard, RefusesOtherPages) {
    for (const char* const origin :
         {"null", "http://evil.example", "https://127.0.0.1:8080", "http://127.0.0.1:8081"})
        EXPECT_EQ(
            status({{"host", "127.0.0.1:8080"}, {"origin", origin}, {"x-lemma-token", "secret"}}),
            403)
            << origin;
    EXPECT_EQ(status({{"host", "127.0.0.1:8080"},
                      {"sec-fetch-site", "cross-site"},
                      {"x-lemma-token", "secret"}}),
              403);
}

TEST(Guard, RequiresTheTokenForData) {
    EXPECT_EQ(status({{"host", "127.0.0.1:8080"}}), 401);
    for (const char* const token : {"", "secre", "secret2", "Secret", "secret, secret"})
        EXPECT_EQ(status({{"host", "127.0.0.1:8080"}, {"x-lemma-token", token}}), 401) << token;
}

TEST(Guard, MakesTokensThatDiffer) {
    EXPECT_EQ(make_token().size(), 64u);
    EXPECT_NE(make_token(), make_token());
}

TEST(Page, KeepsMarkupOfTheDocumentInert) {
    const Json document = {{"name", "</script><script>alert(1)</script><!--"}};
    for (const char* const page :
         {"<head><script type=\"application/json\" id=\"lemma-document\"></script></head>"
          "<script>run()</script>",
          "<head></head><script>run()</script>",
          "no script"}) {
        const std::string made = page_with(page, document);
        const size_t begin = made.find("id=\"lemma-document\">");
        ASSERT_NE(begin, std::string::npos);
        EXPECT_EQ(made.find("alert(1)</script>"), std::string::npos);
        EXPECT_EQ(made.find("<!--"), std::string::npos);
        const size_t text = begin + std::string("id=\"lemma-document\">").size();
        const Json read = Json::parse(made.substr(text, made.find("</script>", text) - text));
        EXPECT_EQ(read, document);
        const size_t script = made.find("<script>run()");
        EXPECT_TRUE(script == std::string::npos || text < script);
    }
}

}  // namespace
}  // namespace lemma::view
