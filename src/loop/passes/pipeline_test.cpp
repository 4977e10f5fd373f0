// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/pipeline.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

namespace lemma::loop {
namespace {

TEST(Pipeline, EveryPassRunsBehindWhatItNeeds) {
    std::set<std::string_view> before;
    for (const Pass& pass : pipeline()) {
        for (const std::string_view need : pass.needs) {
            EXPECT_TRUE(before.contains(need)) << pass.name << " needs " << need;
        }
        EXPECT_TRUE(before.insert(pass.name).second) << pass.name << " is there twice";
        EXPECT_NE(pass.promises, "") << pass.name;
        EXPECT_EQ(pass.run == nullptr, pass.phase == PassPhase::Planner) << pass.name;
    }
}

TEST(Pipeline, PhasesComeInTheirOrder) {
    PassPhase now = PassPhase::Planner;
    for (const Pass& pass : pipeline()) {
        if (pass.phase == PassPhase::Planner) continue;
        EXPECT_GE(pass.phase, now) << pass.name;
        now = pass.phase;
    }
    EXPECT_EQ(now, PassPhase::Placed);
}

TEST(Pipeline, EveryPassCanBeDumped) {
    const std::vector<std::string> names = dump_passes();
    ASSERT_EQ(names.size(), pipeline().size());
    for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(names[i], pipeline()[i].name);
}

TEST(Pipeline, EveryPassHasAGoldenDump) {
    const std::filesystem::path folder = LEMMA_SOURCE_DIR "/tests/golden/loop";
    for (const Pass& pass : pipeline()) {
        const std::string name = "dump_" + std::string(pass.name) + ".sknd";
        EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
    }
}

}  // namespace
}  // namespace lemma::loop
