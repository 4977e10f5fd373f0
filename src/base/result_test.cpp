// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

namespace lemma {
namespace {

Result<void> succeed_if(bool good) {
    if (good) return {};
    return std::unexpected(Error{"it is bad", ErrorKind::Unreadable});
}

Result<int> length_if(bool good) {
    LEMMA_TRY(succeed_if(good));
    return 3;
}

Result<int> twice(bool first, bool second) {
    LEMMA_TRY(const int one, length_if(first));
    if (first)
        LEMMA_TRY(succeed_if(second));
    else
        return 0;
    return 2 * one;
}

TEST(Try, GoesOnBehindSuccess) { EXPECT_EQ(twice(true, true), 6); }

TEST(Try, ReturnsTheErrorWithItsKind) {
    for (const auto& result : {twice(false, true), twice(true, false)}) {
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().message, "it is bad");
        EXPECT_EQ(result.error().kind, ErrorKind::Unreadable);
    }
}

}  // namespace
}  // namespace lemma
