// SPDX-License-Identifier: Apache-2.0
// driver/bench/streams.h — sessions of one model that run at the same time: throughput and latency.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/bench/scaling.h"
#include "engine/engine.h"

namespace lemma::driver {

struct StreamNumbers {
    int streams = 1, threads = 1;  // threads of each stream
    double seconds = 0;            // from the first run to the last
    std::vector<double> runs;      // latencies of all streams, sorted

    double throughput() const;  // runs per second
    double quantile(double q) const;
};

// Runs prepared engines side by side, each in a thread of its own.
Result<StreamNumbers> measure_streams(const std::vector<engine::Engine*>& engines,
                                      int threads,
                                      BenchLimits limits);

std::string streams_text(const std::vector<StreamNumbers>& rows);
nlohmann::ordered_json streams_json(const std::vector<StreamNumbers>& rows);

}  // namespace lemma::driver
