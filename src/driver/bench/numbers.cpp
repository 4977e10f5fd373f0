// SPDX-License-Identifier: Apache-2.0
#include "driver/bench/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "diag/utf8.h"
#include "driver/time_text.h"
#include "ir/program/display_name.h"

namespace lemma::driver {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kMega = 1e6;
constexpr double kGiga = 1e9;
constexpr size_t kMostTracedRuns = 20;

double megabytes(int64_t bytes) { return static_cast<double>(bytes) / kMega; }

double rate(double operations, double seconds) {
    return seconds > 0 ? operations / seconds / kGiga : 0;
}

// The share of the peak of all threads.
std::string share_text(const BenchNumbers& numbers, double operations, double seconds) {
    if (numbers.peak <= 0 || seconds <= 0 || operations <= 0) return {};
    return fmt::format("{:.0f}%", 100 * operations / seconds / numbers.peak);
}

// The share of the peak of its memory.
std::string bytes_share_text(const BenchNumbers& numbers, double bytes, double seconds) {
    if (numbers.device_bytes_peak <= 0 || seconds <= 0 || bytes <= 0) return {};
    return fmt::format("{:.0f}%", 100 * bytes / seconds / numbers.device_bytes_peak);
}

// The columns of speed: of arithmetic, and for a device also of memory.
std::string speed_titles(const BenchNumbers& numbers) {
    const std::string own = fmt::format("{:>8} {:>6}", "GFLOP/s", "peak");
    return numbers.device.empty() ? own : own + fmt::format(" {:>8} {:>6}", "GB/s", "peak");
}

std::string speeds(const BenchNumbers& numbers, double operations, double bytes, double seconds) {
    const std::string own = fmt::format(
        "{:8.1f} {:>6}", rate(operations, seconds), share_text(numbers, operations, seconds));
    if (numbers.device.empty()) return own;
    return own + fmt::format(" {:8.1f} {:>6}",
                             rate(bytes, seconds),
                             bytes_share_text(numbers, bytes, seconds));
}

// The steps alone as the device measures them, and runs with copies to and from it.
std::string device_times(const BenchNumbers& n) {
    std::string text;
    if (!n.device_runs.empty()) {
        text += fmt::format("time on the device: min {}, median {}\n",
                            time_text(BenchNumbers::quantile(n.device_runs, 0)),
                            time_text(BenchNumbers::quantile(n.device_runs, 0.5)));
    }
    if (!n.whole_runs.empty()) {
        text += fmt::format("with copies of inputs and outputs: min {}, median {}\n",
                            time_text(BenchNumbers::quantile(n.whole_runs, 0)),
                            time_text(BenchNumbers::quantile(n.whole_runs, 0.5)));
    }
    return text;
}

std::string by_operator(const BenchNumbers& numbers, double total) {
    struct Sum {
        size_t count = 0, interpreted = 0;
        double seconds = 0, operations = 0, bytes = 0;
    };
    std::map<std::string, Sum> sums;
    for (const StepNumbers& step : numbers.steps) {
        Sum& sum = sums[ir::display_name(step.op)];
        ++sum.count;
        sum.interpreted += !step.why.empty();
        sum.seconds += step.least();
        sum.operations += step.operations;
        sum.bytes += step.bytes;
    }
    std::vector<std::pair<std::string, Sum>> order(sums.begin(), sums.end());
    std::ranges::stable_sort(order, std::greater(), [](const auto& s) { return s.second.seconds; });
    std::string text = fmt::format(
        "\n{:>9} {:>6} {}  {:>6}  {}\n", "µs", "share", speed_titles(numbers), "steps", "operator");
    for (const auto& [op, sum] : order) {
        text += fmt::format(
            "{:9.1f} {:5.1f}% {}  {:>6}  {}{}\n",
            sum.seconds * kMega,
            100 * sum.seconds / total,
            speeds(numbers, sum.operations, sum.bytes, sum.seconds),
            sum.count,
            diag::printable(op),
            sum.interpreted ? fmt::format(" ({} interpreted)", sum.interpreted) : std::string());
    }
    return text;
}

}  // namespace

double StepNumbers::least() const {
    return seconds.empty() ? 0 : *std::ranges::min_element(seconds);
}

std::string StepNumbers::how() const { return why.empty() ? schedule : "interpreted: " + why; }

std::string StepNumbers::name() const {
    return diag::printable(ir::display_name(op)) + " " + diag::printable(label);
}

double BenchNumbers::quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

std::string summary_text(const BenchNumbers& n) {
    std::string text = fmt::format("min {}, median {}, p90 {} over {} runs\n",
                                   time_text(n.least()),
                                   time_text(n.quantile(0.5)),
                                   time_text(n.quantile(0.9)),
                                   n.runs.size());
    text += fmt::format("{:.1f} GFLOP/s", rate(n.operations, n.least()));
    if (n.peak > 0 && !n.device.empty()) {
        text += fmt::format(
            ", {:.1f} % of its peak of {:.0f}", 100 * n.share_of_peak(), n.peak / kGiga);
    } else if (n.peak > 0) {
        text += fmt::format(
            ", {:.1f} % of the {:.0f} measured as peak", 100 * n.share_of_peak(), n.peak / kGiga);
    }
    text += fmt::format("; {} steps compiled, {} interpreted\n", n.compiled, n.interpreted);
    if (!n.device.empty()) {
        text += fmt::format("on {}: {} of the compiled steps, {:.1f} MB of its memory\n",
                            diag::printable(n.device),
                            n.on_device,
                            megabytes(n.device_memory));
        text += device_times(n);
    }
    text += fmt::format("load {}, plan {}, code {}, pack {}, first run {}\n",
                        time_text(n.load),
                        time_text(n.plan),
                        time_text(n.code),
                        time_text(n.pack),
                        time_text(n.first));
    text += fmt::format(
        "{} kernels compiled, {} from the cache, {} shared\n", n.kernels, n.cached, n.reused);
    if (!n.cache_trouble.empty()) text += fmt::format("no cache: {}\n", n.cache_trouble);
    text += fmt::format(
        "memory {:.1f} MB: weights {:.1f} MB, arena {:.1f} MB; peak of the process {:.1f} MB\n",
        megabytes(n.memory),
        megabytes(n.weights),
        megabytes(n.arena),
        megabytes(n.peak_rss));
    return text;
}

std::string profile_text(const BenchNumbers& numbers) {
    double total = 0;
    size_t width = 8;
    for (const StepNumbers& step : numbers.steps) {
        total += step.least();
        if (step.why.empty()) width = std::max(width, step.schedule.size());
    }
    std::string text = fmt::format("{:>9} {:>6} {}  {:{}}  {}\n",
                                   "µs",
                                   "share",
                                   speed_titles(numbers),
                                   "schedule",
                                   width,
                                   "operation");
    for (const StepNumbers& step : numbers.steps) {
        const double least = step.least();
        text += fmt::format("{:9.1f} {:5.1f}% {}  {:{}}  {}\n",
                            least * kMega,
                            100 * least / total,
                            speeds(numbers, step.operations, step.bytes, least),
                            step.how(),
                            width,
                            step.name());
    }
    return text + by_operator(numbers, total) + "\n";
}

namespace {

void add_times(Json& json, const std::string& name, const std::vector<double>& runs) {
    if (runs.empty()) return;
    json[name + "min_ms"] = BenchNumbers::quantile(runs, 0) * 1e3;
    json[name + "median_ms"] = BenchNumbers::quantile(runs, 0.5) * 1e3;
}

}  // namespace

Json bench_json(const BenchNumbers& n) {
    Json json = {{"model", n.model},
                 {"target", n.target},
                 {"threads", n.threads},
                 {"runs", n.runs.size()},
                 {"min_ms", n.least() * 1e3},
                 {"median_ms", n.quantile(0.5) * 1e3},
                 {"p90_ms", n.quantile(0.9) * 1e3},
                 {"gflops", rate(n.operations, n.least())},
                 {"peak_gflops", n.peak / kGiga},
                 {"share_of_peak", n.share_of_peak()},
                 {"load_ms", n.load * 1e3},
                 {"prepare_ms", n.prepare * 1e3},
                 {"plan_ms", n.plan * 1e3},
                 {"compile_ms", n.code * 1e3},
                 {"pack_ms", n.pack * 1e3},
                 {"first_run_ms", n.first * 1e3},
                 {"kernels", n.kernels},
                 {"kernels_cached", n.cached},
                 {"kernels_shared", n.reused},
                 {"compiled", n.compiled},
                 {"interpreted", n.interpreted},
                 {"memory_bytes", n.memory},
                 {"weights_bytes", n.weights},
                 {"arena_bytes", n.arena},
                 {"peak_rss_bytes", n.peak_rss}};
    if (!n.device.empty()) {
        json["device"] = n.device;
        json["device_steps"] = n.on_device;
        json["device_bytes"] = n.device_memory;
        json["device_peak_gbytes"] = n.device_bytes_peak / kGiga;
        add_times(json, "device_", n.device_runs);
        add_times(json, "with_copies_", n.whole_runs);
    }
    if (n.steps.empty()) return json;
    Json steps = Json::array();
    for (const StepNumbers& step : n.steps) {
        const double least = step.least();
        Json entry = {{"operation", step.op},
                      {"label", step.label},
                      {"min_us", least * kMega},
                      {"gflops", rate(step.operations, least)},
                      {"interpreted", !step.why.empty()}};
        if (!n.device.empty()) {
            entry["on_device"] = step.on_device;
            entry["gbytes"] = rate(step.bytes, least);
        }
        entry[step.why.empty() ? "schedule" : "why"] = step.why.empty() ? step.schedule : step.why;
        steps.push_back(std::move(entry));
    }
    json["profile"] = std::move(steps);
    return json;
}

std::string trace_json(const BenchNumbers& n) {
    Json events = Json::array();
    double now = 0;  // µs
    const auto add = [&](const std::string& name, const char* category, double seconds, Json args) {
        events.push_back({{"name", name},
                          {"cat", category},
                          {"ph", "X"},
                          {"ts", now},
                          {"dur", seconds * kMega},
                          {"pid", 1},
                          {"tid", 1},
                          {"args", std::move(args)}});
        now += seconds * kMega;
    };
    add("load", "load", n.load, Json::object());
    add("plan", "load", n.plan, Json::object());
    add("code", "load", n.code, {{"kernels", n.kernels}, {"cached", n.cached}});
    add("pack", "load", n.pack, Json::object());
    add("first run", "run", n.first, Json::object());
    for (size_t run = 0; run < std::min(n.runs.size(), kMostTracedRuns); ++run) {
        const double begin = now;
        add(fmt::format("run {}", run), "run", n.runs[run], Json::object());
        const double end = now;
        now = begin;
        for (const StepNumbers& step : n.steps) {
            const double seconds = step.seconds[run];
            add(step.op,
                step.why.empty() ? "kernel" : "interpreted",
                seconds,
                {{"label", step.label},
                 {"schedule", step.how()},
                 {"gflops", rate(step.operations, seconds)}});
        }
        now = std::max(end, now);
    }
    const Json document = {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
    return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lemma::driver
