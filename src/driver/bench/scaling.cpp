// SPDX-License-Identifier: Apache-2.0
#include "driver/bench/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "driver/time_text.h"

namespace lemma::driver {

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

constexpr size_t kTimedRuns = 20;  // at most; taking the times of threads costs a little

Result<std::vector<double>> time_runs(engine::Engine& engine, BenchLimits limits) {
    std::vector<double> runs;
    const auto start = Clock::now();
    while (!limits.enough(runs.size(), seconds_since(start))) {
        const auto begin = Clock::now();
        LEMMA_TRY(engine.run_again());
        runs.push_back(seconds_since(begin));
    }
    std::ranges::sort(runs);
    return runs;
}

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

// The same work takes longer than in the first row: memory, caches and clocks are shared.
double stretch(const std::vector<ScalingRow>& rows, const ScalingRow& row) {
    return ratio(row.work, rows[0].work);
}

// How much faster as many threads are at arithmetic alone.
double machine(const std::vector<ScalingRow>& rows, const ScalingRow& row) {
    return ratio(row.arithmetic, rows[0].arithmetic);
}

// The least time of each step in µs for each number of threads, and how much faster the last one is
// than the first.
std::string steps_text(const std::vector<ScalingRow>& rows) {
    const std::vector<StepNumbers>& steps = rows[0].steps;
    if (steps.empty()) return {};
    size_t width = 8;
    for (const StepNumbers& step : steps) {
        if (step.why.empty()) width = std::max(width, step.schedule.size());
    }
    std::string text = "\n";
    for (const ScalingRow& row : rows)
        text += fmt::format("{:>9} ", fmt::format("µs, {}", row.threads));
    text += fmt::format("{:>8}  {:{}}  {}\n", "speed-up", "schedule", width, "operation");
    for (size_t i = 0; i < steps.size(); ++i) {
        for (const ScalingRow& row : rows)
            text += fmt::format("{:9.1f} ", row.steps[i].least() * 1e6);
        text += fmt::format("{:8.2f}  {:{}}  {}\n",
                            ratio(steps[i].least(), rows.back().steps[i].least()),
                            steps[i].how(),
                            width,
                            steps[i].name());
    }
    return text;
}

}  // namespace

Result<ScalingRow> measure_scaling(engine::Engine& engine, int threads, BenchLimits limits) {
    LEMMA_TRY(engine.run_again());
    LEMMA_TRY(const std::vector<double> runs, time_runs(engine, limits));
    ScalingRow row;
    row.threads = threads;
    row.used = engine.used_threads();
    row.least = runs.front();
    row.median = runs[runs.size() / 2];
    runtime::ThreadPool::Times times;
    const size_t timed = std::min(runs.size(), kTimedRuns);
    double spent = 0;
    engine.measure(&times);
    for (size_t i = 0; i < timed; ++i) {
        const auto begin = Clock::now();
        auto done = engine.run_again();
        spent += seconds_since(begin);
        if (done) continue;
        engine.measure(nullptr);
        return std::unexpected(done.error());
    }
    engine.measure(nullptr);
    const auto count = static_cast<double>(timed);
    const double alone = std::max(spent - times.jobs, 0.0);  // the caller's thread
    row.work = (times.work + alone) / count;
    row.serial = (times.left_out + (row.used - 1) * alone) / count;
    row.waiting = times.waiting / count;
    row.imbalance = times.tail / count;
    return row;
}

std::string scaling_text(const std::vector<ScalingRow>& rows) {
    std::string text = fmt::format("{:>7} {:>9} {:>9} {:>8} {:>7} {:>7} {:>7} {:>7} {:>9} {:>7}\n",
                                   "threads",
                                   "min",
                                   "median",
                                   "speed-up",
                                   "machine",
                                   "work",
                                   "serial",
                                   "waiting",
                                   "imbalance",
                                   "stretch");
    const auto share = [](double part, const ScalingRow& row) {
        return fmt::format("{:.1f} %", 100 * ratio(part, row.all()));
    };
    for (const ScalingRow& row : rows) {
        text +=
            fmt::format("{:>7} {:>9} {:>9} {:>8.2f} {:>7.2f} {:>7} {:>7} {:>7} {:>9} {:>7.2f}\n",
                        row.threads,
                        time_text(row.least),
                        time_text(row.median),
                        ratio(rows[0].least, row.least),
                        machine(rows, row),
                        share(row.work, row),
                        share(row.serial, row),
                        share(row.waiting, row),
                        share(row.imbalance, row),
                        stretch(rows, row));
    }
    for (const ScalingRow& row : rows) {
        if (row.used >= row.threads) continue;
        text += fmt::format(
            "only {} of {} threads work: there are no more processors\n", row.used, row.threads);
    }
    return text + steps_text(rows);
}

Json scaling_json(const std::vector<ScalingRow>& rows) {
    Json result = Json::array();
    for (const ScalingRow& row : rows) {
        result.push_back({{"threads", row.threads},
                          {"used_threads", row.used},
                          {"min_ms", row.least * 1e3},
                          {"median_ms", row.median * 1e3},
                          {"speed_up", ratio(rows[0].least, row.least)},
                          {"machine_speed_up", machine(rows, row)},
                          {"work_ms", row.work * 1e3},
                          {"serial_ms", row.serial * 1e3},
                          {"waiting_ms", row.waiting * 1e3},
                          {"imbalance_ms", row.imbalance * 1e3},
                          {"stretch", stretch(rows, row)}});
        if (row.steps.empty()) continue;
        Json& steps = result.back()["steps"] = Json::array();
        for (const StepNumbers& step : row.steps) {
            steps.push_back(
                {{"op", step.op}, {"label", step.label}, {"min_us", step.least() * 1e6}});
        }
    }
    return result;
}

}  // namespace lemma::driver
