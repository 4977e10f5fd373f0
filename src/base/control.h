// SPDX-License-Identifier: Apache-2.0
// base/control.h — the control of a call that may take long: cancellation, a time limit, progress.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"

namespace lemma {

// One for each call. Functions take a pointer, which may be null. Any thread of the call may ask
// whether to stop; only the thread of the caller reports progress.
class RunControl {
public:
    using Clock = std::chrono::steady_clock;
    using Progress = std::function<bool(const char* stage, uint64_t done, uint64_t total)>;

    RunControl() = default;
    // `cancelled` may be null. No limit if `seconds` is 0.
    RunControl(const std::atomic<bool>* cancelled, double seconds, Progress progress);

    // Whether the call should end. The answer stays the same once it is yes.
    bool stop() const;
    // Reports that `done` of `total` parts are done, and asks whether to stop. The progress
    // function stops the call if it returns false.
    bool stop_after(const char* stage, uint64_t done, uint64_t total) const;
    // Whether an earlier answer was yes.
    bool stopped() const { return why_.load(std::memory_order_relaxed) != Why::Running; }
    // Why, as an error; only if `stopped`.
    Error error() const;

private:
    enum class Why : uint8_t { Running, Cancelled, Late, Refused };
    bool end(Why why) const;

    const std::atomic<bool>* cancelled_ = nullptr;
    double seconds_ = 0;
    std::optional<Clock::time_point> deadline_;
    Progress progress_;
    mutable std::atomic<Why> why_{Why::Running};
};

// An error if the call should end.
inline Result<void> go_on(const RunControl* control) {
    if (control && control->stop()) return std::unexpected(control->error());
    return {};
}

}  // namespace lemma
