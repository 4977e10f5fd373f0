// SPDX-License-Identifier: Apache-2.0
// driver/bench/scaling.h — how runs get faster with more threads, and where the time of threads
// goes.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/bench/numbers.h"
#include "engine/engine.h"

namespace lemma::driver {

struct BenchLimits {
    int64_t runs = 0;    // 0: as many as fit in `seconds`, at least 3
    double seconds = 2;  // of all runs

    bool enough(size_t done, double spent) const {
        return runs > 0 ? static_cast<int64_t>(done) >= runs : done >= 3 && spent >= seconds;
    }
};

// One number of threads.
struct ScalingRow {
    int threads = 1;  // requested
    int used = 1;     // not more than there are processors
    double least = 0, median = 0;
    // Seconds of all used threads in an average run, by what they do. Together they are the
    // duration of the run times the used threads.
    double work = 0;        // inside of kernels, or of other steps
    double serial = 0;      // not asked, because one thread or a few do a short or serial step
    double waiting = 0;     // asked, but not started yet, or between two pieces of work
    double imbalance = 0;   // done, while other threads still work
    double arithmetic = 0;  // operations per second of the machine (peak.h)
    std::vector<StepNumbers> steps;  // only with a profile; the same ones in each row

    double all() const { return work + serial + waiting + imbalance; }
};

// Measures a prepared engine.
Result<ScalingRow> measure_scaling(engine::Engine& engine, int threads, BenchLimits limits);

// A line for each row, and with a profile a line for each step. The first row is the base of
// speed-ups.
std::string scaling_text(const std::vector<ScalingRow>& rows);
nlohmann::ordered_json scaling_json(const std::vector<ScalingRow>& rows);

}  // namespace lemma::driver
