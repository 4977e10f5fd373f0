// SPDX-License-Identifier: Apache-2.0
// driver/bench/numbers.h — the measurements of a benchmark, and their output forms.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lemma::driver {

// One step of a run.
struct StepNumbers {
    std::string op;     // the operator
    std::string label;  // label of the call
    std::string schedule;
    std::string why;  // why it is interpreted; empty: it is compiled
    double operations = 0;
    double bytes = 0;  // of the tensors that a kernel reads and writes
    bool on_device = false;
    std::vector<double> seconds;  // seconds of each run

    double least() const;
    // The schedule, or why it is interpreted.
    std::string how() const;
    // The operator and the label, as people read them.
    std::string name() const;
};

struct BenchNumbers {
    std::string model;
    std::string target;
    int threads = 1;
    // Seconds.
    double load = 0;     // read, check, compose
    double prepare = 0;  // total of the next three
    double plan = 0;     // schedule
    double code = 0;     // compile and link
    double pack = 0;     // pack weights and run once-steps
    double first = 0;    // the first run
    std::vector<double> runs;
    double operations = 0;  // multiplications and additions of a run
    double peak = 0;        // peak of the processor or device per second; 0: unknown
    size_t kernels = 0, cached = 0, reused = 0;
    std::string cache_trouble;
    size_t compiled = 0, interpreted = 0;  // steps
    std::string device;                    // its name; empty: the processor
    size_t on_device = 0;                  // of the compiled steps
    int64_t device_memory = 0;             // bytes
    double device_bytes_peak = 0;          // of its memory, per second
    std::vector<double> device_runs;       // its time of each run; empty: it does not tell
    std::vector<double> whole_runs;        // with copies of inputs and outputs
    int64_t memory = 0, arena = 0, weights = 0, peak_rss = 0;  // bytes
    std::vector<StepNumbers> steps;                            // only with a profile

    double quantile(double q) const { return quantile(runs, q); }  // quantile of the runs
    static double quantile(std::vector<double> values, double q);
    double least() const { return quantile(0); }
    // The share of the peak, if known.
    double share_of_peak() const { return peak > 0 ? operations / least() / peak : 0; }
};

std::string summary_text(const BenchNumbers& numbers);
// A line for each step in order, then one for each operator.
std::string profile_text(const BenchNumbers& numbers);
nlohmann::ordered_json bench_json(const BenchNumbers& numbers);
// The format of chrome://tracing and Perfetto: loading, and the runs step by step.
std::string trace_json(const BenchNumbers& numbers);

}  // namespace lemma::driver
