// SPDX-License-Identifier: Apache-2.0
#include "base/control.h"

#include <fmt/format.h>

namespace lemma {

RunControl::RunControl(const std::atomic<bool>* cancelled, double seconds, Progress progress)
    : cancelled_(cancelled), seconds_(seconds), progress_(std::move(progress)) {
    constexpr double kForever = 1e9;  // longer limits would overflow the clock
    if (seconds_ > 0 && seconds_ < kForever) {
        deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(seconds));
    }
}

bool RunControl::end(Why why) const {
    Why expected = Why::Running;
    why_.compare_exchange_strong(expected, why, std::memory_order_relaxed);
    return true;
}

bool RunControl::stop() const {
    if (stopped()) return true;
    if (cancelled_ && cancelled_->load(std::memory_order_relaxed)) return end(Why::Cancelled);
    if (deadline_ && Clock::now() >= *deadline_) return end(Why::Late);
    return false;
}

bool RunControl::stop_after(const char* stage, uint64_t done, uint64_t total) const {
    if (progress_ && !stopped() && !progress_(stage, done, total)) return end(Why::Refused);
    return stop();
}

Error RunControl::error() const {
    switch (why_.load(std::memory_order_relaxed)) {
        case Why::Late:
            return {fmt::format("the call was stopped: its time limit of {} s is over", seconds_)};
        case Why::Refused:
            return {"the call was stopped by its progress function"};
        default:
            return {"the call was cancelled"};
    }
}

}  // namespace lemma
