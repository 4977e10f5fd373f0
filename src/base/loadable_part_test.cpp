// SPDX-License-Identifier: Apache-2.0
#include "base/loadable_part.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace lemma {
namespace {

constexpr LoadablePart kPart = {
    "the example", "lemma_example.so", "LEMMA_EXAMPLE_PART", "lemma-example"};

bool has(const std::vector<std::string>& places, const std::string& place) {
    return std::ranges::find(places, place) != places.end();
}

TEST(LoadablePart, IsBesideTheProgramOrWhereTheProgramIsInstalled) {
    const auto places = places_of_part(kPart, "/opt/lemma/bin/lemma");
    ASSERT_FALSE(places.empty());
    EXPECT_EQ(places.front(), "/opt/lemma/bin/lemma_example.so");
    EXPECT_TRUE(has(places, "/opt/lemma/lib/lemma/lemma_example.so"));
    EXPECT_TRUE(has(places, "/opt/lemma/lib64/lemma/lemma_example.so"));
}

TEST(LoadablePart, IsBelowTheFolderOfTheLibrary) {
    EXPECT_TRUE(has(places_of_part(kPart, "/usr/lib/x86_64-linux-gnu/liblemma.so.0"),
                    "/usr/lib/x86_64-linux-gnu/lemma/lemma_example.so"));
}

TEST(LoadablePart, HasNoPlaceWhenTheSystemDoesNotKnowOurFile) {
    EXPECT_TRUE(places_of_part(kPart, "").empty());
}

TEST(LoadablePart, ErrorsNameFoldersPackageAndVariable) {
    const auto missing = load_symbol(kPart, "f");
    ASSERT_FALSE(missing);
    const std::string& message = missing.error().message;
    EXPECT_TRUE(message.starts_with("cannot load the example: there is no `lemma_example.so` in `"))
        << message;
    EXPECT_NE(message.find("the package `lemma-example` has it"), std::string::npos) << message;
    EXPECT_NE(message.find("LEMMA_EXAMPLE_PART names another place"), std::string::npos) << message;
}

TEST(LoadablePart, ErrorsOfTheLinkerAreReported) {
    const std::string path = ::testing::TempDir() + "/not_a_library.so";
    std::ofstream(path) << "text";
    ::setenv("LEMMA_EXAMPLE_PART", path.c_str(), 1);
    const auto loaded = load_symbol(kPart, "f");
    ::unsetenv("LEMMA_EXAMPLE_PART");
    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().message.find(path), std::string::npos) << loaded.error().message;
}

TEST(LoadablePart, AForeignLibraryIsRefused) {
    ::setenv("LEMMA_EXAMPLE_PART", "libm.so.6", 1);
    const auto loaded = load_symbol(kPart, "cos");
    ::unsetenv("LEMMA_EXAMPLE_PART");
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().message,
              "cannot load the example: `libm.so.6` is not the example of Lemma");
}

}  // namespace
}  // namespace lemma
