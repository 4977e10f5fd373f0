// SPDX-License-Identifier: Apache-2.0
#include "sonnx/metadata.h"

#include <gtest/gtest.h>

#include "sonnx/parameters.h"
#include "sonnx/test_models.h"

namespace lemma::sonnx {

namespace {

TEST(Metadata, PlaceholdersSayNothing) {
    for (const char* text : {"TODO",
                             "tbd",
                             "n/a",
                             " none ",
                             "<your name>",
                             "{{producer}}",
                             "?",
                             "...",
                             "Unknown",
                             "the owner (TBD)",
                             "Lorem ipsum dolor",
                             "xxx"})
        EXPECT_TRUE(is_placeholder(text)) << text;
    for (const char* text :
         {"pytorch", "an image", "none: made by hand", "grey values", "1", "exact", "x"})
        EXPECT_FALSE(is_placeholder(text)) << text;
}

TEST(Metadata, VersionsAreNumbersWithDots) {
    for (const char* text : {"1", "v2.4.1", "1.0-rc1+cpu", "2026.10"})
        EXPECT_TRUE(is_version(text)) << text;
    for (const char* text : {"", "v", "new", "1 2", "latest", "1;2"})
        EXPECT_FALSE(is_version(text)) << text;
}

TEST(Metadata, DatesAreDaysOfTheCalendar) {
    for (const char* text : {"2026-10-03",
                             "2024-02-29",
                             "2026-10-03T09:30:00Z",
                             "2026-10-03T09:30",
                             "2026-10-03 09:30:00.25+02:00"})
        EXPECT_TRUE(is_date(text)) << text;
    for (const char* text : {"",
                             "2026-10-32",
                             "2026-02-29",
                             "2026-13-01",
                             "03.10.2026",
                             "2026-10-03T",
                             "2026-10-03T25:00",
                             "2026-10-03T09:30:00.",
                             "2026-10-03T09:30Zulu",
                             "yesterday"})
        EXPECT_FALSE(is_date(text)) << text;
}

TEST(Metadata, HashesHave64Digits) {
    EXPECT_TRUE(is_sha256(std::string(64, 'a')));
    EXPECT_TRUE(is_sha256("sha256:" + std::string(64, 'F')));
    EXPECT_FALSE(is_sha256(std::string(63, 'a')));
    EXPECT_FALSE(is_sha256(std::string(64, 'g')));
}

TEST(Metadata, CriteriaCanBeTested) {
    for (const char* text :
         {"exact", "Exact ", "abs 1e-6", "relative error <= 1e-4", "2 ulp", "atol=1e-5"})
        EXPECT_TRUE(is_criterion(text)) << text;
    for (const char* text : {"", "close", "abs", "abs 0", "1e-6", "rel small", "abs nan"})
        EXPECT_FALSE(is_criterion(text)) << text;
}

TEST(Metadata, TheHashOfParametersSeesEachElementAndName) {
    onnx::Model model = test::conforming_model();
    const auto first = parameters_hash(test::main_graph(model));
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->size(), 64U);
    test::main_graph(model).initializers[0].proto.name = "other";
    EXPECT_NE(parameters_hash(test::main_graph(model)), first);
    test::main_graph(model).initializers[0].proto.external.emplace().location = "w.bin";
    EXPECT_EQ(parameters_hash(test::main_graph(model)), std::nullopt);
}

}  // namespace

}  // namespace lemma::sonnx
