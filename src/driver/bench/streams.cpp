// SPDX-License-Identifier: Apache-2.0
#include "driver/bench/streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "driver/time_text.h"

namespace lemma::driver {

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

// The runs of one stream.
struct Stream {
    std::vector<double> runs;
    Result<void> done;
};

void run_stream(engine::Engine& engine,
                BenchLimits limits,
                const std::atomic<bool>& start,
                Stream& stream) {
    start.wait(false);
    const auto begin = Clock::now();
    const auto seconds = [](Clock::duration time) {
        return std::chrono::duration<double>(time).count();
    };
    for (auto last = begin; !limits.enough(stream.runs.size(), seconds(last - begin));) {
        stream.done = engine.run_again();
        if (!stream.done) return;
        const auto now = Clock::now();
        stream.runs.push_back(seconds(now - last));
        last = now;
    }
}

}  // namespace

double StreamNumbers::throughput() const {
    return seconds > 0 ? static_cast<double>(runs.size()) / seconds : 0;
}

double StreamNumbers::quantile(double q) const {
    if (runs.empty()) return 0;
    return runs[static_cast<size_t>(q * static_cast<double>(runs.size() - 1) + 0.5)];
}

Result<StreamNumbers> measure_streams(const std::vector<engine::Engine*>& engines,
                                      int threads,
                                      BenchLimits limits) {
    for (engine::Engine* const engine : engines) {
        LEMMA_TRY(engine->run_again());
    }
    std::vector<Stream> streams(engines.size());
    std::vector<std::thread> workers;
    std::atomic<bool> start{false};
    for (size_t i = 0; i < engines.size(); ++i) {
        workers.emplace_back([&, i] { run_stream(*engines[i], limits, start, streams[i]); });
    }
    const auto begin = Clock::now();
    start.store(true);
    start.notify_all();
    for (std::thread& worker : workers) worker.join();
    StreamNumbers numbers;
    numbers.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    numbers.streams = static_cast<int>(engines.size());
    numbers.threads = threads;
    for (const Stream& stream : streams) {
        LEMMA_TRY(stream.done);
        numbers.runs.insert(numbers.runs.end(), stream.runs.begin(), stream.runs.end());
    }
    std::ranges::sort(numbers.runs);
    return numbers;
}

std::string streams_text(const std::vector<StreamNumbers>& rows) {
    std::string text = fmt::format("{:>7} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
                                   "streams",
                                   "threads",
                                   "runs/s",
                                   "min",
                                   "median",
                                   "p90",
                                   "p99",
                                   "max");
    for (const StreamNumbers& row : rows) {
        text += fmt::format("{:>7} {:>7} {:>9.1f} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
                            row.streams,
                            row.threads,
                            row.throughput(),
                            time_text(row.quantile(0)),
                            time_text(row.quantile(0.5)),
                            time_text(row.quantile(0.9)),
                            time_text(row.quantile(0.99)),
                            time_text(row.quantile(1)));
    }
    return text;
}

Json streams_json(const std::vector<StreamNumbers>& rows) {
    Json result = Json::array();
    for (const StreamNumbers& row : rows) {
        result.push_back({{"streams", row.streams},
                          {"threads", row.threads},
                          {"runs", row.runs.size()},
                          {"runs_per_second", row.throughput()},
                          {"min_ms", row.quantile(0) * 1e3},
                          {"median_ms", row.quantile(0.5) * 1e3},
                          {"p90_ms", row.quantile(0.9) * 1e3},
                          {"p99_ms", row.quantile(0.99) * 1e3},
                          {"max_ms", row.quantile(1) * 1e3}});
    }
    return result;
}

}  // namespace lemma::driver
