// SPDX-License-Identifier: Apache-2.0
// serve/core/metrics.h — counters and histograms of the server, in the text format of Prometheus.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "serve/core/types.h"

namespace lemma::serve {

// Counts values up to each limit. Thread-safe.
class Histogram {
public:
    static constexpr size_t kMostLimits = 20;
    explicit Histogram(std::span<const double> limits) : limits_(limits) {}

    void add(double value);
    // `name_bucket{labels,le="0.1"} 3` and so on, with the sum and the count.
    std::string text(std::string_view name, std::string_view labels) const;

private:
    std::span<const double> limits_;
    std::array<std::atomic<uint64_t>, kMostLimits + 1> counts_{};
    std::atomic<uint64_t> nanos_ = 0;  // the sum, in units of 1e-9
};

enum class Protocol : uint8_t { Http, Grpc };
inline constexpr size_t kProtocols = 2;
std::string_view protocol_name(Protocol protocol);

// Of one version of a model. Thread-safe.
struct ModelMetrics {
    ModelMetrics();
    void count(Code code) { codes[static_cast<size_t>(code)].fetch_add(1); }

    std::array<std::atomic<uint64_t>, kCodes> codes{};
    std::atomic<int64_t> waiting = 0;
    std::atomic<int64_t> running = 0;
    Histogram queue_seconds;
    Histogram compute_seconds;
    Histogram batch_size;
};

// Of the whole server: every request of each protocol, health checks included.
struct ServerMetrics {
    void count(Protocol protocol, Code code) {
        codes[static_cast<size_t>(protocol)][static_cast<size_t>(code)].fetch_add(1);
    }

    std::array<std::array<std::atomic<uint64_t>, kCodes>, kProtocols> codes{};
    std::atomic<int64_t> connections = 0;  // of HTTP
    std::atomic<uint64_t> bytes_in = 0;
    std::atomic<uint64_t> bytes_out = 0;
};

// The text of one family: its help, its type, and its lines.
std::string family(std::string_view name,
                   std::string_view type,
                   std::string_view help,
                   std::string_view lines);
// `model="m",version="1"`, escaped.
std::string labels_of(std::string_view model, std::string_view version);

}  // namespace lemma::serve
