// SPDX-License-Identifier: Apache-2.0
#include "driver/progress.h"

#include <fmt/format.h>

#include "diag/utf8.h"

namespace lemma::driver {

std::string bar_text(size_t done, size_t all, std::string_view what) {
    constexpr size_t kWidth = 20;
    const size_t full = all == 0 || done >= all ? kWidth : done * kWidth / all;
    return fmt::format("[{:#<{}}{:.<{}}] {}/{} {}", "", full, "", kWidth - full, done, all, what);
}

void show_stage(const Terminal& terminal, const std::string& text) {
    if (terminal.progress) terminal.progress(text);
}

std::function<void(size_t, size_t)> bar_of(const Terminal& terminal, std::string what) {
    if (!terminal.progress) return {};
    return [show = terminal.progress, what = std::move(what)](size_t done, size_t all) {
        show(bar_text(done, all, what));
    };
}

void show_progress(const Terminal& terminal, session::SessionOptions& options) {
    options.compile.on_progress = bar_of(terminal, "kernels");
    options.run.on_progress = bar_of(terminal, "operations");
}

ProgressLine::ProgressLine(std::function<void(const std::string&)> write, Options options)
    : write_(std::move(write)), options_(options) {}

ProgressLine::~ProgressLine() {
    set("");
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void ProgressLine::set(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (text_.empty() && !text.empty()) begin_ = Clock::now();
    text_ = text;
    if (text.empty() && shown_) {
        write_("\r\x1b[K");
        shown_ = false;
    }
    if (!text.empty() && !thread_.joinable()) thread_ = std::thread([this] { work(); });
    changed_.notify_all();
}

void ProgressLine::show() {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_).count();
    const std::string end = fmt::format("  {} s", seconds);
    const size_t room = options_.columns > end.size() + 1 ? options_.columns - end.size() - 1 : 0;
    write_("\r\x1b[K" + diag::shortened(diag::printable(text_), room) + end);
    shown_ = true;
}

void ProgressLine::work() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
        if (text_.empty()) {
            changed_.wait(lock, [&] { return ended_ || !text_.empty(); });
            continue;
        }
        const auto due = begin_ + options_.delay;
        if (Clock::now() < due) {
            changed_.wait_until(lock, due, [&] { return ended_ || text_.empty(); });
            continue;
        }
        show();
        changed_.wait_for(lock, options_.interval, [&] { return ended_ || text_.empty(); });
    }
}

}  // namespace lemma::driver
