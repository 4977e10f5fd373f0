// SPDX-License-Identifier: Apache-2.0
#include "base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>

namespace lemma {
namespace {

class Groups : public ::testing::Test {
protected:
    void SetUp() override {
        std::filesystem::remove_all(root_);
        std::filesystem::create_directories(root_);
    }
    void TearDown() override { std::filesystem::remove_all(root_); }
    void write(const std::string& path, const std::string& text) const {
        const std::filesystem::path file = root_ / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    std::optional<double> quota(std::string_view groups) const {
        return quota_of(groups, root_.string());
    }

    const std::filesystem::path root_ =
        std::filesystem::temp_directory_path() /
        ("lemma-groups-" +
         std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(Groups, WithoutFilesThereIsNoQuota) {
    EXPECT_FALSE(quota("0::/a/b\n"));
    EXPECT_FALSE(quota(""));
    EXPECT_FALSE(quota("nonsense\n1:cpu\n"));
}

TEST_F(Groups, Version2HasTimeAndPeriod) {
    write("a/cpu.max", "150000 100000\n");
    EXPECT_EQ(quota("0::/a\n"), 1.5);
    write("a/cpu.max", "max 100000\n");
    EXPECT_FALSE(quota("0::/a\n"));
}

TEST_F(Groups, TheSmallestQuotaOnTheWayUpCounts) {
    write("cpu.max", "400000 100000\n");
    write("a/cpu.max", "200000 100000\n");
    write("a/b/cpu.max", "300000 100000\n");
    EXPECT_EQ(quota("0::/a/b\n"), 2.0);
    EXPECT_EQ(quota("0::/not/visible\n"), 4.0);
}

TEST_F(Groups, Version1HasTwoFiles) {
    write("cpu,cpuacct/jobs/cpu.cfs_quota_us", "300000\n");
    write("cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(quota("3:memory:/jobs\n4:cpu,cpuacct:/jobs\n"), 3.0);
    EXPECT_FALSE(quota("5:cpuset:/jobs\n"));
    write("cpu,cpuacct/jobs/cpu.cfs_quota_us", "-1\n");
    EXPECT_FALSE(quota("4:cpu,cpuacct:/jobs\n"));
}

TEST(Processors, AreThoseOfTheAffinityMask) {
    cpu_set_t before;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    EXPECT_GE(usable_processors(), 1);
    EXPECT_LE(usable_processors(), CPU_COUNT(&before));
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(usable_processors(), 1);
    ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace lemma
