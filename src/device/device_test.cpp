// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include <gtest/gtest.h>

namespace lemma::device {
namespace {

using Kind = ChosenDevice::Kind;

TEST(Device, HasAName) {
    EXPECT_EQ(parse_device("")->kind, Kind::Processor);
    EXPECT_EQ(parse_device("cpu")->kind, Kind::Processor);
    EXPECT_EQ(parse_device("cuda")->kind, Kind::Cuda);
    EXPECT_EQ(parse_device("cuda:3")->number, 3);
    EXPECT_EQ(parse_device("auto")->kind, Kind::Any);
    for (const char* const wrong : {"gpu", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999"}) {
        const auto device = parse_device(wrong);
        ASSERT_FALSE(device) << wrong;
        EXPECT_TRUE(device.error().message.contains("`cpu`, `cuda`, `cuda:N` and `auto`"));
    }
}

TEST(Device, IsTheProcessorIfAnyWillDo) {
    EXPECT_EQ(*open_device({Kind::Processor, 0}), nullptr);
    EXPECT_TRUE(open_device({Kind::Any, 1000}));
}

// On every machine: a driver that is missing, or one without so many GPUs.
TEST(Device, ThatIsMissingIsAnError) {
    const auto device = open_device({Kind::Cuda, 1000});
    ASSERT_FALSE(device);
    EXPECT_TRUE(device.error().message.contains("NVIDIA driver") ||
                device.error().message.contains("`cuda:1000`"))
        << device.error().message;
}

}  // namespace
}  // namespace lemma::device
