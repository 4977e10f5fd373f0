// SPDX-License-Identifier: Apache-2.0
#include "driver/bench/numbers.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "driver/time_text.h"

namespace lemma::driver {
namespace {

BenchNumbers some_numbers() {
    BenchNumbers n;
    n.model = "model.sknd";
    n.target = "cpu";
    n.threads = 2;
    n.load = 0.010;
    n.prepare = 0.060;
    n.plan = 0.010;
    n.code = 0.030;
    n.pack = 0.020;
    n.first = 0.005;
    n.runs = {0.004, 0.002, 0.003};
    n.operations = 2e8;
    n.peak = 400e9;
    n.kernels = 3;
    n.cached = 2;
    n.reused = 1;
    n.compiled = 1;
    n.interpreted = 1;
    n.memory = 3'000'000;
    n.weights = 2'000'000;
    n.arena = 1'000'000;
    n.peak_rss = 50'000'000;
    StepNumbers conv;
    conv.op = "nn.conv";
    conv.label = "first";
    conv.schedule = "tile 4x(1x6)x16";
    conv.operations = 2e8;
    conv.seconds = {0.003, 0.001, 0.002};
    StepNumbers sort = conv;
    sort.op = "algo.sort";
    sort.label = "last";
    sort.why = "it has no formula";
    sort.operations = 0;
    n.steps = {conv, sort};
    return n;
}

TEST(Numbers, SummaryHasWhatWasMeasured) {
    EXPECT_EQ(summary_text(some_numbers()),
              "min 2.000 ms, median 3.000 ms, p90 4.000 ms over 3 runs\n"
              "100.0 GFLOP/s, 25.0 % of the 400 measured as peak; 1 steps compiled, 1 interpreted\n"
              "load 10.00 ms, plan 10.00 ms, code 30.00 ms, pack 20.00 ms, first run 5.000 ms\n"
              "3 kernels compiled, 2 from the cache, 1 shared\n"
              "memory 3.0 MB: weights 2.0 MB, arena 1.0 MB; peak of the process 50.0 MB\n");
}

TEST(TimeText, HasFourDigitsInTheUnitThatSuits) {
    EXPECT_EQ(time_text(3e-7), "0.300 µs");
    EXPECT_EQ(time_text(8.123e-5), "81.23 µs");
    EXPECT_EQ(time_text(0.7421), "742.1 ms");
    EXPECT_EQ(time_text(17.42), "17.42 s");
    EXPECT_EQ(time_text(17420.0), "17420 s");
    EXPECT_EQ(time_text(0), "0.000 µs");
}

TEST(Numbers, SmallTimesHaveDigits) {
    BenchNumbers numbers = some_numbers();
    numbers.runs = {4e-7, 3e-7, 5e-7};
    EXPECT_TRUE(summary_text(numbers).starts_with(
        "min 0.300 µs, median 0.400 µs, p90 0.500 µs over 3 runs\n"));
}

TEST(Numbers, SummaryTellsWhyThereIsNoCache) {
    BenchNumbers numbers = some_numbers();
    numbers.cache_trouble = "others can write to `x`";
    EXPECT_NE(summary_text(numbers).find("no cache: others can write to `x`\n"), std::string::npos);
}

TEST(Numbers, ProfileHasStepsAndSumsByOperator) {
    EXPECT_EQ(profile_text(some_numbers()),
              "       µs  share  GFLOP/s   peak  schedule         operation\n"
              "   1000.0  50.0%    200.0    50%  tile 4x(1x6)x16  nn.conv first\n"
              "   1000.0  50.0%      0.0         interpreted: it has no formula  algo.sort last\n"
              "\n"
              "       µs  share  GFLOP/s   peak   steps  operator\n"
              "   1000.0  50.0%      0.0              1  algo.sort (1 interpreted)\n"
              "   1000.0  50.0%    200.0    50%       1  nn.conv\n"
              "\n");
}

TEST(Numbers, JsonHasTheSame) {
    const auto json = bench_json(some_numbers());
    EXPECT_EQ(json["min_ms"], 2.0);
    EXPECT_EQ(json["gflops"], 100.0);
    EXPECT_EQ(json["share_of_peak"], 0.25);
    EXPECT_EQ(json["kernels_cached"], 2);
    ASSERT_EQ(json["profile"].size(), 2U);
    EXPECT_EQ(json["profile"][0]["schedule"], "tile 4x(1x6)x16");
    EXPECT_EQ(json["profile"][1]["why"], "it has no formula");
    EXPECT_EQ(json["profile"][1]["interpreted"], true);
}

TEST(Numbers, TraceFollowsTime) {
    const auto trace = nlohmann::json::parse(trace_json(some_numbers()));
    const auto& events = trace["traceEvents"];
    ASSERT_EQ(events.size(), 5U + 3U * 3U);  // loading, then each run with its two steps
    for (size_t i = 1; i < events.size(); ++i) {
        EXPECT_EQ(events[i]["ph"], "X");
        EXPECT_GE(events[i]["ts"].get<double>(), events[i - 1]["ts"].get<double>());
    }
    EXPECT_EQ(events[6]["name"], "nn.conv");
    EXPECT_EQ(events[6]["ts"], events[5]["ts"]);
    EXPECT_EQ(events[7]["args"]["schedule"], "interpreted: it has no formula");
}

TEST(Numbers, NothingMeasuredIsNoFault) {
    const BenchNumbers none;
    EXPECT_FALSE(summary_text(none).empty());
    EXPECT_EQ(bench_json(none)["min_ms"], 0.0);
    EXPECT_FALSE(trace_json(none).empty());
}

// A device has peaks of arithmetic and of memory, and times of its own.
TEST(BenchNumbers, OfADeviceHaveTheSpeedOfItsMemory) {
    BenchNumbers n = some_numbers();
    n.device = "Fake GPU";
    n.on_device = 1;
    n.device_memory = 4'000'000;
    n.device_bytes_peak = 1e9;
    n.device_runs = {0.0015, 0.0012};
    n.whole_runs = {0.005, 0.004};
    n.steps[0].on_device = true;
    n.steps[0].bytes = 250'000;
    const std::string profile = profile_text(n);
    EXPECT_TRUE(profile.contains(" GFLOP/s   peak     GB/s   peak  schedule")) << profile;
    EXPECT_TRUE(profile.contains("   200.0    50%      0.2    25%  tile")) << profile;
    const std::string text = summary_text(n);
    EXPECT_TRUE(text.contains("25.0 % of its peak of 400; ")) << text;
    EXPECT_TRUE(text.contains("time on the device: min 1.200 ms, median 1.500 ms\n")) << text;
    EXPECT_TRUE(text.contains("with copies of inputs and outputs: min 4.000 ms, median 5.000 ms\n"))
        << text;
    const auto json = bench_json(n);
    EXPECT_EQ(json["device_peak_gbytes"], 1.0);
    EXPECT_DOUBLE_EQ(json["device_min_ms"].get<double>(), 1.2);
    EXPECT_DOUBLE_EQ(json["with_copies_min_ms"].get<double>(), 4.0);
    EXPECT_EQ(json["profile"][0]["on_device"], true);
    EXPECT_DOUBLE_EQ(json["profile"][0]["gbytes"].get<double>(), 0.25);
    EXPECT_EQ(json["profile"][1]["on_device"], false);
}

}  // namespace
}  // namespace lemma::driver
