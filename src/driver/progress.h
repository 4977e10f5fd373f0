// SPDX-License-Identifier: Apache-2.0
// driver/progress.h — what a long command shows on the terminal while it works: one line, with a
// bar where the amount of work is known.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "driver/driver.h"
#include "session/session.h"

namespace lemma::driver {

// `[#####...............] 10/40 kernels`
std::string bar_text(size_t done, size_t all, std::string_view what);

// Shows the text, if there is a terminal.
void show_stage(const Terminal& terminal, const std::string& text);
// For callbacks that count; empty without a terminal.
std::function<void(size_t, size_t)> bar_of(const Terminal& terminal, std::string what);
// Bars for compiling kernels and for interpreted operations.
void show_progress(const Terminal& terminal, session::SessionOptions& options);

// A line that is rewritten in place. It appears when a text is older than `delay`, has the seconds
// since the first text, and is erased by an empty text or at the end. Its thread shows the time of
// work that reports nothing.
class ProgressLine {
public:
    using Clock = std::chrono::steady_clock;
    struct Options {
        std::chrono::milliseconds delay{1000};
        std::chrono::milliseconds interval{200};  // between two changes
        size_t columns = 80;
    };
    ProgressLine(std::function<void(const std::string&)> write, Options options);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    // From any thread.
    void set(const std::string& text);

private:
    void work();
    void show();

    std::function<void(const std::string&)> write_;
    Options options_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string text_;
    Clock::time_point begin_;
    bool shown_ = false;
    bool ended_ = false;
    std::thread thread_;  // started with the first text
};

}  // namespace lemma::driver
