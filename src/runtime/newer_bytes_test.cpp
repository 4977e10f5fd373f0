// SPDX-License-Identifier: Apache-2.0
#include "runtime/newer_bytes.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace lemma::runtime {
namespace {

using Side = NewerBytes::Side;

std::string text(const NewerBytes& bytes, Side side, int64_t begin, int64_t end) {
    std::string result;
    for (const auto& range : bytes.find(begin, end, side)) {
        result += std::to_string(range.begin) + "-" + std::to_string(range.end) + " ";
    }
    return result;
}

TEST(NewerBytes, KnowsTheSideOfEachByte) {
    NewerBytes bytes(100, Side::Both);
    EXPECT_EQ(text(bytes, Side::Host, 0, 100), "");
    bytes.set(10, 20, Side::Host);
    bytes.set(30, 40, Side::Host);
    bytes.set(15, 35, Side::Device);
    EXPECT_EQ(text(bytes, Side::Host, 0, 100), "10-15 35-40 ");
    EXPECT_EQ(text(bytes, Side::Device, 0, 100), "15-35 ");
    EXPECT_EQ(text(bytes, Side::Device, 20, 30), "20-30 ");
    EXPECT_TRUE(bytes.has(0, 11, Side::Host));
    EXPECT_FALSE(bytes.has(0, 10, Side::Host));
    bytes.set(12, 90, Side::Host);
    EXPECT_EQ(text(bytes, Side::Host, 0, 100), "10-90 ");
    bytes.set(0, 100, Side::Both);
    EXPECT_EQ(text(bytes, Side::Host, 0, 100), "");
}

TEST(NewerBytes, AgreesWithOneSideForEachByte) {
    constexpr int64_t kBytes = 24;
    constexpr uint32_t kSeed = 7;
    std::mt19937 random(kSeed);
    const auto number = [&](int64_t end) { return static_cast<int64_t>(random() % end); };
    for (int round = 0; round < 200; ++round) {
        NewerBytes bytes(kBytes);
        std::vector<Side> want(kBytes, Side::Host);
        for (int step = 0; step < 30; ++step) {
            const int64_t begin = number(kBytes + 1), end = begin + number(kBytes - begin + 1);
            const auto side = static_cast<Side>(number(3));
            bytes.set(begin, end, side);
            std::fill(want.begin() + begin, want.begin() + end, side);
            for (const Side one : {Side::Both, Side::Host, Side::Device}) {
                const int64_t from = number(kBytes), to = from + number(kBytes - from + 1);
                std::vector<bool> there(kBytes), expected(kBytes);
                for (int64_t i = from; i < to; ++i) expected[i] = want[i] == one;
                for (const auto& range : bytes.find(from, to, one)) {
                    for (int64_t i = range.begin; i < range.end; ++i) there[i] = true;
                }
                ASSERT_EQ(there, expected) << "seed " << kSeed << ", round " << round;
            }
        }
    }
}

}  // namespace
}  // namespace lemma::runtime
