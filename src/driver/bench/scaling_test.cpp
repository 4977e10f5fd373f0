// SPDX-License-Identifier: Apache-2.0
#include "driver/bench/scaling.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "driver/bench/streams.h"

namespace lemma::driver {
namespace {

std::vector<ScalingRow> some_rows() {
    ScalingRow one;
    one.least = 0.008;
    one.median = 0.010;
    one.work = 0.010;
    one.arithmetic = 200e9;
    ScalingRow four;
    four.threads = 4;
    four.used = 4;
    four.least = 0.002;
    four.median = 0.004;
    four.work = 0.012;
    four.serial = 0.002;
    four.waiting = 0.0008;
    four.imbalance = 0.0012;
    four.arithmetic = 700e9;
    return {one, four};
}

TEST(Scaling, TableHasSpeedUpsAndLostTime) {
    EXPECT_EQ(
        scaling_text(some_rows()),
        "threads       min    median speed-up machine    work  serial waiting imbalance stretch\n"
        "      1  8.000 ms  10.00 ms     1.00    1.00 100.0 %   0.0 %   0.0 %     0.0 %    1.00\n"
        "      4  2.000 ms  4.000 ms     4.00    3.50  75.0 %  12.5 %   5.0 %     7.5 %    1.20\n");
}

TEST(Scaling, ProfilesHaveALineForEachStep) {
    std::vector<ScalingRow> rows = some_rows();
    rows[0].steps = {{.op = "onnx.convolution.Conv",
                      .label = "c1",
                      .schedule = "tile 4x(1x6)x16",
                      .seconds = {0.0041, 0.004}},
                     {.op = "nn.softmax", .label = "s", .why = "no formula", .seconds = {0.001}}};
    rows[1].steps = rows[0].steps;
    rows[1].steps[0].seconds = {0.001, 0.0025};
    const std::string text = scaling_text(rows);
    EXPECT_TRUE(
        text.ends_with("\n"
                       "    µs, 1     µs, 4 speed-up  schedule         operation\n"
                       "   4000.0    1000.0     4.00  tile 4x(1x6)x16  Conv c1\n"
                       "   1000.0    1000.0     1.00  interpreted: no formula  nn.softmax s\n"))
        << text;
    const nlohmann::ordered_json json = scaling_json(rows);
    EXPECT_EQ(json[1]["steps"][0]["label"], "c1");
    EXPECT_DOUBLE_EQ(json[1]["steps"][0]["min_us"], 1000);
    EXPECT_FALSE(scaling_json(some_rows())[0].contains("steps"));
}

TEST(Scaling, SaysWhenThereAreTooFewProcessors) {
    std::vector<ScalingRow> rows = some_rows();
    rows[1].used = 2;
    EXPECT_NE(scaling_text(rows).find("only 2 of 4 threads work: there are no more processors\n"),
              std::string::npos);
}

TEST(Scaling, JsonHasMilliseconds) {
    const nlohmann::ordered_json json = scaling_json(some_rows());
    ASSERT_EQ(json.size(), 2U);
    EXPECT_EQ(json[1]["threads"], 4);
    EXPECT_DOUBLE_EQ(json[1]["min_ms"], 2);
    EXPECT_DOUBLE_EQ(json[1]["speed_up"], 4);
    EXPECT_DOUBLE_EQ(json[1]["machine_speed_up"], 3.5);
    EXPECT_DOUBLE_EQ(json[1]["work_ms"], 12);
    EXPECT_DOUBLE_EQ(json[1]["serial_ms"], 2);
    EXPECT_DOUBLE_EQ(json[1]["stretch"], 1.2);
}

TEST(Scaling, LimitsAreRunsOrSeconds) {
    const BenchLimits by_time{.runs = 0, .seconds = 2};
    EXPECT_FALSE(by_time.enough(2, 5));
    EXPECT_FALSE(by_time.enough(100, 1));
    EXPECT_TRUE(by_time.enough(3, 2));
    const BenchLimits by_count{.runs = 10};
    EXPECT_FALSE(by_count.enough(9, 100));
    EXPECT_TRUE(by_count.enough(10, 0));
}

TEST(Streams, TableHasThroughputAndQuantiles) {
    StreamNumbers numbers;
    numbers.streams = 2;
    numbers.threads = 4;
    numbers.seconds = 0.5;
    for (int i = 1; i <= 101; ++i) numbers.runs.push_back(i * 1e-3);
    EXPECT_DOUBLE_EQ(numbers.throughput(), 202);
    EXPECT_EQ(streams_text({numbers}),
              "streams threads    runs/s       min    median       p90       p99       max\n"
              "      2       4     202.0  1.000 ms  51.00 ms  91.00 ms  100.0 ms  101.0 ms\n");
    const nlohmann::ordered_json json = streams_json({numbers});
    EXPECT_EQ(json[0]["runs"], 101);
    EXPECT_DOUBLE_EQ(json[0]["p99_ms"], 100);
}

}  // namespace
}  // namespace lemma::driver
