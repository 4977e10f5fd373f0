// driver/bench/numbers.h — what a benchmark measured, and the forms in which it is told.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lemma::driver {

// One step of a run.
struct StepNumbers {
    std::string op;     // the operator
    std::string label;  // of the call
    std::string schedule;
    std::string why;  // it is interpreted; empty: it is not
    double operations = 0;
    std::vector<double> seconds;  // of each run
};

struct BenchNumbers {
    std::string model;
    std::string target;
    int threads = 1;
    // Seconds.
    double load = 0;     // read, check, compose
    double prepare = 0;  // all of the next three
    double plan = 0;     // schedule
    double code = 0;     // compile and link
    double pack = 0;     // weights in place, and what is computed from them once
    double first = 0;    // run
    std::vector<double> runs;
    double operations = 0;  // of a run: multiplications and additions
    double peak = 0;        // of the processor, a second; 0: not measured
    size_t kernels = 0, cached = 0, reused = 0;
    std::string cache_trouble;
    size_t compiled = 0, interpreted = 0;                      // steps
    int64_t memory = 0, arena = 0, weights = 0, peak_rss = 0;  // bytes
    std::vector<StepNumbers> steps;                            // with a profile

    double quantile(double q) const;  // of the runs
    double least() const { return quantile(0); }
    // Of the processor's peak, if that is known.
    double share_of_peak() const { return peak > 0 ? operations / least() / peak : 0; }
};

std::string summary_text(const BenchNumbers& numbers);
// A line for each step in order, then one for each operator.
std::string profile_text(const BenchNumbers& numbers);
nlohmann::ordered_json bench_json(const BenchNumbers& numbers);
// As chrome://tracing and Perfetto read it: loading, and the runs step by step.
std::string trace_json(const BenchNumbers& numbers);

}  // namespace lemma::driver
