// SPDX-License-Identifier: Apache-2.0
#include "serve/core/metrics.h"

#include <fmt/format.h>

#include <cmath>

namespace lemma::serve {

namespace {

constexpr std::array<double, 16> kSeconds = {0.0001,
                                             0.00025,
                                             0.0005,
                                             0.001,
                                             0.0025,
                                             0.005,
                                             0.01,
                                             0.025,
                                             0.05,
                                             0.1,
                                             0.25,
                                             0.5,
                                             1,
                                             2.5,
                                             5,
                                             10};
constexpr std::array<double, 9> kBatchSizes = {1, 2, 4, 8, 16, 32, 64, 128, 256};
static_assert(kSeconds.size() <= Histogram::kMostLimits);

}  // namespace

std::string_view protocol_name(Protocol protocol) {
    return protocol == Protocol::Http ? "http" : "grpc";
}

ModelMetrics::ModelMetrics()
    : queue_seconds(kSeconds), compute_seconds(kSeconds), batch_size(kBatchSizes) {}

void Histogram::add(double value) {
    size_t bucket = 0;
    while (bucket < limits_.size() && value > limits_[bucket]) ++bucket;
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    nanos_.fetch_add(static_cast<uint64_t>(std::llround(std::max(value, 0.0) * 1e9)),
                     std::memory_order_relaxed);
}

std::string Histogram::text(std::string_view name, std::string_view labels) const {
    std::string text;
    uint64_t sum = 0;
    for (size_t i = 0; i <= limits_.size(); ++i) {
        sum += counts_[i].load(std::memory_order_relaxed);
        const std::string limit = i < limits_.size() ? fmt::format("{}", limits_[i]) : "+Inf";
        text += fmt::format("{}_bucket{{{},le=\"{}\"}} {}\n", name, labels, limit, sum);
    }
    const double total = static_cast<double>(nanos_.load(std::memory_order_relaxed)) * 1e-9;
    text +=
        fmt::format("{}_sum{{{}}} {}\n{}_count{{{}}} {}\n", name, labels, total, name, labels, sum);
    return text;
}

std::string family(std::string_view name,
                   std::string_view type,
                   std::string_view help,
                   std::string_view lines) {
    return fmt::format("# HELP {} {}\n# TYPE {} {}\n{}", name, help, name, type, lines);
}

std::string labels_of(std::string_view model, std::string_view version) {
    const auto escaped = [](std::string_view text) {
        std::string result;
        for (const char c : text) {
            if (c == '"' || c == '\\') result += '\\';
            if (c == '\n') {
                result += "\\n";
            } else {
                result += c;
            }
        }
        return result;
    };
    return fmt::format("model=\"{}\",version=\"{}\"", escaped(model), escaped(version));
}

}  // namespace lemma::serve
